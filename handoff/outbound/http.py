"""The one outbound HTTP call: a whole deadline, a checked address, and one true word on failure.

httpx2 encodes, httpcore2 speaks the protocol over our own network. There is no client in between,
so nothing follows a redirect, reads a proxy from the environment, sends twice or logs a URL. Each
call opens its own connection: on a kept one, a request may meet a server that is just leaving,
and nobody could say whether it was taken.
"""

import dataclasses
import email.utils
import functools
import math
import ssl
import time
from collections.abc import Collection, Mapping
from typing import Any, Final
from urllib.parse import quote

import httpcore2
import httpx2
from django.conf import settings

from handoff.contract import jsontext
from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.connect import Watchdog, resolve
from handoff.outbound.http_errors import UNWRITABLE, judge
from handoff.outbound.http_network import Network
from handoff.outbound.targets import Allowed, check

CAP: Final = 1024 * 1024
_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # the cap counts what is kept, and nothing unpacks itself
    "Connection": "close",
    "User-Agent": "HandoffDesk",
}
_SECRET_MIN: Final = 6
"""What is shorter is no secret, and may be a part of anything."""
_REDIRECTS: Final = range(300, 400)
USUAL_PORTS: Final = (443, 8443)
"""Where somebody else's address may be called in public, and by https alone (security.md B5)."""


@dataclasses.dataclass(frozen=True)
class HttpAnswer:
    """What came back, of whatever status."""

    status: int
    headers: Mapping[str, str] = dataclasses.field(repr=False)
    """By lower-case name."""
    body: bytes = dataclasses.field(repr=False)

    def json(self) -> dict[str, Any] | None:
        """The JSON object in the body; None when it is anything else."""
        try:
            value = jsontext.loads(self.body)
        except jsontext.JSONProblem:
            return None
        return value if isinstance(value, dict) else None


def call(
    method: str,
    url: str,
    *,
    deadline: float,
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    form: Mapping[str, str] | None = None,
    content: bytes | None = None,
    cap: int = CAP,
    trusted: bool = True,
    secrets: Collection[str] = (),
) -> HttpAnswer:
    """Send one request and read the whole answer before `deadline` (`time.monotonic()`).

    `trusted` is for an address that the environment names: it may be private. Any other has to be
    public, https and on a usual port, or listed in HANDOFF_PRIVATE_TARGETS. The body is `json`,
    `form`, or `content` as it is; an answer over `cap` bytes is not read to its end. `secrets` are
    cut out of it where it says them back, so that its words can be kept. Raises TransportError:
    `connect` when nothing was sent, `unknown_outcome` when the request, or part of it, had left
    and no whole answer came, `permission` when the address is out of bounds, `bad_format` when the
    request cannot be written.
    """
    allowed = None if trusted else allowed_for(url)
    with Watchdog(deadline) as watchdog:
        network = Network(watchdog, allowed=allowed)
        try:
            request = httpx2.Request(
                method,
                url,
                headers={**_HEADERS, **(headers or {})},
                json=json,
                data=form,
                content=content,
            )
            return _without(secrets, _exchange(request, network, cap=cap))
        except (OSError, httpcore2.RemoteProtocolError, *UNWRITABLE) as error:
            problem = judge(error, sent=network.sent, late=watchdog.fired)
    # outside of the except clause: the words of what it caught may repeat a token
    raise problem


def check_target(url: str, *, deadline: float) -> None:
    """Look somebody else's address up and connect to nothing; raises TransportError as `call`.

    Each call checks again: a name may lead elsewhere by then.
    """
    try:
        parts = httpx2.URL(url)
        host = parts.raw_host.decode("ascii")
        port = parts.port or USUAL_PORTS[0]
        places = resolve(host, port, seconds=deadline - time.monotonic())
        check(host, [address for _, address in places], allowed=allowed_for(url))
    except (OSError, *UNWRITABLE) as error:
        problem = judge(error, sent=False, late=False)
    else:
        return
    raise problem


def allowed_for(url: str) -> Allowed:
    """Where an address that somebody else named may lead to."""
    try:
        parts = httpx2.URL(url)
        usual = parts.scheme == "https" and (parts.port or USUAL_PORTS[0]) in USUAL_PORTS
    except httpx2.InvalidURL:
        usual = False
    return Allowed.read(settings.PRIVATE_TARGETS, alone=not usual)


