"""`feltro migrate`: brings the wallet's database to the newest schema, one process at a time."""

import asyncio
import sys
from pathlib import Path

from alembic import command as alembic
from alembic.config import Config
from pydantic import PostgresDsn
from pydantic_settings import SettingsConfigDict
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from services.kit import database
from services.kit.settings import ServiceSettings, load_or_exit

# Any number will do, as long as every migration of this database takes the same one.
_ONE_AT_A_TIME = 0x46454C54


class MigrationSettings(ServiceSettings):
    """Migrations run as the schema's owner, which the service itself never is."""

    model_config = SettingsConfigDict(env_prefix="FELTRO_WALLET_", extra="ignore", frozen=True, env_ignore_empty=True)

    owner_url: PostgresDsn


def _upgrade(connection: Connection) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ONE_AT_A_TIME})
    if connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = 'feltro_wallet'")).first() is None:
        raise RuntimeError(
            "The role feltro_wallet does not exist: create it first (CREATE ROLE feltro_wallet LOGIN …)."
        )
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    alembic.upgrade(config, "head")


async def migrate(owner_url: str) -> None:
    """Upgrades the schema in one transaction."""
    engine = database.connect(owner_url, "feltro migrate", connections=1)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_upgrade)
    finally:
        await engine.dispose()


def command(arguments: list[str]) -> int:
    """Runs `feltro migrate`."""
    if arguments:
        print("usage: feltro migrate   (the database is named by FELTRO_WALLET_OWNER_URL)", file=sys.stderr)
        return 2
    settings = load_or_exit(MigrationSettings)
    try:
        asyncio.run(migrate(str(settings.owner_url)))
    except (OSError, RuntimeError, SQLAlchemyError) as failed:
        print(f"feltro migrate: the database was not changed: {failed}", file=sys.stderr)
        return 1
    print("The wallet's database has the newest schema.")
    return 0
