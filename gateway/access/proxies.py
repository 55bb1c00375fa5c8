"""The client's address of a request that proxies pass on: only trusted proxies are believed.

Each proxy appends the address that it received the request from, so the list is read from its end: the first address
that is no trusted proxy is the client's, and everything before it may be invented.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from aiohttp import hdrs, web
from multidict import CIMultiDictProxy

# Longer chains of proxies are not followed (G11).
HOPS_LIMIT = 16

_Address = IPv4Address | IPv6Address
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
# `for=192.0.2.1`, `For="[2001:db8::1]:4711"`: RFC 7239.
_FOR = re.compile(r'(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)', re.IGNORECASE)
_WITH_PORT = re.compile(r"\[([^\]]+)\](?::\w+)?|([^:]+)(?::\w+)?")


class TrustedProxies:
    """The networks of the operator's own proxies."""

    def __init__(self, networks: Iterable[IPv4Network | IPv6Network]) -> None:
        self._networks = tuple(networks)

    def install(self, application: web.Application) -> None:
        """Adds no routes, but a middleware: all later parts see the client's address as `request.remote`."""
        if self._networks:
            application.middlewares.append(self._set_client_address)

    def trusts(self, address: str) -> bool:
        parsed = _parsed(address)
        return parsed is not None and self._trusts(parsed)

    def client_address(self, peer: str, headers: CIMultiDictProxy[str]) -> str:
        """Returns the client's address: the peer's own, or the one that trusted proxies name."""
        nearest = _parsed(peer)
        if nearest is None or not self._trusts(nearest):
            return peer
        chains = [hops for hops in (_forwarded(headers), _x_forwarded_for(headers)) if hops]
        clients = {self._first_untrusted(nearest, hops) for hops in chains}
        # The proxy writes one of the headers, the client may have written the other. If they differ, neither is used.
        return str(clients.pop()) if len(clients) == 1 else peer

    def _first_untrusted(self, nearest: _Address, hops: list[str]) -> _Address:
        found = nearest
        for hop in reversed(hops[-HOPS_LIMIT:]):
            parsed = _parsed(hop)
            if parsed is None:
                # `unknown`, or a name that a proxy made up: the last address that is known counts.
                break
            found = parsed
            if not self._trusts(found):
                break
        return found

    def _trusts(self, address: _Address) -> bool:
        return any(address.version == network.version and address in network for network in self._networks)

    @web.middleware
    async def _set_client_address(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        peer = request.remote or ""
        client = self.client_address(peer, request.headers)
        return await handler(request if client == peer else request.clone(remote=client))


def parse_networks(text: str) -> list[IPv4Network | IPv6Network]:
    """Parses networks (CIDR) or addresses separated by spaces; a `ValueError` if one is malformed."""
    return [ip_network(network) for network in text.split()]


def _parsed(address: str) -> _Address | None:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed


def _x_forwarded_for(headers: CIMultiDictProxy[str]) -> list[str]:
    return [_without_port(hop) for line in headers.getall(hdrs.X_FORWARDED_FOR, []) for hop in line.split(",")]


def _forwarded(headers: CIMultiDictProxy[str]) -> list[str]:
    # A quoted text with a comma is no address, and neither are its parts: nothing before them is read.
    elements = [element for line in headers.getall(hdrs.FORWARDED, []) for element in line.split(",")]
    matches = [_FOR.search(element) for element in elements]
    return [_without_port(match[1] or match[2] or "") if match else "" for match in matches]


def _without_port(hop: str) -> str:
    hop = hop.strip()
    if _parsed(hop) is not None:
        return hop
    found = _WITH_PORT.fullmatch(hop)
    return "" if found is None else (found[1] or found[2])
