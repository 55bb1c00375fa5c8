"""What the gateway answers over HTTP."""

from __future__ import annotations

from importlib import resources
from string import Template

from aiohttp import web

from gateway.parts import Condition, Lookout
from services.kit.settings import Environment

PROBLEM = "application/problem+json"
_PAGES = resources.files("gateway") / "pages"
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_LOGIN = """<section><h2>Log in</h2>
<p>This is a development platform: there are no passwords. Its issuer signs a token for whoever you want to be.</p>
<pre>.venv/bin/feltro token --scope player --subject ana</pre>
<p>And this is how to call a service with one:</p>
<pre>.venv/bin/feltro call WalletService/OpenAccount '{"player_id": "ana", "mode": "MODE_REAL"}'</pre></section>"""


class Edge:
    """The handlers; each answers from memory."""

    def __init__(self, lookout: Lookout, environment: Environment) -> None:
        self._lookout = lookout
        login = _LOGIN if environment is Environment.DEVELOPMENT else ""
        self._page = Template(_read("index.html")).substitute(login=login, environment=environment.value)
        self._script = _read("index.js")
        self._style = _read("index.css")

    def application(self) -> web.Application:
        """The routes."""
        application = web.Application()
        application.add_routes(
            [
                web.get("/", self.page),
                web.get("/index.js", self.script),
                web.get("/index.css", self.style),
                web.get("/healthz", self.alive),
                web.get("/readyz", self.ready),
            ]
        )
        return application

    async def page(self, _: web.Request) -> web.Response:
        """For people: what is up."""
        return web.Response(text=self._page, content_type="text/html", headers=_HEADERS)

    async def script(self, _: web.Request) -> web.Response:
        """The page's script."""
        return web.Response(text=self._script, content_type="text/javascript", headers=_HEADERS)

    async def style(self, _: web.Request) -> web.Response:
        """The page's style."""
        return web.Response(text=self._style, content_type="text/css", headers=_HEADERS)

    async def alive(self, _: web.Request) -> web.Response:
        """For a supervisor: the process runs and answers."""
        return web.json_response({"status": "alive"}, headers=_HEADERS)

    async def ready(self, _: web.Request) -> web.Response:
        """For a load balancer: everything that a player needs is there, or what is missing."""
        conditions = self._lookout.conditions
        parts = [{"name": seen.name, "does": seen.does, "up": seen.up, "problem": seen.problem} for seen in conditions]
        missing = [seen for seen in conditions if not seen.up]
        if not missing:
            return web.json_response({"status": "ready", "parts": parts}, headers=_HEADERS)
        problem = {"type": "about:blank", "title": "Not ready", "status": 503, "parts": parts}
        problem["detail"] = _sentence(missing)
        return web.json_response(problem, status=503, content_type=PROBLEM, headers=_HEADERS)


def _sentence(missing: list[Condition]) -> str:
    return "; ".join(f"{seen.name} {seen.problem}" for seen in missing) + "."


def _read(name: str) -> str:
    return (_PAGES / name).read_text(encoding="utf-8")
