"""Turns journal entries into the rows they add in PostgreSQL, and rows back into entries. Pure.

The writer has the state of the rounds cached, or reads it (`READ_STATES`), passes every entry to `add_entry`, and
writes the rows of all of them. An entry that is there already adds nothing; an entry that contradicts what is recorded,
or comes from a stale owner, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.entries import (
    CommandUsed,
    Drawn,
    DrawTrigger,
    Ended,
    Ending,
    JournalStake,
    Moved,
    Opened,
    Paid,
    ShoePosition,
)
from services.kit.table.journal.rows import cancelled_stakes
from services.kit.table.journal.rows.batch import (
    RecordedDecisions,
    RecordedDraw,
    RecordedMove,
    RecordedState,
    RowBatch,
)


class JournalContradiction(Exception):
    """The entry contradicts what is recorded of its round; nothing of it was written (G4, G6)."""


Entry: TypeAlias = Opened | Drawn | Moved | Paid | Ended
# None: the entry is written, or was there already.
EntryRefusal: TypeAlias = StaleOwner | JournalContradiction | CommandUsed | None


def row_count(entry: Entry) -> int:
    """Returns the size of an entry in rows; cancelled stakes share one column and count all the same."""
    match entry:
        case Drawn():
            return 1 + len(entry.stakes) + len(entry.cancelled_stakes)
        case Moved():
            return 1 if entry.stake is None else 2
        case Paid():
            return len(entry.payouts)
        case Ended():
            stakes = len(entry.returned_stakes) + len(entry.cancelled_stakes)
            return 1 + len(entry.payouts) + len(entry.player_results) + stakes
    return 1


def command_of(entry: Entry) -> str:
    """Returns the command that an entry may not repeat: that of a decision without a stake; empty if it has none."""
    return entry.command_id if isinstance(entry, Moved) and entry.stake is None else ""


def add_entry(
    batch: RowBatch,
    state: RecordedState | None,
    epoch: int,
    entry: Entry,
    used_commands: AbstractSet[str] = frozenset(),
) -> EntryRefusal:
    """Adds the rows of an entry to the batch, unless they are recorded already or the entry is refused."""
    if state is None:
        # Nobody owns the placement yet, or there is no such round.
        return StaleOwner() if isinstance(entry, Opened) else JournalContradiction(f"{entry.round_id} was never opened")
    if epoch != state.epoch:
        return StaleOwner()
    try:
        _add(batch, state, entry, used_commands)
    except (JournalContradiction, CommandUsed) as refusal:
        return refusal
    return None


def _add(batch: RowBatch, state: RecordedState, entry: Entry, used_commands: AbstractSet[str]) -> None:
    """Raises a refusal before it changes anything."""
    if state.opened is None and not isinstance(entry, Opened):
        raise JournalContradiction(f"{entry.round_id} was never opened")
    match entry:
        case Opened():
            _open(batch, state, entry)
        case Drawn():
            _draw(batch, state, entry)
        case Moved():
            _move(batch, state, entry, used_commands)
        case Paid():
            _pay(batch, state, entry)
        case Ended():
            _end(batch, state, entry)


def _open(batch: RowBatch, state: RecordedState, entry: Opened) -> None:
    opened = entry.table_id, entry.number, entry.configuration_version
    if state.opened is not None:
        if (state.placement_id, state.opened) != (entry.placement_id, opened):
            raise JournalContradiction(f"G4: {entry.round_id} was opened as {state.opened}, not as {opened}")
        return
    state.opened = opened
    batch.rounds.append((
        state.round_no, entry.round_id, entry.placement_id, *opened, state.epoch,
        entry.opened_at, entry.closes_at,
    ))  # fmt: skip


def _draw(batch: RowBatch, state: RecordedState, entry: Drawn) -> None:
    drawn = RecordedDraw(
        entry.entropy, entry.outcome, "" if entry.shoe is None else entry.shoe.round_id, entry.cards_taken
    )
    if state.drawn is not None:
        if state.drawn != drawn:
            raise JournalContradiction(f"G6: {entry.round_id} has another outcome")
        return
    if state.ending is not None:
        raise JournalContradiction(f"G6: {entry.round_id} has ended without an outcome")
    state.drawn = drawn
    batch.draws.append((
        state.round_no, state.epoch, entry.closed_at, entry.drawn_at, drawn.entropy, drawn.outcome,
        " ".join(entry.session_ids), entry.draw_trigger, cancelled_stakes.encode(entry.cancelled_stakes),
        entry.sealed_with, len(entry.stakes), drawn.shoe_round_id, drawn.cards_taken,
    ))  # fmt: skip
    batch.add_stakes(state.round_no, 0, entry.stakes)
    state.decisions.next_stake_position = len(entry.stakes)
    if entry.outcome is None:
        state.decisions.stake_ids.update(stake.stake_id for stake in entry.stakes)


def _move(batch: RowBatch, state: RecordedState, entry: Moved, used_commands: AbstractSet[str]) -> None:
    decisions, move, name = state.decisions, RecordedMove.of(entry), f"decision {entry.position} of {entry.round_id}"
    if entry.position in decisions.moves:
        if decisions.moves[entry.position] != move:
            raise JournalContradiction(f"G6: {name} is another one")
        return
    if state.drawn is None:
        raise JournalContradiction(f"G6: {name}: nothing is dealt")
    if state.drawn.outcome is not None:
        raise JournalContradiction(f"G6: {name}: the round has its outcome")
    if state.ending is not None:
        raise JournalContradiction(f"G4: {name}: the round has ended as {state.ending.name}")
    if entry.position != decisions.last_position + 1:
        raise JournalContradiction(f"G10: {name}: the last one on record is {decisions.last_position}")
    if command := command_of(entry):
        if command in used_commands:
            raise CommandUsed
        batch.commands.append(command)
    decisions.last_position = entry.position
    decisions.moves[entry.position] = move
    batch.moves.append((
        state.round_no, entry.position, state.epoch, entry.seat, entry.move, entry.acted_by, entry.command_id,
        entry.command_digest, move.stake_id, entry.moved_at,
    ))  # fmt: skip
    if entry.stake is not None:
        _add_stakes(batch, state, [entry.stake])


def _pay(batch: RowBatch, state: RecordedState, entry: Paid) -> None:
    decisions, new = state.decisions, dict[str, int]()
    for stake_id, cents in entry.payouts:
        recorded = decisions.paid.get(stake_id, (new.setdefault(stake_id, cents), entry.position))
        if recorded != (cents, entry.position):
            raise JournalContradiction(f"G3: stake {stake_id} of {entry.round_id} is paid already, and otherwise")
    for stake_id in decisions.paid:
        new.pop(stake_id, None)
    if not new:
        return
    if state.drawn is None:
        raise JournalContradiction(f"G6: {entry.round_id} pays stakes, and nothing is dealt")
    if state.ending is not None:
        raise JournalContradiction(f"G4: {entry.round_id} pays stakes after it has ended as {state.ending.name}")
    if entry.position > decisions.last_position:
        raise JournalContradiction(f"G10: {entry.round_id} pays after decision {entry.position}, which is not there")
    if unknown := sorted(new.keys() - decisions.stake_ids):
        raise JournalContradiction(f"G10: {entry.round_id} pays for {unknown[0]}, which was never placed")
    for stake_id, cents in new.items():
        decisions.paid[stake_id] = cents, entry.position
        batch.paid.append((state.round_no, stake_id, cents, entry.position, entry.paid_at))


def _end(batch: RowBatch, state: RecordedState, entry: Ended) -> None:
    if state.ending is not None:
        if state.ending != entry.ending:
            raise JournalContradiction(f"G4: {entry.round_id} has ended as {state.ending.name}")
        return
    _verify_outcome(state, entry)
    paid = state.decisions.paid
    for stake_id, cents in entry.payouts:
        if stake_id in paid and paid[stake_id][0] != cents:
            raise JournalContradiction(f"G3: stake {stake_id} of {entry.round_id} was paid {paid[stake_id][0]} cents")
    state.ending = entry.ending
    round_no, table_id = state.round_no, state.opened[0] if state.opened else ""
    batch.endings.append((
        round_no, state.epoch, entry.ending, entry.ended_at, entry.void_reason, entry.closed_at,
        cancelled_stakes.encode(entry.cancelled_stakes), entry.outcome,
    ))  # fmt: skip
    batch.add_payouts(round_no, entry.payouts)
    batch.add_player_results(round_no, table_id, entry.player_results)
    # Of a dealt round, most of what is returned is on record.
    known = state.decisions.stake_ids
    _add_stakes(batch, state, [stake for stake in entry.returned_stakes if stake.stake_id not in known])


def _verify_outcome(state: RecordedState, entry: Ended) -> None:
    """Refuses to settle a round without an outcome, in its draw or here, and to void a round with one."""
    drawn_outcome = None if state.drawn is None else state.drawn.outcome
    if entry.ending is Ending.VOID:
        if drawn_outcome is not None or entry.outcome is not None:
            raise JournalContradiction(f"G6: {entry.round_id} has an outcome and cannot be void")
        return
    if state.drawn is None or (drawn_outcome is None and entry.outcome is None):
        raise JournalContradiction(f"G6: {entry.round_id} has no outcome to be settled by")
    if drawn_outcome is not None and entry.outcome not in {None, drawn_outcome}:
        raise JournalContradiction(f"G6: {entry.round_id} has another outcome")


def _add_stakes(batch: RowBatch, state: RecordedState, stakes: Sequence[JournalStake]) -> None:
    batch.add_stakes(state.round_no, state.decisions.next_stake_position, stakes)
    state.decisions.next_stake_position += len(stakes)
    state.decisions.stake_ids.update(stake.stake_id for stake in stakes)


def recorded_states(rows: Iterable[Sequence[Any]]) -> dict[str, RecordedState]:
    """Reads the rows of `READ_STATES`, by round id."""
    states: dict[str, RecordedState] = {}
    for row in rows:
        round_id, recorded = row[0], row[13:]
        if round_id not in states:
            states[round_id] = _recorded_state(row)
        if recorded[0] is not None:
            _add_recorded(states[round_id].decisions, recorded)
    return states


def _recorded_state(row: Sequence[Any]) -> RecordedState:
    _, placement_id, epoch, round_no, table_id, number, version, *drawn, ending, new_no = row[:13]
    return RecordedState(
        placement_id,
        epoch,
        new_no if round_no is None else round_no,
        None if round_no is None else (table_id, number, version),
        None if drawn[0] is None else RecordedDraw(*drawn),
        None if ending is None else Ending(ending),
    )


def _add_recorded(decisions: RecordedDecisions, recorded: Sequence[Any]) -> None:
    kind, position, stake_id, seat, move, acted_by, request_id, command_digest, payout_cents = recorded
    match kind:
        case "move":
            made = RecordedMove(seat, move, acted_by, request_id, command_digest, stake_id)
            decisions.moves[position] = made
            decisions.last_position = max(decisions.last_position, position)
        case "stake":
            decisions.stake_ids.add(stake_id)
            decisions.next_stake_position = max(decisions.next_stake_position, position + 1)
        case "paid":
            decisions.paid[stake_id] = payout_cents, position


def read_opened(row: Sequence[Any]) -> Opened:
    """Reads a row that begins with `SELECT_OPENED_AND_DRAWN`."""
    return Opened(*row[1:8])


def read_drawn(row: Sequence[Any], stakes: Sequence[JournalStake]) -> Drawn | None:
    """Reads the same row; None if the round was not drawn. `stakes` are all of the round, in their order."""
    closed_at, drawn_at, entropy, outcome, session_ids, draw_trigger, cancelled, entropy_key, stake_count = row[8:17]
    shoe_round_id, cards_taken = row[17:19]
    if closed_at is None:
        return None
    return Drawn(
        row[1],
        closed_at,
        drawn_at,
        entropy,
        outcome,
        stakes if stake_count is None else stakes[:stake_count],
        session_ids,
        DrawTrigger(draw_trigger),
        cancelled_stakes.decode(cancelled),
        hides_cards=bool(entropy_key),
        sealed_with=entropy_key,
        shoe=ShoePosition(shoe_round_id, cards_taken) if shoe_round_id else None,
    )
