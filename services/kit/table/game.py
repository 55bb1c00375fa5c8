"""What a game adds to the runtime. Implementations are pure: no I/O, no clock, no randomness of their own."""

from __future__ import annotations

from typing import Protocol, TypeVar

from google.protobuf.message import Message

from feltro.table.v1 import types_pb2
from services.kit.randomness.tape import Tape

# What a player has on the felt, and what a round comes to, in the game's own immutable types.
Bets = TypeVar("Bets")
Outcome = TypeVar("Outcome")


class Rules(Protocol[Bets, Outcome]):
    """A game under one version of a table's specific rules. Refusals are raised as `TableRefused`."""

    @property
    def minimum_cents(self) -> int:
        """The smallest stake that is of any use here."""

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:
        """What one player has on the felt with these bets added; refused if any limit would be broken."""

    def remove(self, on_felt: Bets, removed: Bets) -> Bets | None:
        """What is left when these bets are taken back, None for nothing; refused if they are not there."""

    def total_cents(self, bets: Bets) -> int:
        """Their sum."""

    def draw(self, tape: Tape) -> Outcome:
        """The outcome that this entropy gives."""

    def payout_cents(self, outcome: Outcome, bets: Bets) -> int:
        """All that comes back for bets, stakes given back included."""

    # The game's words for others: protobuf messages, of the same type each time.

    def bets_message(self, bets: Bets) -> Message: ...

    def read_bets(self, message: bytes) -> Bets:
        """The bets that `bets_message` made, from its bytes."""

    def outcome_message(self, outcome: Outcome) -> Message: ...

    def read_outcome(self, message: bytes) -> Outcome: ...

    def results_message(self, outcome: Outcome, bets: Bets) -> Message:
        """Each bet with what it came to."""


class Game(Protocol[Bets, Outcome]):
    """One game, under all the rules it can be played by."""

    name: str
    """As in `TableConfiguration.game`, in settings and in names of databases."""

    def rules(self, configuration: types_pb2.TableConfiguration) -> Rules[Bets, Outcome]:
        """The rules of a table; refused with RULE_VIOLATED, citing the rule, if they are outside the regulation."""

    def rules_text(self, configuration: types_pb2.TableConfiguration, language: str) -> str:
        """The complete rules for players (`pt` or `en`), Markdown, with the table's own limits and prizes."""
