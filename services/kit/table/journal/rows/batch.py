"""The rows that a group of entries adds to the journal, and what is recorded of the rounds of the group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from services.kit.table.journal.entries import Ending, JournalStake, Moved, PlayerResult
from services.kit.table.journal.rows.statements import WRITE_ROWS, WRITE_ROWS_AND_DECISIONS

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
        return cls(entry.seat, entry.move, entry.acted_by, entry.request_id, entry.command_digest, stake_id)


class RecordedDraw(NamedTuple):
    """What makes a draw the same draw, however often it is written."""

    entropy: bytes
    outcome: bytes | None
    shoe_round_id: str
    cards_taken: int


@dataclass(slots=True)
class RecordedDecisions:
    """What is recorded of the decisions of a round, as far as the entries of a group ask for it."""

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
    # By columns: one list for each array of the statement.
    payouts: tuple[list[Any], ...] = field(default_factory=lambda: _columns(3))
    player_results: tuple[list[Any], ...] = field(default_factory=lambda: _columns(8))
    stakes: tuple[list[Any], ...] = field(default_factory=lambda: _columns(11))

    @property
    def is_empty(self) -> bool:
        return not (self.rounds or self.draws or self.endings or self.moves or self.paid)

    def statement(self) -> tuple[str, list[Sequence[object]]]:
        """Returns the statement that writes the rows, and its values."""
        values: list[Sequence[object]] = [
            *transposed(self.rounds, 9),
            *transposed(self.draws, 13),
            *transposed(self.endings, 8),
            *self.payouts,
            *self.player_results,
            *self.stakes,
        ]
        if not self.moves and not self.paid:
            return WRITE_ROWS, values
        return WRITE_ROWS_AND_DECISIONS, [*values, *transposed(self.moves, 10), *transposed(self.paid, 5)]

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
