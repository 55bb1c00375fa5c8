"""Turns journal entries into the rows they add in PostgreSQL, and rows back into entries. Pure.

A transaction of the writer reads the state of the rounds (`READ_STATES`), passes every entry to `add_entry`, and writes
the rows of all of them (`WRITE_ROWS`). An entry that is there already adds nothing; an entry that contradicts what is
recorded, or comes from a stale owner, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from services.kit.table.journal import cancelled_stakes
from services.kit.table.journal.entries import (
    Drawn,
    DrawTrigger,
    Ended,
    Ending,
    JournalStake,
    Opened,
    PlayerResult,
    StaleOwner,
)

# Waits for a takeover of the placement that is under way, and then reads its new epoch.
READ_STATES = """
SELECT asked.round_id, placements.placement_id, placements.epoch, rounds.round_no, rounds.table_id, rounds.number,
       rounds.configuration_version, draws.entropy, draws.outcome, endings.ending,
       CASE WHEN rounds.round_no IS NULL THEN nextval('round_no') END
FROM unnest($1::text[], $2::text[]) AS asked(round_id, placement_id)
LEFT JOIN rounds ON rounds.round_id = asked.round_id
LEFT JOIN draws ON draws.round_no = rounds.round_no
LEFT JOIN endings ON endings.round_no = rounds.round_no
JOIN placements ON placements.placement_id = COALESCE(rounds.placement_id, asked.placement_id)
FOR SHARE OF placements
"""
WRITE_ROWS = """
WITH written_rounds AS (
    INSERT INTO rounds (round_no, round_id, placement_id, table_id, number, configuration_version, epoch, opened_at,
                        closes_at)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::integer[], $7::bigint[],
                         $8::timestamptz[], $9::timestamptz[])
), written_draws AS (
    INSERT INTO draws (round_no, epoch, closed_at, drawn_at, entropy, outcome, session_ids, draw_trigger,
                       cancelled_stakes)
    SELECT round_no, epoch, closed_at, drawn_at, entropy, outcome, string_to_array(session_ids, ' '), draw_trigger,
           cancelled_stakes
    FROM unnest($10::bigint[], $11::bigint[], $12::timestamptz[], $13::timestamptz[], $14::bytea[], $15::bytea[],
                $16::text[], $17::smallint[], $18::bytea[])
         AS new(round_no, epoch, closed_at, drawn_at, entropy, outcome, session_ids, draw_trigger, cancelled_stakes)
), written_endings AS (
    INSERT INTO endings (round_no, epoch, ending, ended_at, void_reason, closed_at, cancelled_stakes)
    SELECT * FROM unnest($19::bigint[], $20::bigint[], $21::smallint[], $22::timestamptz[], $23::text[],
                         $24::timestamptz[], $25::bytea[])
), written_payouts AS (
    INSERT INTO payouts (round_no, stake_id, payout_cents)
    SELECT * FROM unnest($26::bigint[], $27::text[], $28::bigint[])
), written_results AS (
    INSERT INTO player_results (round_no, player_id, table_id, session_id, staked_cents, payout_cents,
                                balance_before_cents, balance_after_cents)
    SELECT * FROM unnest($29::bigint[], $30::text[], $31::text[], $32::text[], $33::bigint[], $34::bigint[],
                         $35::bigint[], $36::bigint[])
)
INSERT INTO stakes (round_no, position, stake_id, request_id, player_id, account_id, session_id, seat, amount_cents,
                    bets, placed_at)
SELECT * FROM unnest($37::bigint[], $38::integer[], $39::text[], $40::text[], $41::text[], $42::text[], $43::text[],
                     $44::integer[], $45::bigint[], $46::bytea[], $47::timestamptz[])
