"""The log of operators' commands: who it was is the token's word, an intent is there before, an end after, for good."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from feltro.wallet.v1 import audit_pb2 as pb
from services.kit.access.identity import Caller
from services.kit.database import postgresql
from services.kit.refusal import Refused
from services.wallet.audit import operator_actions
from services.wallet.audit.operator_actions import OBJECTS_LIMIT, named_objects
from services.wallet.server.audit_service import REQUEST_CHARACTERS_LIMIT, AuditIntakeService, AuditService
from tests.processes.databases import WalletDatabase
from tests.processes.wallet import WalletClient, refusal_reason
from tests.service.wallet.in_process_wallet import ManualClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MARIA = Caller("maria@desk", frozenset({"operator"}), 0.0)
JOSE = Caller("jose@desk", frozenset({"operator"}), 0.0)
DEPOSIT = "feltro.wallet.v1.WalletService/Deposit"
BLOCK = "feltro.wallet.v1.WalletService/BlockAccount"


class Log:
    """Both services, spoken to in few words."""

    def __init__(self, url: str) -> None:
        self.engine = postgresql.connect(url, "test", 4)
        self.clock = ManualClock()
        self._audit, self._intake = AuditService(self.engine), AuditIntakeService(self.engine, self.clock)

    async def intend(
        self,
        who: Caller = MARIA,
        method: str = DEPOSIT,
        request: str = '{"account_id":"a-1","amount_cents":"500"}',
        action_id: str = "",
    ) -> str:
        intent = pb.RecordIntentRequest(
            action_id=action_id or str(uuid4()),
            method=method,
            request=request,
            request_id="deposit-1",
            address="192.0.2.7",
            trace_id="0af7651916cd43dd8448eb211c80319c",
        )
        await self._intake.record_intent(intent, who)
        return intent.action_id

    async def end(self, action_id: str, who: Caller = MARIA, status: str = "OK", why: str = "") -> None:
        outcome = pb.RecordOutcomeRequest(action_id=action_id, status=status, reason=why)
        await self._intake.record_outcome(outcome, who)

    async def page(self, **asked: object) -> pb.ListOperatorActionsResponse:
        return await self._audit.list_operator_actions(pb.ListOperatorActionsRequest(**asked), MARIA)  # type: ignore[arg-type]

    async def ids(self, **asked: object) -> list[str]:
        return [action.action_id for action in (await self.page(**asked)).actions]


@pytest.fixture
async def log(wallet_database: WalletDatabase) -> AsyncIterator[Log]:
    log = Log(wallet_database.url)
    yield log
    await log.engine.dispose()


def stamp(at: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(at)
    return made


@pytest.mark.rule("903-B/2015:6.3.6.7", "903-B/2015:6.3.6.6")
async def test_a_command_is_there_with_who_when_what_from_where_and_how_it_ended(log: Log) -> None:
    action_id, began = await log.intend(), log.clock.now()
    (intended,) = (await log.page()).actions
    log.clock.advance(2)
    await log.end(action_id)
    (ended,) = (await log.page()).actions

    assert not intended.HasField("outcome")
    assert ended.action_id == action_id
    assert (ended.subject, ended.at.ToDatetime(UTC), ended.address) == ("maria@desk", began, "192.0.2.7")
    assert (ended.method, ended.request) == (DEPOSIT, '{"account_id":"a-1","amount_cents":"500"}')
    assert (ended.request_id, ended.trace_id) == ("deposit-1", "0af7651916cd43dd8448eb211c80319c")
    assert (ended.outcome.status, ended.outcome.reason) == ("OK", "")
    assert ended.outcome.at.ToDatetime(UTC) == began + timedelta(seconds=2)


async def test_what_is_said_twice_is_written_once_and_the_first_word_stands(log: Log) -> None:
    action_id = await log.intend()
    await log.intend(action_id=action_id)
    with pytest.raises(Refused) as other_content:
        await log.intend(action_id=action_id, request="{}")
    with pytest.raises(Refused) as other_person:
        await log.intend(JOSE, action_id=action_id)
    await log.end(action_id, status="NOT_FOUND", why="ACCOUNT_UNKNOWN")
    await log.end(action_id)

    assert other_content.value.reason == other_person.value.reason == "REQUEST_REUSED"
    (action,) = (await log.page()).actions
    assert (action.subject, action.outcome.status, action.outcome.reason) == (
        "maria@desk",
        "NOT_FOUND",
        "ACCOUNT_UNKNOWN",
    )


async def test_nobody_says_how_another_one_s_command_ended(log: Log) -> None:
    action_id = await log.intend()
    await log.end(action_id, JOSE)
    await log.end(str(uuid4()), MARIA)
    (action,) = (await log.page()).actions
    assert not action.HasField("outcome")


async def test_the_log_is_searched_by_who_what_about_whom_and_when(log: Log) -> None:
    first = await log.intend()
    log.clock.advance(60)
    second = await log.intend(JOSE, BLOCK, '{"account_id":"a-1","reason":"asked for it"}')
    log.clock.advance(60)
    third = await log.intend(request='{"account_id":"a-2","configuration":{"tables":[{"table_id":"french"}]}}')
    then = log.clock.now() - timedelta(seconds=60)

    assert await log.ids() == [third, second, first]
    assert await log.ids(subject="maria@desk") == [third, first]
    assert await log.ids(method=BLOCK) == [second]
    assert await log.ids(object="a-1") == [second, first]
    assert await log.ids(object="french") == [third]
    assert await log.ids(since=stamp(then)) == [third, second]
    assert await log.ids(until=stamp(then)) == [first]
    assert await log.ids(object="a-1", subject="maria@desk", until=stamp(then)) == [first]
    assert await log.ids(object="nobody") == []


async def test_what_is_searched_for_has_a_form(log: Log) -> None:
    for field, said in (("subject", "x" * 129), ("subject", "a\0b"), ("method", "two words"), ("object", "x" * 129)):
        with pytest.raises(Refused) as refused:
            await log.page(**{field: said})
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": field})


async def test_pages_of_the_log(log: Log) -> None:
    written = [await log.intend() for _ in range(5)]
    found: list[str] = []
    token = ""
    for _ in range(3):
        page = await log.page(page_size=2, page_token=token)
        found += [action.action_id for action in page.actions]
        token = page.next_page_token
    assert (found, token) == (written[::-1], "")


@pytest.mark.guarantee("G11")
async def test_g11_what_is_too_large_or_no_json_is_not_written(log: Log) -> None:
    for request in ('"' + "x" * REQUEST_CHARACTERS_LIMIT + '"', "no json", '{"reason":"\0"}', "[" * 50_000):
        with pytest.raises(Refused) as refused:
            await log.intend(request=request)
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "request"})
    for said in ("", "x" * 300, "a\0b"):
        with pytest.raises(Refused) as refused:
            await log.intend(method=said)
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "method"})
    with pytest.raises(Refused) as refused:
        await log.intend(action_id="one")
    assert refused.value.facts == {"field": "action_id"}
    assert await log.ids() == []


def test_what_a_request_names() -> None:
    assert named_objects('{"a":{"b":["x",{"c":"y"}]},"request_id":"r","note":"two words","n":5,"t":true,"z":null}') == [
        "x",
        "y",
    ]
    assert len(named_objects(str([f"id-{number}" for number in range(1_000)]).replace("'", '"'))) == OBJECTS_LIMIT
    deep = "[" * operator_actions.DEPTH_LIMIT + '"x"' + "]" * operator_actions.DEPTH_LIMIT
    assert named_objects(deep) == ["x"]
    assert named_objects(f"[{deep}]") == []


async def test_only_operators_read_and_write_it(wallet: WalletClient) -> None:
    for metadata in (wallet.game, wallet.bearer("player", "ana"), wallet.bearer("demo", "demo-12345678")):
        for call in (
            wallet.audit.ListOperatorActions(pb.ListOperatorActionsRequest(), metadata=metadata),
            wallet.audit_intake.RecordIntent(pb.RecordIntentRequest(), metadata=metadata),
            wallet.audit_intake.RecordOutcome(pb.RecordOutcomeRequest(), metadata=metadata),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refusal_reason(refused.value) == "SCOPE_MISSING"


async def test_a_command_outlives_its_token_and_its_end_is_written(wallet: WalletClient) -> None:
    late = wallet.bearer("operator", "maria", minutes=-60)
    intent = pb.RecordIntentRequest(action_id=str(uuid4()), method=DEPOSIT, request="{}")
    await wallet.audit_intake.RecordIntent(intent, metadata=late)
    await wallet.audit_intake.RecordOutcome(
        pb.RecordOutcomeRequest(action_id=intent.action_id, status="OK"), metadata=late
    )
    listed = await wallet.audit.ListOperatorActions(pb.ListOperatorActionsRequest(), metadata=wallet.operator)
    assert [(action.subject, action.outcome.status) for action in listed.actions] == [("maria", "OK")]
