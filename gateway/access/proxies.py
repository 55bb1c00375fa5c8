"""Whose address a request comes from when proxies pass it on: what they say counts only where they are trusted.

Each proxy adds the address of whoever it heard the request from, so the list is read from its end: the first address
that is no proxy of ours is the client's, and everything before it may be anybody's invention.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from aiohttp import hdrs, web
from multidict import CIMultiDictProxy

# Proxies in a row; more are nobody's (G11).
HOPS_LIMIT = 16

_Address = IPv4Address | IPv6Address
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
# `for=192.0.2.1`, `For="[2001:db8::1]:4711"`: RFC 7239.
_FOR = re.compile(r'(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)', re.IGNORECASE)
_WITH_PORT = re.compile(r"\[([^\]]+)\](?::\w+)?|([^:]+)(?::\w+)?")


class TrustedProxies:
    """The networks that our own proxies are in."""

    def __init__(self, networks: Iterable[IPv4Network | IPv6Network]) -> None:
        self._networks = tuple(networks)

    def install(self, application: web.Application) -> None:
        """It has none: it tells all others who asks."""
        if self._networks:
            application.middlewares.append(self._name_client)

    def trusts(self, address: str) -> bool:
        parsed = _parsed(address)
        return parsed is not None and self._trusts(parsed)

    def client_address(self, peer: str, headers: CIMultiDictProxy[str]) -> str:
        """The address of the client: the peer's own, or what the proxies say that it is."""
        nearest = _parsed(peer)
        if nearest is None or not self._trusts(nearest):
            return peer
        told = [hops for hops in (_forwarded(headers), _x_forwarded_for(headers)) if hops]
        clients = {self._first_stranger(nearest, hops) for hops in told}
        # One header is written by our proxy, the other may be the client's own. If they differ, nobody knows which.
        return str(clients.pop()) if len(clients) == 1 else peer

    def _first_stranger(self, nearest: _Address, hops: list[str]) -> _Address:
        found = nearest
        for hop in reversed(hops[-HOPS_LIMIT:]):
            parsed = _parsed(hop)
            if parsed is None:
                # `unknown`, or a name that a proxy made up: the last one that is known answers for it.
                break
            found = parsed
            if not self._trusts(found):
                break
        return found

    def _trusts(self, address: _Address) -> bool:
        return any(address.version == network.version and address in network for network in self._networks)

    @web.middleware
    async def _name_client(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        peer = request.remote or ""
        client = self.client_address(peer, request.headers)
        return await handler(request if client == peer else request.clone(remote=client))


def parse_networks(text: str) -> list[IPv4Network | IPv6Network]:
    """Networks (CIDR) or addresses, separated by spaces; `ValueError` if one is none."""
    return [ip_network(one) for one in text.split()]


def _parsed(address: str) -> _Address | None:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed


def _x_forwarded_for(headers: CIMultiDictProxy[str]) -> list[str]:
    return [_bare(hop) for line in headers.getall(hdrs.X_FORWARDED_FOR, []) for hop in line.split(",")]


def _forwarded(headers: CIMultiDictProxy[str]) -> list[str]:
    # A quoted text with a comma in it is no address: its parts are not, either, and nothing before them is read.
    elements = [element for line in headers.getall(hdrs.FORWARDED, []) for element in line.split(",")]
    said = [_FOR.search(element) for element in elements]
    return [_bare(found[1] or found[2] or "") if found else "" for found in said]


def _bare(hop: str) -> str:
    """Without a port."""
    hop = hop.strip()
    if _parsed(hop) is not None:
        return hop
    found = _WITH_PORT.fullmatch(hop)
    return "" if found is None else (found[1] or found[2])
