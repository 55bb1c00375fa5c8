"""The gateway's HTTP application: the routes of all its parts, the status page, and the probes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from string import Template
from typing import Protocol

from aiohttp import web

from feltro.table.v1 import placement_pb2
from gateway.backends.readiness import Readiness
from gateway.http.cors import CorsPolicy
from gateway.http.documents import (
    json_response,
    page_document,
    page_text,
)
from gateway.http.envelope import add_trace_headers, envelope
from gateway.http.problems import PROBLEM_CONTENT_TYPE
from gateway.http.rest import BODY_BYTES_LIMIT
from gateway.http.security_headers import PAGE_HEADERS, SecurityHeaders
from services.kit.settings import Environment

_LOGIN = """<section><h2>Log in</h2>
<p>This is a development platform: there are no passwords. Its issuer signs a token for any name that you choose.</p>
<pre>.venv/bin/feltro token --scope player --subject ana</pre>
<p>And this is how to call a service with one:</p>
<pre>.venv/bin/feltro call WalletService/OpenAccount '{"player_id": "ana", "mode": "MODE_REAL"}'</pre></section>"""

ReplicaSource = Callable[[], Sequence[placement_pb2.Replica]]


class ApplicationPart(Protocol):
    """A part that adds its own routes or middlewares."""

    def install(self, application: web.Application) -> None: ...


def no_replicas() -> Sequence[placement_pb2.Replica]:
    """Returns no process of any game."""
    return ()


class EdgeApplication:
    """Builds the application; the status page and the probes are answered from memory."""

    def __init__(
        self,
        readiness: Readiness,
        environment: Environment,
        replicas: ReplicaSource = no_replicas,
        parts: Iterable[ApplicationPart] = (),
        cors: CorsPolicy | None = None,
        *,
        security_headers: SecurityHeaders | None = None,
        has_front_end: bool = False,
    ) -> None:
        """`replicas` are the processes of games that are alive; with `has_front_end` a part serves `/`."""
        self._readiness = readiness
        self._replicas = replicas
        self._parts = list(parts)
        self._cors = cors or CorsPolicy(())
        self._security_headers = security_headers or SecurityHeaders()
        self._has_front_end = has_front_end
        login = _LOGIN if environment is Environment.DEVELOPMENT else ""
        self._page = Template(page_text("status.html")).substitute(login=login, environment=environment.value)

    def build(self) -> web.Application:
        """Builds the application with all its routes."""
        application = web.Application(middlewares=[envelope], client_max_size=BODY_BYTES_LIMIT)
        application.on_response_prepare.append(add_trace_headers)
        self._security_headers.install(application)
        self._cors.install(application)
        application.add_routes(
            [
                web.get("/status", self.status_page),
                web.get("/status.js", page_document("status.js").answer),
                web.get("/pages.css", page_document("pages.css").answer),
                web.get("/healthz", self.liveness),
                web.get("/readyz", self.readiness),
            ]
        )
        if not self._has_front_end:
            application.router.add_get("/", self.status_page)
        for part in self._parts:
            part.install(application)
        return application

    async def status_page(self, _: web.Request) -> web.Response:
        """Answers people: what is up."""
        return web.Response(text=self._page, content_type="text/html", headers=PAGE_HEADERS)

    async def liveness(self, _: web.Request) -> web.Response:
        """Answers a supervisor: the process runs."""
        return json_response({"status": "alive"})

    async def readiness(self, _: web.Request) -> web.Response:
        """Answers a load balancer: ready if wallet and bus are up; games are listed, and come and go."""
        states = self._readiness.states
        content = {
            "dependencies": [
                {"name": state.name, "purpose": state.purpose, "up": state.is_up, "problem": state.problem}
                for state in states
            ],
            "replicas": [_replica_json(replica) for replica in self._replicas()],
        }
        missing = [state for state in states if not state.is_up]
        if not missing:
            return json_response({"status": "ready", **content})
        detail = "; ".join(f"{state.name} {state.problem}" for state in missing) + "."
        problem = {"type": "about:blank", "title": "Not ready", "status": 503, "detail": detail, **content}
        return json_response(problem, status=503, content_type=PROBLEM_CONTENT_TYPE)


def _replica_json(replica: placement_pb2.Replica) -> dict[str, object]:
    """Leaves the address out: nobody outside needs it (G7)."""
    return {
        "game": replica.game,
        "replica_id": replica.replica_id,
        "placements": replica.placements,
        "draining": replica.draining,
        "failing": replica.failing,
        "unheard": replica.unheard,
    }
