"""How services refuse calls."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass

import grpc
import pytest

from services.kit.rpc.status import error_info, status_of


@dataclass(frozen=True)
class Refusal:
    """How a service refuses a call."""

    reason: str
    facts: dict[str, str]
    domain: str = "table.feltro"
    code: grpc.StatusCode = grpc.StatusCode.UNKNOWN


async def refusal(call: Awaitable[object]) -> Refusal:
    """How a call is refused; fails if it is not."""
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    return refusal_of(refused.value)


def refusal_of(error: grpc.aio.AioRpcError) -> Refusal:
    status = status_of(error)
    info = None if status is None else error_info(status)
    if info is None:
        raise AssertionError(f"not a refusal: {error}")
    return Refusal(info.reason, dict(info.metadata), info.domain, error.code())
