"""The wallet dies, or PostgreSQL is cut off, while a decision is being staked, journalled or paid."""

from __future__ import annotations

import asyncio

import pytest

from tests.service.blackjack_crash.conftest import Crash
from tests.service.blackjack_crash.hands import bring_to, paid_after, verify_and_finish


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G3", "G5")
@pytest.mark.rule("805/2015:15.b")
@pytest.mark.parametrize("keeps", [False, True], ids=["before", "after"])
async def test_g3_the_wallet_is_killed_while_a_decision_is_staked(crash: Crash, *, keeps: bool) -> None:
    """The player waits for the answer, and it is the only one."""
    driver, gates = crash.driver, crash.ledger_gates
    hand = await bring_to(driver, crash.journal, "DOUBLE")
    await gates.close("transfers")
    hand.send(driver)
    await gates.wait_until_held()
    await asyncio.to_thread(crash.processes.wallet.kill)
    if not keeps:
        await gates.cut()
    await gates.open_all()
    crash.processes.wallet.start()
    await crash.processes.wallet.ready()
    assert await hand.first_answer() is not None
    await verify_and_finish(driver, crash.journal, hand, on_record=True)


@pytest.mark.slow
@pytest.mark.guarantee("G3", "G5")
@pytest.mark.rule("805/2015:15.b", "805/2015:15.e")
@pytest.mark.parametrize(("table", "decision"), [("moves", "DOUBLE"), ("paid", "GIVE_UP")])
async def test_g5_the_connection_of_the_journal_is_cut_while_it_writes(crash: Crash, table: str, decision: str) -> None:
    """A decision or an early payment is written again on another connection, and then answered."""
    driver, gates = crash.driver, crash.journal_gates
    hand = await bring_to(driver, crash.journal, decision)
    await gates.close(table)
    hand.send(driver)
    for _ in range(2):
        await gates.wait_until_held()
        await gates.cut()
    await gates.open_all()
    assert await hand.first_answer() is not None
    await verify_and_finish(driver, crash.journal, hand, on_record=True)
    assert await paid_after(crash.journal, hand.round_id, hand.moves + 1) == (table == "paid")
