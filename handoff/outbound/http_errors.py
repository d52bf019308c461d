"""What a failed HTTP call means: one judgement, by whether a byte of the request had left.

None of the words holds an address, a URL, a header or anything that the other side said.
"""

import socket
import ssl

import httpcore2
import httpx2

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.targets import (
    ForbiddenAddressError,
    PrivateAddressError,
    UnlistedAddressError,
)

UNWRITABLE = (
    httpx2.InvalidURL,
    httpcore2.LocalProtocolError,
    httpcore2.UnsupportedProtocol,
    TypeError,
    ValueError,
)
"""What is raised for a request that cannot be written down; their words repeat a part of it."""
_LATE = "the provider did not answer in time"
_CERTIFICATES = {
    9: (
        "the certificate is not valid yet",
        "The provider's certificate is not valid yet: check the clock of this machine.",
    ),
    10: (
        "the certificate has expired",
        "The provider's certificate has expired: renew it, or check the clock of this machine.",
    ),
    18: (
        "the certificate is self-signed",
        (
            "The certificate is self-signed: give the server one that this machine trusts, or "
            "name its CA in SSL_CERT_FILE."
        ),
    ),
    62: (
        "the certificate is for another host",
        "The certificate is for another host: the address must name the host of the certificate.",
    ),
    64: (
        "the certificate is for another address",
        "The certificate is not for this address: use the host name that it was made for.",
    ),
}
"""By the code of OpenSSL: its own words repeat the host."""
_UNKNOWN_ISSUER = (
    "the certificate comes from nobody whom this machine trusts",
    (
        "Nobody whom this machine trusts has signed the certificate. If a proxy of your network "
        "re-signs connections, name its CA in SSL_CERT_FILE; otherwise install ca-certificates."
    ),
)


def judge(error: Exception, *, sent: bool, late: bool) -> TransportError:
    """The TransportError for what the socket, ssl or httpcore2 raised.

    `sent` says whether a byte of the request had left, `late` that the deadline cut the
    connection. A certificate error is an OSError and a ValueError: OSError counts.
    """
    if sent:
        return TransportError(
            Kind.UNKNOWN_OUTCOME,
            _LATE if late or isinstance(error, TimeoutError) else _broken(error),
            hint="Look at the recipient's side before anything is sent again.",
        )
    if isinstance(error, UNWRITABLE) and not isinstance(error, OSError):
        return TransportError(
            Kind.BAD_FORMAT,
            "the request could not be written",
            hint="Check the channel's settings and the provider's base address for characters "
            "that do not belong there.",
        )
    if isinstance(error, ForbiddenAddressError):
        return TransportError(Kind.PERMISSION, str(error), hint=_forbidden(error))
    if late or isinstance(error, TimeoutError):
        return TransportError(
            Kind.CONNECT,
            "the provider could not be connected to in time",
            hint="Check that this machine may open connections to the provider: a firewall, a "
            "proxy or the DNS may stand between.",
        )
    if isinstance(error, ssl.SSLError):
        words, hint = _tls(error)
        return TransportError(Kind.CONNECT, f"TLS: {words}", provider_code="tls", hint=hint)
    words, hint = _unconnected(error)
    return TransportError(Kind.CONNECT, words, hint=hint)


def _broken(error: Exception) -> str:
    if isinstance(error, httpcore2.RemoteProtocolError):
        return "the provider's answer was not complete, or not HTTP"
    return "the provider broke the connection off after the request was sent"


def _tls(error: ssl.SSLError) -> tuple[str, str]:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATES.get(error.verify_code, _UNKNOWN_ISSUER)
    return (
        "the handshake failed",
        (
            "What listens there speaks no TLS, or none that this desk accepts: check the scheme "
            "and the port of the address."
        ),
    )


def _unconnected(error: Exception) -> tuple[str, str]:
    if isinstance(error, socket.gaierror):
        return (
            "the provider's name is not known",
            "Check the host in the address, and the DNS of this machine.",
        )
    if isinstance(error, ConnectionRefusedError):
        return (
            "nothing listens there",
            "Check the port in the address, and that the server runs.",
        )
    return (
        "the connection broke before anything was sent",
        "Check that this machine may open connections to the provider.",
    )


def _forbidden(error: ForbiddenAddressError) -> str:
    """The same words whatever listens there: nothing was tried."""
    if isinstance(error, PrivateAddressError):
        return (
            "The host leads to an address that is not public, so nothing was tried. If it is "
            "meant, whoever runs the desk adds the host or its network to "
            "HANDOFF_PRIVATE_TARGETS and restarts the desk."
        )
    if isinstance(error, UnlistedAddressError):
        return (
            "In public only https on port 443 or 8443 is called. If it is meant, whoever runs the "
            "desk adds the host or its network to HANDOFF_PRIVATE_TARGETS and restarts the desk."
        )
    return "The host leads to an address that is never allowed."
