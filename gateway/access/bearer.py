"""Reads the token of an `Authorization` header: never of the address, which ends up in logs."""

from __future__ import annotations

from aiohttp import hdrs, web

from gateway.access.authenticator import Authenticator
from gateway.access.principals import Principal
from gateway.contracts import refusals
from gateway.contracts.refusals import GatewayRefused


def bearer_token(request: web.Request) -> str:
    """Returns the request's token; empty if there is none."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    if scheme and (scheme.lower() != "bearer" or not token.strip()):
        raise GatewayRefused("TOKEN_INVALID", "Send the token as `Authorization: Bearer …`.")
    return token.strip()


async def authenticated_principal(request: web.Request, authenticator: Authenticator) -> Principal:
    """Returns the principal of a request's valid token, or nobody where none was sent."""
    principal = await authenticator.authenticate(bearer_token(request))
    if not authenticator.is_unexpired(principal):
        raise refusals.token_expired()
    return principal
