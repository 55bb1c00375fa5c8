"""The games that run on this machine. Adding one is a line here, and a file with its first tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_TABLES = Path(__file__).resolve().parent / "tables"


@dataclass(frozen=True, slots=True)
class StackGame:
    """A game's service: `python -m services.<name>`, its variables `FELTRO_<NAME>_…`, its database `feltro_<name>`."""

    name: str
    port: int
    """Where it listens unless a variable moves it; its metrics are one port further."""
    hides_cards: bool = False
    """Whether its service seals the entropy of rounds, and needs keys for that."""

    @property
    def module(self) -> str:
        """The program."""
        return f"services.{self.name}"

    @property
    def database(self) -> str:
        """Its database, and the role of its service there."""
        return f"feltro_{self.name}"

    @property
    def tables(self) -> Path:
        """The tables of a fresh platform."""
        return _TABLES / f"{self.name}.json"

    def variable(self, setting: str) -> str:
        """Returns the environment variable of one of its settings."""
        return f"FELTRO_{self.name.upper()}_{setting}"


GAMES = (
    StackGame("roulette", 8740),
    StackGame("baccarat", 8750, hides_cards=True),
    StackGame("blackjack", 8760, hides_cards=True),
    StackGame("poker", 8770, hides_cards=True),
)
