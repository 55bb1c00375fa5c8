"""How long a fault's traces last, and whether memory is flat, from records alone."""

from __future__ import annotations

import math

import pytest

from tests.drill.checks.memory import JUDGED_FROM_S, check_memory, memories
from tests.drill.checks.recovery import Injury, check_recovery, recoveries
from tests.drill.recorder import ANSWERED, Command
from tests.drill.schedule import Fault, Hurt, Step

STEP = Step(1, 0.0, (Fault("wallet", Hurt.KILL, 2.0),))
MIB = 1024 * 1024


def call(kind: str, table: str, invoked: float, responded: float, attempts: int = 1) -> Command:
    command = Command(kind, "ana", f"{invoked}", "a", table, table, "r", 100, invoked, responded, attempts)
    command.outcome = ANSWERED
    return command


def test_recovery_is_when_the_last_table_moves_money_again() -> None:
    injury = Injury(STEP, 10.0, 12.0, 12.5, recovered=True)
    commands = [
        call("bet", "a", 5, 5.1), call("bet", "b", 5, 5.1),
        call("bet", "a", 11, 14, 3), call("read", "a", 12.1, 12.4), call("bet", "a", 13, 13.5),
        call("read", "b", 12.2, 12.9), call("bet", "b", 15, 15.5),
    ]  # fmt: skip
    (found,) = recoveries([injury], commands)
    assert found.answers_s == pytest.approx(0.9)
    assert found.money_s == pytest.approx(3.5)
    assert found.longest_wait_s == pytest.approx(3.0)
    assert found.unanswered_attempts == 2
    assert check_recovery([found], within_s=4.0).holds
    assert not check_recovery([found], within_s=3.0).holds


def test_a_table_that_never_recovers_is_found() -> None:
    injury = Injury(STEP, 10.0, 12.0, 12.5, recovered=False)
    (found,) = recoveries([injury], [call("bet", "a", 5, 5.1), call("bet", "b", 13, 13.5)])
    assert found.money_s == math.inf
    assert not check_recovery([found], within_s=90.0).holds


def test_an_answer_to_a_later_call_counts_if_it_comes_earlier() -> None:
    injury = Injury(STEP, 10.0, 12.0, recovered=True)
    (found,) = recoveries([injury], [call("bet", "a", 12.5, 30.0), call("bet", "a", 13, 13.5)])
    assert found.money_s == pytest.approx(1.5)


def test_a_drill_that_hurts_nothing_is_found() -> None:
    assert not check_recovery([], within_s=90.0).holds


@pytest.mark.guarantee("G11")
def test_memory_that_grows_is_found_in_a_drill_that_is_long_enough() -> None:
    began, ended = 0.0, 300.0
    flat = [(float(at), 100 * MIB) for at in range(0, 300, 10)]
    leaking = [(float(at), 100 * MIB + at * MIB) for at in range(0, 300, 10)]
    found = memories({"flat": flat, "leaking": leaking}, began, ended)
    check = check_memory(found, JUDGED_FROM_S)
    assert [sentence.split()[0] for sentence in check.sentences] == ["leaking"]
    assert check_memory(found, JUDGED_FROM_S - 1).holds


def test_the_first_third_does_not_count() -> None:
    filling = [(float(at), min(at, 100) * 2 * MIB) for at in range(0, 300, 10)]
    assert check_memory(memories({"filling": filling}, 0.0, 300.0), JUDGED_FROM_S).holds
