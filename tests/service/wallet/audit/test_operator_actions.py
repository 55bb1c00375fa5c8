"""The log of operators' commands: the token names the actor; intent and outcome never change."""

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


class ActionLog:
    """Calls both services in few words."""

    def __init__(self, url: str) -> None:
        self.engine = postgresql.connect(url, "test", 4)
        self.clock = ManualClock()
        self._audit, self._intake = AuditService(self.engine), AuditIntakeService(self.engine, self.clock)

    async def record_intent(
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

    async def record_outcome(self, action_id: str, who: Caller = MARIA, status: str = "OK", why: str = "") -> None:
        outcome = pb.RecordOutcomeRequest(action_id=action_id, status=status, reason=why)
        await self._intake.record_outcome(outcome, who)

    async def page(self, **asked: object) -> pb.ListOperatorActionsResponse:
        return await self._audit.list_operator_actions(pb.ListOperatorActionsRequest(**asked), MARIA)  # type: ignore[arg-type]

    async def ids(self, **asked: object) -> list[str]:
        return [action.action_id for action in (await self.page(**asked)).actions]


@pytest.fixture
async def action_log(wallet_database: WalletDatabase) -> AsyncIterator[ActionLog]:
    action_log = ActionLog(wallet_database.url)
    yield action_log
    await action_log.engine.dispose()


def timestamp(at: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(at)
    return message


@pytest.mark.rule("903-B/2015:6.3.6.7", "903-B/2015:6.3.6.6")
async def test_the_log_says_who_commanded_what_when_from_where_and_how_it_ended(action_log: ActionLog) -> None:
    action_id, started_at = await action_log.record_intent(), action_log.clock.now()
    (intended,) = (await action_log.page()).actions
    action_log.clock.advance(2)
    await action_log.record_outcome(action_id)
    (ended,) = (await action_log.page()).actions

    assert not intended.HasField("outcome")
    assert ended.action_id == action_id
    assert (ended.subject, ended.at.ToDatetime(UTC), ended.address) == ("maria@desk", started_at, "192.0.2.7")
    assert (ended.method, ended.request) == (DEPOSIT, '{"account_id":"a-1","amount_cents":"500"}')
    assert (ended.request_id, ended.trace_id) == ("deposit-1", "0af7651916cd43dd8448eb211c80319c")
    assert (ended.outcome.status, ended.outcome.reason) == ("OK", "")
    assert ended.outcome.at.ToDatetime(UTC) == started_at + timedelta(seconds=2)


async def test_a_repeated_intent_is_logged_once_and_the_first_outcome_stands(action_log: ActionLog) -> None:
    action_id = await action_log.record_intent()
    await action_log.record_intent(action_id=action_id)
    with pytest.raises(Refused) as other_content:
        await action_log.record_intent(action_id=action_id, request="{}")
    with pytest.raises(Refused) as other_person:
        await action_log.record_intent(JOSE, action_id=action_id)
    await action_log.record_outcome(action_id, status="NOT_FOUND", why="ACCOUNT_UNKNOWN")
    await action_log.record_outcome(action_id)

    assert other_content.value.reason == other_person.value.reason == "REQUEST_REUSED"
    (action,) = (await action_log.page()).actions
    assert (action.subject, action.outcome.status, action.outcome.reason) == (
        "maria@desk",
        "NOT_FOUND",
        "ACCOUNT_UNKNOWN",
    )


async def test_only_the_actor_records_the_outcome_of_a_command(action_log: ActionLog) -> None:
    action_id = await action_log.record_intent()
    await action_log.record_outcome(action_id, JOSE)
    await action_log.record_outcome(str(uuid4()), MARIA)
    (action,) = (await action_log.page()).actions
    assert not action.HasField("outcome")


async def test_the_log_is_searched_by_actor_method_object_and_time(action_log: ActionLog) -> None:
    first = await action_log.record_intent()
    action_log.clock.advance(60)
    second = await action_log.record_intent(JOSE, BLOCK, '{"account_id":"a-1","reason":"asked for it"}')
    action_log.clock.advance(60)
    third = await action_log.record_intent(
        request='{"account_id":"a-2","configuration":{"tables":[{"table_id":"french"}]}}'
    )
    second_at = action_log.clock.now() - timedelta(seconds=60)

    assert await action_log.ids() == [third, second, first]
    assert await action_log.ids(subject="maria@desk") == [third, first]
    assert await action_log.ids(method=BLOCK) == [second]
    assert await action_log.ids(object="a-1") == [second, first]
    assert await action_log.ids(object="french") == [third]
    assert await action_log.ids(since=timestamp(second_at)) == [third, second]
    assert await action_log.ids(until=timestamp(second_at)) == [first]
    assert await action_log.ids(object="a-1", subject="maria@desk", until=timestamp(second_at)) == [first]
    assert await action_log.ids(object="nobody") == []


async def test_a_malformed_search_is_refused_by_field(action_log: ActionLog) -> None:
    for field, value in (("subject", "x" * 129), ("subject", "a\0b"), ("method", "two words"), ("object", "x" * 129)):
        with pytest.raises(Refused) as refused:
            await action_log.page(**{field: value})
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": field})


async def test_the_log_is_listed_in_pages(action_log: ActionLog) -> None:
    written = [await action_log.record_intent() for _ in range(5)]
    found: list[str] = []
    token = ""
    for _ in range(3):
        page = await action_log.page(page_size=2, page_token=token)
        found += [action.action_id for action in page.actions]
        token = page.next_page_token
    assert (found, token) == (written[::-1], "")


@pytest.mark.guarantee("G11")
async def test_g11_requests_that_are_too_large_or_no_json_are_not_logged(action_log: ActionLog) -> None:
    for request in ('"' + "x" * REQUEST_CHARACTERS_LIMIT + '"', "no json", '{"reason":"\0"}', "[" * 50_000):
        with pytest.raises(Refused) as refused:
            await action_log.record_intent(request=request)
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "request"})
    for method in ("", "x" * 300, "a\0b"):
        with pytest.raises(Refused) as refused:
            await action_log.record_intent(method=method)
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "method"})
    with pytest.raises(Refused) as refused:
        await action_log.record_intent(action_id="one")
    assert refused.value.facts == {"field": "action_id"}
    assert await action_log.ids() == []


