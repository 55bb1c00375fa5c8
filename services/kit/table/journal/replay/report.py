"""A replayed round in the words of a report: what was recorded, how the outcome follows from chance, who was paid."""

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

_LAUNCHED = {
    DrawTrigger.UNKNOWN: "not on record: the round is older than this record",
    DrawTrigger.PLAYER: "by the player",
    DrawTrigger.CLOCK: "by the clock",
    DrawTrigger.SESSION_ENDED: "by the platform: the player's session ended with a bet on the felt",
    DrawTrigger.TABLE_HANDED_OVER: "by the platform: the table was handed over, and he did not launch in time",
}


@dataclass(frozen=True, slots=True)
class ReplayedRound:
    """A round that was computed again."""

    record: RoundRecord
    versioned_rules: VersionedRules[Any, Any]
    response: table_pb2.ReplayRoundResponse
    outcome: Message | None
    """What the entropy gives, in the game's words."""
    bets: dict[str, Message]
    """Of each stake: what it came to where there is an outcome, otherwise what it was on."""
    entropy_steps: list[str]
    """How the entropy was read."""


class _NotedTape(Tape):
    """Writes down how it is read."""

    def __init__(self, entropy: bytes) -> None:
        super().__init__(entropy)
        self.reading: list[str] = []

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
                self.reading.append(f"{read}: not below {limit}, thrown away")
            else:
                self.reading.append(f"{read}: divided by {n} it leaves {number % n}")
        return result


def describe_round(
    record: RoundRecord, versioned_rules: VersionedRules[Any, Any], response: table_pb2.ReplayRoundResponse
) -> ReplayedRound:
    """Everything in messages that can be shown; raises what the game's rules raise for what they cannot read."""
    rules, outcome, reading = versioned_rules.rules, None, []
    if record.drawn is not None:
        tape = _NotedTape(record.drawn.entropy)
        try:
            outcome = rules.draw(tape)
        except TapeExhausted:
            reading = ["the entropy ends before there is an outcome"]
        else:
            reading = tape.reading
    bets: dict[str, Message] = {}
    for stake in record.stakes:
        read = rules.read_bets(stake.bets)
        bets[stake.stake_id] = rules.bets_message(read) if outcome is None else rules.results_message(outcome, read)
    message = None if outcome is None else rules.outcome_message(outcome)
    return ReplayedRound(record, versioned_rules, response, message, bets, reading)


def round_report(round_: ReplayedRound) -> list[str]:
    """One round with everything."""
    lines = [f"Round {round_.record.opened.round_id}"]
    lines += [f"  {name:<11} {said}" for name, said in _facts(round_)]
    for stake, compared in zip(round_.record.stakes, round_.response.stakes, strict=True):
        lines += _stake(stake, compared, round_.bets[stake.stake_id])
    for taken in round_.record.cancelled_stakes:
        lines += _taken_back(taken, round_.versioned_rules.rules)
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
        yield "launched", _LAUNCHED[drawn.draw_trigger]
        yield "drawn", _moment(drawn.drawn_at)
    elif ended is not None and ended.closed_at is not None:
        yield "closed", _moment(ended.closed_at)
    if ended is not None:
        how = "settled" if ended.ending is Ending.SETTLED else f"void: {ended.void_reason}"
        yield "ended", f"{_moment(ended.ended_at)}, {how}"
    else:
        yield "ended", "not yet"
    yield from _chance(round_)


def _chance(round_: ReplayedRound) -> Iterator[tuple[str, str]]:
    drawn = round_.record.drawn
    if drawn is None:
        yield "entropy", "none: nothing was drawn"
        return
    yield "entropy", f"{drawn.entropy.hex(' ')} (hexadecimal)"
    for step in round_.entropy_steps:
        yield "", step
    if round_.outcome is not None:
        yield "gives", _words(round_.outcome)
    recorded = round_.versioned_rules.rules.outcome_message(round_.versioned_rules.rules.read_outcome(drawn.outcome))
    yield "journal has", _words(recorded)


