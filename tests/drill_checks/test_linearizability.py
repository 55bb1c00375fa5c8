"""The search for an order finds one wherever there is one, and none in histories that are broken."""

from __future__ import annotations

import math
from itertools import permutations
from random import Random

import pytest

from tests.drill.checks import linearizability
from tests.drill.checks.linearizability import Operation, contradiction

SEEDS = 200


def deposit(cents: int, invoked: float, responded: float, told: int) -> Operation:
    return Operation(f"deposit {cents}", invoked, responded, cents, 0, (told, 0))


def withdrawal(cents: int, invoked: float, responded: float, told: int) -> Operation:
    return Operation(f"withdraw {cents}", invoked, responded, -cents, 0, (told, 0))


def reading(invoked: float, responded: float, told: int) -> Operation:
    return Operation("read", invoked, responded, told=(told, 0))


def test_a_history_without_operations_is_explained() -> None:
    assert contradiction([]) is None


def test_one_after_the_other_is_explained() -> None:
    assert contradiction([deposit(5, 0, 1, 5), withdrawal(2, 2, 3, 3), reading(4, 5, 3)]) is None


def test_operations_at_once_may_take_effect_in_any_order() -> None:
    assert contradiction([deposit(5, 0, 10, 7), deposit(2, 1, 9, 2), reading(2, 8, 2)]) is None


@pytest.mark.guarantee("G3", "G5")
def test_a_lost_update_is_found() -> None:
    """Two deposits are acknowledged, and the second one has overwritten the first."""
    found = contradiction([deposit(5, 0, 1, 5), deposit(3, 2, 3, 3)])
    assert found is not None
    assert [each.name for each in found.operations] == ["deposit 3"]


@pytest.mark.guarantee("G3", "G5")
def test_a_command_that_acts_twice_is_found() -> None:
    assert contradiction([deposit(5, 0, 3, 5), reading(4, 5, 10)]) is not None


@pytest.mark.guarantee("G3", "G5")
def test_a_stale_reading_is_found() -> None:
    assert contradiction([deposit(5, 0, 1, 5), reading(2, 3, 0)]) is not None


@pytest.mark.guarantee("G3", "G5")
def test_an_order_against_time_is_found() -> None:
    """The balances fit together in one order alone, in which a command acts before it is called."""
    assert contradiction([deposit(5, 0, 1, 8), deposit(3, 2, 3, 3)]) is not None
    assert contradiction([deposit(5, 0, 4, 8), deposit(3, 2, 3, 3)]) is None


@pytest.mark.guarantee("G3", "G5")
def test_two_readers_who_see_changes_in_opposite_orders_are_found() -> None:
    writes = [
        Operation("a", 0, 10, 1, 0),
        Operation("b", 0, 10, 0, 1),
    ]
    first = [Operation("x sees a", 1, 2, told=(1, 0)), Operation("x sees both", 3, 4, told=(1, 1))]
    second = [Operation("y sees b", 1, 2, told=(0, 1)), Operation("y sees both", 3, 4, told=(1, 1))]
    assert contradiction(writes + first) is None
    assert contradiction(writes + second) is None
    assert contradiction(writes + first + second) is not None


@pytest.mark.guarantee("G2")
def test_money_that_is_not_there_cannot_be_taken() -> None:
    assert contradiction([Operation("withdraw", 0, 1, -5, 0)]) is not None
    assert contradiction([Operation("withdraw", 0, 3, -5, 0), deposit(5, 1, 2, 5)]) is None


def test_a_refusal_for_want_of_funds_has_to_be_right() -> None:
    def refusal(invoked: float) -> Operation:
        return Operation("withdraw 9", invoked, invoked + 1, refused_below=9)

    assert contradiction([deposit(5, 0, 1, 5), refusal(2)]) is None
    assert contradiction([deposit(9, 0, 1, 9), refusal(2)]) is not None


def test_what_nobody_was_told_may_have_happened_late_or_never() -> None:
    lost = Operation("withdraw 5", 2, math.inf, -5, 0, optional=True)
    deposited = deposit(5, 0, 1, 5)
    assert contradiction([deposited, lost, reading(8, 9, 5)]) is None
    assert contradiction([deposited, lost, reading(8, 9, 0)]) is None
    assert contradiction([deposited, lost, reading(6, 7, 0), reading(8, 9, 5)]) is not None


def test_what_is_known_to_have_happened_has_to_happen() -> None:
    settled = Operation("settled", 2, 3, 7, 0)
    assert contradiction([deposit(5, 0, 1, 5), settled, reading(4, 5, 12)]) is None
    assert contradiction([deposit(5, 0, 1, 5), settled, reading(4, 5, 5)]) is not None


def test_a_search_without_end_is_given_up_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linearizability, "STATES_LIMIT", 50)
    history = [Operation(str(number), 0, 100, 2**number, 0) for number in range(12)]
    found = contradiction([*history, reading(1, 99, 10**9)])
    assert found is not None
    assert "within 50 attempts" in found.sentence


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_search_agrees_with_trying_every_order(seed: int) -> None:
    dice = Random(seed)
    history = _random_history(dice)
    assert (contradiction(history) is None) == _some_order_explains(history), history


def _random_history(dice: Random) -> list[Operation]:
    history = []
    balance = 0
    for number in range(dice.randint(2, 6)):
        change = dice.choice((0, 1, 2, -1))
        balance = max(0, balance + change)
        invoked = dice.uniform(0, 10)
        told = (balance, 0) if dice.random() < 0.6 else None
        optional = told is None and dice.random() < 0.3
        responded = math.inf if optional else invoked + dice.uniform(0, 6)
        history.append(Operation(str(number), invoked, responded, change, 0, told, optional=optional))
    return history


def _some_order_explains(history: list[Operation]) -> bool:
    """Tries every order of every choice of what took effect."""
    optional = [each for each in history if each.optional]
    for chosen in range(1 << len(optional)):
        left_out = [each for number, each in enumerate(optional) if not chosen >> number & 1]
        happened = [each for each in history if each not in left_out]
        if any(_explains(order) for order in permutations(happened)):
            return True
    return False


def _explains(order: tuple[Operation, ...]) -> bool:
    free = locked = 0
    for number, each in enumerate(order):
        if any(later.responded < each.invoked for later in order[number + 1 :]) or not each.fits(free, locked):
            return False
        free, locked = free + each.free_cents, locked + each.locked_cents
    return True
