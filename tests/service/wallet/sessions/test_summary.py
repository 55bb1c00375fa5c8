"""What a session came to is what the ledger says, whatever happened in it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from feltro.wallet.v1 import session_pb2, types_pb2
from services.wallet.sessions import summary as session_summary
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    ACTIVE,
    INDIVIDUAL,
    MULTI_PLAYER,
    POKER,
    InProcessWallet,
    Seat,
    open_wallet,
)


@pytest.fixture
async def desk(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as opened:
        yield opened


async def summary_of(desk: InProcessWallet, seat: Seat) -> session_pb2.SessionSummary:
    return (await desk.get_session(seat)).summary


@pytest.mark.rule("804/2015:26")
@pytest.mark.rule("807/2015:28")
@pytest.mark.rule("805/2015:33")
@pytest.mark.rule("812/2015:33")
async def test_a12_bet_sixteen_and_won_twenty(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", INDIVIDUAL)
    seat = await desk.sit_down("ana", "wheel")
    first = await desk.place(seat, "r1", 100)
    await desk.settle("wheel", "r1", {first: 3600})
    second = await desk.place(seat, "r2", 1500)
    await desk.settle("wheel", "r2", {second: 0})

    summary = (await desk.end_session(seat)).summary

    assert (summary.staked_cents, summary.won_cents, summary.net_cents) == (1600, 3600, 2000)
    assert summary.rounds == 2


async def test_what_was_taken_back_or_given_back_was_not_staked(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", INDIVIDUAL)
    seat = await desk.sit_down("ana", "wheel")
    part, whole = await desk.place(seat, "r1", 500), await desk.place(seat, "r1", 70)
    await desk.cancel(seat, "r1", part, 200)
    await desk.cancel(seat, "r1", whole)
    await desk.settle("wheel", "r1", {part: 300})
    await desk.place(seat, "r2", 900)
    await desk.void("wheel", "r2")
    taken = await desk.place(seat, "r3", 40)
    await desk.cancel(seat, "r3", taken)
    await desk.settle("wheel", "r3")

    summary = await summary_of(desk, seat)

    assert (summary.staked_cents, summary.won_cents, summary.net_cents, summary.rounds) == (300, 300, 0, 1)


async def test_several_stakes_in_a_round_are_one_round(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", MULTI_PLAYER)
    seat = await desk.sit_down("ana", "wheel")
    stakes = [await desk.place(seat, "r1", 100) for _ in range(3)]
    await desk.settle("wheel", "r1", {stakes[0]: 3600, stakes[1]: 0, stakes[2]: 0})

    summary = await summary_of(desk, seat)

    assert (summary.staked_cents, summary.won_cents, summary.rounds) == (300, 3600, 1)


async def test_sessions_at_once_and_one_after_another_are_told_apart(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    await desk.open_table("two", INDIVIDUAL)
    first = await desk.sit_down("ana", "one")
    beside = Seat(
        "ana", first.account_id, "two", (await desk.start_session(first.account_id, "two")).session.session_id
    )
    for seat, round_id, staked, won in ((first, "a", 100, 0), (beside, "b", 200, 500), (first, "c", 50, 80)):
        stake = await desk.place(seat, round_id, staked)
        await desk.settle(seat.table_id, round_id, {stake: won})
    ended = (await desk.end_session(first)).summary
    later = Seat("ana", first.account_id, "one", (await desk.start_session(first.account_id, "one")).session.session_id)
    stake = await desk.place(later, "d", 1000)
    await desk.settle("one", "d", {stake: 0})

    assert (ended.staked_cents, ended.won_cents, ended.rounds) == (150, 80, 2)
    assert await summary_of(desk, first) == ended
    summary = await summary_of(desk, beside)
    assert (summary.staked_cents, summary.won_cents, summary.rounds) == (200, 500, 1)
    assert (await summary_of(desk, later)).staked_cents == 1000


@pytest.mark.rule("903-B/2015:6.3.6.2")
async def test_deposits_and_withdrawals_during_it(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", INDIVIDUAL)
    seat = await desk.sit_down("ana", "wheel", 1000)
    await desk.deposit(seat.account_id, 700)
    await desk.withdraw(seat.account_id, 300)
    await desk.deposit(seat.account_id, 5)
    ended = (await desk.end_session(seat)).summary
    await desk.deposit(seat.account_id, 9999)

    assert (ended.deposited_cents, ended.withdrawn_cents) == (705, 300)
    deposit, withdrawal = types_pb2.TRANSFER_KIND_DEPOSIT, types_pb2.TRANSFER_KIND_WITHDRAWAL
    listed = [(movement.kind, movement.amount_cents) for movement in ended.cash_movements]
    assert listed == [(deposit, 5), (withdrawal, 300), (deposit, 700)]
    assert (ended.staked_cents, ended.net_cents) == (0, 0)
    assert await summary_of(desk, seat) == ended


async def test_the_newest_hundred_cash_movements_are_listed_and_all_are_counted(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", INDIVIDUAL)
    seat = await desk.sit_down("ana", "wheel")
    for cents in range(1, session_summary.CASH_MOVEMENTS_LIMIT + 6):
        await desk.deposit(seat.account_id, cents)

    summary = await summary_of(desk, seat)

    assert summary.deposited_cents == sum(range(1, 106))
    assert [movement.amount_cents for movement in summary.cash_movements] == list(range(105, 5, -1))


@pytest.mark.rule("806/2015:67")
@pytest.mark.rule("811/2015:67")
async def test_a30_poker_counts_pots_prizes_and_commission_apart(desk: InProcessWallet) -> None:
    await desk.open_table("felt", POKER, "806/2015")
    ana, rui = await desk.sit_down("ana", "felt"), await desk.sit_down("rui", "felt")
    await desk.buy_in(ana, 1000, commission_cents=50)
    await desk.buy_in(rui, 1000, commission_cents=50)
    await desk.transfer_hand(
        "felt", "h1", [(ana, 200, 400), (rui, 200, 0)], [ana.session_in_round(bet=True), rui.session_in_round(bet=True)]
    )
    await desk.transfer_hand(
        "felt", "h2", [(ana, 300, 0), (rui, 300, 600)], [ana.session_in_round(bet=True), rui.session_in_round(bet=True)]
    )
    await desk.buy_in(ana, 100, commission_cents=5)
    assert (await desk.end_session(ana)).session.state != ACTIVE
    await desk.cash_out(ana)

    of_ana, of_rui = await summary_of(desk, ana), await summary_of(desk, rui)

    assert (of_ana.staked_cents, of_ana.won_cents, of_ana.commission_cents) == (500, 400, 55)
    assert (of_ana.net_cents, of_ana.rounds) == (-155, 2)
    assert (of_rui.staked_cents, of_rui.won_cents, of_rui.commission_cents, of_rui.net_cents) == (500, 600, 50, 50)


@pytest.mark.rule("806/2015:67")
async def test_a_second_session_at_a_poker_table_begins_with_nothing(desk: InProcessWallet) -> None:
    await desk.open_table("felt", POKER, "806/2015")
    ana, rui = await desk.sit_down("ana", "felt"), await desk.sit_down("rui", "felt")
    for seat in (ana, rui):
        await desk.buy_in(seat, 1000)
    await desk.transfer_hand("felt", "h1", [(ana, 200, 380), (rui, 200, 0)])
    await desk.end_session(ana)
    await desk.cash_out(ana)
    first = await summary_of(desk, ana)
    again = await desk.sit_down("ana", "felt", 0)
    await desk.buy_in(again, 500)
    await desk.transfer_hand("felt", "h2", [(again, 100, 0), (rui, 100, 190)])

    second = await summary_of(desk, again)

    assert (second.staked_cents, second.won_cents, second.rounds) == (100, 0, 1)
    assert (first.staked_cents, first.won_cents, first.rounds) == (200, 380, 1)
    assert await summary_of(desk, ana) == first


async def test_no_stakes_no_hands_nothing(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", INDIVIDUAL)
    seat = await desk.sit_down("ana", "wheel")
    desk.clock.advance(5)

    summary = await summary_of(desk, seat)

    assert summary.duration.seconds == 5
    summary.ClearField("duration")
    assert summary == session_pb2.SessionSummary()


_BY_STAKES = text(
    """
    SELECT coalesce(sum(placed_cents - cancelled_cents) FILTER (WHERE state <> 4), 0)::bigint,
           coalesce(sum(payout_cents) FILTER (WHERE state = 3), 0)::bigint,
           count(DISTINCT round_no) FILTER (WHERE state = 3)
    FROM stakes JOIN sessions USING (session_no) WHERE session_id = CAST(:session_id AS uuid)
