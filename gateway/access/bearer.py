"""Whose request it is, by its `Authorization` header: never by its address, which ends up in logs."""

from __future__ import annotations

from aiohttp import hdrs, web

from gateway.access.principals import Authenticator, Principal
from gateway.contracts import refusals
from gateway.contracts.refusals import GatewayRefused


def bearer_token(request: web.Request) -> str:
    """The token that was sent; empty if there is none."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    if scheme and (scheme.lower() != "bearer" or not token.strip()):
        raise GatewayRefused("TOKEN_INVALID", "Send the token as `Authorization: Bearer …`.")
    return token.strip()


async def authenticated_principal(request: web.Request, authenticator: Authenticator) -> Principal:
    """One whose token holds, or nobody in particular where none was sent."""
    visitor = await authenticator.authenticate(bearer_token(request))
    if not authenticator.is_unexpired(visitor):
        raise refusals.token_expired()
    return visitor
