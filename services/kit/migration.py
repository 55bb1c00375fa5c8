"""`feltro migrate`: brings a service's database to the newest schema, one process at a time."""

from __future__ import annotations

import asyncio
import importlib
import sys
from pathlib import Path
from typing import cast

from alembic import command as alembic
from alembic.config import Config
from pydantic import PostgresDsn
from pydantic_settings import SettingsConfigDict
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from services.kit import database
from services.kit.settings import ServiceSettings, load_or_exit

# Any number will do, as long as every migration of one database takes the same one.
_ONE_AT_A_TIME = 0x46454C54

WALLET = "wallet"
_SERVICES = Path(__file__).parent.parent
# Games share a schema. Loaded when asked for: an image holds only what its service needs.
_GAMES = "services.kit.table.migrate"


class MigrationSettings(ServiceSettings):
    """Migrations run as the schema's owner, which the service itself never is."""

    owner_url: PostgresDsn

    @classmethod
    def of(cls, service: str) -> type[MigrationSettings]:
        """The settings with the service's own prefix."""
        prefix = f"FELTRO_{service.upper()}_"
        config = SettingsConfigDict(env_prefix=prefix, extra="ignore", frozen=True, env_ignore_empty=True)
        return type(cls.__name__, (cls,), {"model_config": config, "__module__": cls.__module__})


def _upgrade(connection: Connection, migrations: Path, user: str) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ONE_AT_A_TIME})
    if connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": user}).first() is None:
        raise RuntimeError(f"The role {user} does not exist: create it first (CREATE ROLE {user} LOGIN …).")
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["role"] = user
    alembic.upgrade(config, "head")


async def upgrade(owner_url: str, migrations: Path, user: str) -> None:
    """Upgrades the schema in one transaction; `user`, the service's role, is granted what it may do."""
    engine = database.connect(owner_url, "feltro migrate", connections=1)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_upgrade, migrations, user)
    finally:
        await engine.dispose()


def role(service: str) -> str:
    """The role that a service connects as."""
    return f"feltro_{service}"


def services() -> list[str]:
    """Every service that has a database: what lies beside the kit."""
    names = sorted(folder.name for folder in _SERVICES.iterdir() if folder.is_dir() and folder.name.isidentifier())
    return [name for name in names if name not in {"kit", "__pycache__"}]


def command(arguments: list[str]) -> int:
    """Runs `feltro migrate [service]`."""
    service = arguments[0] if arguments else WALLET
    if len(arguments) > 1 or service not in services():
        print(
            f"usage: feltro migrate [{'|'.join(services())}]   (the wallet's if not said;"
            " the database is named by FELTRO_<SERVICE>_OWNER_URL)",
            file=sys.stderr,
        )
        return 2
    settings = load_or_exit(MigrationSettings.of(service))
    module = importlib.import_module("services.wallet.migrate" if service == WALLET else _GAMES)
    try:
        asyncio.run(upgrade(str(settings.owner_url), cast("Path", module.MIGRATIONS), role(service)))
    except (OSError, RuntimeError, SQLAlchemyError) as failed:
        print(f"feltro migrate: the database was not changed: {failed}", file=sys.stderr)
        return 1
    print(f"The {service}'s database has the newest schema.")
    return 0
