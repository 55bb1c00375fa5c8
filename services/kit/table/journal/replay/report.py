"""Writes the report of a replayed round: its record, how the outcome follows from the entropy, and every payout."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from google.protobuf.message import Message

from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.randomness.tape import Tape
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Rules
from services.kit.table.journal import round_messages
from services.kit.table.journal.entries import ActedBy, CancelledStake, Drawn, DrawTrigger, Ending, JournalStake
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.replay import hands
from services.kit.table.journal.replay.play import play_again

PROGRESS_EVERY_S = 1.0
# How many numbers of a draw the report lists one by one; a shoe has hundreds.
STEPS_SHOWN = 60

_DRAW_TRIGGERS = {
    DrawTrigger.UNKNOWN: "not on record: the round is older than this record",
    DrawTrigger.PLAYER: "by the player",
    DrawTrigger.CLOCK: "by the clock",
    DrawTrigger.SESSION_ENDED: "by the platform: the player's session ended with a bet on the felt",
    DrawTrigger.TABLE_HANDED_OVER: "by the platform: the table was handed over, and the player did not launch in time",
}

_ACTED_BY = {
    ActedBy.PLAYER: "by the player",
    ActedBy.CLOCK: "by the clock: the time to decide was over",
    ActedBy.AWAY: "by the platform: the player had left, or sat out",
    ActedBy.INSTRUCTION: "by the player, who had given the instruction before",
    ActedBy.PLATFORM: "by the platform",
}


@dataclass(frozen=True, slots=True)
class ReplayedRound:
    """A recomputed round in messages that can be shown."""

    record: RoundRecord
    versioned_rules: VersionedRules[Any, Any]
    response: table_pb2.ReplayRoundResponse
    outcome: Message | None
    """The outcome that the entropy gives, with the decisions if there are any; None while that hides cards."""
    bets: dict[str, Message]
    """By stake id: the results of its bets if there is an outcome, otherwise the bets."""
    entropy_steps: list[str]
    """How the draw read the entropy, a sentence for each number."""


class _RecordingTape(Tape):
    """Records how the entropy is read."""

    def __init__(self, entropy: bytes) -> None:
        super().__init__(entropy)
        self.steps: list[str] = []

    def below(self, n: int) -> int:
        before = self.used
        result = super().below(n)
        width = ((n - 1).bit_length() + 7) // 8
        limit = 256**width // n * n
        for at in range(before, self.used, width or 1):
            piece = self._entropy[at : at + width]
            number = int.from_bytes(piece, "big")
            read = f"{piece.hex()} is {number}"
            if number >= limit:
                self.steps.append(f"{read}: not below {limit}, thrown away")
            else:
                self.steps.append(f"{read}: divided by {n} it leaves {number % n}")
        return result

    def below_each(self, n: int) -> list[int]:
        return [self.below(size) for size in range(n, 1, -1)]


def describe_round(
    record: RoundRecord, versioned_rules: VersionedRules[Any, Any], response: table_pb2.ReplayRoundResponse
) -> ReplayedRound:
    """Reads the record by the game's rules; raises what they raise for entries that they cannot read."""
    rules, drawn, outcome, entropy_steps = versioned_rules.rules, record.drawn, None, list[str]()
    bets = {stake.stake_id: rules.read_bets(stake.bets) for stake in record.stakes}
    if drawn is not None and drawn.is_lost:
        outcome = None if record.outcome is None else rules.read_outcome(record.outcome)
    elif drawn is not None and not drawn.is_sealed and not record.hides_cards:
        tape = _RecordingTape(drawn.entropy)
        outcome = play_again(record, drawn, rules, bets, tape).outcome
        entropy_steps = [] if record.seals_entropy else tape.steps
    shown = {
        stake_id: rules.bets_message(each) if outcome is None else rules.results_message(outcome, each)
        for stake_id, each in bets.items()
    }
    message = None if outcome is None else rules.outcome_message(outcome)
    return ReplayedRound(record, versioned_rules, response, message, shown, entropy_steps)


def round_report(round_: ReplayedRound) -> list[str]:
    """Returns the lines of a round's report."""
    lines = [f"Round {round_.record.opened.round_id}"]
    lines += [f"  {name:<11} {value}" for name, value in _facts(round_)]
    lines += _decisions(round_)
    for stake, compared in zip(round_.record.stakes, round_.response.stakes, strict=True):
        if hands.is_for_chips(round_.versioned_rules.configuration.play):
            lines += _seat(stake, round_.bets[stake.stake_id])
        else:
            lines += _stake(stake, compared, round_.bets[stake.stake_id])
    for cancelled in round_.record.cancelled_stakes:
        lines += _cancelled_stake(cancelled, round_.versioned_rules.rules)
    if round_.record.drawn is None and round_.record.ended is None:
        lines += ["", "Its stakes are in the journal once it is closed."]
    return [*lines, "", *_verdict(round_.response)]


