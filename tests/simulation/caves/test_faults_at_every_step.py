"""An owner dies, is superseded or hands over around each kind of step that it takes at a table with caves.

A step is of the kind of what it asks, is answered, or publishes. Of each kind the first and the last are taken, which
are in different hands, and the fault comes before the step and after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cache

import pytest

from services.kit.table.journal.entries import Ending
from services.wallet.model.state import TransferKind
from tests.simulation import guarantees
from tests.simulation.caves.game import POKER, configuration
from tests.simulation.caves.players import CALL, CHECK, RAISE, PokerPlayer
from tests.simulation.environment.world import World
from tests.simulation.kinds_of_steps import after_each_question, around_each_kind, steps_by_kind
from tests.simulation.test_faults_at_every_step import (
    TABLE_ID,
    Fault,
    hand_over,
    kill,
    run_script,
    send_until_answered,
    supersede,
)

DEPOSIT_CENTS = 50_000


async def _act(player: PokerPlayer, raised: set[str]) -> bool:
    """Raises once in a hand and calls after that; returns false if it is not the player's turn."""
    turn = await player.own_turn()
    if turn is None:
        return False
    legal = turn.legal
    if turn.round_id not in raised and legal.min_to_cents:
        raised.add(turn.round_id)
        # In the second hand all is bet at once: the streets that are left are run out.
        is_first = turn.round_id.endswith(".1")
        action, to_cents = RAISE, legal.min_to_cents if is_first else legal.max_to_cents
    else:
        action, to_cents = (CALL, 0) if legal.to_call_cents else (CHECK, 0)
    await send_until_answered(player.prepare_act(turn, action, to_cents)[1])
    return True


async def _two_hands(world: World) -> None:
    """Three players buy in and play; one tops up in the middle of a hand, one leaves in the next.

    A fourth comes while the first hand goes on, and leaves before it is over: they get their cave in the middle of it.
    """
    world.open_tables(
        TABLE_ID, configuration(result_shown_ms=100, cave_min_cents=1_000, time_bank_s=2, time_bank_cap_s=2)
    )
    players = [PokerPlayer(world, name, TABLE_ID) for name in ("ana", "rui", "eva")]
    for player in players:
        world.deposit(player.player_id, DEPOSIT_CENTS)
        player.timeout_s = 1.5
        await send_until_answered(player.send_enter)
        await send_until_answered(player.prepare_buy_in(5_000)[1])
    guest = PokerPlayer(world, "ivo", TABLE_ID)
    guest.timeout_s = 1.5
    world.deposit(guest.player_id, DEPOSIT_CENTS)
    top_up = players[0].prepare_buy_in(1_000)[1]
    topped_up = left = False
    raised: set[str] = set()
    # Until the second hand has ended, or the script has gone on long enough whatever has happened.
    for _ in range(40):
        hands = len(world.journal.rounds)
        if hands >= 2 and all(entries.ended for entries in world.journal.rounds.values()):
            break
        if not topped_up:
            topped_up = True
            await send_until_answered(top_up)
            await send_until_answered(guest.send_enter)
            await send_until_answered(guest.prepare_buy_in(3_000)[1])
            guest.leave()
        if hands >= 2 and not left:
            left = True
            players[2].leave()
        if not [acted for player in players[: 2 if left else 3] if (acted := await _act(player, raised))]:
            await asyncio.sleep(0.2)
    # A player who has left in a hand is cashed out when it is over.
    await asyncio.sleep(0.5)
    await send_until_answered(top_up)


@cache
def _steps() -> dict[str, list[int]]:
    """Runs the script without a fault, and returns the steps of each kind."""
    steps, world = steps_by_kind(_two_hands, POKER)
    assert not guarantees.violations(world)
    assert len(world.journal.rounds) >= 2
    first = world.journal.rounds[f"{TABLE_ID}.1"]
    assert first.ended is not None
    assert any(
        stored.at < first.ended.ended_at
        for stored in world.wallet.movements
        if stored.movement.kind is TransferKind.CASH_OUT
    )
    return steps


def _endings(fault: Fault, steps: Iterable[int], under_way: str = "arrives") -> set[Ending]:
    """Runs the script once for each step, with the fault before it; returns how dealt hands have ended.

    No run violates a guarantee.
    """
    endings: set[Ending] = set()
    for step in steps:
        world = run_script(_two_hands, step=step, under_way=under_way, fault=fault, game=POKER)
        violations = guarantees.violations(world)
        assert not violations, f"fault before step {step}:\n" + "\n".join(violations)
        for entries in world.journal.rounds.values():
            if entries.ended is not None and entries.drawn is not None:
                endings.add(entries.ended.ending)
    return endings


def test_every_kind_of_step_is_among_those_that_are_disturbed() -> None:
    asked = {kind.rpartition(" ")[2] for kind in _steps() if kind.startswith("asks")}
    assert asked >= {"BuyIn", "CashOut", "TransferHand", "keep_lineup", "write_opened", "write_drawn", "write_moved"}
    assert asked >= {"write_ended", "take_seat", "leave_seat", "OpenTable", "ListTableCaves", "lineup", "publish"}
    published = {kind.rpartition(" ")[2] for kind in _steps() if kind.startswith(":")}
    assert published >= {"round_dealt", "move_made", "cards_shown", "outcome_drawn", "round_settled", "caves_changed"}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G7", "G8", "G10")
@pytest.mark.rule("806/2015:72")
def test_killed_around_every_step_of_buying_in_playing_and_leaving() -> None:
    """A hand that was dealt goes on with the same cards: none is void, and each is paid once."""
    assert _endings(kill, around_each_kind(_steps())) == {Ending.SETTLED}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G7", "G8", "G10")
@pytest.mark.rule("806/2015:72")
def test_killed_with_what_is_under_way_lost() -> None:
    assert _endings(kill, after_each_question(_steps()), "lost") == {Ending.SETTLED}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G7", "G8", "G10")
def test_superseded_at_every_kind_of_step_of_a_hand() -> None:
    assert _endings(supersede, after_each_question(_steps())) == {Ending.SETTLED}


@pytest.mark.guarantee("G4", "G9")
def test_handed_over_at_every_kind_of_step_of_a_hand() -> None:
    assert _endings(hand_over, after_each_question(_steps())) == {Ending.SETTLED}