def _stake(stake: JournalStake, compared: table_pb2.ReplayedStake, bets: Message) -> Iterator[str]:
    yield ""
    yield f"  Stake {stake.stake_id}: {_euros(stake.amount_cents)} of {_whose(stake)}"
    yield f"    account {stake.account_id}, session {stake.session_id}, placed {_moment(stake.placed_at)}"
    for one in _each(bets):
        yield f"    {_words(one)}"
    yield (
        f"    pays: computed {_euros(compared.computed_payout_cents)},"
        f" journal {_euros(compared.journal_payout_cents)}, ledger {_euros(compared.ledger_payout_cents)}"
    )


def _taken_back(taken: CancelledStake, rules: Rules[Any, Any]) -> Iterator[str]:
    stake = taken.stake
    yield ""
    yield f"  Taken back {stake.stake_id}: {_euros(stake.amount_cents)} of {_whose(stake)}"
    yield f"    placed {_moment(stake.placed_at)}, taken back {_moment(taken.cancelled_at)}"
    for one in _each(rules.bets_message(rules.read_bets(stake.bets))):
        yield f"    {_words(one)}"


def _whose(stake: JournalStake) -> str:
    return stake.player_id or "a player of the ledger"


def _verdict(answer: table_pb2.ReplayRoundResponse) -> list[str]:
    if not answer.differences:
        return ["It agrees: computation, journal and ledger say the same."]
    return ["IT DIFFERS:", *(f"  {difference}" for difference in answer.differences)]


def _each(message: Message) -> Iterator[Message]:
    """The bets in a game's message of bets: what it repeats."""
    for described in message.DESCRIPTOR.fields:
        if described.message_type is not None and described.is_repeated:
            yield from getattr(message, described.name)


def _words(message: Message) -> str:
    said: list[str] = []
    for described in message.DESCRIPTOR.fields:
        value = getattr(message, described.name)
        if described.enum_type is not None and value in described.enum_type.values_by_number:
            value = described.enum_type.values_by_number[value].name.rpartition("_")[2].lower()
        if described.name.endswith("_cents"):
            value = _euros(value)
        said.append(f"{described.name.removesuffix('_cents').replace('_', ' ')} {value}")
    return ", ".join(said)


def _plain(name: str) -> str:
    return name.partition("_")[2].replace("_", " ").lower()


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(sep=" ", timespec="milliseconds").replace("+00:00", " UTC")


def _euros(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02} €"


@dataclass(slots=True)
class Summary:
    """What many rounds come to."""

    expected: int
    progress: Callable[[str], None]
    settled: int = 0
    void: int = 0
    stakes: int = 0
    paid_cents: int = 0
    differing: dict[str, list[str]] = field(default_factory=dict)
    unchecked: dict[str, str] = field(default_factory=dict)
    _told_at: float = field(default_factory=time.monotonic)

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
        self._tell()

    def add_unchecked(self, round_id: str, reason: str) -> None:
        self.unchecked[round_id] = reason
        self._tell()

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._told_at >= PROGRESS_EVERY_S:
            self._told_at = now
            done = self.replayed_count + len(self.unchecked)
            self.progress(f"{done} of {self.expected} rounds, {len(self.differing)} of them differ")

    def lines(self) -> list[str]:
        lines = [
            f"{round_id} differs: {said}" for round_id, differences in self.differing.items() for said in differences
        ]
        lines += [f"{round_id} could not be checked: {why}" for round_id, why in self.unchecked.items()]
        lines.append(
            f"{self.replayed_count} rounds replayed: {self.settled} settled, {self.void} void; {self.stakes} stakes, "
            f"{_euros(self.paid_cents)} paid or given back"
        )
        lines.append(f"{len(self.differing)} differ, {len(self.unchecked)} could not be checked")
        return lines
