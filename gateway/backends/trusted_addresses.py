"""Which addresses from the bus may be called: a bearer token never goes to an address that the bus alone vouches for.

Over TLS the process at the address proves which service it is. In plain text nothing does, so its address has to lie in
a network that the operator has named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

LOOPBACK_NETWORKS = (ip_network("127.0.0.0/8"), ip_network("::1"))

# Nothing else is passed to gRPC, for which `unix:…`, `dns://…` and lists of addresses have meanings of their own.
_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)):([0-9]{1,5})", re.ASCII)
_SERVICE = re.compile(r"[a-z][a-z0-9_-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Where a process is, and the service that it has to prove to be."""

    address: str
    service: str


class TrustedAddresses:
    """Checks the addresses that processes announce on the bus."""

    def __init__(self, networks: Iterable[IPv4Network | IPv6Network] | None) -> None:
        """None is for TLS alone: every address may be called, since the process there has to prove who it is."""
        self._networks = None if networks is None else tuple(networks)

    def includes(self, announced: ServiceAddress) -> bool:
        """Whether it may be called."""
        parts = _ADDRESS.fullmatch(announced.address)
        if parts is None or _SERVICE.fullmatch(announced.service) is None:
            return False
        return self._networks is None or self._contain(parts[1] or parts[2])

    def _contain(self, host: str) -> bool:
        try:
            # A host's name is in no network: its owner could let it mean another address at the next look.
            parsed = ip_address(host)
        except ValueError:
            return False
        if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
        return any(parsed.version == network.version and parsed in network for network in self._networks or ())
