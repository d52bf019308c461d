"""Where this desk may connect to on somebody's word: public addresses, and what is allowed by name.

A channel is configured by people who do not run the machine. So that none of them reaches into
its network, a server that they name must have public addresses only; `HANDOFF_PRIVATE_TARGETS`
makes exceptions. What the environment itself names is not checked for that.
"""

import dataclasses
import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Self

type Address = ipaddress.IPv4Address | ipaddress.IPv6Address
type Network = ipaddress.IPv4Network | ipaddress.IPv6Network

METADATA: Final = frozenset(
    ipaddress.ip_address(address)
    for address in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254")
)
"""Addresses at which clouds hand out credentials: always refused."""
_NOT_PUBLIC_4: Final = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
"""The special-purpose registry of IANA, whole, and multicast. `is_global` of Python changed what
it counts between patch versions, and counts multicast as global."""
_UNICAST_6: Final = ipaddress.IPv6Network("2000::/3")
"""All global unicast that IANA has given out."""
_NOT_PUBLIC_6: Final = tuple(
    ipaddress.IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20")
)
_MAPPED: Final = ipaddress.IPv6Network("::ffff:0:0/96")
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR: Final = ipaddress.IPv6Network("2002::/16")
_HOST: Final = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z_](?:[a-z0-9_-]*[a-z0-9])?"
)
"""A name; its last label begins with a letter, so that no spelling of an address is one."""


class ForbiddenAddressError(OSError):
    """The name leads to an address that this desk never connects to."""


class PrivateAddressError(ForbiddenAddressError):
    """The name leads to an address that is not public, and nobody allowed it."""


class UnlistedAddressError(ForbiddenAddressError):
    """Plain http, or an unusual port, to an address that nobody allowed by name."""


@dataclasses.dataclass(frozen=True)
class Allowed:
    """The private targets that the operator allows."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()
    unreadable: tuple[str, ...] = ()
    """Entries that are neither a host nor a network; they allow nothing."""
    alone: bool = False
    """Whether public addresses are out of bounds as well, unless an entry holds them."""

    @classmethod
    def read(cls, entries: Sequence[str], *, alone: bool = False) -> Self:
        """From host names, addresses and CIDR networks."""
        hosts, networks, unreadable = set(), [], []
        for entry in filter(None, (entry.strip() for entry in entries)):
            try:
                networks.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                name = _canonical(entry)
                if _HOST.fullmatch(name):
                    hosts.add(name)
                else:
                    unreadable.append(entry)
        return cls(frozenset(hosts), tuple(networks), tuple(unreadable), alone)

    def holds(self, host: str, address: Address) -> bool:
        plain = _embedded(address, _MAPPED) or address
        return _canonical(host) in self.hosts or any(plain in network for network in self.networks)


def check(host: str, addresses: Iterable[Address], *, allowed: Allowed | None) -> None:
    """Raises ForbiddenAddressError when any of them is out of bounds; one bad one spoils all.

    `allowed` is None for a host that the environment names: it may be private.
    """
    for address in addresses:
        if is_never(address):
            raise ForbiddenAddressError("the name leads to an address that is never a target")
        if allowed is None or allowed.holds(host, address):
            continue
        if not is_public(address):
            raise PrivateAddressError("the name leads to an address that is not public")
        if allowed.alone:
            raise UnlistedAddressError("only https on port 443 or 8443 goes to public addresses")


def is_never(address: Address) -> bool:
    """Whether an address, in whatever form, is a metadata service, link-local, multicast or
    nobody's.
    """
    return any(
        form in METADATA or form.is_link_local or form.is_multicast or form.is_unspecified
        for form in _forms(address)
    )


def is_public(address: Address) -> bool:
    """Whether an address, and the IPv4 address inside it, is one of the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    inside = _embedded(address, _MAPPED, _NAT64, _SIX_TO_FOUR)
    if inside is not None:
        return is_public(inside)
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)


def _forms(address: Address) -> Iterator[Address]:
    yield address
    inside = _embedded(address, _MAPPED, _NAT64, _SIX_TO_FOUR, _COMPATIBLE)
    if inside is not None:
        yield inside


def _embedded(address: Address, *inside: ipaddress.IPv6Network) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address of one of these networks carries (RFC 4291, 6052,
    3056).
    """
    for network in inside:
        if isinstance(address, ipaddress.IPv6Address) and address in network:
            shift = 80 if network is _SIX_TO_FOUR else 0
            return ipaddress.IPv4Address(int(address) >> shift & 0xFFFF_FFFF)
    return None


def _canonical(host: str) -> str:
    host = host.lower().removesuffix(".")
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
