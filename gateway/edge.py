"""What the gateway answers over HTTP: the routes of all its parts, and what is up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from string import Template
from typing import Protocol

from aiohttp import web

from feltro.table.v1 import placement_pb2
from gateway import json_codec
from gateway.cors import Cors
from gateway.documents import HEADERS, page, text_of
from gateway.envelope import add_trace, envelope
from gateway.parts import Condition, Lookout
from gateway.problems import PROBLEM
from gateway.rest import BODY_BYTES_LIMIT, JSON
from services.kit.settings import Environment

_LOGIN = """<section><h2>Log in</h2>
<p>This is a development platform: there are no passwords. Its issuer signs a token for whoever you want to be.</p>
<pre>.venv/bin/feltro token --scope player --subject ana</pre>
<p>And this is how to call a service with one:</p>
<pre>.venv/bin/feltro call WalletService/OpenAccount '{"player_id": "ana", "mode": "MODE_REAL"}'</pre></section>"""

Replicas = Callable[[], Sequence[placement_pb2.Replica]]


class Routed(Protocol):
    """A part that answers at addresses of its own."""

    def add_routes(self, application: web.Application) -> None: ...


def nobody() -> Sequence[placement_pb2.Replica]:
    """No process of any game."""
    return ()


class Edge:
    """The front: what is up answers from memory; the rest is the parts'."""

    def __init__(
        self,
        lookout: Lookout,
        environment: Environment,
        replicas: Replicas = nobody,
        parts: Iterable[Routed] = (),
        cors: Cors | None = None,
        *,
        front_end: bool = False,
    ) -> None:
        """`replicas` are the processes of the games that are alive; `front_end`: a part has a page for `/`."""
        self._lookout = lookout
        self._replicas = replicas
        self._parts = list(parts)
        self._cors = cors or Cors(())
        self._front_end = front_end
        login = _LOGIN if environment is Environment.DEVELOPMENT else ""
        self._page = Template(text_of("status.html")).substitute(login=login, environment=environment.value)

    def application(self) -> web.Application:
        """All routes."""
        application = web.Application(middlewares=[envelope], client_max_size=BODY_BYTES_LIMIT)
        application.on_response_prepare.append(add_trace)
        self._cors.add_to(application)
        application.add_routes(
            [
                web.get("/status", self.page),
                web.get("/status.js", page("status.js").answer),
                web.get("/pages.css", page("pages.css").answer),
                web.get("/healthz", self.alive),
                web.get("/readyz", self.ready),
            ]
        )
        if not self._front_end:
            application.router.add_get("/", self.page)
        for part in self._parts:
            part.add_routes(application)
        return application

    async def page(self, _: web.Request) -> web.Response:
        """For people: what is up."""
        return web.Response(text=self._page, content_type="text/html", headers=HEADERS)

    async def alive(self, _: web.Request) -> web.Response:
        """For a supervisor: the process runs and answers."""
        return _json({"status": "alive"})

    async def ready(self, _: web.Request) -> web.Response:
        """For a load balancer: wallet and bus are there, or what is missing. Games come and go: they are told, too."""
        conditions = self._lookout.conditions
        said = {
            "parts": [
                {"name": seen.name, "does": seen.does, "up": seen.up, "problem": seen.problem} for seen in conditions
            ],
            "replicas": [_told(replica) for replica in self._replicas()],
        }
        missing = [seen for seen in conditions if not seen.up]
        if not missing:
            return _json({"status": "ready", **said})
        problem = {"type": "about:blank", "title": "Not ready", "status": 503, "detail": _sentence(missing), **said}
        return _json(problem, status=503, content_type=PROBLEM)


def _told(replica: placement_pb2.Replica) -> dict[str, object]:
    """Where it is inside is nobody's business outside."""
    return {
        "game": replica.game,
        "replica_id": replica.replica_id,
        "houses": replica.houses,
        "draining": replica.draining,
        "failing": replica.failing,
    }


def _json(said: dict[str, object], status: int = 200, content_type: str = JSON) -> web.Response:
    return web.Response(body=json_codec.dumps(said), status=status, content_type=content_type, headers=HEADERS)


def _sentence(missing: list[Condition]) -> str:
    return "; ".join(f"{seen.name} {seen.problem}" for seen in missing) + "."
