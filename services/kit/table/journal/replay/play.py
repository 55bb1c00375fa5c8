"""Plays a recorded round again: deals from its entropy, and makes its decisions one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple

from services.kit.randomness.tape import Tape, TapeExhausted
from services.kit.refusal import Refused
from services.kit.table.game import Bets, DealtRound, Outcome, Rules, StakeOnTable, Wanted
from services.kit.table.journal.entries import Drawn, Ending, Moved
from services.kit.table.journal.history import RoundRecord


class DueStake(NamedTuple):
    """What a stake pays that is decided for good before the round ends."""

    cents: int
    position: int
    """After how many decisions that is so."""


@dataclass(slots=True)
class PlayedAgain(Generic[Bets, Outcome]):
    """What entropy and decisions of a round give."""

    outcome: Outcome | None = None
    """None if they do not decide the round."""
    cards: int = 0
    """How many the round has taken from its shoe."""
    due: dict[str, DueStake] = field(default_factory=dict)
    """By stake id."""
    differences: list[str] = field(default_factory=list)
    """In what the record contradicts the rules."""


def play_again(
    record: RoundRecord, drawn: Drawn, rules: Rules[Bets, Outcome], bets: Mapping[str, Bets], tape: Tape
) -> PlayedAgain[Bets, Outcome]:
    """Plays a round again whose entropy can be read; `bets` are by stake id."""
    played: PlayedAgain[Bets, Outcome] = PlayedAgain()
    stakes = [StakeOnTable(stake.stake_id, stake.seat, bets[stake.stake_id]) for stake in drawn.stakes]
    try:
        round_ = rules.deal(stakes, tape, drawn.cards_taken)
    except TapeExhausted:
        played.differences.append("the entropy in the journal is too short for a draw")
        return played
    if tape.used != len(drawn.entropy):
        played.differences.append(f"the draw uses {tape.used} of {len(drawn.entropy)} bytes of entropy")
    _note_due(played, round_, 0)
    for move in record.moves:
        try:
            wanted = round_.judge(move.seat, move.move)
        except Refused as refused:
            played.differences.append(f"decision {move.position} is not possible by the rules ({refused.reason})")
            return played
        _compare_stake(played, rules, move, wanted)
        round_ = round_.after(move.seat, move.move, "" if move.stake is None else move.stake.stake_id)
        _note_due(played, round_, move.position)
    played.cards = round_.cards_shown
    if round_.turn is None:
        played.outcome = round_.outcome
    elif record.ended is not None and record.ended.ending is Ending.SETTLED:
        seats = ", ".join(map(str, round_.turn.seats))
        played.differences.append(f"settled after {len(record.moves)} decisions, and seat {seats} may still decide")
    return played


def _note_due(played: PlayedAgain[Bets, Outcome], round_: DealtRound[Bets, Outcome], position: int) -> None:
    for stake_id, cents in round_.due_cents().items():
        known = played.due.setdefault(stake_id, DueStake(cents, position))
        if known.cents != cents:
            played.differences.append(f"stake {stake_id}: {known.cents} due early, and then {cents}")


def _compare_stake(
    played: PlayedAgain[Bets, Outcome], rules: Rules[Bets, Outcome], move: Moved, wanted: Wanted[Bets] | None
) -> None:
    name, stake = f"decision {move.position}", move.stake
    if wanted is None:
        if stake is not None:
            played.differences.append(f"{name} costs nothing, and has stake {stake.stake_id}")
    elif stake is None:
        played.differences.append(f"{name} costs {wanted.cents} cents, and has no stake")
    elif stake.amount_cents != wanted.cents:
        played.differences.append(f"{name} costs {wanted.cents} cents, and has a stake of {stake.amount_cents}")
    elif rules.bets_message(wanted.bets).SerializeToString() != stake.bets:
        played.differences.append(f"{name}: stake {stake.stake_id} has other bets than the rules give it")
