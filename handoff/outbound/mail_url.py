"""Where mail goes out and comes in, each read from one URL: a server, or the demo's folder."""

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit


class Security(StrEnum):
    NONE = "none"
    STARTTLS = "starttls"
    TLS = "tls"


SCHEMES = {
    "smtp": (Security.NONE, 25),
    "smtp+tls": (Security.STARTTLS, 587),
    "smtp+ssl": (Security.TLS, 465),
}
IMAP_SCHEMES = {
    "imap": (Security.NONE, 143),
    "imap+tls": (Security.STARTTLS, 143),
    "imaps": (Security.TLS, 993),
}
FOLDER_SCHEME = "filemail"
SHAPE = "smtp+tls://user:password@mail.example.org:587"
IMAP_SHAPE = "imaps://user:password@mail.example.org"


@dataclasses.dataclass(frozen=True, kw_only=True)
class MailServer:
    host: str
    port: int
    security: Security = Security.NONE
    username: str = ""
    password: str = dataclasses.field(default="", repr=False)
    trusted: bool = False
    """Whether the deployment's own environment names it: then it may have a private address."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class MailFolder:
    """A directory that takes each message as one `*.eml` file, for reading on this machine."""

    path: Path


def parse_mail_url(url: str) -> MailServer | MailFolder:
    """Read `smtp://`, `smtp+tls://` (STARTTLS), `smtp+ssl://` (TLS at once) or `filemail:///dir`.

    User and password are percent-decoded. Raises ValueError with a sentence that repeats nothing
    of the URL, since a URL may hold a password.
    """
    parts = _split(url, SHAPE)
    if parts.scheme == FOLDER_SCHEME:
        return _folder(parts)
    if parts.scheme not in SCHEMES:
        raise ValueError(
            "The mail server URL must start with smtp:// (no encryption), smtp+tls:// (STARTTLS) "
            "or smtp+ssl:// (TLS from the first byte)."
        )
    return _server(parts, SCHEMES, SHAPE)


def parse_imap_url(url: str) -> MailServer:
    """Read `imaps://` (TLS at once), `imap+tls://` (STARTTLS) or `imap://` (no encryption).

    User and password are needed. Raises ValueError as `parse_mail_url` does.
    """
    parts = _split(url, IMAP_SHAPE)
    if parts.scheme not in IMAP_SCHEMES:
        raise ValueError(
            "The mail server URL must start with imaps:// (TLS from the first byte), imap+tls:// "
            "(STARTTLS) or imap:// (no encryption)."
        )
    server = _server(parts, IMAP_SCHEMES, IMAP_SHAPE)
    if not server.username:
        raise ValueError("The mail server URL must hold the user and the password of the mailbox.")
    return server


def _split(url: str, shape: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"The mail server URL is not readable; write it as {shape}.") from None
    return parts


def _server(
    parts: SplitResult, schemes: Mapping[str, tuple[Security, int]], shape: str
) -> MailServer:
    host, port = parts.hostname or "", parts.port
    if not host or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(
            f"The mail server URL must look like {shape}; write @ / : ? # inside the password "
            "as %40 %2F %3A %3F %23."
        )
    security, usual_port = schemes[parts.scheme]
    username, password = unquote(parts.username or ""), unquote(parts.password or "")
    _check_login(username, password)
    try:
        ascii_host = host.encode("idna").decode("ascii") if not host.isascii() else host
    except UnicodeError:
        raise ValueError("The mail server URL names no usable host.") from None
    return MailServer(
        host=ascii_host,
        port=usual_port if port is None else port,
        security=security,
        username=username,
        password=password,
    )


def _check_login(username: str, password: str) -> None:
    if bool(username) != bool(password):
        raise ValueError("The mail server URL must hold both a user and a password, or neither.")
    if not (username + password).isascii() or not (username + password).isprintable():
        # the libraries encode both as ASCII, and would fail only when the first mail is due
        raise ValueError("The mail server's user and password must be plain ASCII characters.")


def _folder(parts: SplitResult) -> MailFolder:
    path = Path(unquote(parts.path))
    if parts.netloc or not path.is_absolute() or path == Path("/"):
        raise ValueError("A mail folder must be an absolute path, such as filemail:///var/mail.")
    return MailFolder(path=path)
