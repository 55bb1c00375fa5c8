"""Two full tables for an evening: everybody is paid what arithmetic says, and everybody sees the same."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, timedelta
from itertools import pairwise

import pytest

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from tests.engine.roulette import reference
from tests.service.roulette.platform import RouletteDriver, RoulettePlatform, unpack_bets, unpack_outcome
from tests.service.roulette.play import crowded_tables as evenings
from tests.service.roulette.play.crowded_tables import CENTS, ROUNDS, CrowdedTable
from tests.service.roulette.table_watcher import TableView

# Most of a minute: eight windows of five seconds.
pytestmark = pytest.mark.slow

SETTLED = types_pb2.ROUND_STATE_SETTLED


@pytest.fixture(scope="module")
def evening(platform: RoulettePlatform) -> dict[str, CrowdedTable]:
    """Played once; once more with more time where the machine was too busy for it."""
    late: list[str] = []
    for window_ms in evenings.WINDOWS_MS:
        try:
            return asyncio.run(evenings.play_rounds(platform, window_ms))
        except evenings.BetMissed as said:
            late.append(str(said))
    pytest.fail(f"no evening went as it was to go: {late}")


@pytest.fixture(params=["804", "807"])
def table(request: pytest.FixtureRequest, evening: dict[str, CrowdedTable]) -> CrowdedTable:
    """One of its two tables."""
    return evening[request.param]


def payout(table: CrowdedTable, bets: dict[str, int], round_id: str) -> int:
    """What a bot's bets come to, by arithmetic."""
    exactly = reference.payout(bets, table.drawn_numbers()[round_id])
    assert exactly.denominator == 1
    return exactly.numerator


@pytest.mark.rule("804/2015:5", "804/2015:13", "804/2015:18", "807/2015:5", "807/2015:14", "807/2015:20")
@pytest.mark.guarantee("G1")
def test_everybody_has_what_one_result_and_arithmetic_leave_him(table: CrowdedTable) -> None:
    for player in table.players:
        came_back = sum(payout(table, bets, round_id) for round_id, bets in player.bets.items())
        staked = sum(player.staked(round_id) for round_id in player.bets)
        assert table.balances[player.seated.player_id] == (CENTS - staked + came_back, 0)
    assert sum(bool(player.bets) for player in table.players) == len(table.players)


@pytest.mark.rule("804/2015:24", "807/2015:26", "903-B/2015:6.3.6.4")
def test_everybody_finds_his_rounds_as_he_played_them(table: CrowdedTable) -> None:
    for player in table.players:
        found = table.history[player.seated.player_id]
        mine = [round_id for round_id in table.rounds if player.staked(round_id)]
        assert [lived.round.round_id for lived in found] == mine[::-1]
        after = CENTS
        for lived in reversed(found):
            round_id = lived.round.round_id
            assert lived.staked_cents == player.staked(round_id)
            assert lived.payout_cents == payout(table, player.bets[round_id], round_id)
            assert lived.balance_before_cents == after
            after = lived.balance_after_cents
            assert after == lived.balance_before_cents - lived.staked_cents + lived.payout_cents
            by_place: Counter[str] = Counter()
            for stake in lived.stakes:
                by_place.update(unpack_bets(stake.bets))
            assert by_place == player.bets[round_id]
            assert lived.round.state == SETTLED
        assert after == table.balances[player.seated.player_id][0]


@pytest.mark.rule("GLI-19 4.16", "GLI-19 2.8.2")
def test_the_clock_decides_for_everybody_and_the_record_says_so(table: CrowdedTable) -> None:
    """Somebody has left, somebody has lost his line: the round is the same for all."""
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
    for found in table.history.values():
        for lived in found:
            assert lived.round.draw_trigger == types_pb2.DRAW_TRIGGER_CLOCK
            closed_at = lived.round.closed_at.ToNanoseconds()
            assert announced[lived.round.round_id].ToNanoseconds() <= closed_at <= lived.round.drawn_at.ToNanoseconds()