""".replace("state", "stakes.state")
)


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_happens_the_summary_is_what_the_stakes_say(desk: InProcessWallet, seed: int) -> None:
    """The summary is made of entries; the stakes are another way to the same sums."""
    chance = random.Random(seed)
    await desk.open_table("one", MULTI_PLAYER)
    await desk.open_table("two", MULTI_PLAYER)
    seats = [await desk.sit_down(name, table) for name in ("ana", "rui", "eva") for table in ("one", "two")]
    for number in range(12):
        table_id, round_id = chance.choice(["one", "two"]), f"r{number}"
        open_stakes: dict[str, int] = {}
        for seat in (seat for seat in seats if seat.table_id == table_id):
            for _ in range(chance.randrange(3)):
                cents = chance.randrange(1, 500)
                stake = await desk.place(seat, round_id, cents)
                taken = chance.choice([0, 0, cents, cents // 2])
                if taken:
                    await desk.cancel(seat, round_id, stake, taken)
                if cents > taken:
                    open_stakes[stake] = chance.choice([0, cents - taken, 3 * cents])
        if chance.random() < 0.25:
            await desk.void(table_id, round_id)
        else:
            await desk.settle(table_id, round_id, open_stakes)

    for seat in seats:
        summary = await summary_of(desk, seat)
        async with desk.engine.connect() as connection:
            row = (await connection.execute(_BY_STAKES, {"session_id": seat.session_id})).one()
        assert (summary.staked_cents, summary.won_cents, summary.rounds) == tuple(row)
        assert summary.net_cents == summary.won_cents - summary.staked_cents
