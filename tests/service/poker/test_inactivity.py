"""Sessions over the whole chain: absence counted in hands, a cave that is too small, and what withdraws the warning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, timedelta

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from tests.service.every_game.platform import OwnNotices
from tests.service.game_driver import SeatedPlayer
from tests.service.poker.platform import DECISION_S, FOLD, MONEY_CENTS, PokerDriver

BOTH = pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
POT, NO_LIMIT = poker_pb2.LIMIT_POT, poker_pb2.LIMIT_NO_LIMIT
INVITATION = wallet_events.SESSION_NOTICE_KIND_INVITATION
WARNING = wallet_events.SESSION_NOTICE_KIND_WARNING
WITHDRAWN = wallet_events.SESSION_NOTICE_KIND_WITHDRAWN
ACTIVE = session_pb2.SESSION_STATE_ACTIVE


async def notices_of(driver: PokerDriver, player: SeatedPlayer) -> OwnNotices:
    return await OwnNotices.of(driver, player)  # type: ignore[arg-type]  # it asks for the bus alone


async def state(driver: PokerDriver, player: SeatedPlayer) -> session_pb2.SessionState.ValueType:
    return (await driver.session(player)).session.state


async def advance_sessions(driver: PokerDriver, seconds: int) -> None:
    """Moves the clock of sessions forward."""
    request = session_pb2.AdvanceSessionClockRequest(by_ms=1000 * seconds)
    await driver.wallet.sessions.AdvanceSessionClock(request, metadata=driver.wallet.operator)


async def fold_all(
    driver: PokerDriver, players: Mapping[int, SeatedPlayer], absent: Collection[SeatedPlayer], after: str
) -> str:
    """Plays the hand after one, in which all fold: by their own word, or by the clock if they are absent."""
    table_id = players[1].table_id
    playing = await (driver.next_hand(table_id, after) if after else driver.playing(table_id))
    round_id = playing.round_id
    for _ in range(len(playing.view.seats) - 1):
        playing = await driver.playing(table_id)
        if players[playing.seat] in absent:
            await driver.poker.advance_tables(DECISION_S)
        else:
            await driver.act(players[playing.seat], playing, FOLD)
        await driver.turn_over(table_id, playing)
    await driver.ended(players[playing.view.big_blind], round_id)
    return round_id


@BOTH
@pytest.mark.rule("806/2015:45", "806/2015:70", "806/2015:70.b", "806/2015:71")
@pytest.mark.rule("811/2015:45", "811/2015:70", "811/2015:70.b", "811/2015:71")
async def test_c_30_only_hands_that_are_left_to_the_clock_count_and_a_decision_begins_anew(
    driver: PokerDriver, regulation: str
) -> None:
    """Ten play, so that eight hands pass between the blinds of each; everybody folds whenever it is their turn.

    Who has the big blind in the first hand leaves everything to the clock from the third on. Who has it in the third is
    absent from the fifth on, too, but decides once before six hands have passed. All others fold in person.
    """
    seated = await driver.begin(
        *[10_000] * 10,
        seats=10,
        regulation=regulation,
        limit=POT,
        auto_sitout_after=5,
        time_bank_s=0,
        disconnect_extra_s=0,
    )
    players = {player.seat: player for player in seated}
    big_blind = (await driver.playing(seated[0].table_id)).view.big_blind
    absent, wavering = players[big_blind], players[(big_blind + 1) % 10 + 1]
    notices = await notices_of(driver, absent)
    states, round_id = list[int](), ""
    for hand in range(1, 12):
        away = [absent] if hand >= 3 else []
        if hand >= 5 and hand != 8:
            away.append(wavering)
        round_id = await fold_all(driver, players, away, round_id)
        states.append(await state(driver, absent))
        assert {await state(driver, other) for other in seated if other != absent} == {ACTIVE}

    # Five hands without a bet are none too many; the sixth is, the next one is announced as the last, and is.
    assert states[:7] == [ACTIVE] * 7
    assert states[7] == session_pb2.SESSION_STATE_INVITED
    assert set(states[8:]) <= {session_pb2.SESSION_STATE_ENDING, session_pb2.SESSION_STATE_ENDED}
    told = [(await notices.next()) for _ in range(3)]
    assert [(each.session_notice.kind, each.session_notice.rule) for each in told[:2]] == [
        (INVITATION, f"{regulation}:70.b"),
        (WARNING, f"{regulation}:71"),
    ]
    ended = told[2].session_ended
    assert ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY
    # Won the small blind in the first hand with as much of the big one, and lost it in the second.
    assert (ended.summary.staked_cents, ended.summary.net_cents) == (100, 0)
    assert await driver.balance(absent) == MONEY_CENTS


@BOTH
@pytest.mark.rule("806/2015:70", "806/2015:70.b", "806/2015:71", "811/2015:70", "811/2015:70.b", "811/2015:71")
async def test_c_30_a_player_who_sits_out_is_invited_warned_and_ended(driver: PokerDriver, regulation: str) -> None:
    """C-30: an absent player is invited after more than five hands, warned in the next one, and gone after that."""
    players = await driver.begin(5_000, 5_000, 5_000, regulation=regulation, limit=POT)
    table_id, absent = players[0].table_id, players[2]
    notices = await notices_of(driver, absent)
    await driver.set_presence(absent, "AWAY")
    states = list[int]()
    round_id = await driver.play(players, "f f")
    await driver.ended(players[0], round_id)
    for _ in range(12):
        playing = await driver.next_hand(table_id, round_id)
        round_id = await driver.play(players, "f")
        await driver.ended(players[0], round_id)
        assert absent.seat not in {seat.seat for seat in playing.view.seats}
        states.append((await driver.session(absent)).session.state)
        if states[-1] in {session_pb2.SESSION_STATE_ENDING, session_pb2.SESSION_STATE_ENDED}:
            break
    await driver.end_result(table_id)
    ended = await driver.session_ended(absent)

    assert ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY
    assert states[:5] == [session_pb2.SESSION_STATE_ACTIVE] * 5
    told = [(await notices.next()).session_notice for _ in range(2)]
    assert [(notice.kind, notice.rule) for notice in told] == [
        (INVITATION, f"{regulation}:70.b"),
        (WARNING, f"{regulation}:71"),
    ]
    lost = ended.summary.staked_cents - ended.summary.payout_cents
    assert await driver.balance(absent) == MONEY_CENTS - lost


async def leave_short(
    driver: PokerDriver, players: Sequence[SeatedPlayer], left_cents: int
) -> tuple[SeatedPlayer, str]:
    """Has one of two players fold all but this much of a cave of 2000; returns them and the hand."""
    playing = await driver.playing(players[0].table_id)
    short = next(player for player in players if player.seat == playing.seat)
    round_id = await driver.play(players, f"r{2_000 - left_cents} r2000 f")
    await driver.ended(short, round_id)
    assert (await driver.caves(short.table_id))[short.seat] == left_cents
    return short, round_id


@BOTH
@pytest.mark.guarantee("G1")
@pytest.mark.rule("806/2015:15", "806/2015:67", "806/2015:70", "806/2015:70.a", "806/2015:71")
@pytest.mark.rule("811/2015:15", "811/2015:67", "811/2015:70", "811/2015:70.a", "811/2015:71")
async def test_c_29_who_does_not_fill_a_cave_that_is_too_small_is_invited_warned_and_ended(
    driver: PokerDriver, regulation: str
) -> None:
    players = await driver.begin(2_000, 2_000, regulation=regulation, limit=NO_LIMIT)
    all_notices = {player: await notices_of(driver, player) for player in players}
    short, _ = await leave_short(driver, players, 99)
    notices = all_notices[short]

    invitation = await notices.next()
    await advance_sessions(driver, 30)
    warning = await notices.next()
    await advance_sessions(driver, 30)
    ended = (await notices.next()).session_ended

    assert (invitation.session_notice.kind, invitation.session_notice.rule) == (INVITATION, f"{regulation}:70.a")
    assert (warning.session_notice.kind, warning.session_notice.rule) == (WARNING, f"{regulation}:71")
    assert warning.session_notice.ends_at.ToDatetime(UTC) - warning.at.ToDatetime(UTC) >= timedelta(seconds=30)
    assert ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY
    assert (ended.summary.staked_cents, ended.summary.net_cents) == (1_901, -1_901)
    # What was in the cave is the player's, and the seat is free; the other one goes on.
    assert await driver.balance(short) == MONEY_CENTS - 1_901
    await driver.wait_for(short.table_id, lambda table: len(table.caves) == 1)
    assert [await state(driver, player) for player in players if player != short] == [ACTIVE]


@BOTH
@pytest.mark.rule("806/2015:15", "806/2015:71", "811/2015:15", "811/2015:71")
@pytest.mark.parametrize("warned", [False, True])
async def test_c_29_who_fills_the_cave_in_time_plays_on(driver: PokerDriver, regulation: str, *, warned: bool) -> None:
    players = await driver.begin(2_000, 2_000, regulation=regulation, limit=NO_LIMIT)
    all_notices = {player: await notices_of(driver, player) for player in players}
    short, round_id = await leave_short(driver, players, 99)
    notices = all_notices[short]
    told = [(await notices.next()).session_notice.kind]
    if warned:
        await advance_sessions(driver, 30)
        told.append((await notices.next()).session_notice.kind)
    assert told == [INVITATION, WARNING][: len(told)]

    await driver.buy_in(short, 9_901)

    assert (await notices.next()).session_notice.kind == WITHDRAWN
    assert await state(driver, short) == ACTIVE
    following = await driver.next_hand(short.table_id, round_id)
    (seat,) = (seat for seat in following.view.seats if seat.seat == short.seat)
    assert seat.stack_cents + seat.bet_cents == 10_000


@BOTH
@pytest.mark.rule("806/2015:15", "811/2015:15")
async def test_c_29_a_cave_of_the_minimum_bet_is_dealt_in(driver: PokerDriver, regulation: str) -> None:
    players = await driver.begin(2_000, 2_000, regulation=regulation, limit=NO_LIMIT)

    short, round_id = await leave_short(driver, players, 100)

    assert await state(driver, short) == ACTIVE
    assert (await driver.standings(short.table_id))[short.seat] == "PLAYING"
    following = await driver.next_hand(short.table_id, round_id)
    (seat,) = (seat for seat in following.view.seats if seat.seat == short.seat)
    assert seat.stack_cents + seat.bet_cents == 100
