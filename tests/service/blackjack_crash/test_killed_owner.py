"""The owner is killed before and after every step of a hand is on record, and the next owner goes on with the hand."""

from __future__ import annotations

import asyncio

import pytest

from feltro.blackjack.v1 import blackjack_pb2
from services.kit.table.journal.entries import ActedBy
from tests.service.blackjack_crash.conftest import Crash
from tests.service.blackjack_crash.hands import (
    BET_CENTS,
    TABLE,
    Hand,
    bring_to,
    deal_until_paid,
    finish,
    moves_of,
    paid_after,
    verify_and_finish,
    verify_settled,
    wait_until_staked,
)

# The decisions under way when the owner dies: those that stake, those that do not, and one that decides the round.
UNDER_WAY = ("DRAW", "STAND", "DOUBLE", "SPLIT", "INSURE", "LAST")
# The published deadline of a hand at an individual table.
OPEN_HAND_S = 24 * 3_600.0
BEFORE_AND_AFTER = pytest.mark.parametrize("keeps", [False, True], ids=["before", "after"])


async def _send_all(crash: Crash, hands: list[Hand]) -> None:
    """Sends the decisions; those that stake are staked, and all wait for the journal."""
    for hand in hands:
        hand.send(crash.driver)
    for hand in hands:
        if hand.stakes:
            await wait_until_staked(crash.driver, hand)
    for _ in range(2):
        # Calls are carried out in the order of their arrival.
        await asyncio.gather(*(crash.driver.get_table(hand.player) for hand in hands))


async def _kill(crash: Crash, *, keeps: bool) -> None:
    """Kills the owner; what PostgreSQL was about to commit is committed after that, or rolled back."""
    await asyncio.to_thread(crash.two.owner.kill)
    if not keeps:
        await crash.journal_gates.cut()
    await crash.journal_gates.open_all()


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G9")
@pytest.mark.rule("805/2015:15.b", "805/2015:15.f", "805/2015:21", "805/2015:27", "805/2015:29", "903-B/2015:6.3.2")
@BEFORE_AND_AFTER
async def test_g3_the_owner_is_killed_before_and_after_decisions_are_on_record(crash: Crash, *, keeps: bool) -> None:
    """Draw, stand, double, split, insurance, a last decision and a deal, each in a hand of its own; another rests."""
    driver, gates = crash.driver, crash.journal_gates
    dealing = await driver.seat_new_player(TABLE)
    first, resting, *hands = await asyncio.gather(
        *(bring_to(driver, crash.journal, kind) for kind in ("STAND", "DRAW", *UNDER_WAY))
    )
    round_id = await driver.wait_for_open_round(dealing)
    await driver.bet(dealing, round_id, "1", BET_CENTS)

    # The journal writes one group at a time: the first decision holds it, the others become the next group.
    await gates.close("moves")
    first.send(driver)
    await gates.wait_until_held()
    deal = asyncio.create_task(driver.blackjack.deal(dealing.player_id, dealing.table_id, round_id))
    await _send_all(crash, hands)
    if keeps:
        await gates.let_pass("moves")
        assert await first.first_answer() is not None
        await gates.wait_until_held()
    await _kill(crash, keeps=keeps)
    await asyncio.wait([deal])
    await crash.two.follow(dealing, *(hand.player for hand in (first, resting, *hands)))

    for hand in hands:
        # What was staked and not journalled is the next decision, and adopted.
        await verify_and_finish(driver, crash.journal, hand, on_record=keeps or hand.stakes)
    await verify_and_finish(driver, crash.journal, first, on_record=keeps)
    await verify_and_finish(driver, crash.journal, resting, on_record=False)
    if keeps:
        dealt = await driver.playing(dealing, round_id)
        await finish(driver, dealing, round_id, blackjack_pb2.View() if dealt is None else dealt.view)
    else:
        # Nobody has seen a card: the bet goes back (`805/2015:28`).
        settled = await driver.ended(dealing, round_id)
        assert settled.round.void_reason
        assert await driver.balance(dealing) == (settled.balance_after_cents, 0)


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G9")
@pytest.mark.rule("805/2015:15.e", "805/2015:20.a", "805/2015:20.b")
@BEFORE_AND_AFTER
async def test_g4_the_owner_is_killed_before_and_after_an_early_payment_is_on_record(
    crash: Crash, *, keeps: bool
) -> None:
    """A blackjack or half of a bet is paid once; even money that was taken is paid by the next owner."""
    driver, gates = crash.driver, crash.journal_gates
    hands = [await bring_to(driver, crash.journal, kind) for kind in (("EVEN_MONEY",) if keeps else ("GIVE_UP",))]
    await gates.close("paid")
    player, playing = await deal_until_paid(driver)
    # The wallet has paid, and the journal does not have it.
    await gates.wait_until_held()
    blackjacks = sum(hand.state == blackjack_pb2.HAND_STATE_PAID for hand in playing.view.hands)
    assert await paid_after(crash.journal, playing.round_id, 0) == 0
    paid_balance = await driver.balance(player)
    await _send_all(crash, hands)
    if keeps:
        await gates.close("moves")
        await gates.open("paid")
        await gates.wait_until_held()
        assert await paid_after(crash.journal, playing.round_id, 0) == blackjacks
    await _kill(crash, keeps=keeps)
    await crash.two.follow(player, *(hand.player for hand in hands))

    again = await driver.playing(player, playing.round_id)
    assert again is not None
    assert again.view == playing.view
    assert await driver.balance(player) == paid_balance
    await finish(driver, player, playing.round_id, playing.view)
    assert await paid_after(crash.journal, playing.round_id, 0) == blackjacks
    for hand in hands:
        await verify_and_finish(driver, crash.journal, hand, on_record=keeps)
        assert await paid_after(crash.journal, hand.round_id, hand.moves + 1) == 1


@pytest.mark.slow
@pytest.mark.guarantee("G3", "G4", "G5", "G6", "G9")
@pytest.mark.rule("805/2015:29", "805/2015:30", "903-B/2015:6.3.2")
@BEFORE_AND_AFTER
async def test_g4_the_owner_is_killed_before_and_after_an_end_and_a_default_are_on_record(
    crash: Crash, *, keeps: bool
) -> None:
    """A round that the wallet has settled is settled once; a default of the clock is taken once."""
    driver, gates = crash.driver, crash.journal_gates
    last, slow = await asyncio.gather(*(bring_to(driver, crash.journal, kind) for kind in ("LAST", "STAND")))
    await gates.close("endings")
    last.send(driver)
    await gates.wait_until_held()
    assert (await driver.balance(last.player))[1] == 0
    await driver.blackjack.advance_tables(OPEN_HAND_S)
    if keeps:
        await gates.close("moves")
        await gates.open("endings")
        await gates.wait_until_held()
    await _kill(crash, keeps=keeps)
    await crash.two.follow(last.player, slow.player)

    await verify_and_finish(driver, crash.journal, last, on_record=True)
    # Its time is over at the next owner, too.
    await verify_settled(driver, slow.player, slow.round_id, slow.playing.view)
    moves = (await moves_of(crash.journal, slow.round_id))[slow.moves :]
    assert moves
    assert {row["acted_by"] for row in moves} == {ActedBy.CLOCK}
