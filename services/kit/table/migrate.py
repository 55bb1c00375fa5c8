"""The schema of a game's tables, the same in the database of every game, for `feltro migrate roulette` and its like."""

from pathlib import Path

from services.kit import migration

MIGRATIONS = Path(__file__).parent / "migrations"


async def migrate(owner_url: str, game: str) -> None:
    """Upgrades the schema of one game in one transaction."""
    await migration.upgrade(owner_url, MIGRATIONS, migration.role(game))
