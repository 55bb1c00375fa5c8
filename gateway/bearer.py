"""Whose request it is, by its `Authorization` header: never by its address, which ends up in logs."""

from __future__ import annotations

from aiohttp import hdrs, web

from gateway import refusals
from gateway.refusals import GatewayRefused
from gateway.visitors import Visitor, Visitors


def token_of(request: web.Request) -> str:
    """The token that was sent; empty if there is none."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    if scheme and (scheme.lower() != "bearer" or not token.strip()):
        raise GatewayRefused("TOKEN_INVALID", "Send the token as `Authorization: Bearer …`.")
    return token.strip()


async def visitor_of(request: web.Request, visitors: Visitors) -> Visitor:
    """One whose token holds, or nobody in particular where none was sent."""
    visitor = await visitors.let_in(token_of(request))
    if not visitors.current(visitor):
        raise refusals.token_expired()
    return visitor
