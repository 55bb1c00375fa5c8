"""Eight rounds at two full tables: everybody is paid what arithmetic says, and everybody sees the same."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, timedelta
from itertools import pairwise

import pytest

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.engine.roulette import reference
from tests.service.roulette.platform import WINDOW_MS, RouletteDriver, RoulettePlatform, unpack_bets, unpack_outcome
from tests.service.roulette.play import crowded_tables
from tests.service.roulette.play.crowded_tables import ROUNDS, STARTING_CENTS, CrowdedTable
from tests.service.roulette.table_watcher import TableView

SETTLED = wallet_types.ROUND_STATE_SETTLED
ACTIVE, INVITED = session_pb2.SESSION_STATE_ACTIVE, session_pb2.SESSION_STATE_INVITED
ENDED = session_pb2.SESSION_STATE_ENDED
NoticeKind = wallet_events.SessionNoticeKind


@pytest.fixture(scope="module")
def tables(platform: RoulettePlatform) -> dict[str, CrowdedTable]:
    """The tables after all rounds, by regulation."""
    return asyncio.run(crowded_tables.play_rounds(platform))


@pytest.fixture(params=["804", "807"])
def table(request: pytest.FixtureRequest, tables: dict[str, CrowdedTable]) -> CrowdedTable:
    """The table of one regulation."""
    return tables[request.param]


def payout(table: CrowdedTable, bets: dict[str, int], round_id: str) -> int:
    """The payout of bets in a round, by arithmetic."""
    cents = reference.payout(bets, table.drawn_numbers()[round_id])
    assert cents.denominator == 1
    return cents.numerator


@pytest.mark.rule("804/2015:5", "804/2015:13", "804/2015:18", "807/2015:5", "807/2015:14", "807/2015:20")
@pytest.mark.guarantee("G1")
def test_every_balance_is_what_the_results_and_arithmetic_leave(table: CrowdedTable) -> None:
    for bot in table.bots:
        paid = sum(payout(table, bets, round_id) for round_id, bets in bot.bets.items())
        staked = sum(bot.staked(round_id) for round_id in bot.bets)
        assert table.balances[bot.seated.player_id] == (STARTING_CENTS - staked + paid, 0)
    assert sum(bool(bot.bets) for bot in table.bots) == len(table.bots)


@pytest.mark.rule("804/2015:24", "807/2015:26", "903-B/2015:6.3.6.4")
def test_every_player_finds_their_rounds_as_played(table: CrowdedTable) -> None:
    for bot in table.bots:
        history = table.history[bot.seated.player_id]
        played = [round_id for round_id in table.rounds if bot.staked(round_id)]
        assert [player_round.round.round_id for player_round in history] == played[::-1]
        after = STARTING_CENTS
        for player_round in reversed(history):
            round_id = player_round.round.round_id
            assert player_round.staked_cents == bot.staked(round_id)
            assert player_round.payout_cents == payout(table, bot.bets[round_id], round_id)
            assert player_round.balance_before_cents == after
            after = player_round.balance_after_cents
            assert after == player_round.balance_before_cents - player_round.staked_cents + player_round.payout_cents
            by_place: Counter[str] = Counter()
            for stake in player_round.stakes:
                by_place.update(unpack_bets(stake.bets))
            assert by_place == bot.bets[round_id]
            assert player_round.round.state == SETTLED
        assert after == table.balances[bot.seated.player_id][0]


@pytest.mark.rule("GLI-19 4.16", "GLI-19 2.8.2")
def test_the_clock_ends_the_betting_for_all_and_the_record_says_so(table: CrowdedTable) -> None:
    """One player has left, another is disconnected: the round is the same for all."""
    drawn = {
        event.outcome_drawn.round_id: event.outcome_drawn.draw_trigger
        for event in table.watcher.events_of("outcome_drawn")
    }
    announced = {
        event.round_opened.round.round_id: event.round_opened.round.closes_at
        for event in table.watcher.events_of("round_opened")
    }
    for round_id in table.rounds:
        assert drawn[round_id] == types_pb2.DRAW_TRIGGER_CLOCK
    for history in table.history.values():
        for player_round in history:
            assert player_round.round.draw_trigger == types_pb2.DRAW_TRIGGER_CLOCK
            closed_at = player_round.round.closed_at.ToNanoseconds()
            assert (
                announced[player_round.round.round_id].ToNanoseconds()
                <= closed_at
                <= player_round.round.drawn_at.ToNanoseconds()
            )


@pytest.mark.rule("804/2015:14", "804/2015:17", "807/2015:16", "807/2015:19", "804/2015:3.d", "807/2015:3.d")
@pytest.mark.guarantee("G6")
def test_a_round_has_its_order_and_its_phrases(table: CrowdedTable) -> None:
    for round_id in table.rounds:
        kinds = table.watcher.kinds(round_id)
        assert kinds[0] == "round_opened"
        assert kinds[-2:] == ["outcome_drawn", "round_settled"]
        # A command that came in time may be answered after the close.
        kinds.remove("betting_closed")
        assert set(kinds[1:-2]) <= {"bets_placed", "bets_cancelled"}
        opened = next(table.watcher.events_of("round_opened", round_id)).round_opened
        closed = next(table.watcher.events_of("betting_closed", round_id)).betting_closed
        assert opened.phrase.pt == "Façam as vossas apostas."
        assert closed.phrase.pt == "Jogo feito, nada mais."
        assert opened.phrase.en == "Place your bets."
        assert closed.phrase.en == "No more bets."


@pytest.mark.rule("804/2015:14", "807/2015:16", "903-B/2015:6.1.4")
def test_the_window_is_the_same_for_all_and_its_end_is_announced_at_the_start(table: CrowdedTable) -> None:
    for round_id in table.rounds:
        opened = next(table.watcher.events_of("round_opened", round_id))
        closed = next(table.watcher.events_of("betting_closed", round_id))
        closes_at = opened.round_opened.round.closes_at.ToDatetime(UTC)
        assert closes_at - opened.at.ToDatetime(UTC) == timedelta(milliseconds=WINDOW_MS)
        # How soon after it is proved by the simulation.
        assert closed.at.ToDatetime(UTC) >= closes_at
        shown = {s.round.closes_at.ToDatetime(UTC) for s in table.snapshots if s.round.round_id == round_id}
        assert shown == {closes_at}


@pytest.mark.rule("804/2015:14", "807/2015:16")
@pytest.mark.guarantee("G12")
def test_a_late_bet_is_refused_and_costs_nothing(table: CrowdedTable) -> None:
    assert len(table.late_bets) == ROUNDS
    in_session = [late for late in table.late_bets if late[1] == "BETTING_CLOSED"]
    # The session ends with the seventh round without a bet in time: from then on the player does not sit here.
    assert len(in_session) >= 6
    assert table.late_bets[: len(in_session)] == in_session
    assert {reason for _, reason, _ in table.late_bets[len(in_session) :]} <= {"NOT_SEATED"}
    for round_id, _, facts in in_session:
        assert facts["round_id"] == round_id
    assert table.balances[table.never_bets.player_id] == (STARTING_CENTS, 0)


@pytest.mark.rule("804/2015:6.e", "807/2015:6.e")
def test_the_last_numbers_are_shown_with_their_colours(table: CrowdedTable) -> None:
    last = max(table.snapshots, key=lambda snapshot: snapshot.seq)
    drawn = [
        (event.outcome_drawn.round_id, event.outcome_drawn.outcome)
        for event in table.watcher.events_of("outcome_drawn")
    ]
    shown = [(past.round_id, past.outcome) for past in last.past_outcomes]
    assert shown == [each for each in drawn[::-1] if each in shown]
    assert len(shown) >= ROUNDS - 1
    for _, outcome in shown:
        unpacked = unpack_outcome(outcome)
        assert unpacked.colour == crowded_tables.colour_of(unpacked.number)


@pytest.mark.guarantee("G7")
def test_g7_events_show_players_by_their_seats_alone(table: CrowdedTable) -> None:
    secrets = {bot.seated.player_id for bot in table.bots} | {
        seated_player.player_id for seated_player in table.inactivity_cases()
    }
    secrets |= {bot.seated.account_id for bot in table.bots}
    secrets |= {bot.seated.session_id for bot in table.bots}
    published = b"".join(table.watcher.raw_messages)
    assert [secret for secret in secrets if secret.encode() in published] == []
    seats = {bot.seated.seat for bot in table.bots}
    assert seats <= {event.bets_placed.seat for event in table.watcher.events_of("bets_placed")}


def test_events_are_numbered_without_a_gap_and_in_time(table: CrowdedTable) -> None:
    events = table.watcher.events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    moments = [event.at.ToDatetime(UTC) for event in events]
    assert moments == sorted(moments)
    assert {event.table_id for event in events} == {table.table_id}


def test_a_snapshot_and_the_events_since_give_the_next_snapshot(table: CrowdedTable) -> None:
    snapshots = sorted(table.snapshots, key=lambda snapshot: snapshot.seq)
    assert len(snapshots) > ROUNDS
    for before, after in pairwise(snapshots):
        between = [event for event in table.watcher.events if before.seq < event.seq <= after.seq]
        assert TableView.from_snapshot(before).apply(between) == TableView.from_snapshot(after)
    # From the first event on, too.
    first = TableView(types_pb2.PHASE_IDLE, "", 0)
    until_last = [event for event in table.watcher.events if event.seq <= snapshots[-1].seq]
    assert first.apply(until_last) == TableView.from_snapshot(snapshots[-1])


@pytest.mark.rule("804/2015:17", "807/2015:19")
def test_the_published_results_are_those_that_were_paid(table: CrowdedTable) -> None:
    by_seat = {bot.seated.seat: bot for bot in table.bots}
    for round_id in table.rounds:
        settled = next(table.watcher.events_of("round_settled", round_id)).round_settled
        published = {
            each.seat: (each.staked_cents, each.payout_cents) for each in settled.results if each.seat in by_seat
        }
        expected = {
            seat: (bot.staked(round_id), payout(table, bot.bets[round_id], round_id))
            for seat, bot in by_seat.items()
            if bot.staked(round_id)
        }
        assert published == expected


@pytest.mark.rule("804/2015:22", "804/2015:23", "807/2015:24", "807/2015:25")
@pytest.mark.guarantee("G9")
def test_a6_a_player_who_loses_the_connection_after_betting_is_paid(table: CrowdedTable) -> None:
    (player_round,) = table.history[table.disconnected.player_id]
    paid = payout(table, {"red": 1000, "17": 100}, player_round.round.round_id)
    assert player_round.round.state == SETTLED
    assert (player_round.staked_cents, player_round.payout_cents) == (1100, paid)
    assert table.balances[table.disconnected.player_id] == (STARTING_CENTS - 1100 + paid, 0)


@pytest.mark.guarantee("G10")
async def test_every_round_replays_to_the_same_result(driver: RouletteDriver, table: CrowdedTable) -> None:
    for round_id in table.rounds:
        replayed = await driver.roulette.replay(round_id)
        assert list(replayed.differences) == []
        paid = {stake.stake_id: stake.ledger_payout_cents for stake in replayed.stakes}
        assert paid == {stake.stake_id: stake.computed_payout_cents for stake in replayed.stakes}
        assert sum(stake.amount_cents for stake in replayed.stakes) >= sum(bot.staked(round_id) for bot in table.bots)


# -- inactivity -----------------------------------------------------------------------------------------------------


def notices(table: CrowdedTable, player_id: str) -> list[tuple[str, str]]:
    """The notices of inactivity that a player received: the kind, and the round it names."""
    return [
        (NoticeKind.Name(fact.session_notice.kind).removeprefix("SESSION_NOTICE_KIND_"), fact.session_notice.round_id)
        for fact in table.private_facts[player_id]
        if fact.WhichOneof("fact") == "session_notice"
    ]


@pytest.mark.rule("804/2015:28", "804/2015:28.b", "804/2015:29", "807/2015:30", "807/2015:30.b", "807/2015:31")
def test_a11_after_six_rounds_without_a_bet_invited_then_warned_then_ended(table: CrowdedTable) -> None:
    session = table.sessions[table.never_bets.player_id]
    assert notices(table, table.never_bets.player_id) == [("INVITATION", ""), ("WARNING", table.rounds[6])]
    assert (session.state, session.end_cause) == (ENDED, session_pb2.END_CAUSE_INACTIVITY)
    # Ended with the round of the warning, and before another one opened.
    assert [each.state for each in table.idle_sessions[6:]] == [ENDED, ENDED]
    assert any(event.seat_left.seat == table.never_bets.seat for event in table.watcher.events_of("seat_left"))


@pytest.mark.rule("804/2015:28.b", "807/2015:30.b")
def test_a11_invited_after_the_sixth_round_and_not_after_the_fifth(table: CrowdedTable) -> None:
    # Noted while the result of each round was on show: the invitation comes before the seventh round opens.
    assert [each.state for each in table.idle_sessions[:6]] == [ACTIVE] * 5 + [INVITED]
    assert [each.missed_rounds for each in table.idle_sessions[:6]] == [1, 2, 3, 4, 5, 6]


@pytest.mark.rule("804/2015:29", "807/2015:31")
def test_a11_a_bet_in_the_round_of_the_warning_keeps_the_session(table: CrowdedTable) -> None:
    player_id = table.bets_when_warned.player_id
    assert notices(table, player_id) == [("INVITATION", ""), ("WARNING", table.rounds[6]), ("WITHDRAWN", "")]
    assert table.history[player_id][0].round.round_id == table.rounds[6]
    assert table.sessions[player_id].state == ACTIVE


@pytest.mark.rule("804/2015:28.b", "807/2015:30.b")
def test_a11_a_player_who_bets_in_the_sixth_round_is_not_invited(table: CrowdedTable) -> None:
    assert notices(table, table.bets_in_sixth_round.player_id) == []
    assert table.sessions[table.bets_in_sixth_round.player_id].missed_rounds == ROUNDS - 6


@pytest.mark.rule("804/2015:26", "807/2015:28")
def test_the_end_of_a_session_comes_with_its_summary(table: CrowdedTable) -> None:
    last = table.private_facts[table.never_bets.player_id][-1]
    assert last.WhichOneof("fact") == "session_ended"
    assert last.session_ended.summary.staked_cents == 0
    assert last.session_ended.summary.net_cents == 0