def _facts(round_: ReplayedRound) -> Iterator[tuple[str, str]]:
    opened, drawn, ended = round_.record.opened, round_.record.drawn, round_.record.ended
    version, configuration = round_.versioned_rules.version, round_.versioned_rules.configuration
    mode, play = wallet_types.Mode.Name(configuration.mode), wallet_types.Play.Name(configuration.play)
    yield "table", f"{opened.table_id}, its round {opened.number}"
    yield "game", ", ".join([configuration.game, configuration.regulation, _plain(mode), _plain(play)])
    yield "rules", f"version {version.version} of {version.table_id}, approved as {version.approval_reference}"
    effective, entered = version.effective_at.ToDatetime(UTC), version.entered_at.ToDatetime(UTC)
    yield "", f"in force from {_moment(effective)}, entered by {version.entered_by} on {_moment(entered)}"
    yield "opened", _moment(opened.opened_at)
    if drawn is not None:
        yield "closed", _moment(drawn.closed_at)
        yield "launched", _DRAW_TRIGGERS[drawn.draw_trigger]
        yield "drawn", _moment(drawn.drawn_at)
    elif ended is not None and ended.closed_at is not None:
        yield "closed", _moment(ended.closed_at)
    if ended is not None:
        how = "settled" if ended.ending is Ending.SETTLED else f"void: {ended.void_reason}"
        yield "ended", f"{_moment(ended.ended_at)}, {how}"
    else:
        yield "ended", "not yet"
    yield from _draw(round_)


def _draw(round_: ReplayedRound) -> Iterator[tuple[str, str]]:
    record, drawn, rules = round_.record, round_.record.drawn, round_.versioned_rules.rules
    if drawn is None:
        yield "entropy", "none: nothing was drawn"
        return
    if drawn.shoe is not None:
        yield "shoe", f"shuffled for {drawn.shoe.round_id}; {drawn.shoe.cards_taken} cards were taken before"
    yield from _entropy(round_, drawn)
    if record.outcome is not None:
        yield "journal has", _text(rules.outcome_message(rules.read_outcome(record.outcome)), _amount_of(round_))


def _entropy(round_: ReplayedRound, drawn: Drawn) -> Iterator[tuple[str, str]]:
    record = round_.record
    if drawn.is_lost:
        yield "entropy", "lost: the journal was restored from a backup, and has the round from the ledger"
    elif record.hides_cards or drawn.is_sealed:
        yield "entropy", "sealed until the round has ended: it hides cards"
    elif record.seals_entropy:
        yield "entropy", "sealed until the table is dealt from another shoe: it hides cards"
        yield from _gives(round_)
    else:
        yield "entropy", f"{drawn.entropy.hex(' ')} (hexadecimal)"
        for step in round_.entropy_steps[:STEPS_SHOWN]:
            yield "", step
        if len(round_.entropy_steps) > STEPS_SHOWN:
            yield "", f"and {len(round_.entropy_steps) - STEPS_SHOWN} more numbers, read in the same way"
        yield from _gives(round_)


def _gives(round_: ReplayedRound) -> Iterator[tuple[str, str]]:
    if round_.outcome is not None:
        yield "gives", _text(round_.outcome, _amount_of(round_))


def _decisions(round_: ReplayedRound) -> Iterator[str]:
    """Tells the decisions in their order, each with on whose word it was made, and what was paid in between."""
    record, rules = round_.record, round_.versioned_rules.rules
    if record.moves or record.paid:
        yield ""
    for position in range(len(record.moves) + 1):
        if position:
            move = record.moves[position - 1]
            decided = _text(round_messages.read_move(move, rules), _amount_of(round_))
            yield f"  Decision {position}: seat {move.seat}, {decided}"
            yield f"    {_ACTED_BY[move.acted_by]}, {_moment(move.moved_at)}"
            if move.stake is not None:
                yield f"    for stake {move.stake.stake_id} of {_euros(move.stake.amount_cents)}"
        for paid in (each for each in record.paid if each.position == position):
            for stake_id, cents in paid.payouts:
                yield f"    stake {stake_id} is decided, and paid {_euros(cents)} on {_moment(paid.paid_at)}"


def _stake(stake: JournalStake, compared: table_pb2.ReplayedStake, bets: Message) -> Iterator[str]:
    yield ""
    yield f"  Stake {stake.stake_id}: {_euros(stake.amount_cents)} of {_player(stake)}"
    yield f"    account {stake.account_id}, session {stake.session_id}, placed {_moment(stake.placed_at)}"
    for bet in _bets(bets):
        yield f"    {_text(bet, _euros)}"
    yield (
        f"    pays: computed {_euros(compared.computed_payout_cents)},"
        f" journal {_euros(compared.journal_payout_cents)}, ledger {_euros(compared.ledger_payout_cents)}"
    )


