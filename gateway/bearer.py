"""Whose request it is, by its `Authorization` header: never by its address, which ends up in logs."""

from __future__ import annotations

import grpc
from aiohttp import hdrs, web

from gateway.problems import Problem
from gateway.visitors import Visitor, Visitors
from services.kit.refusal import Refused


async def visitor_of(request: web.Request, visitors: Visitors) -> Visitor:
    """One whose token holds, or nobody in particular where none was sent."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    if scheme and (scheme.lower() != "bearer" or not token.strip()):
        raise _unauthenticated("TOKEN_INVALID", "Send the token as `Authorization: Bearer …`.")
    try:
        visitor = await visitors.admit(token.strip())
    except Refused as refused:
        if refused.code is not grpc.StatusCode.UNAUTHENTICATED:
            raise
        raise _unauthenticated(refused.reason, refused.sentence) from None
    if not visitors.current(visitor):
        raise _unauthenticated("TOKEN_EXPIRED", "The token has expired: get a new one.")
    return visitor


def _unauthenticated(reason: str, sentence: str) -> Problem:
    headers: dict[str, str] = {hdrs.WWW_AUTHENTICATE: 'Bearer realm="feltro", error="invalid_token"'}
    return Problem(401, sentence, reason, headers=headers)
