"""Calls whose answer never reaches the player: each is cancelled at a chosen point and not after a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any

import grpc


class LostAt(StrEnum):
    """The point at which a connection is lost."""

    BEFORE_SENDING = "before it is sent"
    ON_THE_WAY = "on its way"
    WHEN_IN_EFFECT = "when it has taken effect"


async def lose_call(
    call: grpc.aio.UnaryUnaryCall[Any, Any], lost_at: LostAt, in_effect: Callable[[], Awaitable[object]]
) -> None:
    """Cancels a call at a point; `in_effect` returns when the call has taken effect. Its answer is never read."""
    if lost_at is LostAt.ON_THE_WAY:
        await call.wait_for_connection()
    elif lost_at is LostAt.WHEN_IN_EFFECT:
        await in_effect()
    call.cancel()
    with suppress(grpc.aio.AioRpcError, grpc.aio.UsageError):
        await call.code()