def unclear(answer: HttpAnswer, *, sends: bool) -> TransportError:
    """For a 5xx, a web page, an empty body, a redirect or anything else that says nothing.

    On a request that `sends` it may have been done, so that it is never sent again; any other
    can be repeated.
    """
    kind = Kind.UNKNOWN_OUTCOME if sends else Kind.TRANSIENT
    return TransportError(
        kind, f"the provider answered {_shape(answer)}", provider_code=str(answer.status),
        hint=_unclear_hint(answer, sends=sends),
    )  # fmt: skip


def rate_limited(answer: HttpAnswer, seconds: float | None = None) -> TransportError:
    """For a 429 in whatever form; without `seconds`, its `Retry-After` says how long."""
    wait = retry_after(answer) if seconds is None else seconds
    if wait is not None and not (math.isfinite(wait) and wait >= 0):
        wait = None
    asked = "" if wait is None else f" for {math.ceil(wait)} s"
    return TransportError(
        Kind.RATE_LIMITED,
        f"the provider asks to wait{asked}",
        retry_after=wait,
        provider_code=str(answer.status),
        hint="The provider takes fewer messages than this desk sends; it asks to wait.",
    )


def _exchange(request: httpx2.Request, network: Network, *, cap: int) -> HttpAnswer:
    url = httpcore2.URL(
        scheme=request.url.raw_scheme,
        host=request.url.raw_host,
        port=request.url.port,
        target=request.url.raw_path,
    )
    if url.scheme not in (b"http", b"https") or not url.host:
        raise httpcore2.UnsupportedProtocol
    body = request.read()
    context = _context(ssl.get_default_verify_paths()) if url.scheme == b"https" else None
    with (
        httpcore2.HTTPConnection(url.origin, ssl_context=context, network_backend=network) as line,
        line.stream(request.method, url, headers=request.headers.raw, content=body) as response,
    ):
        found = bytearray()
        for piece in response.iter_stream():
            found += piece
            if len(found) > cap:
                raise TransportError(
                    Kind.UNKNOWN_OUTCOME,
                    "the provider's answer was too long",
                    provider_code=str(response.status),
                    hint="Look at the recipient's side before anything is sent again.",
                )
        names = httpx2.Headers(response.headers)
        return HttpAnswer(response.status, dict(names.items()), bytes(found))


def _without(secrets: Collection[str], answer: HttpAnswer) -> HttpAnswer:
    """Neither as they are nor as JSON may write them."""
    body = answer.body
    for secret in secrets:
        if len(secret) >= _SECRET_MIN:
            for form in (secret, secret.replace("/", "\\/"), quote(secret, safe="")):
                body = body.replace(form.encode(), b"***")
    return dataclasses.replace(answer, body=body)


@functools.lru_cache(maxsize=4)
def _context(paths: ssl.DefaultVerifyPaths) -> ssl.SSLContext:
    """The machine's own authorities, read once: that takes as long as a call to a near server."""
    return ssl.create_default_context()


def _shape(answer: HttpAnswer) -> str:
    if answer.status in _REDIRECTS:
        return f"{answer.status}, a redirect"
    if not answer.body.strip():
        return f"{answer.status} without a word"
    start = answer.body.lstrip()[:1]
    if start == b"<":
        return f"{answer.status} with a web page"
    if start in (b"{", b"["):
        return f"{answer.status} with something that the desk does not know"
    return f"{answer.status} with something else than JSON"


def _unclear_hint(answer: HttpAnswer, *, sends: bool) -> str:
    if answer.status in _REDIRECTS:
        return "What answers there is not the provider: set the base address that it leads to."
    if sends:
        return "Look at the recipient's side before anything is sent again."
    return "The provider, or a proxy before it, is out of order; try again later."


def retry_after(answer: HttpAnswer) -> float | None:
    """What `Retry-After` asks for: seconds, or a date (RFC 9110, 10.2.3); may be any number."""
    text = answer.headers.get("retry-after", "")
    try:
        return float(text)
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):  # a year that no date has
        return None
    return max(0.0, date - time.time())
