"""Relevant events: what is large is noted once, with the money and the limit that held; what is not leaves no trace."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import asyncpg
import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from prometheus_client import REGISTRY

from feltro.wallet.v1 import relevant_events_pb2 as pb
from feltro.wallet.v1 import relevant_events_pb2_grpc, session_pb2, types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.kit.settings import WrongSettings, load
from services.wallet.audit.auditor import Auditor
from services.wallet.model.state import RelevantEventLimits
from services.wallet.settings import WalletSettings
from tests.processes.databases import WalletDatabase
from tests.processes.service import CHANNEL_OPTIONS
from tests.processes.wallet import WalletProcess, refusal_reason
from tests.service.wallet.in_process_wallet import (
    DEMO,
    GAME,
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    InProcessWallet,
    ManualClock,
    Seat,
    open_wallet,
    round_ref,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.rule("903-B/2015:6.3.6.6")

PRIZE, TRANSFER = 10_000, 60_000
LIMITS = RelevantEventLimits(PRIZE, TRANSFER)
LARGE_PRIZE, LARGE_DEPOSIT, LARGE_WITHDRAWAL = (
    pb.RELEVANT_EVENT_KIND_LARGE_PRIZE,
    pb.RELEVANT_EVENT_KIND_LARGE_DEPOSIT,
    pb.RELEVANT_EVENT_KIND_LARGE_WITHDRAWAL,
)


@pytest.fixture
async def desk(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url, limits=LIMITS) as opened:
        yield opened
        told: list[str] = []
        # Nobody publishes here, so the outbox is as old as the test's clock.
        await Auditor(opened.engine, outbox_age_s=1e9).run(lambda _, sentence: told.append(sentence))
        assert told == []


@pytest.fixture
async def ana(desk: InProcessWallet) -> Seat:
    await desk.open_table("french", MULTI_PLAYER, "807/2015")
    return await desk.sit_down("ana", "french", TRANSFER - 1)


async def events(desk: InProcessWallet, **asked: object) -> list[pb.RelevantEvent]:
    request = pb.ListRelevantEventsRequest(**asked)  # type: ignore[arg-type]
    return list((await desk.relevant_service.list_relevant_events(request, OPERATOR)).events)


async def amounts(desk: InProcessWallet) -> list[tuple[int, int]]:
    """Kind and amount, oldest first."""
    return [(event.kind, event.amount_cents) for event in reversed(await events(desk))]


def stamp(at: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(at)
    return made


# -- prizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("paid", "noted"), [(PRIZE - 1, 0), (PRIZE, 1), (PRIZE + 1, 1)])
async def test_a_prize_is_noted_from_the_limit_on(desk: InProcessWallet, ana: Seat, paid: int, noted: int) -> None:
    stake_id = await desk.place(ana, "r1", 300)
    await desk.settle("french", "r1", {stake_id: paid})
    assert await amounts(desk) == [(LARGE_PRIZE, paid)] * noted


async def test_a_prize_is_told_with_its_round_its_player_and_the_limit(desk: InProcessWallet, ana: Seat) -> None:
    stake_id = await desk.place(ana, "r1", 300)
    settled = await desk.settle("french", "r1", {stake_id: PRIZE + 800})
    (event,) = await events(desk)
    assert event.event_no > 0
    assert (event.kind, event.at.ToDatetime(UTC)) == (LARGE_PRIZE, desk.clock.now())
    assert (event.player_id, event.account_id, event.session_id) == ("ana", ana.account_id, ana.session_id)
    assert (event.amount_cents, event.staked_cents, event.limit_cents) == (PRIZE + 800, 300, PRIZE)
    assert (event.round_id, event.table_id, event.game) == ("r1", "french", "game")
    assert (event.transfer_id, event.ordered_by, event.reference) == (settled.transfer_id, "games", "")
    assert event.request_id


async def test_all_stakes_of_a_player_in_a_round_are_one_prize(desk: InProcessWallet, ana: Seat) -> None:
    rui, eva = [await desk.sit_down(name, "french", 5_000) for name in ("rui", "eva")]
    first, second, third = [await desk.place(ana, "r1", cents) for cents in (100, 200, 400)]
    taken_back = await desk.place(ana, "r1", 50)
    await desk.cancel(ana, "r1", taken_back)
    await desk.cancel(ana, "r1", third, 100)
    of_rui, of_eva = [await desk.place(seat, "r1", 500) for seat in (rui, eva)]
    paid = {first: 3_000, second: PRIZE - 3_001, third: 1, of_rui: PRIZE - 1, of_eva: PRIZE + 5}
    await desk.settle("french", "r1", paid)
    assert {(event.player_id, event.amount_cents, event.staked_cents) for event in await events(desk)} == {
        ("ana", PRIZE, 600),
        ("eva", PRIZE + 5, 500),
    }


async def test_two_rounds_are_not_one_and_a_stake_that_comes_back_is_no_prize(desk: InProcessWallet, ana: Seat) -> None:
    for round_id in ("r1", "r2"):
        await desk.settle("french", round_id, {await desk.place(ana, round_id, 100): PRIZE - 1})
    await desk.place(ana, "r3", PRIZE)
    await desk.void("french", "r3")
    await desk.settle("french", "r4", {await desk.place(ana, "r4", 100): 0})
    assert await amounts(desk) == []


async def test_what_a_hand_brings_is_a_prize_and_a_cave_is_no_transfer(desk: InProcessWallet) -> None:
    await desk.open_table("holdem", POKER, "806/2015")
    seats = [await desk.sit_down(name, "holdem", TRANSFER - 1) for name in ("ana", "rui", "eva")]
    ana, rui, eva = seats
    for seat in seats:
        await desk.buy_in(seat, TRANSFER - 2)
    await desk.transfer_hand("holdem", "h1", [(ana, 5_000, PRIZE - 1), (rui, 5_000, 0)])
    await desk.transfer_hand("holdem", "h2", [(ana, 6_000, PRIZE), (rui, 5_000, 0)])
    # Split: each of them for himself.
    hand = await desk.transfer_hand(
        "holdem", "h3", [(ana, 9_000, PRIZE + 4_000), (rui, 9_000, PRIZE + 3_900), (eva, 9_900, 0)]
    )
    for seat in seats:
        await desk.cash_out(seat)
    assert {(each.round_id, each.player_id, each.amount_cents, each.staked_cents) for each in await events(desk)} == {
        ("h2", "ana", PRIZE, 6_000),
        ("h3", "ana", PRIZE + 4_000, 9_000),
        ("h3", "rui", PRIZE + 3_900, 9_000),
    }
    latest = (await desk.relevant_events(ana.account_id))[0]
    assert (latest.transfer_id, latest.session_id, latest.table_id) == (hand.transfer_id, ana.session_id, "holdem")


# -- deposits and withdrawals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cents", "noted"), [(TRANSFER - 1, 0), (TRANSFER, 1), (TRANSFER + 1, 1)])
async def test_deposits_and_withdrawals_are_noted_from_the_limit_on(
    desk: InProcessWallet, cents: int, noted: int
) -> None:
    account_id = await desk.open_account("ana")
    await desk.deposit(account_id, cents)
    await desk.withdraw(account_id, cents)
    assert await amounts(desk) == [(LARGE_DEPOSIT, cents), (LARGE_WITHDRAWAL, cents)][: 2 * noted]


async def test_a_transfer_is_told_with_who_ordered_it_and_what_for(desk: InProcessWallet) -> None:
    account_id = await desk.open_account("ana")
    request = wallet_pb2.DepositRequest(
        request_id="receipt-7", account_id=account_id, amount_cents=TRANSFER, reference="cashier 7"
    )
    made = wallet_pb2.DepositResponse.FromString(await desk.wallet.deposit(request, OPERATOR))
    (event,) = await events(desk)
    assert (event.player_id, event.account_id, event.ordered_by) == ("ana", account_id, "back-office")
    assert (event.request_id, event.reference, event.transfer_id) == ("receipt-7", "cashier 7", made.transfer_id)
    assert (event.limit_cents, event.staked_cents) == (TRANSFER, 0)
    assert (event.round_id, event.table_id, event.game, event.session_id) == ("", "", "", "")


async def test_demonstration_credits_are_no_money(desk: InProcessWallet) -> None:
    await desk.open_table("french-demo", MULTI_PLAYER, "807/2015", DEMO)
    account_id = await desk.open_account("guest", TRANSFER, DEMO)
    refill = wallet_pb2.RefillDemoAccountRequest(request_id="refill", player_id="guest", amount_cents=3 * TRANSFER)
    await desk.wallet.refill_demo_account(refill, GAME)
    started = await desk.start_session(account_id, "french-demo")
    seat = Seat("guest", account_id, "french-demo", started.session.session_id)
    await desk.settle("french-demo", "r1", {await desk.place(seat, "r1", 100): PRIZE})
    listed = await desk.wallet.list_transactions(wallet_pb2.ListTransactionsRequest(account_id=account_id), OPERATOR)
    assert [each.kind for each in listed.transactions if each.account_id][:1] == [types_pb2.TRANSFER_KIND_ROUND_SETTLED]
    assert await amounts(desk) == []


# -- once, with the money, by the limit that held --------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_request_is_noted_once_and_a_refused_one_never(desk: InProcessWallet, ana: Seat) -> None:
    stake_id = await desk.place(ana, "r1", 300)
    settle = wallet_pb2.SettleRoundRequest(
        request_id="settle-r1",
        round=round_ref("french", "r1"),
        payouts=[wallet_pb2.StakePayout(stake_id=stake_id, payout_cents=PRIZE)],
    )
    deposit = wallet_pb2.DepositRequest(request_id="in", account_id=ana.account_id, amount_cents=TRANSFER)
    withdraw = wallet_pb2.WithdrawRequest(request_id="out", account_id=ana.account_id, amount_cents=20 * TRANSFER)
    for _ in range(3):
        await desk.wallet.settle_round(settle, GAME)
        await desk.wallet.deposit(deposit, OPERATOR)
        with pytest.raises(Refused) as refused:
            await desk.wallet.withdraw(withdraw, OPERATOR)
        assert refused.value.reason == "INSUFFICIENT_FUNDS"
    assert await amounts(desk) == [(LARGE_PRIZE, PRIZE), (LARGE_DEPOSIT, TRANSFER)]


async def test_an_event_keeps_the_limit_that_held(wallet_database: WalletDatabase) -> None:
    clock, found = ManualClock(), list[tuple[int, int]]()
    for limits in (
        RelevantEventLimits(transfer_cents=500),
        RelevantEventLimits(transfer_cents=900),
        RelevantEventLimits(transfer_cents=700),
    ):
        async with open_wallet(wallet_database.url, clock, limits=limits) as desk:
            await desk.deposit(await desk.open_account("ana"), 800)
            found = [(event.amount_cents, event.limit_cents) for event in await events(desk)]
    assert found == [(800, 700), (800, 500)]


@pytest.mark.guarantee("G12")
async def test_g12_what_cannot_be_noted_is_not_paid(
    wallet_database: WalletDatabase, desk: InProcessWallet, ana: Seat
) -> None:
    stake_id = await desk.place(ana, "r1", 300)
    owner = await asyncpg.connect(wallet_database.owner_url.replace("+asyncpg", ""))
    try:
        await owner.execute("REVOKE INSERT ON relevant_events FROM feltro_wallet")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await desk.settle("french", "r1", {stake_id: PRIZE})
        balance = wallet_pb2.GetBalanceRequest(account_id=ana.account_id)
        assert (await desk.wallet.get_balance(balance, OPERATOR)).balance.locked_cents == 300
        await owner.execute("GRANT INSERT ON relevant_events TO feltro_wallet")
    finally:
        await owner.close()
    await desk.settle("french", "r1", {stake_id: PRIZE})
    assert await amounts(desk) == [(LARGE_PRIZE, PRIZE)]


async def test_what_is_below_the_limits_costs_no_statement(
    desk: InProcessWallet, ana: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    fetch = asyncpg.Connection.fetch

    async def heard(self: asyncpg.Connection[asyncpg.Record], query: str, *values: object) -> object:
        said.append(query)
        return await fetch(self, query, *values)

    monkeypatch.setattr(asyncpg.Connection, "fetch", heard)
    await desk.deposit(ana.account_id, TRANSFER - 1)
    await desk.settle("french", "r1", {await desk.place(ana, "r1", PRIZE): PRIZE - 1})
    assert said
    assert not [query for query in said if "relevant_events" in query]
    await desk.settle("french", "r2", {await desk.place(ana, "r2", 100): PRIZE})
    assert len([query for query in said if "relevant_events" in query]) == 1


async def test_the_metric_counts_them(desk: InProcessWallet, ana: Seat) -> None:
    def counted() -> list[float]:
        kinds = ("large_prize", "large_deposit", "large_withdrawal")
        name = "feltro_wallet_relevant_events_total"
        return [REGISTRY.get_sample_value(name, {"kind": kind}) or 0.0 for kind in kinds]

    before = counted()
    await desk.deposit(ana.account_id, TRANSFER)
    await desk.withdraw(ana.account_id, TRANSFER)
    await desk.settle("french", "r1", {await desk.place(ana, "r1", 100): PRIZE})
    assert [now - then for then, now in zip(before, counted(), strict=True)] == [1, 1, 1]


@pytest.mark.guarantee("G3")
async def test_g3_the_database_takes_an_event_once_and_none_below_its_limit(
    wallet_database: WalletDatabase, desk: InProcessWallet
) -> None:
    await desk.deposit(await desk.open_account("ana"), TRANSFER)
    insert = (
        "INSERT INTO relevant_events (at, kind, transfer_no, account_no, amount_cents, staked_cents, limit_cents)"
        " SELECT at, kind, transfer_no + $1, account_no, amount_cents - $2, 0, limit_cents FROM relevant_events"
    )
    service = await asyncpg.connect(wallet_database.url.replace("+asyncpg", ""))
    try:
        with pytest.raises(asyncpg.UniqueViolationError, match="relevant_events_noted_once"):
            await service.execute(insert, 0, 0)
        with pytest.raises(asyncpg.CheckViolationError, match="relevant_events_reach_their_limit"):
            await service.execute(insert, 1, 1)
    finally:
        await service.close()


# -- reading --------------------------------------------------------------------------------------------------------


async def test_they_are_found_by_kind_and_by_time(desk: InProcessWallet, ana: Seat) -> None:
    moments = []
    for step in range(3):
        desk.clock.advance(60)
        moments.append(stamp(desk.clock.now()))
        if step == 1:
            await desk.settle("french", "r1", {await desk.place(ana, "r1", 100): PRIZE})
        else:
            await desk.deposit(ana.account_id, TRANSFER + step)
    first, second, third = reversed(await events(desk))

    assert [first.kind, second.kind, third.kind] == [LARGE_DEPOSIT, LARGE_PRIZE, LARGE_DEPOSIT]
    assert await events(desk, kind=LARGE_DEPOSIT) == [third, first]
    assert await events(desk, kind=LARGE_WITHDRAWAL) == []
    assert await events(desk, since=moments[1]) == [third, second]
    assert await events(desk, until=moments[1]) == [first]
    assert await events(desk, kind=LARGE_DEPOSIT, since=moments[1], until=moments[2]) == []


async def test_pages_of_events(desk: InProcessWallet) -> None:
    account_id = await desk.open_account("ana")
    for more in range(5):
        await desk.deposit(account_id, TRANSFER + more)
    found: list[int] = []
    token = ""
    for _ in range(3):
        request = pb.ListRelevantEventsRequest(page_size=2, page_token=token)
        page = await desk.relevant_service.list_relevant_events(request, OPERATOR)
        found += [event.amount_cents - TRANSFER for event in page.events]
        token = page.next_page_token
    assert (found, token) == ([4, 3, 2, 1, 0], "")


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"kind": 4}, "kind"),
        ({"page_size": 501}, "page_size"),
        ({"page_token": "x"}, "page_token"),
        ({"since": Timestamp(seconds=10**15)}, "since"),
        ({"until": Timestamp(seconds=10**15)}, "until"),
    ],
)
async def test_what_is_asked_for_has_a_form(desk: InProcessWallet, asked: dict[str, object], field: str) -> None:
    with pytest.raises(Refused) as refused:
        await events(desk, **asked)
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": field})


async def test_only_operators_read_them(wallet_process: WalletProcess) -> None:
    wallet_process.environment["FELTRO_WALLET_LARGE_TRANSFER_CENTS"] = "500"
    wallet_process.start()
    await wallet_process.ready()
    async with (
        wallet_process.client() as wallet,
        grpc.aio.insecure_channel(wallet_process.address, options=CHANNEL_OPTIONS) as channel,
    ):
        stub: relevant_events_pb2_grpc.RelevantEventServiceAsyncStub = (
            relevant_events_pb2_grpc.RelevantEventServiceStub(channel)
        )
        sessions = wallet.sessions
        account_id = await wallet.open_account("ana", 500)
        for metadata in (wallet.game, wallet.bearer("player", "ana"), wallet.bearer("demo", "demo-12345678")):
            for call in (
                stub.ListRelevantEvents(pb.ListRelevantEventsRequest(), metadata=metadata),
                sessions.ListInactivityPolicyChanges(
                    session_pb2.ListInactivityPolicyChangesRequest(table_id="t"), metadata=metadata
                ),
            ):
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await call
                assert refusal_reason(refused.value) == "SCOPE_MISSING"
        listed = await stub.ListRelevantEvents(pb.ListRelevantEventsRequest(), metadata=wallet.operator)
    assert [(event.account_id, event.limit_cents) for event in listed.events] == [(account_id, 500)]


# -- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["FELTRO_WALLET_LARGE_PRIZE_CENTS", "FELTRO_WALLET_LARGE_TRANSFER_CENTS"])
def test_a_limit_of_nothing_is_refused_by_name(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FELTRO_WALLET_DATABASE_URL", "postgresql://127.0.0.1/wallet")
    monkeypatch.setenv("FELTRO_NATS_URL", "nats://127.0.0.1:4222")
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", "https://issuer.example/keys")
    assert load(WalletSettings).limits == RelevantEventLimits()
    for said in ("0", "-1", "many"):
        monkeypatch.setenv(variable, said)
        with pytest.raises(WrongSettings, match=rf"^{variable} .*\(it is '{said}'\)\.$"):
            load(WalletSettings)
    monkeypatch.setenv(variable, "1")
    prize = "PRIZE" in variable
    assert load(WalletSettings).limits == (
        RelevantEventLimits(prize_cents=1) if prize else RelevantEventLimits(transfer_cents=1)
    )
