"""Where a request came from, as a keyed hash: enough to count by, nothing to know people by."""

import ipaddress
import re
from typing import Final

from django.conf import settings
from django.utils.crypto import salted_hmac

SALT: Final = "handoff.address"
_PORT: Final = re.compile(r"\[(.+)\](?::\d+)?|([^:]+):\d+")


def hashed(remote: str, forwarded: str) -> str:
    """32 hex digits for the peer's address `remote` and its `X-Forwarded-For` header.

    Behind a trusted proxy the last hop counts: the proxy wrote it, a client can forge only those
    before it. An IPv6 client counts by its /64, because a household has that many to change to.
    """
    hop = forwarded.rpartition(",")[2].strip() if settings.TRUST_PROXY else ""
    return salted_hmac(SALT, _network(hop or remote), algorithm="sha256").hexdigest()[:32]


def _network(text: str) -> str:
    """The address to count by; what can't be read is one address."""
    match = _PORT.fullmatch(text)
    if match is not None:
        text = match[1] or match[2]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
