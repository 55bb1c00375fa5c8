"""Relevant events: large amounts are recorded once, with the transfer and the limit in force; others leave no trace."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import asyncpg
import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from prometheus_client import REGISTRY

from feltro.wallet.v1 import relevant_events_pb2 as pb
from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.kit.settings import WrongSettings, load
from services.wallet.model.state import RelevantEventLimits
from services.wallet.settings import WalletSettings
from tests.processes.databases import WalletDatabase, connect_asyncpg
from tests.processes.wallet import WalletClient, refusal_reason
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
async def wallet(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url, limits=LIMITS) as opened:
        yield opened
        assert await opened.violations() == []


@pytest.fixture
async def ana(wallet: InProcessWallet) -> Seat:
    await wallet.open_table("french", MULTI_PLAYER, "807/2015")
    return await wallet.sit_down("ana", "french", TRANSFER - 1)


async def events(wallet: InProcessWallet, **fields: object) -> list[pb.RelevantEvent]:
    request = pb.ListRelevantEventsRequest(**fields)  # type: ignore[arg-type]
    return list((await wallet.relevant_event_service.list_relevant_events(request, OPERATOR)).events)


async def amounts(wallet: InProcessWallet) -> list[tuple[int, int]]:
    """Returns kind and amount of all events, oldest first."""
    return [(event.kind, event.amount_cents) for event in reversed(await events(wallet))]


def timestamp(at: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(at)
    return message


# -- prizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("paid", "recorded"), [(PRIZE - 1, 0), (PRIZE, 1), (PRIZE + 1, 1)])
async def test_a_prize_is_recorded_from_the_limit_on(
    wallet: InProcessWallet, ana: Seat, paid: int, recorded: int
) -> None:
    stake_id = await wallet.place(ana, "r1", 300)
    await wallet.settle("french", "r1", {stake_id: paid})
    assert await amounts(wallet) == [(LARGE_PRIZE, paid)] * recorded


async def test_a_prize_names_its_round_its_player_and_the_limit(wallet: InProcessWallet, ana: Seat) -> None:
    stake_id = await wallet.place(ana, "r1", 300)
    settled = await wallet.settle("french", "r1", {stake_id: PRIZE + 800})
    (event,) = await events(wallet)
    assert event.event_no > 0
    assert (event.kind, event.at.ToDatetime(UTC)) == (LARGE_PRIZE, wallet.clock.now())
    assert (event.player_id, event.account_id, event.session_id) == ("ana", ana.account_id, ana.session_id)
    assert (event.amount_cents, event.staked_cents, event.limit_cents) == (PRIZE + 800, 300, PRIZE)
    assert (event.round_id, event.table_id, event.game) == ("r1", "french", "game")
    assert (event.transfer_id, event.ordered_by, event.reference) == (settled.transfer_id, "games", "")
    assert event.request_id


async def test_all_stakes_of_a_player_in_a_round_are_one_prize(wallet: InProcessWallet, ana: Seat) -> None:
    rui, eva = [await wallet.sit_down(name, "french", 5_000) for name in ("rui", "eva")]
    first, second, third = [await wallet.place(ana, "r1", cents) for cents in (100, 200, 400)]
    cancelled = await wallet.place(ana, "r1", 50)
    await wallet.cancel(ana, "r1", cancelled)
    await wallet.cancel(ana, "r1", third, 100)
    of_rui, of_eva = [await wallet.place(seat, "r1", 500) for seat in (rui, eva)]
    paid = {first: 3_000, second: PRIZE - 3_001, third: 1, of_rui: PRIZE - 1, of_eva: PRIZE + 5}
    await wallet.settle("french", "r1", paid)
    assert {(event.player_id, event.amount_cents, event.staked_cents) for event in await events(wallet)} == {
        ("ana", PRIZE, 600),
        ("eva", PRIZE + 5, 500),
    }


async def test_payouts_of_two_rounds_and_returned_stakes_are_no_prize(wallet: InProcessWallet, ana: Seat) -> None:
    for round_id in ("r1", "r2"):
        await wallet.settle("french", round_id, {await wallet.place(ana, round_id, 100): PRIZE - 1})
    await wallet.place(ana, "r3", PRIZE)
    await wallet.void("french", "r3")
    await wallet.settle("french", "r4", {await wallet.place(ana, "r4", 100): 0})
    assert await amounts(wallet) == []


async def test_winnings_of_a_hand_are_a_prize_and_a_cave_is_no_transfer(wallet: InProcessWallet) -> None:
    await wallet.open_table("holdem", POKER, "806/2015")
    seats = [await wallet.sit_down(name, "holdem", TRANSFER - 1) for name in ("ana", "rui", "eva")]
    ana, rui, eva = seats
    for seat in seats:
        await wallet.buy_in(seat, TRANSFER - 2)
    await wallet.transfer_hand("holdem", "h1", [(ana, 5_000, PRIZE - 1), (rui, 5_000, 0)])
    await wallet.transfer_hand("holdem", "h2", [(ana, 6_000, PRIZE), (rui, 5_000, 0)])
    # A split pot: one prize for each.
    hand = await wallet.transfer_hand(
        "holdem", "h3", [(ana, 9_000, PRIZE + 4_000), (rui, 9_000, PRIZE + 3_900), (eva, 9_900, 0)]
    )
    for seat in seats:
        await wallet.cash_out(seat)
    prizes = await events(wallet, kind=LARGE_PRIZE)
    assert {(each.round_id, each.player_id, each.amount_cents, each.staked_cents) for each in prizes} == {
        ("h2", "ana", PRIZE, 6_000),
        ("h3", "ana", PRIZE + 4_000, 9_000),
        ("h3", "rui", PRIZE + 3_900, 9_000),
    }
    latest = (await wallet.relevant_events(ana.account_id))[0]
    assert (latest.transfer_id, latest.session_id, latest.table_id) == (hand.transfer_id, ana.session_id, "holdem")


# -- deposits and withdrawals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cents", "recorded"), [(TRANSFER - 1, 0), (TRANSFER, 1), (TRANSFER + 1, 1)])
async def test_deposits_and_withdrawals_are_recorded_from_the_limit_on(
    wallet: InProcessWallet, cents: int, recorded: int
) -> None:
    account_id = await wallet.open_account("ana")
    await wallet.deposit(account_id, cents)
    await wallet.withdraw(account_id, cents)
    assert await amounts(wallet) == [(LARGE_DEPOSIT, cents), (LARGE_WITHDRAWAL, cents)][: 2 * recorded]


async def test_a_transfer_names_its_caller_and_its_reference(wallet: InProcessWallet) -> None:
    account_id = await wallet.open_account("ana")
    request = wallet_pb2.DepositRequest(
        request_id="receipt-7", account_id=account_id, amount_cents=TRANSFER, reference="cashier 7"
    )
    deposited = wallet_pb2.DepositResponse.FromString(await wallet.wallet_service.deposit(request, OPERATOR))
    (event,) = await events(wallet)
    assert (event.player_id, event.account_id, event.ordered_by) == ("ana", account_id, "back-office")
    assert (event.request_id, event.reference, event.transfer_id) == ("receipt-7", "cashier 7", deposited.transfer_id)
    assert (event.limit_cents, event.staked_cents) == (TRANSFER, 0)
    assert (event.round_id, event.table_id, event.game, event.session_id) == ("", "", "", "")


async def test_demonstration_credits_make_no_events(wallet: InProcessWallet) -> None:
    await wallet.open_table("french-demo", MULTI_PLAYER, "807/2015", DEMO)
    account_id = await wallet.open_account("guest", TRANSFER, DEMO)
    refill = wallet_pb2.RefillDemoAccountRequest(request_id="refill", player_id="guest", amount_cents=3 * TRANSFER)
    await wallet.wallet_service.refill_demo_account(refill, GAME)
    started = await wallet.start_session(account_id, "french-demo")
    seat = Seat("guest", account_id, "french-demo", started.session.session_id)
    await wallet.settle("french-demo", "r1", {await wallet.place(seat, "r1", 100): PRIZE})
    listed = await wallet.wallet_service.list_transactions(
        wallet_pb2.ListTransactionsRequest(account_id=account_id), OPERATOR
    )
    assert [each.kind for each in listed.transactions if each.account_id][:1] == [types_pb2.TRANSFER_KIND_ROUND_SETTLED]
    assert await amounts(wallet) == []


# -- once, with the money, by the limit in force --------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_request_is_recorded_once_and_a_refused_one_never(
    wallet: InProcessWallet, ana: Seat
) -> None:
    stake_id = await wallet.place(ana, "r1", 300)
    settle = wallet_pb2.SettleRoundRequest(
        request_id="settle-r1",
        round=round_ref("french", "r1"),
        payouts=[wallet_pb2.StakePayout(stake_id=stake_id, payout_cents=PRIZE)],
    )
    deposit = wallet_pb2.DepositRequest(request_id="in", account_id=ana.account_id, amount_cents=TRANSFER)
    withdraw = wallet_pb2.WithdrawRequest(request_id="out", account_id=ana.account_id, amount_cents=20 * TRANSFER)
    for _ in range(3):
        await wallet.wallet_service.settle_round(settle, GAME)
        await wallet.wallet_service.deposit(deposit, OPERATOR)
        with pytest.raises(Refused) as refused:
            await wallet.wallet_service.withdraw(withdraw, OPERATOR)
        assert refused.value.reason == "INSUFFICIENT_FUNDS"
    assert await amounts(wallet) == [(LARGE_PRIZE, PRIZE), (LARGE_DEPOSIT, TRANSFER)]


async def test_an_event_keeps_the_limit_in_force(wallet_database: WalletDatabase) -> None:
    clock, found = ManualClock(), list[tuple[int, int]]()
    for limits in (
        RelevantEventLimits(transfer_cents=500),
        RelevantEventLimits(transfer_cents=900),
        RelevantEventLimits(transfer_cents=700),
    ):
        async with open_wallet(wallet_database.url, clock, limits=limits) as wallet:
            await wallet.deposit(await wallet.open_account("ana"), 800)
            found = [(event.amount_cents, event.limit_cents) for event in await events(wallet)]
    assert found == [(800, 700), (800, 500)]


@pytest.mark.guarantee("G12")
async def test_g12_a_prize_that_cannot_be_recorded_is_not_paid(
    wallet_database: WalletDatabase, wallet: InProcessWallet, ana: Seat
) -> None:
    stake_id = await wallet.place(ana, "r1", 300)
    owner = await connect_asyncpg(wallet_database.owner_url)
    try:
        await owner.execute("REVOKE INSERT ON relevant_events FROM feltro_wallet")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await wallet.settle("french", "r1", {stake_id: PRIZE})
        balance = wallet_pb2.GetBalanceRequest(account_id=ana.account_id)
        assert (await wallet.wallet_service.get_balance(balance, OPERATOR)).balance.locked_cents == 300
        await owner.execute("GRANT INSERT ON relevant_events TO feltro_wallet")
    finally:
        await owner.close()
    await wallet.settle("french", "r1", {stake_id: PRIZE})
    assert await amounts(wallet) == [(LARGE_PRIZE, PRIZE)]


async def test_amounts_below_the_limits_cost_no_statement(
    wallet: InProcessWallet, ana: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []
    fetch = asyncpg.Connection.fetch

    async def recorded_fetch(self: asyncpg.Connection[asyncpg.Record], query: str, *values: object) -> object:
        queries.append(query)
        return await fetch(self, query, *values)

    monkeypatch.setattr(asyncpg.Connection, "fetch", recorded_fetch)
    await wallet.deposit(ana.account_id, TRANSFER - 1)
    await wallet.settle("french", "r1", {await wallet.place(ana, "r1", PRIZE): PRIZE - 1})
    assert queries
    assert not [query for query in queries if "relevant_events" in query]
    await wallet.settle("french", "r2", {await wallet.place(ana, "r2", 100): PRIZE})
    assert len([query for query in queries if "relevant_events" in query]) == 1


async def test_the_metric_counts_events(wallet: InProcessWallet, ana: Seat) -> None:
    def counted() -> list[float]:
        kinds = ("large_prize", "large_deposit", "large_withdrawal")
        name = "feltro_wallet_relevant_events_total"
        return [REGISTRY.get_sample_value(name, {"kind": kind}) or 0.0 for kind in kinds]

    before = counted()
    await wallet.deposit(ana.account_id, TRANSFER)
    await wallet.withdraw(ana.account_id, TRANSFER)
    await wallet.settle("french", "r1", {await wallet.place(ana, "r1", 100): PRIZE})
    assert [now - then for then, now in zip(before, counted(), strict=True)] == [1, 1, 1]


@pytest.mark.guarantee("G3")
async def test_g3_the_database_accepts_an_event_once_and_none_below_its_limit(
    wallet_database: WalletDatabase, wallet: InProcessWallet
) -> None:
    await wallet.deposit(await wallet.open_account("ana"), TRANSFER)
    insert = (
        "INSERT INTO relevant_events (at, kind, transfer_no, account_no, amount_cents, staked_cents, limit_cents)"
        " SELECT at, kind, transfer_no + $1, account_no, amount_cents - $2, 0, limit_cents FROM relevant_events"
    )
    service = await connect_asyncpg(wallet_database.url)
    try:
        with pytest.raises(asyncpg.UniqueViolationError, match="relevant_events_noted_once"):
            await service.execute(insert, 0, 0)
        with pytest.raises(asyncpg.CheckViolationError, match="relevant_events_reach_their_limit"):
            await service.execute(insert, 1, 1)
    finally:
        await service.close()


# -- reading --------------------------------------------------------------------------------------------------------


async def test_events_are_found_by_kind_and_by_time(wallet: InProcessWallet, ana: Seat) -> None:
    moments = []
    for step in range(3):
        wallet.clock.advance(60)
        moments.append(timestamp(wallet.clock.now()))
        if step == 1:
            await wallet.settle("french", "r1", {await wallet.place(ana, "r1", 100): PRIZE})
        else:
            await wallet.deposit(ana.account_id, TRANSFER + step)
    first, second, third = reversed(await events(wallet))

    assert [first.kind, second.kind, third.kind] == [LARGE_DEPOSIT, LARGE_PRIZE, LARGE_DEPOSIT]
    assert await events(wallet, kind=LARGE_DEPOSIT) == [third, first]
    assert await events(wallet, kind=LARGE_WITHDRAWAL) == []
    assert await events(wallet, since=moments[1]) == [third, second]
    assert await events(wallet, until=moments[1]) == [first]
    assert await events(wallet, kind=LARGE_DEPOSIT, since=moments[1], until=moments[2]) == []


async def test_pages_of_events(wallet: InProcessWallet) -> None:
    account_id = await wallet.open_account("ana")
    for more in range(5):
        await wallet.deposit(account_id, TRANSFER + more)
    found: list[int] = []
    token = ""
    for _ in range(3):
        request = pb.ListRelevantEventsRequest(page_size=2, page_token=token)
        page = await wallet.relevant_event_service.list_relevant_events(request, OPERATOR)
        found += [event.amount_cents - TRANSFER for event in page.events]
        token = page.next_page_token
    assert (found, token) == ([4, 3, 2, 1, 0], "")


@pytest.mark.parametrize(
    ("fields", "invalid"),
    [
        ({"kind": 5}, "kind"),
        ({"page_size": 501}, "page_size"),
        ({"page_token": "x"}, "page_token"),
        ({"since": Timestamp(seconds=10**15)}, "since"),
        ({"until": Timestamp(seconds=10**15)}, "until"),
    ],
)
async def test_an_invalid_filter_is_refused(wallet: InProcessWallet, fields: dict[str, object], invalid: str) -> None:
    with pytest.raises(Refused) as refused:
        await events(wallet, **fields)
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": invalid})


@pytest.mark.parametrize("wallet_settings", [{"large_transfer_cents": 500}])
async def test_only_operators_read_events(wallet_client: WalletClient) -> None:
    account_id = await wallet_client.open_account("ana", 500)
    request = pb.ListRelevantEventsRequest()
    changes = session_pb2.ListInactivityPolicyChangesRequest(table_id="t")
    for metadata in (
        wallet_client.game,
        wallet_client.bearer("player", "ana"),
        wallet_client.bearer("demo", "demo-12345678"),
    ):
        for call in (
            wallet_client.relevant_events.ListRelevantEvents(request, metadata=metadata),
            wallet_client.sessions.ListInactivityPolicyChanges(changes, metadata=metadata),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refusal_reason(refused.value) == "SCOPE_MISSING"
    listed = await wallet_client.relevant_events.ListRelevantEvents(request, metadata=wallet_client.operator)
    assert [(event.account_id, event.limit_cents) for event in listed.events] == [(account_id, 500)]


# -- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["FELTRO_WALLET_LARGE_PRIZE_CENTS", "FELTRO_WALLET_LARGE_TRANSFER_CENTS"])
def test_an_invalid_limit_is_refused_with_its_variable(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FELTRO_WALLET_DATABASE_URL", "postgresql://127.0.0.1/wallet")
    monkeypatch.setenv("FELTRO_NATS_URL", "tls://127.0.0.1:4222")
    monkeypatch.setenv("FELTRO_WALLET_NATS_PASSWORD", "a-password")
    monkeypatch.setenv("FELTRO_GRPC_TLS", "off")
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", "https://issuer.example/keys")
    assert load(WalletSettings).limits == RelevantEventLimits()
    for value in ("0", "-1", "many"):
        monkeypatch.setenv(variable, value)
        with pytest.raises(WrongSettings, match=rf"^{variable} .*\(it is '{value}'\)\.$"):
            load(WalletSettings)
    monkeypatch.setenv(variable, "1")
    prize = "PRIZE" in variable
    assert load(WalletSettings).limits == (
        RelevantEventLimits(prize_cents=1) if prize else RelevantEventLimits(transfer_cents=1)
    )
