"""What the gateway answers over HTTP: the routes of all its parts, and what is up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from string import Template
from typing import Protocol

from aiohttp import web

from feltro.table.v1 import placement_pb2
from gateway.backends.readiness import DependencyState, Readiness
from gateway.contracts import json_codec
from gateway.http.cors import CorsPolicy
from gateway.http.documents import SECURITY_HEADERS, page_document, page_text
from gateway.http.envelope import add_trace_headers, envelope
from gateway.http.problems import PROBLEM_CONTENT_TYPE
from gateway.http.rest import BODY_BYTES_LIMIT, JSON_CONTENT_TYPE
from services.kit.settings import Environment

_LOGIN = """<section><h2>Log in</h2>
<p>This is a development platform: there are no passwords. Its issuer signs a token for whoever you want to be.</p>
<pre>.venv/bin/feltro token --scope player --subject ana</pre>
<p>And this is how to call a service with one:</p>
<pre>.venv/bin/feltro call WalletService/OpenAccount '{"player_id": "ana", "mode": "MODE_REAL"}'</pre></section>"""

ReplicaSource = Callable[[], Sequence[placement_pb2.Replica]]


class ApplicationPart(Protocol):
    """A part that answers at addresses of its own."""

    def install(self, application: web.Application) -> None: ...


def no_replicas() -> Sequence[placement_pb2.Replica]:
    """No process of any game."""
    return ()


class EdgeApplication:
    """The front: what is up answers from memory; the rest is the parts'."""

    def __init__(
        self,
        readiness: Readiness,
        environment: Environment,
        replicas: ReplicaSource = no_replicas,
        parts: Iterable[ApplicationPart] = (),
        cors: CorsPolicy | None = None,
        *,
        has_front_end: bool = False,
    ) -> None:
        """`replicas` are the processes of the games that are alive; `front_end`: a part has a page for `/`."""
        self._lookout = readiness
        self._replicas = replicas
        self._parts = list(parts)
        self._cors = cors or CorsPolicy(())
        self._front_end = has_front_end
        login = _LOGIN if environment is Environment.DEVELOPMENT else ""
        self._page = Template(page_text("status.html")).substitute(login=login, environment=environment.value)

    def build(self) -> web.Application:
        """All routes."""
        application = web.Application(middlewares=[envelope], client_max_size=BODY_BYTES_LIMIT)
        application.on_response_prepare.append(add_trace_headers)
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
        if not self._front_end:
            application.router.add_get("/", self.status_page)
        for part in self._parts:
            part.install(application)
        return application

    async def status_page(self, _: web.Request) -> web.Response:
        """For people: what is up."""
        return web.Response(text=self._page, content_type="text/html", headers=SECURITY_HEADERS)

    async def liveness(self, _: web.Request) -> web.Response:
        """For a supervisor: the process runs and answers."""
        return _json({"status": "alive"})

    async def readiness(self, _: web.Request) -> web.Response:
        """For a load balancer: wallet and bus are there, or what is missing. Games come and go: they are told, too."""
        conditions = self._lookout.states
        said = {
            "parts": [
                {"name": seen.name, "does": seen.purpose, "up": seen.is_up, "problem": seen.problem}
                for seen in conditions
            ],
            "replicas": [_told(replica) for replica in self._replicas()],
        }
        missing = [seen for seen in conditions if not seen.is_up]
        if not missing:
            return _json({"status": "ready", **said})
        problem = {"type": "about:blank", "title": "Not ready", "status": 503, "detail": _sentence(missing), **said}
        return _json(problem, status=503, content_type=PROBLEM_CONTENT_TYPE)


def _told(replica: placement_pb2.Replica) -> dict[str, object]:
    """Where it is inside is nobody's business outside."""
    return {
        "game": replica.game,
        "replica_id": replica.replica_id,
        "placements": replica.placements,
        "draining": replica.draining,
        "failing": replica.failing,
    }


def _json(said: dict[str, object], status: int = 200, content_type: str = JSON_CONTENT_TYPE) -> web.Response:
    return web.Response(body=json_codec.dumps(said), status=status, content_type=content_type, headers=SECURITY_HEADERS)


def _sentence(missing: list[DependencyState]) -> str:
    return "; ".join(f"{seen.name} {seen.problem}" for seen in missing) + "."
