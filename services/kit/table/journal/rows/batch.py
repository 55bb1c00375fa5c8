"""The rows that a group of entries adds to the journal, and what is recorded of the rounds of the group."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from services.kit.table.journal.entries import Ending, JournalStake, Moved, PlayerResult
from services.kit.table.journal.rows.statements import write_rows

Row: TypeAlias = tuple[object, ...]


class RecordedMove(NamedTuple):
    """What makes a decision the same decision, however often it is written."""

    seat: int
    move: bytes
    acted_by: int
    request_id: str
    command_digest: bytes
    stake_id: str

    @classmethod
    def of(cls, entry: Moved) -> RecordedMove:
        stake_id = "" if entry.stake is None else entry.stake.stake_id
        return cls(entry.seat, entry.move, entry.acted_by, entry.command_id, entry.command_digest, stake_id)


class RecordedDraw(NamedTuple):
    """What makes a draw the same draw, however often it is written."""

    entropy: bytes
    outcome: bytes | None
    shoe_round_id: str
    cards_taken: int


@dataclass(slots=True)
class RecordedDecisions:
    """What is recorded of the decisions of a dealt round, and of its stakes."""

    last_position: int = 0
    """Of the newest decision."""
    next_stake_position: int = 0
    moves: dict[int, RecordedMove] = field(default_factory=dict)
    stake_ids: set[str] = field(default_factory=set)
    paid: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By stake id: the cents, and after how many decisions."""


@dataclass(slots=True)
class RecordedState:
    """What is recorded of a round, earlier entries of the same group included."""

    placement_id: str
    epoch: int
    round_no: int
    opened: tuple[str, int, int] | None
    """Its table, its number, and its version of the specific rules."""
    drawn: RecordedDraw | None
    ending: Ending | None
    decisions: RecordedDecisions = field(default_factory=RecordedDecisions)


@dataclass(slots=True)
class RowBatch:
    """The rows that a group of entries adds."""

    rounds: list[Row] = field(default_factory=list)
    draws: list[Row] = field(default_factory=list)
    endings: list[Row] = field(default_factory=list)
    moves: list[Row] = field(default_factory=list)
    paid: list[Row] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    """The commands that may not have been used before."""
    # By columns: one list for each array of the statement.
    payouts: tuple[list[Any], ...] = field(default_factory=lambda: _columns(3))
    player_results: tuple[list[Any], ...] = field(default_factory=lambda: _columns(8))
    stakes: tuple[list[Any], ...] = field(default_factory=lambda: _columns(11))

    def statement(self, owners: Collection[tuple[str, int]]) -> tuple[str, list[Sequence[object]]]:
        """Returns the statement that writes the rows, if these placements have these epochs, and its values."""
        columns: dict[str, Sequence[Sequence[object]]] = {
            "rounds": transposed(self.rounds, 9),
            "draws": transposed(self.draws, 13),
            "stakes": self.stakes,
            "moves": transposed(self.moves, 10),
            "paid": transposed(self.paid, 5),
            "endings": transposed(self.endings, 8),
            "payouts": self.payouts,
            "player_results": self.player_results,
        }
        written = {table: values for table, values in columns.items() if values[0]}
        statement = write_rows(tuple(written), of_commands=bool(self.commands))
        commands = [self.commands] if self.commands else []
        return statement, [*transposed(list(owners), 2), *commands, *chain.from_iterable(written.values())]

    def add_payouts(self, round_no: int, payouts: Sequence[tuple[str, int]]) -> None:
        _extend(self.payouts, ([round_no] * len(payouts), *transposed(payouts, 2)))

    def add_stakes(self, round_no: int, first_position: int, stakes: Sequence[JournalStake]) -> None:
        _extend(
            self.stakes,
            (
                [round_no] * len(stakes),
                range(first_position, first_position + len(stakes)),
                [stake.stake_id for stake in stakes],
                [stake.request_id for stake in stakes],
                [stake.player_id for stake in stakes],
                [stake.account_id for stake in stakes],
                [stake.session_id for stake in stakes],
                [stake.seat for stake in stakes],
                [stake.amount_cents for stake in stakes],
                [stake.bets for stake in stakes],
                [stake.placed_at for stake in stakes],
            ),
        )

    def add_player_results(self, round_no: int, table_id: str, results: Sequence[PlayerResult]) -> None:
        _extend(
            self.player_results,
            (
                [round_no] * len(results),
                [result.player_id for result in results],
                [table_id] * len(results),
                [result.session_id for result in results],
                [result.staked_cents for result in results],
                [result.payout_cents for result in results],
                [result.balance_before_cents for result in results],
                [result.balance_after_cents for result in results],
            ),
        )


def _columns(count: int) -> tuple[list[Any], ...]:
    return tuple([] for _ in range(count))


def _extend(columns: Iterable[list[Any]], added: Iterable[Iterable[object]]) -> None:
    for column, values in zip(columns, added, strict=True):
        column.extend(values)


def transposed(rows: Sequence[Row], width: int) -> Sequence[Sequence[object]]:
    """Returns the columns of rows."""
    return list(zip(*rows, strict=True)) if rows else [()] * width
