"""The summary of a session agrees with the ledger, whatever happened in the session."""

from __future__ import annotations

import asyncio
import random

import pytest
from sqlalchemy import text

from feltro.wallet.v1 import session_pb2, tournament_pb2, types_pb2
from services.wallet.sessions import summary as session_summary
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    ACTIVE,
    INDIVIDUAL,
    MULTI_PLAYER,
    POKER,
    InProcessWallet,
    Seat,
)
from tests.service.wallet.kills import kill_at_step


async def summary_of(wallet: InProcessWallet, seat: Seat) -> session_pb2.SessionSummary:
    return (await wallet.get_session(seat)).summary


@pytest.mark.rule("804/2015:26")
@pytest.mark.rule("807/2015:28")
@pytest.mark.rule("805/2015:33")
@pytest.mark.rule("812/2015:33")
async def test_a12_the_summary_of_sixteen_staked_and_twenty_won(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "wheel")
    first = await wallet.place(seat, "r1", 100)
    await wallet.settle("wheel", "r1", {first: 3600})
    second = await wallet.place(seat, "r2", 1500)
    await wallet.settle("wheel", "r2", {second: 0})

    summary = (await wallet.end_session(seat)).summary

    assert (summary.staked_cents, summary.payout_cents, summary.net_cents) == (1600, 3600, 2000)
    assert summary.rounds == 2


async def test_cancelled_and_returned_stakes_do_not_count_as_staked(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "wheel")
    part, whole = await wallet.place(seat, "r1", 500), await wallet.place(seat, "r1", 70)
    await wallet.cancel(seat, "r1", part, 200)
    await wallet.cancel(seat, "r1", whole)
    await wallet.settle("wheel", "r1", {part: 300})
    await wallet.place(seat, "r2", 900)
    await wallet.void("wheel", "r2")
    cancelled = await wallet.place(seat, "r3", 40)
    await wallet.cancel(seat, "r3", cancelled)
    await wallet.settle("wheel", "r3")

    summary = await summary_of(wallet, seat)

    assert (summary.staked_cents, summary.payout_cents, summary.net_cents, summary.rounds) == (300, 300, 0, 1)