@pytest.mark.rule("804/2015:14", "804/2015:17", "807/2015:16", "807/2015:19", "804/2015:3.d", "807/2015:3.d")
@pytest.mark.guarantee("G6")
def test_a_round_has_its_order_and_its_words(table: CrowdedTable) -> None:
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
def test_the_window_is_the_same_for_all_and_its_end_is_known_from_the_start(table: CrowdedTable) -> None:
    for round_id in table.rounds:
        opened = next(table.watcher.events_of("round_opened", round_id))
        closed = next(table.watcher.events_of("betting_closed", round_id))
        closes_at = opened.round_opened.round.closes_at.ToDatetime(UTC)
        assert closes_at - opened.at.ToDatetime(UTC) >= timedelta(seconds=2.99)
        # And how soon after it, on a machine with nothing else to do, the simulation says.
        assert closed.at.ToDatetime(UTC) >= closes_at
        shown = {s.round.closes_at.ToDatetime(UTC) for s in table.snapshots if s.round.round_id == round_id}
        assert shown == {closes_at}


@pytest.mark.rule("804/2015:14", "807/2015:16")
@pytest.mark.guarantee("G12")
def test_a_late_bet_is_refused_and_costs_nothing(table: CrowdedTable) -> None:
    assert len(table.late_bets) == ROUNDS
    for round_id, reason, said in table.late_bets:
        assert reason == "BETTING_CLOSED"
        assert said["round_id"] == round_id
    assert table.balances[table.never_bets.player_id] == (CENTS, 0)


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
        read = unpack_outcome(outcome)
        assert read.colour == evenings.colour_of(read.number)


@pytest.mark.guarantee("G7")
def test_others_are_known_by_their_seats_alone(table: CrowdedTable) -> None:
    secrets = {player.seated.player_id for player in table.players} | {
        seated_player.player_id for seated_player in table.inactivity_cases()
    }
    secrets |= {player.seated.account_id for player in table.players}
    secrets |= {player.seated.session_id for player in table.players}
    said = b"".join(table.watcher.raw_messages)
    assert [secret for secret in secrets if secret.encode() in said] == []
    seats = {player.seated.seat for player in table.players}
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
    # From the very first word on, too.
    first = TableView(types_pb2.PHASE_IDLE, "", 0)
    until_last = [event for event in table.watcher.events if event.seq <= snapshots[-1].seq]
    assert first.apply(until_last) == TableView.from_snapshot(snapshots[-1])


@pytest.mark.rule("804/2015:17", "807/2015:19")
def test_the_results_told_are_those_that_were_paid(table: CrowdedTable) -> None:
    by_seat = {player.seated.seat: player for player in table.players}
    for round_id in table.rounds:
        settled = next(table.watcher.events_of("round_settled", round_id)).round_settled
        told = {each.seat: (each.staked_cents, each.payout_cents) for each in settled.results if each.seat in by_seat}
        expected = {
            seat: (player.staked(round_id), payout(table, player.bets[round_id], round_id))
            for seat, player in by_seat.items()
            if player.staked(round_id)
        }
        assert told == expected


@pytest.mark.rule("804/2015:22", "804/2015:23", "807/2015:24", "807/2015:25")
@pytest.mark.guarantee("G9")
def test_a6_who_loses_his_connection_after_betting_is_paid_all_the_same(table: CrowdedTable) -> None:
    assert table.disconnected is not None
    (lived,) = table.history[table.disconnected.player_id]
    came_back = payout(table, {"red": 1000, "17": 100}, lived.round.round_id)
    assert lived.round.state == SETTLED
    assert (lived.staked_cents, lived.payout_cents) == (1100, came_back)
    assert table.balances[table.disconnected.player_id] == (CENTS - 1100 + came_back, 0)


@pytest.mark.guarantee("G10")
async def test_every_round_comes_to_the_same_when_it_is_computed_again(
    driver: RouletteDriver, table: CrowdedTable
) -> None:
    for round_id in table.rounds:
        replayed = await driver.roulette.replay(round_id)
        assert list(replayed.differences) == []
        paid = {stake.stake_id: stake.ledger_payout_cents for stake in replayed.stakes}
        assert paid == {stake.stake_id: stake.computed_payout_cents for stake in replayed.stakes}
        assert sum(stake.amount_cents for stake in replayed.stakes) >= sum(
            player.staked(round_id) for player in table.players
        )


