"""Names the migrations of a game's database, which are the same for every game (`feltro migrate <game>`)."""

from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"
