"""The schema of a game's tables, the same in the database of every game, for `feltro migrate roulette` and its like."""

from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"
