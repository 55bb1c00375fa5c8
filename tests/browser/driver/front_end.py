"""The front-end as the gateway serves it, with a live connection and an operator's site that a test brings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from gateway.http.front_end import FrontEnd
from gateway.http.front_end_settings import FrontEndSettings
from services.kit.settings import Environment
from tools import web as front_end

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def front_end_application(operator_site: str, connect: Handler, token: Handler) -> web.Application:
    """Makes the application; `token` answers where the operator says who is logged in."""
    site = {f"web_{page}_url": f"{operator_site}/{page}" for page in ("login", "token", "logout", "cashier")}
    settings = FrontEndSettings(
        environment=Environment.DEVELOPMENT,
        issuer_jwks="http://127.0.0.1/keys",
        web_folder=front_end.BUILT_WEB,
        **site,
    )
    application = web.Application()
    FrontEnd(settings).install(application)
    application.router.add_get("/v1/ws", connect)
    application.router.add_get("/operator/token", token)
    return application