"""

# Of a round that was not drawn, the columns of `draws` are NULL.
SELECT_OPENED_AND_DRAWN = """
SELECT rounds.round_no, rounds.round_id, rounds.table_id, rounds.placement_id, rounds.number,
       rounds.configuration_version, rounds.opened_at, rounds.closes_at,
       draws.closed_at, draws.drawn_at, draws.entropy, draws.outcome, draws.session_ids, draws.draw_trigger,
       draws.cancelled_stakes"""


class JournalContradiction(Exception):
    """The entry contradicts what is recorded of its round; nothing of it was written (G4, G6)."""


Entry: TypeAlias = Opened | Drawn | Ended
# None: the entry is written, or was there already.
EntryRefusal: TypeAlias = StaleOwner | JournalContradiction | None
_Row: TypeAlias = tuple[object, ...]


def row_count(entry: Entry) -> int:
    """Returns the size of an entry in rows; cancelled stakes share one column and count all the same."""
    if isinstance(entry, Drawn):
        return 1 + len(entry.stakes) + len(entry.cancelled_stakes)
    if isinstance(entry, Ended):
        return (
            1
            + len(entry.payouts)
            + len(entry.player_results)
            + len(entry.returned_stakes)
            + len(entry.cancelled_stakes)
        )
    return 1


@dataclass(slots=True)
class RecordedState:
    """What is recorded of a round, earlier entries of the same group included."""

    placement_id: str
    epoch: int
    round_no: int
    opened: tuple[str, int, int] | None
    """Its table, its number, and its version of the specific rules."""
    drawn: tuple[bytes, bytes] | None
    """Entropy and outcome."""
    ending: Ending | None


@dataclass(slots=True)
class RowBatch:
    """The rows that a group of entries adds."""

    rounds: list[_Row] = field(default_factory=list)
    draws: list[_Row] = field(default_factory=list)
    endings: list[_Row] = field(default_factory=list)
    # By columns: one list for each array of the statement.
    payouts: tuple[list[Any], ...] = field(default_factory=lambda: _columns(3))
    player_results: tuple[list[Any], ...] = field(default_factory=lambda: _columns(8))
    stakes: tuple[list[Any], ...] = field(default_factory=lambda: _columns(11))

    @property
    def is_empty(self) -> bool:
        return not (self.rounds or self.draws or self.endings)

    def values(self) -> list[Sequence[object]]:
        return [
            *_transposed(self.rounds, 9),
            *_transposed(self.draws, 9),
            *_transposed(self.endings, 7),
            *self.payouts,
            *self.player_results,
            *self.stakes,
        ]


def add_entry(batch: RowBatch, state: RecordedState | None, epoch: int, entry: Entry) -> EntryRefusal:
    """Adds the rows of an entry to the batch, unless they are recorded already or the entry is refused."""
    if state is None:
        # Nobody owns the placement yet, or there is no such round.
        return StaleOwner() if isinstance(entry, Opened) else JournalContradiction(f"{entry.round_id} was never opened")
    if epoch != state.epoch:
        return StaleOwner()
    if isinstance(entry, Opened):
        return _open(batch, state, entry)
    if state.opened is None:
        return JournalContradiction(f"{entry.round_id} was never opened")
    return _draw(batch, state, entry) if isinstance(entry, Drawn) else _end(batch, state, entry)


def _open(batch: RowBatch, state: RecordedState, entry: Opened) -> EntryRefusal:
    opened = entry.table_id, entry.number, entry.configuration_version
    if state.opened is not None:
        if (state.placement_id, state.opened) == (entry.placement_id, opened):
            return None
        return JournalContradiction(f"G4: {entry.round_id} was opened as {state.opened}, not as {opened}")
    state.opened = opened
    batch.rounds.append((
        state.round_no, entry.round_id, entry.placement_id, *opened, state.epoch,
        entry.opened_at, entry.closes_at,
    ))  # fmt: skip
    return None


def _draw(batch: RowBatch, state: RecordedState, entry: Drawn) -> EntryRefusal:
    drawn = entry.entropy, entry.outcome
    if state.drawn is not None:
        return None if state.drawn == drawn else JournalContradiction(f"G6: {entry.round_id} has another outcome")
    if state.ending is not None:
        return JournalContradiction(f"G6: {entry.round_id} has ended without an outcome")
    state.drawn = drawn
    batch.draws.append((
        state.round_no, state.epoch, entry.closed_at, entry.drawn_at, *drawn, " ".join(entry.session_ids),
        entry.draw_trigger, cancelled_stakes.encode(entry.cancelled_stakes),
    ))  # fmt: skip
    _add_stakes(batch, state.round_no, entry.stakes)
    return None


def _end(batch: RowBatch, state: RecordedState, entry: Ended) -> EntryRefusal:
    if state.ending is not None:
        if state.ending == entry.ending:
            return None
        return JournalContradiction(f"G4: {entry.round_id} has ended as {state.ending.name}")
    if entry.ending is Ending.SETTLED and state.drawn is None:
        return JournalContradiction(f"G6: {entry.round_id} has no outcome to be settled by")
    if entry.ending is Ending.VOID and state.drawn is not None:
        return JournalContradiction(f"G6: {entry.round_id} has an outcome and cannot be void")
    state.ending = entry.ending
    round_no, table_id = state.round_no, state.opened[0] if state.opened else ""
    batch.endings.append((
        round_no, state.epoch, entry.ending, entry.ended_at, entry.void_reason, entry.closed_at,
        cancelled_stakes.encode(entry.cancelled_stakes),
    ))  # fmt: skip
    _extend(batch.payouts, ([round_no] * len(entry.payouts), *_transposed(entry.payouts, 2)))
    _add_player_results(batch, round_no, table_id, entry.player_results)
    _add_stakes(batch, round_no, entry.returned_stakes)
    return None


def _add_stakes(batch: RowBatch, round_no: int, stakes: Sequence[JournalStake]) -> None:
    _extend(
        batch.stakes,
        (
            [round_no] * len(stakes),
            range(len(stakes)),
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


def _add_player_results(batch: RowBatch, round_no: int, table_id: str, results: Sequence[PlayerResult]) -> None:
    _extend(
        batch.player_results,
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


def _transposed(rows: Sequence[_Row], width: int) -> Sequence[Sequence[object]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def recorded_state(row: Sequence[Any]) -> RecordedState:
    """Reads one row of `READ_STATES`."""
    _, placement_id, epoch, round_no, table_id, number, version, entropy, outcome, ending, new_no = row
    return RecordedState(
        placement_id,
        epoch,
        new_no if round_no is None else round_no,
        None if round_no is None else (table_id, number, version),
        None if outcome is None else (entropy, outcome),
        None if ending is None else Ending(ending),
    )


def read_opened(row: Sequence[Any]) -> Opened:
    """Reads a row that begins with `SELECT_OPENED_AND_DRAWN`."""
    return Opened(*row[1:8])


def read_drawn(row: Sequence[Any], stakes: Sequence[JournalStake]) -> Drawn | None:
    """Reads the same row; None if the round was not drawn."""
    closed_at, drawn_at, entropy, outcome, session_ids, draw_trigger, cancelled = row[8:15]
    if closed_at is None:
        return None
    return Drawn(
        row[1],
        closed_at,
        drawn_at,
        entropy,
        outcome,
        stakes,
        session_ids,
        DrawTrigger(draw_trigger),
        cancelled_stakes.decode(cancelled),
    )
