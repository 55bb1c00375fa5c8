"""Stops the owner in the middle of hands, or halts it until another process has taken its tables."""

from __future__ import annotations

import asyncio

import psutil
import pytest

from tests.service.blackjack_crash.conftest import Crash
from tests.service.blackjack_crash.hands import bring_to, moves_of, verify_and_finish, wait_until_staked
from tests.service.game_driver import TIMEOUT_S

_TRANSFERS = "SELECT count(*) FROM transfers"


@pytest.mark.slow
@pytest.mark.guarantee("G3", "G4", "G6", "G9")
@pytest.mark.rule("805/2015:29", "903-B/2015:6.3.2")
async def test_a_replica_that_is_told_to_stop_leaves_between_decisions(crash: Crash) -> None:
    """SIGTERM while one decision is being journalled and others wait: none is lost, and none is made twice."""
    driver, gates = crash.driver, crash.journal_gates
    hands = list(await asyncio.gather(*(bring_to(driver, crash.journal, kind) for kind in ("DRAW", "DOUBLE", "STAND"))))
    await gates.close("moves")
    for hand in hands:
        hand.send(driver)
    await wait_until_staked(driver, hands[1])
    await gates.wait_until_held()
    stopping = asyncio.create_task(asyncio.to_thread(crash.two.owner.stop))
    await gates.open_all()
    assert await stopping == 0
    await crash.two.follow(*(hand.player for hand in hands))

    for hand in hands:
        on_record = len(await moves_of(crash.journal, hand.round_id)) > hand.moves
        assert on_record or (await hand.first_answer() is None and not hand.stakes)
        await verify_and_finish(driver, crash.journal, hand, on_record=on_record)


@pytest.mark.slow
@pytest.mark.guarantee("G3", "G8")
async def test_g8_an_owner_that_wakes_up_too_late_changes_nothing(crash: Crash) -> None:
    """SIGSTOP: decisions reach the old owner, are sent again to the new one, and the old one carries them out later."""
    driver = crash.driver
    hands = list(await asyncio.gather(*(bring_to(driver, crash.journal, kind) for kind in ("DRAW", "DOUBLE", "LAST"))))
    child = crash.two.owner.child
    assert child is not None
    (process,) = psutil.Process(child.pid).children()
    process.suspend()
    try:
        for hand in hands:
            hand.send(driver)
        late = [hand.answer for hand in hands if hand.answer is not None]
        await crash.two.follow(*(hand.player for hand in hands))
        made = [await hand.decide(driver) for hand in hands]
        # The last decision of a round is answered before the round is paid.
        await driver.ended(hands[-1].player, hands[-1].round_id)
        views = [await driver.playing(hand.player, hand.round_id) for hand in hands]
        balances = [await driver.balance(hand.player) for hand in hands]
        moves = [await moves_of(crash.journal, hand.round_id) for hand in hands]
        transfers = await crash.ledger.fetchval(_TRANSFERS)
    finally:
        process.resume()
    async with asyncio.timeout(TIMEOUT_S):
        await asyncio.wait(late)

    assert [await moves_of(crash.journal, hand.round_id) for hand in hands] == moves
    assert [await driver.balance(hand.player) for hand in hands] == balances
    assert [await driver.playing(hand.player, hand.round_id) for hand in hands] == views
    assert await crash.ledger.fetchval(_TRANSFERS) == transfers
    for hand, first in zip(hands, made, strict=True):
        assert await hand.first_answer() in (None, first)
        await verify_and_finish(driver, crash.journal, hand, on_record=True)