def test_the_objects_of_a_request_are_all_texts_spelled_like_ids() -> None:
    assert named_objects('{"a":{"b":["x",{"c":"y"}]},"request_id":"r","note":"two words","n":5,"t":true,"z":null}') == [
        "x",
        "y",
    ]
    assert len(named_objects(str([f"id-{number}" for number in range(1_000)]).replace("'", '"'))) == OBJECTS_LIMIT
    deep = "[" * operator_actions.DEPTH_LIMIT + '"x"' + "]" * operator_actions.DEPTH_LIMIT
    assert named_objects(deep) == ["x"]
    assert named_objects(f"[{deep}]") == []


async def test_only_operators_read_and_write_the_log(wallet_client: WalletClient) -> None:
    for metadata in (
        wallet_client.game,
        wallet_client.bearer("player", "ana"),
        wallet_client.bearer("demo", "demo-12345678"),
    ):
        for call in (
            wallet_client.audit.ListOperatorActions(pb.ListOperatorActionsRequest(), metadata=metadata),
            wallet_client.audit_intake.RecordIntent(pb.RecordIntentRequest(), metadata=metadata),
            wallet_client.audit_intake.RecordOutcome(pb.RecordOutcomeRequest(), metadata=metadata),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refusal_reason(refused.value) == "SCOPE_MISSING"


async def test_the_outcome_is_logged_after_the_token_expired(wallet_client: WalletClient) -> None:
    late = wallet_client.bearer("operator", "maria", minutes=-60)
    intent = pb.RecordIntentRequest(action_id=str(uuid4()), method=DEPOSIT, request="{}")
    await wallet_client.audit_intake.RecordIntent(intent, metadata=late)
    await wallet_client.audit_intake.RecordOutcome(
        pb.RecordOutcomeRequest(action_id=intent.action_id, status="OK"), metadata=late
    )
    listed = await wallet_client.audit.ListOperatorActions(
        pb.ListOperatorActionsRequest(), metadata=wallet_client.operator
    )
    assert [(action.subject, action.outcome.status) for action in listed.actions] == [("maria", "OK")]
