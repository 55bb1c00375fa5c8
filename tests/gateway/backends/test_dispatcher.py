"""What a call is answered that several games are asked about: the one that knows its table counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import grpc
import pytest
from google.protobuf.message import Message

from feltro.table.v1 import table_pb2
from gateway.access.principals import Principal
from gateway.backends import dispatcher
from gateway.backends.directory import Directory
from gateway.backends.dispatcher import CallContext, Dispatcher
from gateway.backends.trusted_addresses import ServiceAddress
from gateway.backends.upstream import Upstream
from gateway.contracts.methods import Contracts, Method
from services.kit.refusal import Refused
from services.kit.rpc.status import StatusRefused

ENTER = Contracts().by_rpc_name["TableService.EnterTable"]
REQUEST = table_pb2.EnterTableRequest(request_id="enter", table_id="just-configured")
CONTEXT = CallContext(Principal("", None))
ANSWER = b"seated"


class Games:
    """One process of each game, asked in this order; the one that has the table runs it from the n-th question on."""

    def __init__(self, runs_it_from: int) -> None:
        self.asked = 0
        self._runs_it_from = runs_it_from

    def addresses(self, method: Method, request: Message) -> Sequence[ServiceAddress]:
        del method, request
        return [ServiceAddress(f"127.0.0.1:{port}", game) for port, game in enumerate(("has-it", "other"), 1)]

    async def call(self, address: ServiceAddress, path: str, token: str, payload: bytes, traceparent: str) -> bytes:
        del path, token, payload, traceparent
        if address.service != "has-it":
            raise _refused("TABLE_UNKNOWN", grpc.StatusCode.NOT_FOUND)
        self.asked += 1
        if self.asked < self._runs_it_from:
            raise _refused("TABLE_ELSEWHERE", grpc.StatusCode.UNAVAILABLE)
        return ANSWER


def _refused(reason: str, code: grpc.StatusCode) -> Refused:
    return StatusRefused(reason, code, "Refused.")


@pytest.mark.guarantee("G9")
async def test_a_table_that_nobody_runs_yet_is_waited_for_though_other_games_do_not_know_it() -> None:
    games = Games(runs_it_from=3)
    calls = Dispatcher(cast("Directory", games), cast("Upstream", games))
    assert await calls.dispatch(ENTER, REQUEST, CONTEXT) == ANSWER
    assert games.asked == 3


async def test_a_table_that_its_game_never_runs_is_not_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "RETRY_FOR_S", 0)
    games = Games(runs_it_from=3)
    calls = Dispatcher(cast("Directory", games), cast("Upstream", games))
    with pytest.raises(Refused) as refused:
        await calls.dispatch(ENTER, REQUEST, CONTEXT)
    assert refused.value.reason == "TABLE_ELSEWHERE"


async def test_a_table_of_a_tournament_that_is_over_is_not_looked_for() -> None:
    class Over(Games):
        async def call(self, address: ServiceAddress, path: str, token: str, payload: bytes, traceparent: str) -> bytes:
            if address.service == "has-it":
                self.asked += 1
                raise _refused("TOURNAMENT_OVER", grpc.StatusCode.FAILED_PRECONDITION)
            return await super().call(address, path, token, payload, traceparent)

    games = Over(runs_it_from=0)
    calls = Dispatcher(cast("Directory", games), cast("Upstream", games))
    with pytest.raises(Refused) as refused:
        await calls.dispatch(ENTER, REQUEST, CONTEXT)
    assert (refused.value.reason, games.asked) == ("TOURNAMENT_OVER", 1)
