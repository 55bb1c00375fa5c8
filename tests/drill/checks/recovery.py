"""How long after each fault every table answers again and moves money again, computed from the record."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.drill.checks.findings import Check
from tests.drill.recorder import ANSWERED, Command
from tests.drill.schedule import Step

MONEY_MOVES = frozenset({"bet", "act", "register"})
AT_TABLES = MONEY_MOVES | {"cancel", "launch", "read", "enter"}


@dataclass
class Injury:
    """One step of the schedule as it happened."""

    step: Step
    began: float
    mended: float
    """When everything was let go: started again, resumed, connected."""
    ready: float = math.inf
    """When what had been stopped was ready again."""
    recovered: bool = False
    """Whether the drill saw every table move money again before the next step."""
    left_out: str = ""
    """Why something of it could not be done."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What an injury cost."""

    injury: Injury
    answers_s: float
    """From its end until every table had answered a call that was made after it."""
    money_s: float
    """… until every table had taken a bet or a decision that was made after it."""
    longest_wait_s: float
    """The longest that a client waited for the answer to a command sent while it lasted."""
    unanswered_attempts: int
    """Attempts of those commands that had to be repeated."""


class Progress:
    """When each table answered, by the time of the call."""

    def __init__(self, commands: Iterable[Command], kinds: frozenset[str]) -> None:
        by_table: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        for command in commands:
            # A refusal answers, too; money moves with an acknowledgement alone.
            counts = command.outcome == ANSWERED or kinds is not MONEY_MOVES
            if counts and command.kind in kinds and command.placement and command.responded < math.inf:
                by_table[command.placement].append((command.invoked, command.responded))
        self._calls = {table: sorted(calls) for table, calls in by_table.items()}
        self._first_answers = {table: _first_answers(calls) for table, calls in self._calls.items()}

    def all_after(self, moment: float) -> float:
        """When every table had answered a call made after this moment; infinite if one never did."""
        latest = moment
        for table, calls in self._calls.items():
            first = bisect_left(calls, (moment,))
            if first == len(calls):
                return math.inf
            latest = max(latest, self._first_answers[table][first])
        return latest


def _first_answers(calls: Sequence[tuple[float, float]]) -> list[float]:
    """For each call the earliest answer to it or to a later one."""
    found = [math.inf] * len(calls)
    earliest = math.inf
    for number in range(len(calls) - 1, -1, -1):
        earliest = min(earliest, calls[number][1])
        found[number] = earliest
    return found


def recoveries(injuries: Sequence[Injury], commands: Sequence[Command]) -> list[Recovery]:
    """Computes what each injury cost."""
    answers, money = Progress(commands, AT_TABLES), Progress(commands, MONEY_MOVES)
    found = []
    for injury in injuries:
        meanwhile = [each for each in commands if injury.began <= each.invoked <= injury.mended]
        waits = [each.responded - each.invoked for each in meanwhile if each.responded < math.inf]
        found.append(
            Recovery(
                injury,
                answers.all_after(injury.mended) - injury.mended,
                money.all_after(injury.mended) - injury.mended,
                max(waits, default=0.0),
                sum(max(0, each.attempts - 1) for each in meanwhile),
            )
        )
    return found


def check_recovery(found: Sequence[Recovery], within_s: float) -> Check:
    """Every table moves money again within this time of the end of a fault."""
    check = Check(f"every table moves money again within {within_s:.0f} s of a fault's end", "G9", unit="faults")
    if not found:
        check.violate("nothing was hurt: not every table had moved money before the first fault")
    for recovery in found:
        check.looked_at += 1
        if not recovery.injury.recovered or recovery.money_s > within_s:
            check.violate(f"{recovery.injury.step}: {recovery.money_s:.1f} s")
    return check
