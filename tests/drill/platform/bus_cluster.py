"""Three NATS servers on this machine that keep every stream together, with a bad network between any two of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from stack.servers.ephemeral import EphemeralNats, free_port
from tests.drill.fault_proxy import FaultProxy

SERVERS = 3
CLUSTER = "drill"
# Servers tell each other where the others are. Nothing listens here: the routes through the proxies are the only ones.
NOWHERE = "127.0.0.1:1"
# The end of a link that stands for all servers.
BUS = "nats"


class ClusteredNats(EphemeralNats):
    """One server of the cluster."""

    def __init__(self, home: Path, port: int, name: str, route_port: int, routes: Sequence[int]) -> None:
        """`routes` are the ports on which it reaches the other servers."""
        super().__init__(home, port)
        self.name = name
        self._route_port = route_port
        self._routes = routes

    def _content(self) -> str:
        routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in self._routes)
        # Clients are not told of the others' addresses: they come through the proxies alone.
        cluster = (
            f"server_name: {self.name}\n"
            f'cluster {{ name: {CLUSTER}, listen: "127.0.0.1:{self._route_port}", routes: [{routes}],'
            f' no_advertise: true, advertise: "{NOWHERE}" }}\n'
        )
        return cluster + super()._content()


class BusCluster:
    """The servers by number, and the proxies between them."""

    def __init__(self, home: Path) -> None:
        names = [f"{BUS}-{number}" for number in range(SERVERS)]
        listening = {name: free_port() for name in names}
        # From each to each, for either may be the one that connects.
        self._routes = {
            (one, other): FaultProxy(free_port(), listening[other]) for one, other in itertools.permutations(names, 2)
        }
        self.servers = [
            ClusteredNats(home / name, free_port(), name, listening[name], self._routes_of(name)) for name in names
        ]

    @property
    def proxies(self) -> list[FaultProxy]:
        return list(self._routes.values())

    @property
    def links(self) -> list[str]:
        """What can be hurt: what is between two servers, and all routes of one, which its clients reach as before."""
        names = [server.name for server in self.servers]
        pairs = [f"{one}–{other}" for one, other in itertools.combinations(names, 2)]
        return [*pairs, *(f"{name}–{BUS}" for name in names)]

    def between(self, one: str, other: str) -> Iterator[FaultProxy]:
        """Yields the proxies of one of these links."""
        for ends, proxy in self._routes.items():
            if one in ends and (other == BUS or other in ends):
                yield proxy

    def _routes_of(self, name: str) -> list[int]:
        return [proxy.port for (server, _), proxy in self._routes.items() if server == name]
