"""What a game adds to the runtime. Implementations are pure: no I/O, no clock, no randomness of their own."""

from __future__ import annotations

from typing import Protocol, TypeVar

from google.protobuf.message import Message

from feltro.table.v1 import types_pb2
from services.kit.randomness.tape import Tape

# The bets of a player and the outcome of a round, in the game's own immutable types.
Bets = TypeVar("Bets")
Outcome = TypeVar("Outcome")


class Rules(Protocol[Bets, Outcome]):
    """A game under one version of a table's specific rules. Refusals are raised as `TableRefused`."""

    @property
    def minimum_cents(self) -> int:
        """The smallest stake that this table takes."""

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:
        """Adds bets to what one player has on the felt; refused if that would break a limit."""

    def remove(self, on_felt: Bets, removed: Bets) -> Bets | None:
        """Removes bets from the felt; returns None if nothing is left, and refuses bets that are not there."""

    def total_cents(self, bets: Bets) -> int:
        """Returns the sum of the bets."""

    def draw(self, tape: Tape) -> Outcome:
        """Draws the outcome that this entropy gives."""

    def payout_cents(self, outcome: Outcome, bets: Bets) -> int:
        """Returns all that comes back for bets, the stake of a winning bet included."""

    def largest_payout_cents(self, bets: Bets) -> int:
        """Returns the most that can come back for bets, whatever the outcome; the wallet pays no more for them."""

    # The game's protobuf messages, each method's of one type.

    def bets_message(self, bets: Bets) -> Message: ...

    def read_bets(self, message: bytes) -> Bets:
        """Reads bets from the bytes of what `bets_message` built."""

    def outcome_message(self, outcome: Outcome) -> Message: ...

    def read_outcome(self, message: bytes) -> Outcome:
        """Reads an outcome from the bytes of what `outcome_message` built."""

    def results_message(self, outcome: Outcome, bets: Bets) -> Message:
        """Builds the message of each bet with its result."""


class Game(Protocol[Bets, Outcome]):
    """One game, under all specific rules by which it can be played."""

    name: str
    """Its name in `TableConfiguration.game`, in settings and in names of databases."""

    def rules(self, configuration: types_pb2.TableConfiguration) -> Rules[Bets, Outcome]:
        """Reads the rules of a table; refused with RULE_VIOLATED, citing the rule, if the regulation forbids them."""

    def rules_text(self, configuration: types_pb2.TableConfiguration, language: str) -> str:
        """Writes the complete rules for players (`pt` or `en`) in Markdown, with the table's own limits and prizes."""