async def test_several_stakes_in_a_round_count_as_one_round(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", MULTI_PLAYER)
    seat = await wallet.sit_down("ana", "wheel")
    stakes = [await wallet.place(seat, "r1", 100) for _ in range(3)]
    await wallet.settle("wheel", "r1", {stakes[0]: 3600, stakes[1]: 0, stakes[2]: 0})

    summary = await summary_of(wallet, seat)

    assert (summary.staked_cents, summary.payout_cents, summary.rounds) == (300, 3600, 1)


@pytest.mark.rule("806/2015:67")
async def test_at_a_tournament_a_session_counts_what_was_paid_in_and_got_since_the_one_before(
    wallet: InProcessWallet,
) -> None:
    """The entry is paid before the session starts; another tournament and other players do not count."""
    for tournament in ("sunday", "other"):
        await wallet.open_tournament(tournament)
    ana, rui = await wallet.open_account("ana", 20_000), await wallet.open_account("rui", 20_000)
    entry = await wallet.pay_in("sunday", ana, 1_000, 100)
    await wallet.pay_in("other", ana, 5_000)
    await wallet.pay_in("sunday", rui, 1_000, 100)
    first = await wallet.sit_down("ana", "sunday", 0)
    await wallet.pay_in("sunday", ana, 500, 50, kind=tournament_pb2.PAY_IN_KIND_REBUY)
    refund, prize, others = (
        tournament_pb2.Award(account_id=account, reason=reason, amount_cents=cents, refunded_request_id=refunded)
        for account, reason, cents, refunded in (
            (ana, tournament_pb2.AWARD_REASON_REFUND, 1_100, entry),
            (ana, tournament_pb2.AWARD_REASON_PRIZE, 700, ""),
            (rui, tournament_pb2.AWARD_REASON_PRIZE, 300, ""),
        )
    )
    await wallet.pay_out("sunday", [refund, prize, others])
    summary = await summary_of(wallet, first)
    assert (summary.staked_cents, summary.payout_cents, summary.net_cents) == (1_650, 1_800, 150)
    assert (summary.commission_cents, summary.rounds) == (0, 0)
    await wallet.end_session(first)

    await wallet.pay_in("sunday", ana, 400, 0)
    second = await wallet.sit_down("ana", "sunday", 0)
    assert (await summary_of(wallet, second)).staked_cents == 400
    ended = await summary_of(wallet, first)
    assert (ended.staked_cents, ended.payout_cents) == (1_650, 1_800)


async def test_concurrent_and_successive_sessions_have_summaries_of_their_own(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    await wallet.open_table("two", INDIVIDUAL)
    first = await wallet.sit_down("ana", "one")
    beside = Seat(
        "ana", first.account_id, "two", (await wallet.start_session(first.account_id, "two")).session.session_id
    )
    for seat, round_id, staked, won in ((first, "a", 100, 0), (beside, "b", 200, 500), (first, "c", 50, 80)):
        stake = await wallet.place(seat, round_id, staked)
        await wallet.settle(seat.table_id, round_id, {stake: won})
    ended = (await wallet.end_session(first)).summary
    later = Seat(
        "ana", first.account_id, "one", (await wallet.start_session(first.account_id, "one")).session.session_id
    )
    stake = await wallet.place(later, "d", 1000)
    await wallet.settle("one", "d", {stake: 0})

    assert (ended.staked_cents, ended.payout_cents, ended.rounds) == (150, 80, 2)
    assert await summary_of(wallet, first) == ended
    summary = await summary_of(wallet, beside)
    assert (summary.staked_cents, summary.payout_cents, summary.rounds) == (200, 500, 1)
    assert (await summary_of(wallet, later)).staked_cents == 1000


@pytest.mark.rule("903-B/2015:6.3.6.2")
async def test_the_summary_lists_deposits_and_withdrawals_during_the_session(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "wheel", 1000)
    await wallet.deposit(seat.account_id, 700)
    await wallet.withdraw(seat.account_id, 300)
    await wallet.deposit(seat.account_id, 5)
    ended = (await wallet.end_session(seat)).summary
    await wallet.deposit(seat.account_id, 9999)

    assert (ended.deposited_cents, ended.withdrawn_cents) == (705, 300)
    deposit, withdrawal = types_pb2.TRANSFER_KIND_DEPOSIT, types_pb2.TRANSFER_KIND_WITHDRAWAL
    listed = [(movement.kind, movement.amount_cents) for movement in ended.cash_movements]
    assert listed == [(deposit, 5), (withdrawal, 300), (deposit, 700)]
    assert (ended.staked_cents, ended.net_cents) == (0, 0)
    assert await summary_of(wallet, seat) == ended


async def test_the_newest_hundred_cash_movements_are_listed_and_all_are_summed(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "wheel")
    for cents in range(1, session_summary.CASH_MOVEMENTS_LIMIT + 6):
        await wallet.deposit(seat.account_id, cents)

    summary = await summary_of(wallet, seat)

    assert summary.deposited_cents == sum(range(1, 106))
    assert [movement.amount_cents for movement in summary.cash_movements] == list(range(105, 5, -1))


@pytest.mark.rule("806/2015:67")
@pytest.mark.rule("811/2015:67")
async def test_a30_poker_counts_pots_prizes_and_commission_separately(wallet: InProcessWallet) -> None:
    await wallet.open_table("felt", POKER, "806/2015")
    ana, rui = await wallet.sit_down("ana", "felt"), await wallet.sit_down("rui", "felt")
    await wallet.buy_in(ana, 1000, commission_cents=50)
    await wallet.buy_in(rui, 1000, commission_cents=50)
    await wallet.transfer_hand(
        "felt", "h1", [(ana, 200, 400), (rui, 200, 0)], [ana.session_in_round(bet=True), rui.session_in_round(bet=True)]
    )
    await wallet.transfer_hand(
        "felt", "h2", [(ana, 300, 0), (rui, 300, 600)], [ana.session_in_round(bet=True), rui.session_in_round(bet=True)]
    )
    await wallet.buy_in(ana, 100, commission_cents=5)
    assert (await wallet.end_session(ana)).session.state != ACTIVE
    await wallet.cash_out(ana)

    of_ana, of_rui = await summary_of(wallet, ana), await summary_of(wallet, rui)

    assert (of_ana.staked_cents, of_ana.payout_cents, of_ana.commission_cents) == (500, 400, 55)
    assert (of_ana.net_cents, of_ana.rounds) == (-155, 2)
    assert (of_rui.staked_cents, of_rui.payout_cents, of_rui.commission_cents, of_rui.net_cents) == (500, 600, 50, 50)


@pytest.mark.rule("806/2015:67")
async def test_a_second_session_at_a_poker_table_begins_with_nothing(wallet: InProcessWallet) -> None:
    await wallet.open_table("felt", POKER, "806/2015")
    ana, rui = await wallet.sit_down("ana", "felt"), await wallet.sit_down("rui", "felt")
    for seat in (ana, rui):
        await wallet.buy_in(seat, 1000)
    await wallet.transfer_hand("felt", "h1", [(ana, 200, 380), (rui, 200, 0)])
    await wallet.end_session(ana)
    await wallet.cash_out(ana)
    first = await summary_of(wallet, ana)
    again = await wallet.sit_down("ana", "felt", 0)
    await wallet.buy_in(again, 500)
    await wallet.transfer_hand("felt", "h2", [(again, 100, 0), (rui, 100, 190)])

    second = await summary_of(wallet, again)

    assert (second.staked_cents, second.payout_cents, second.rounds) == (100, 0, 1)
    assert (first.staked_cents, first.payout_cents, first.rounds) == (200, 380, 1)
    assert await summary_of(wallet, ana) == first


async def test_a_session_without_stakes_has_an_empty_summary(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "wheel")
    wallet.clock.advance(5)

    summary = await summary_of(wallet, seat)

    assert summary.duration_ms == 5000
    summary.ClearField("duration_ms")
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
async def test_the_summary_agrees_with_the_stakes_after_random_rounds(wallet: InProcessWallet, seed: int) -> None:
    """The summary adds up entries; the stakes are another way to the same sums."""
    generator = random.Random(seed)
    await wallet.open_table("one", MULTI_PLAYER)
    await wallet.open_table("two", MULTI_PLAYER)
    seats = [await wallet.sit_down(name, table) for name in ("ana", "rui", "eva") for table in ("one", "two")]
    for number in range(12):
        table_id, round_id = generator.choice(["one", "two"]), f"r{number}"
        open_stakes: dict[str, int] = {}
        for seat in (seat for seat in seats if seat.table_id == table_id):
            for _ in range(generator.randrange(3)):
                cents = generator.randrange(1, 500)
                stake = await wallet.place(seat, round_id, cents)
                cancelled = generator.choice([0, 0, cents, cents // 2])
                if cancelled:
                    await wallet.cancel(seat, round_id, stake, cancelled)
                if cents > cancelled:
                    open_stakes[stake] = generator.choice([0, cents - cancelled, 3 * cents])
        if generator.random() < 0.25:
            await wallet.void(table_id, round_id)
        else:
            await wallet.settle(table_id, round_id, open_stakes)

    for seat in seats:
        summary = await summary_of(wallet, seat)
        async with wallet.engine.connect() as connection:
            row = (await connection.execute(_BY_STAKES, {"session_id": seat.session_id})).one()
        assert (summary.staked_cents, summary.payout_cents, summary.rounds) == tuple(row)
        assert summary.net_cents == summary.payout_cents - summary.staked_cents


@pytest.mark.guarantee("G12")
async def test_g12_no_settlement_and_no_end_of_a_session_waits_for_a_summary(
    wallet: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A summary takes long for a long session, and settling holds the locks of the whole table."""
    await wallet.open_table("wheel", MULTI_PLAYER)
    leaving, other = await wallet.sit_down("ana", "wheel"), await wallet.sit_down("rui", "wheel")
    won = await wallet.place(leaving, "r1", 100)
    await wallet.end_session(leaving)

    async def computed_under_a_lock(*_: object) -> None:
        raise AssertionError("computed in the transaction that settles")

    with monkeypatch.context() as patch:
        patch.setattr(session_summary, "summaries", computed_under_a_lock)
        settled = await wallet.settle("wheel", "r1", {won: 3_600})
        assert list(settled.sessions.ended_session_ids) == [leaving.session_id]
        with pytest.raises(AssertionError):
            await wallet.ended_facts.publish()
    # What happens later belongs to no session that has ended.
    await wallet.deposit(leaving.account_id, 5)
    assert await wallet.fact_names("ana") == ["started", "ended"]
    told = (await wallet.player_facts("ana"))[-1].session_ended
    read = await wallet.get_session(leaving)
    assert (told.session, told.summary) == (read.session, read.summary)
    assert (told.summary.staked_cents, told.summary.payout_cents, told.summary.rounds) == (100, 3_600, 1)
    assert told.summary.deposited_cents == 0
    assert await wallet.fact_names("ana") == ["started", "ended"]
    assert await wallet.session_state(other) == ACTIVE


@pytest.mark.guarantee("G5")
async def test_g5_a_player_is_told_once_of_the_end_of_a_session_wherever_the_wallet_dies(
    wallet: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    await wallet.open_table("wheel", MULTI_PLAYER)
    for step in range(1, 40):
        seat = await wallet.sit_down(f"p{step}", "wheel")
        await wallet.end_session(seat)
        nothing = session_pb2.EndSessionRequest()
        killed = await kill_at_step(wallet, wallet_database.url, step, "publish_ended_facts", "operator", nothing)
        assert await wallet.fact_names(seat.player_id) == ["started", "ended"]
        if not killed:
            break
    else:
        raise AssertionError("the steps never ended")
    assert step > 4


async def test_two_replicas_tell_a_player_once(first_replica: InProcessWallet, second_replica: InProcessWallet) -> None:
    await first_replica.open_table("wheel", MULTI_PLAYER)
    seats = [await first_replica.sit_down(f"p{number}", "wheel") for number in range(20)]
    for seat in seats:
        await first_replica.end_session(seat)
    told = await asyncio.gather(
        *(replica.ended_facts.publish() for replica in (first_replica, second_replica) for _ in range(3))
    )
    assert sum(told) == len(seats)
    for seat in seats:
        assert await first_replica.fact_names(seat.player_id) == ["started", "ended"]
