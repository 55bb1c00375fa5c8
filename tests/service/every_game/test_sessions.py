"""Sessions: who begins and ends them, invitations and warnings by the numbers of each regulation, and the summary."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest

from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from tests.service.every_game.platform import (
    CENTS,
    INDIVIDUAL,
    STAKE_CENTS,
    OwnNotices,
    PlayedGame,
    Player,
    advance_sessions,
    balance,
    leave,
    rounds,
    session,
    watch,
)

INVITATION = wallet_events.SESSION_NOTICE_KIND_INVITATION
WARNING = wallet_events.SESSION_NOTICE_KIND_WARNING
WITHDRAWN = wallet_events.SESSION_NOTICE_KIND_WITHDRAWN


async def state(game: PlayedGame, player: Player) -> session_pb2.SessionState.ValueType:
    return (await session(game, player)).session.state


@pytest.mark.rule("805/2015:33", "805/2015:35", "805/2015:35.a", "805/2015:36")
@pytest.mark.rule("812/2015:33", "812/2015:35", "812/2015:35.a", "812/2015:36")
async def test_a_player_alone_is_invited_after_more_than_three_minutes(banked_game: PlayedGame) -> None:
    # At poker's tables nobody plays alone, and minutes do not count.
    game = banked_game
    ana = await game.sit_down(await game.new_table(play=INDIVIDUAL))
    notices = await OwnNotices.of(game, ana)
    round_id = await game.open_round(ana)
    await game.bet(ana, round_id)
    played = await game.draw(ana, round_id)
    last_bet = (await session(game, ana)).session.last_activity_at.ToDatetime(UTC)

    await advance_sessions(game, 181)
    invitation = await notices.next()
    await advance_sessions(game, 21)
    warning = await notices.next()
    await advance_sessions(game, 60)
    ended = (await notices.next()).session_ended

    assert (invitation.session_notice.kind, invitation.session_notice.rule) == (INVITATION, game.articles.idle)
    assert invitation.at.ToDatetime(UTC) - last_bet > timedelta(seconds=180)
    assert (warning.session_notice.kind, warning.session_notice.rule) == (WARNING, game.articles.warning)
    ends_at = warning.session_notice.ends_at.ToDatetime(UTC)
    assert ends_at - warning.at.ToDatetime(UTC) >= timedelta(seconds=60)
    assert ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY
    assert (ended.summary.staked_cents, ended.summary.payout_cents) == (STAKE_CENTS, played.payout_cents)


@pytest.mark.rule("805/2015:34", "805/2015:36", "812/2015:34", "812/2015:36")
async def test_a_bet_in_time_withdraws_the_warning(banked_game: PlayedGame) -> None:
    # As above; a hand of poker that withdraws it is in tests/service/poker/test_inactivity.py.
    game = banked_game
    ana = await game.sit_down(await game.new_table(play=INDIVIDUAL))
    notices = await OwnNotices.of(game, ana)
    for seconds, kind in ((181, INVITATION), (21, WARNING)):
        await advance_sessions(game, seconds)
        assert (await notices.next()).session_notice.kind == kind

    await game.bet(ana, await game.open_round(ana))

    assert (await notices.next()).session_notice.kind == WITHDRAWN
    assert await state(game, ana) == session_pb2.SESSION_STATE_ACTIVE


@pytest.mark.rule("805/2015:35", "805/2015:35.a", "812/2015:35", "812/2015:35.a")
async def test_b24_a_round_in_play_is_no_inactivity(banked_game: PlayedGame) -> None:
    # As above: hands count, and not the time that they last.
    game = banked_game
    table_id = await game.new_table(play=INDIVIDUAL)
    ana = await game.sit_down(table_id)
    notices = await OwnNotices.of(game, ana)
    round_id = await game.open_round(ana)
    await game.bet(ana, round_id)
    # Seated later, so due later: the invitation shows that the wallet has looked at every session by then.
    witness = await OwnNotices.of(game, await game.sit_down(table_id))
    await advance_sessions(game, 600)
    assert (await witness.next()).session_notice.kind == INVITATION
    assert await state(game, ana) == session_pb2.SESSION_STATE_ACTIVE

    await game.draw(ana, round_id)

    # The three minutes begin when the round ends.
    await advance_sessions(game, 181)
    assert (await notices.next()).session_notice.rule == game.articles.idle


@pytest.mark.rule("805/2015:34", "805/2015:35", "805/2015:35.b", "805/2015:36")
@pytest.mark.rule("812/2015:34", "812/2015:35", "812/2015:35.b", "812/2015:36")
async def test_who_misses_more_than_five_rounds_is_invited_warned_and_ended(banked_game: PlayedGame) -> None:
    # Poker counts hands that are left to the clock: tests/service/poker/test_inactivity.py.
    game = banked_game
    table_id = await game.new_table()
    # Seated before the first round opens: a player misses no round that was open already when they came.
    idle = await game.sit_down(table_id)
    await game.open_round(idle)
    ana = await game.sit_down(table_id)
    notices = await OwnNotices.of(game, idle)

    async def play_without_idle() -> None:
        round_id = await game.open_round(ana)
        await game.bet(ana, round_id)
        await game.end_betting([ana], round_id)

    for _ in range(5):
        await play_without_idle()
        assert await state(game, idle) == session_pb2.SESSION_STATE_ACTIVE
    await play_without_idle()
    invitation = (await notices.next()).session_notice
    assert (invitation.kind, invitation.rule) == (INVITATION, game.articles.missed_rounds)
    await play_without_idle()
    warning = (await notices.next()).session_notice
    assert (warning.kind, warning.rule) == (WARNING, game.articles.warning)
    await play_without_idle()
    assert (await notices.next()).session_ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY
    assert await state(game, ana) == session_pb2.SESSION_STATE_ACTIVE


@pytest.mark.rule("805/2015:33", "805/2015:34", "812/2015:33", "812/2015:34")
@pytest.mark.rule("805/2015:30", "806/2015:10", "806/2015:67", "806/2015:69", "812/2015:30")
async def test_the_player_ends_the_session_at_any_time_and_what_is_staked_counts(game: PlayedGame) -> None:
    table_id = await game.new_table()
    ana, rui = await game.sit_down(table_id), await game.sit_down(table_id)
    watcher = await watch(game, table_id)
    round_id = await game.open_round(ana)
    for player in (ana, rui):
        await game.bet(player, round_id)

    await leave(game, ana)
    await game.end_betting([rui], round_id)

    left = (await watcher.wait_for("seat_left")).seat_left
    assert left.seat
    (played,) = await rounds(game, ana)
    assert (played.round.round_id, played.staked_cents) == (round_id, game.stake_cents)
    ended = await session(game, ana)
    assert ended.session.end_cause == session_pb2.END_CAUSE_PLAYER
    assert ended.summary.rounds == 1
    assert ended.summary.staked_cents in game.bets_cents
    assert ended.summary.net_cents == played.payout_cents - played.staked_cents
    assert await balance(game, ana) == (CENTS + ended.summary.net_cents, 0)
    assert await state(game, rui) == session_pb2.SESSION_STATE_ACTIVE