def _seat(stake: JournalStake, shown: Message) -> Iterator[str]:
    """Tells what a hand for chips was for one seat: no money lies there."""
    yield ""
    yield f"  Seat {stake.seat}: {_player(stake)}, entry {stake.session_id}"
    yield f"    {_text(shown, _chips)}"


def _cancelled_stake(cancelled: CancelledStake, rules: Rules[Any, Any]) -> Iterator[str]:
    stake = cancelled.stake
    yield ""
    yield f"  Taken back {stake.stake_id}: {_euros(stake.amount_cents)} of {_player(stake)}"
    yield f"    placed {_moment(stake.placed_at)}, taken back {_moment(cancelled.cancelled_at)}"
    for bet in _bets(rules.bets_message(rules.read_bets(stake.bets))):
        yield f"    {_text(bet, _euros)}"


def _player(stake: JournalStake) -> str:
    return stake.player_id or "a player of the ledger"


def _verdict(answer: table_pb2.ReplayRoundResponse) -> list[str]:
    if not answer.differences:
        return ["It agrees: computation, journal and ledger say the same."]
    return ["IT DIFFERS:", *(f"  {difference}" for difference in answer.differences)]


def _bets(message: Message) -> Iterator[Message]:
    """Yields the bets of a game's message: the elements of its repeated fields."""
    for described in message.DESCRIPTOR.fields:
        if described.message_type is not None and described.is_repeated:
            yield from getattr(message, described.name)


def _text(message: Message, amount: Callable[[int], str]) -> str:
    """Writes the fields of a game's message; `amount` writes those that are amounts."""
    facts: list[str] = []
    for described in message.DESCRIPTOR.fields:
        value, enum_type = getattr(message, described.name), described.enum_type
        names = {} if enum_type is None else {number: each.name for number, each in enum_type.values_by_number.items()}
        if described.is_repeated:
            text = f"[{'; '.join(_value(described.name, each, names, amount) for each in value)}]"
        elif described.has_presence and not message.HasField(described.name):
            continue
        else:
            text = _value(described.name, value, names, amount)
        facts.append(f"{described.name.removesuffix('_cents').replace('_', ' ')} {text}")
    return ", ".join(facts)


def _value(name: str, value: object, enum_names: Mapping[int, str], amount: Callable[[int], str]) -> str:
    if isinstance(value, Message):
        return _text(value, amount)
    if isinstance(value, int) and value in enum_names:
        return enum_names[value].rpartition("_")[2].lower()
    return amount(value) if isinstance(value, int) and name.endswith("_cents") else str(value)


def _plain(name: str) -> str:
    return name.partition("_")[2].replace("_", " ").lower()


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(sep=" ", timespec="milliseconds").replace("+00:00", " UTC")


def _amount_of(round_: ReplayedRound) -> Callable[[int], str]:
    """Returns what writes the amounts of a round."""
    return _chips if hands.is_for_chips(round_.versioned_rules.configuration.play) else _euros


def _chips(count: int) -> str:
    return f"{count} chips"


def _euros(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02} €"


@dataclass(slots=True)
class Summary:
    """Counts the rounds of a replay and reports progress."""

    expected: int
    progress: Callable[[str], None]
    settled: int = 0
    void: int = 0
    stakes: int = 0
    paid_cents: int = 0
    differing: dict[str, list[str]] = field(default_factory=dict)
    unchecked: dict[str, str] = field(default_factory=dict)
    _reported_at: float = field(default_factory=time.monotonic)

    @property
    def replayed_count(self) -> int:
        return self.settled + self.void

    def add(self, round_id: str, round_: ReplayedRound) -> None:
        if round_.record.ended is not None and round_.record.ended.ending is Ending.VOID:
            self.void += 1
        else:
            self.settled += 1
        self.stakes += len(round_.response.stakes)
        self.paid_cents += sum(stake.computed_payout_cents for stake in round_.response.stakes)
        if round_.response.differences:
            self.differing[round_id] = list(round_.response.differences)
        self._report_progress()

    def add_unchecked(self, round_id: str, reason: str) -> None:
        self.unchecked[round_id] = reason
        self._report_progress()

    def _report_progress(self) -> None:
        now = time.monotonic()
        if now - self._reported_at >= PROGRESS_EVERY_S:
            self._reported_at = now
            done = self.replayed_count + len(self.unchecked)
            self.progress(f"{done} of {self.expected} rounds, {len(self.differing)} of them differ")

    def lines(self) -> list[str]:
        lines = [
            f"{round_id} differs: {difference}"
            for round_id, differences in self.differing.items()
            for difference in differences
        ]
        lines += [f"{round_id} could not be checked: {reason}" for round_id, reason in self.unchecked.items()]
        lines.append(
            f"{self.replayed_count} rounds replayed: {self.settled} settled, {self.void} void; {self.stakes} stakes, "
            f"{_euros(self.paid_cents)} paid or given back"
        )
        lines.append(f"{len(self.differing)} differ, {len(self.unchecked)} could not be checked")
        return lines
