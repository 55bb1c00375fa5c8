"""The owner and the wallet are killed at chosen commits and at random: the very hand goes on, and no chip is lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from uuid import uuid4

import grpc
import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2, types_pb2
from tests.service.game_driver import TIMEOUT_S, SeatedPlayer
from tests.service.poker.platform import CALL, CHECK, FOLD, MONEY_CENTS, RAISE, Playing, PokerDriver, outcome_of
from tests.service.poker_crash.conftest import TABLE, Crash
from tests.service.refusals import refusal_of

CAVE_CENTS = 10_000
BEFORE_AND_AFTER = pytest.mark.parametrize("keeps", [False, True], ids=["before", "after"])
# Refusals and failures that say nothing about a command: it is sent again, as a client does.
_SEND_AGAIN = {"TABLE_ELSEWHERE", "UNAVAILABLE", "OVERLOADED"}


async def hole_cards(driver: PokerDriver, players: Sequence[SeatedPlayer]) -> dict[int, list[str]]:
    return {player.seat: list((await driver.own_view(player)).cards) for player in players}


async def all_left(driver: PokerDriver, players: Sequence[SeatedPlayer]) -> None:
    """Ends the sessions of all, and waits until their caves are cashed out."""
    for player in players:
        await driver.leave(player)
    for player in players:
        await driver.session_ended(player)


def player_of(players: Sequence[SeatedPlayer], playing: Playing) -> SeatedPlayer:
    return next(player for player in players if player.seat == playing.seat)


async def kill(crash: Crash, *, keeps: bool) -> None:
    """Kills the owner; what PostgreSQL was about to commit is committed after that, or rolled back."""
    await crash.kill_owner()
    if not keeps:
        await crash.journal_gates.cut()
    await crash.journal_gates.open_all()
    await crash.take_over()


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G3", "G5", "G6")
@pytest.mark.rule("806/2015:72", "811/2015:72", "903-B/2015:6.3.2")
@BEFORE_AND_AFTER
async def test_g6_the_owner_is_killed_before_and_after_a_decision_is_on_record(crash: Crash, *, keeps: bool) -> None:
    driver = crash.driver
    players = await driver.begin(CAVE_CENTS, CAVE_CENTS, CAVE_CENTS, table_id=TABLE)
    playing = await driver.playing(TABLE)
    cards, request_id = await hole_cards(driver, players), str(uuid4())
    acting = player_of(players, playing)
    await crash.journal_gates.close("moves")
    sent = asyncio.create_task(driver.act(acting, playing, RAISE, 300, request_id))
    await crash.journal_gates.wait_until_held()

    await kill(crash, keeps=keeps)
    await asyncio.wait([sent])

    assert await hole_cards(driver, players) == cards
    before = await driver.playing(TABLE)
    assert before.round_id == playing.round_id
    assert (before.view == playing.view) != keeps
    answer = await driver.act(acting, playing, RAISE, 300, request_id)
    assert (answer.round_id, answer.position) == (playing.round_id, 1)
    now = await driver.playing(TABLE)
    assert (now.round_id, now.view.total_cents) == (playing.round_id, 450)
    played = await play_out(driver, players, playing.round_id)
    for seat in outcome_of(played).view.seats:
        assert list(seat.cards) == cards[seat.seat]


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G4", "G9")
@pytest.mark.rule("806/2015:72", "811/2015:72")
@BEFORE_AND_AFTER
async def test_g4_the_owner_is_killed_before_and_after_the_end_of_a_hand_is_on_record(
    crash: Crash, *, keeps: bool
) -> None:
    driver = crash.driver
    players = await driver.begin(CAVE_CENTS, CAVE_CENTS, table_id=TABLE)
    playing = await driver.playing(TABLE)
    await crash.journal_gates.close("endings")
    await driver.act(player_of(players, playing), playing, FOLD)
    await crash.journal_gates.wait_until_held()

    await kill(crash, keeps=keeps)

    # The wallet has paid; the next owner pays nothing more.
    ended = await driver.ended(players[0], playing.round_id)
    assert sorted(result.won_cents for result in outcome_of(ended).results) == [0, 100]
    await all_left(driver, players)
    assert sum([await driver.balance(player) for player in players]) == 2 * MONEY_CENTS


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G4", "G9")
@pytest.mark.rule("806/2015:72", "811/2015:72")
@BEFORE_AND_AFTER
async def test_g4_the_owner_is_killed_before_and_after_the_void_of_a_hand_is_on_record(
    crash: Crash, *, keeps: bool
) -> None:
    driver = crash.driver
    players = await driver.begin(CAVE_CENTS, CAVE_CENTS, table_id=TABLE)
    playing = await driver.playing(TABLE)
    await driver.act(player_of(players, playing), playing, RAISE, 300)
    await crash.journal_gates.close("endings")
    void = asyncio.create_task(driver.void(TABLE, playing.round_id, "the cards were shown by mistake"))
    await crash.journal_gates.wait_until_held()

    await kill(crash, keeps=keeps)
    await asyncio.wait([void])

    # The void stands in the ledger: the next owner does not go on with the hand.
    ended = await driver.ended(players[0], playing.round_id)
    assert ended.round.void_reason == "the cards were shown by mistake"
    assert (ended.staked_cents, ended.payout_cents) == (CAVE_CENTS, CAVE_CENTS)
    # Another hand has begun, which those who leave fold.
    await all_left(driver, players)
    assert sum([await driver.balance(player) for player in players]) == 2 * MONEY_CENTS


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G4", "G7")
@pytest.mark.rule("806/2015:72", "811/2015:72")
@BEFORE_AND_AFTER
async def test_g4_the_owner_is_killed_before_and_after_the_cards_are_on_record(crash: Crash, *, keeps: bool) -> None:
    driver = crash.driver
    await crash.journal_gates.close("draws")
    players = await driver.begin(CAVE_CENTS, CAVE_CENTS, CAVE_CENTS, table_id=TABLE)
    await crash.journal_gates.wait_until_held()

    await kill(crash, keeps=keeps)

    # Cards that nobody has seen are no hand: it is void, and another one is dealt.
    playing = await driver.playing(TABLE)
    number = int(playing.round_id.rpartition(".")[2])
    rounds = [round_.round for round_ in (await driver.poker.rounds(players[0].player_id)).rounds]
    assert all(round_.round_id != playing.round_id or not round_.void_reason for round_ in rounds)
    assert number >= 1
    assert {seat.stack_cents + seat.bet_cents for seat in playing.view.seats} == {CAVE_CENTS}
    await play_out(driver, players, playing.round_id)


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G4")
@pytest.mark.rule("806/2015:72", "811/2015:72")
@BEFORE_AND_AFTER
async def test_g4_the_wallet_is_killed_before_and_after_it_has_paid_a_hand(crash: Crash, *, keeps: bool) -> None:
    driver = crash.driver
    players = await driver.begin(CAVE_CENTS, CAVE_CENTS, table_id=TABLE)
    playing = await driver.playing(TABLE)
    await crash.ledger_gates.close("transfers")
    await driver.act(player_of(players, playing), playing, FOLD)
    await crash.ledger_gates.wait_until_held()

    await asyncio.to_thread(crash.processes.wallet.kill)
    if not keeps:
        await crash.ledger_gates.cut()
    await crash.ledger_gates.open_all()
    crash.processes.wallet.start()
    await crash.processes.wallet.ready()

    ended = await driver.ended(players[0], playing.round_id)
    assert sorted(result.won_cents for result in outcome_of(ended).results) == [0, 100]
    await all_left(driver, players)
    assert sum([await driver.balance(player) for player in players]) == 2 * MONEY_CENTS


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G7", "G9")
@pytest.mark.rule("806/2015:72", "811/2015:72", "903-B/2015:6.3.2")
async def test_bots_play_while_the_owner_and_the_wallet_are_killed_at_random(crash: Crash) -> None:
    """Every hand that was begun is finished with its cards; no decision counts twice, and no chip is lost."""
    driver, dice = crash.driver, random.Random(806)
    players = await driver.begin(*[CAVE_CENTS] * 4, table_id=TABLE)
    # Where it is killed is counted in decisions, so that each run is the same as far as cards allow.
    kills = dict.fromkeys(sorted(dice.sample(range(3, 60), 5)), "owner")
    kills |= dict.fromkeys(sorted(dice.sample(range(3, 60), 3)), "wallet")
    seen: dict[str, dict[int, list[str]]] = {}
    for step in range(60):
        playing = await driver.playing(TABLE)
        cards = await hole_cards(driver, [each for each in players if each.seat in _seats(playing)])
        known = seen.setdefault(playing.round_id, cards)
        # A hand may end and another begin between the two questions.
        if (await driver.playing(TABLE)).round_id == playing.round_id:
            assert known == cards
        victim = kills.get(step)
        if victim == "wallet":
            await crash.restart_wallet()
        acting, request_id = player_of(players, playing), str(uuid4())
        action, to_cents = choose(playing, dice)
        sent = asyncio.create_task(send(driver, acting, playing, action, to_cents, request_id))
        if victim == "owner":
            await asyncio.sleep(0)
            await crash.kill_owner()
            sent.cancel()
            await asyncio.wait([sent])
            await crash.take_over()
            sent = asyncio.create_task(send(driver, acting, playing, action, to_cents, request_id))
        first = await sent
        assert (await send(driver, acting, playing, action, to_cents, request_id)) == first

    assert len(crash.kills) >= 5
    await all_left(driver, players)
    rounds = [round_ for each in players for round_ in (await driver.poker.rounds(each.player_id)).rounds]
    by_id = {round_.round.round_id: round_ for round_ in rounds}
    assert set(seen) <= set(by_id)
    commission = 0
    for round_ in by_id.values():
        assert not round_.round.void_reason
        outcome = outcome_of(round_)
        commission += outcome.commission_cents
        for seat in outcome.view.seats:
            if seat.cards and round_.round.round_id in seen:
                assert list(seat.cards) == seen[round_.round.round_id][seat.seat]
    left = [await driver.balance(player) for player in players]
    assert sum(left) == len(players) * MONEY_CENTS - commission


def _seats(playing: Playing) -> set[int]:
    return {seat.seat for seat in playing.view.seats}


def choose(playing: Playing, dice: random.Random) -> tuple[int, int]:
    """A legal action by chance; raises are small, so that the caves last."""
    legal = playing.legal
    if dice.random() < 0.15 and legal.to_call_cents:
        return FOLD, 0
    if dice.random() < 0.2 and legal.min_to_cents:
        return RAISE, legal.min_to_cents
    return (CALL if legal.to_call_cents else CHECK), 0


async def send(
    driver: PokerDriver, player: SeatedPlayer, playing: Playing, action: int, to_cents: int, request_id: str
) -> table_pb2.ActResponse:
    """Sends a decision until it is answered."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            try:
                return await driver.act(player, playing, action, to_cents, request_id)
            except grpc.aio.AioRpcError as failed:
                unanswered = failed.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
                if not unanswered and refusal_of(failed).reason not in _SEND_AGAIN:
                    raise
                await asyncio.sleep(0.05)


async def play_out(driver: PokerDriver, players: Sequence[SeatedPlayer], round_id: str) -> table_pb2.PlayerRound:
    """Has everybody call and check until the hand is over, all leave, and verifies that every chip is there."""
    while True:
        table: types_pb2.TableSnapshot = await driver.table(TABLE)
        if table.round.round_id != round_id:
            break
        if table.round.HasField("turn"):
            view = poker_pb2.View()
            assert table.round.view.Unpack(view)
            playing = Playing(round_id, table.round.turn.turn, table.round.turn.seats[0], view)
            action = CALL if view.legal.to_call_cents else CHECK
            await driver.act(player_of(players, playing), playing, action)
        else:
            await asyncio.sleep(0.01)
    played = await driver.ended(players[0], round_id)
    await all_left(driver, players)
    rounds = {
        round_.round.round_id: round_
        for each in players
        for round_ in (await driver.poker.rounds(each.player_id)).rounds
    }
    commission = sum(outcome_of(round_).commission_cents for round_ in rounds.values() if not round_.round.void_reason)
    left = [await driver.balance(player) for player in players]
    assert sum(left) == len(players) * MONEY_CENTS - commission
    return played