# -- inactivity -----------------------------------------------------------------------------------------------------


def notices(table: CrowdedTable, player_id: str) -> list[tuple[str, str]]:
    """What a player was told about his inactivity: which notice, and of which round."""
    told = [
        fact.session_notice for fact in table.private_facts[player_id] if fact.WhichOneof("fact") == "session_notice"
    ]
    return [
        (wallet_events.SessionNoticeKind.Name(each.kind).removeprefix("SESSION_NOTICE_KIND_"), each.round_id)
        for each in told
    ]


@pytest.mark.rule("804/2015:28", "804/2015:28.b", "804/2015:29", "807/2015:30", "807/2015:30.b", "807/2015:31")
def test_a11_after_six_rounds_without_a_bet_invited_then_warned_then_ended(table: CrowdedTable) -> None:
    session = table.sessions[table.never_bets.player_id]
    assert notices(table, table.never_bets.player_id) == [("INVITATION", ""), ("WARNING", table.rounds[6])]
    assert (session.state, session.end_cause) == (session_pb2.SESSION_STATE_ENDED, session_pb2.END_CAUSE_INACTIVITY)
    ended_at = session.ended_at.ToDatetime(UTC)
    seventh_drawn = next(table.watcher.events_of("outcome_drawn", table.rounds[6])).at.ToDatetime(UTC)
    eighth_opened = next(table.watcher.events_of("round_opened", table.rounds[7])).at.ToDatetime(UTC)
    assert seventh_drawn <= ended_at <= eighth_opened
    assert any(event.seat_left.seat == table.never_bets.seat for event in table.watcher.events_of("seat_left"))


@pytest.mark.rule("804/2015:28.b", "807/2015:30.b")
def test_a11_invited_after_the_sixth_round_and_not_after_the_fifth(table: CrowdedTable) -> None:
    (invited,) = [
        fact.at.ToDatetime(UTC)
        for fact in table.private_facts[table.never_bets.player_id]
        if fact.session_notice.kind == wallet_events.SESSION_NOTICE_KIND_INVITATION
    ]
    sixth_closed = next(table.watcher.events_of("betting_closed", table.rounds[5])).at.ToDatetime(UTC)
    seventh_opened = next(table.watcher.events_of("round_opened", table.rounds[6])).at.ToDatetime(UTC)
    assert sixth_closed < invited <= seventh_opened


@pytest.mark.rule("804/2015:29", "807/2015:31")
def test_a11_a_bet_in_the_round_of_the_warning_keeps_the_session(table: CrowdedTable) -> None:
    invitation, (warning, round_id), withdrawn = notices(table, table.bets_when_warned.player_id)
    assert (invitation, warning, withdrawn) == (("INVITATION", ""), "WARNING", ("WITHDRAWN", ""))
    # He sat down a moment after the first player: perhaps the first round was open already, and he had not missed it.
    assert round_id in table.rounds[6:8]
    assert table.history[table.bets_when_warned.player_id][0].round.round_id == round_id
    assert table.sessions[table.bets_when_warned.player_id].state == session_pb2.SESSION_STATE_ACTIVE


@pytest.mark.rule("804/2015:28.b", "807/2015:30.b")
def test_who_bets_in_the_sixth_round_is_not_invited(table: CrowdedTable) -> None:
    assert notices(table, table.bets_in_sixth_round.player_id) == []
    assert table.sessions[table.bets_in_sixth_round.player_id].missed_rounds in {ROUNDS - 6, ROUNDS - 7}


@pytest.mark.rule("804/2015:26", "807/2015:28")
def test_at_its_end_the_session_is_summed_up(table: CrowdedTable) -> None:
    last = table.private_facts[table.never_bets.player_id][-1]
    assert last.WhichOneof("fact") == "session_ended"
    assert last.session_ended.summary.staked_cents == 0
    assert last.session_ended.summary.net_cents == 0
