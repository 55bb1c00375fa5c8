"""Three NATS servers on this machine that keep every stream together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stack.servers.ephemeral import EphemeralNats

CLUSTER = "drill"


class ClusteredNats(EphemeralNats):
    """One server of the cluster."""

    def __init__(self, home: Path, port: int, name: str, route_port: int, all_routes: Sequence[int]) -> None:
        super().__init__(home, port)
        self._name = name
        self._route_port = route_port
        self._all_routes = all_routes

    def _content(self) -> str:
        routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in self._all_routes)
        # Clients are not told of the others' addresses: they come through the proxies alone.
        cluster = (
            f"server_name: {self._name}\n"
            f'cluster {{ name: {CLUSTER}, listen: "127.0.0.1:{self._route_port}", routes: [{routes}],'
            " no_advertise: true }\n"
        )
        return cluster + super()._content()
