"""The wallet's schema, for `feltro migrate wallet`."""

from pathlib import Path

from services.kit import migration

MIGRATIONS = Path(__file__).parent / "migrations"


async def migrate(owner_url: str) -> None:
    """Upgrades the schema in one transaction."""
    await migration.upgrade(owner_url, MIGRATIONS, migration.role(migration.WALLET))
