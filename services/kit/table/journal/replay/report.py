"""Writes the report of a replayed round: its record, how the outcome follows from the entropy, and every payout."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from google.protobuf.message import Message

from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.randomness.tape import Tape, TapeExhausted
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Rules
from services.kit.table.journal.entries import CancelledStake, DrawTrigger, Ending, JournalStake
from services.kit.table.journal.history import RoundRecord

PROGRESS_EVERY_S = 1.0

_DRAW_TRIGGERS = {
    DrawTrigger.UNKNOWN: "not on record: the round is older than this record",
    DrawTrigger.PLAYER: "by the player",
    DrawTrigger.CLOCK: "by the clock",
    DrawTrigger.SESSION_ENDED: "by the platform: the player's session ended with a bet on the felt",
    DrawTrigger.TABLE_HANDED_OVER: "by the platform: the table was handed over, and the player did not launch in time",
}


@dataclass(frozen=True, slots=True)
class ReplayedRound:
    """A recomputed round in messages that can be shown."""

    record: RoundRecord
    versioned_rules: VersionedRules[Any, Any]
    response: table_pb2.ReplayRoundResponse
    outcome: Message | None
    """The outcome that the entropy gives."""
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


def describe_round(
    record: RoundRecord, versioned_rules: VersionedRules[Any, Any], response: table_pb2.ReplayRoundResponse
) -> ReplayedRound:
    """Reads the record by the game's rules; raises what they raise for entries that they cannot read."""
    rules, outcome, entropy_steps = versioned_rules.rules, None, list[str]()
    if record.drawn is not None and record.drawn.is_lost:
        outcome = rules.read_outcome(record.drawn.outcome)
    elif record.drawn is not None:
        tape = _RecordingTape(record.drawn.entropy)
        try:
            outcome = rules.draw(tape)
        except TapeExhausted:
            entropy_steps = ["the entropy ends before there is an outcome"]
        else:
            entropy_steps = tape.steps
    bets: dict[str, Message] = {}
    for stake in record.stakes:
        read = rules.read_bets(stake.bets)
        bets[stake.stake_id] = rules.bets_message(read) if outcome is None else rules.results_message(outcome, read)
    message = None if outcome is None else rules.outcome_message(outcome)
    return ReplayedRound(record, versioned_rules, response, message, bets, entropy_steps)


def round_report(round_: ReplayedRound) -> list[str]:
    """Returns the lines of a round's report."""
    lines = [f"Round {round_.record.opened.round_id}"]
    lines += [f"  {name:<11} {value}" for name, value in _facts(round_)]
    for stake, compared in zip(round_.record.stakes, round_.response.stakes, strict=True):
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
    drawn = round_.record.drawn
    if drawn is None:
        yield "entropy", "none: nothing was drawn"
        return
    if drawn.is_lost:
        yield "entropy", "lost: the journal was restored from a backup, and has the round from the ledger"
    else:
        yield "entropy", f"{drawn.entropy.hex(' ')} (hexadecimal)"
        for step in round_.entropy_steps:
            yield "", step
        if round_.outcome is not None:
            yield "gives", _text(round_.outcome)
    recorded = round_.versioned_rules.rules.outcome_message(round_.versioned_rules.rules.read_outcome(drawn.outcome))
    yield "journal has", _text(recorded)


def _stake(stake: JournalStake, compared: table_pb2.ReplayedStake, bets: Message) -> Iterator[str]:
    yield ""
    yield f"  Stake {stake.stake_id}: {_euros(stake.amount_cents)} of {_player(stake)}"
    yield f"    account {stake.account_id}, session {stake.session_id}, placed {_moment(stake.placed_at)}"
    for bet in _bets(bets):
        yield f"    {_text(bet)}"
    yield (
        f"    pays: computed {_euros(compared.computed_payout_cents)},"
        f" journal {_euros(compared.journal_payout_cents)}, ledger {_euros(compared.ledger_payout_cents)}"
    )


def _cancelled_stake(cancelled: CancelledStake, rules: Rules[Any, Any]) -> Iterator[str]:
    stake = cancelled.stake
    yield ""
    yield f"  Taken back {stake.stake_id}: {_euros(stake.amount_cents)} of {_player(stake)}"
    yield f"    placed {_moment(stake.placed_at)}, taken back {_moment(cancelled.cancelled_at)}"
    for bet in _bets(rules.bets_message(rules.read_bets(stake.bets))):
        yield f"    {_text(bet)}"


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


def _text(message: Message) -> str:
    facts: list[str] = []
    for described in message.DESCRIPTOR.fields:
        value = getattr(message, described.name)
        if described.enum_type is not None and value in described.enum_type.values_by_number:
            value = described.enum_type.values_by_number[value].name.rpartition("_")[2].lower()
        if described.name.endswith("_cents"):
            value = _euros(value)
        facts.append(f"{described.name.removesuffix('_cents').replace('_', ' ')} {value}")
    return ", ".join(facts)


def _plain(name: str) -> str:
    return name.partition("_")[2].replace("_", " ").lower()


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(sep=" ", timespec="milliseconds").replace("+00:00", " UTC")


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
