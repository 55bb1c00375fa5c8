"""The versions of every table's specific rules: who entered them, by which approval, and from when on they hold.

A version holds from its `effective_at` until that of the next one. Versions never change, and none takes effect before
it was entered, so the rules that a round was played by stay what they were. The rows are also the log of who changed
what, when, from what, to what (`903-B/2015:6.3.6.6`).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, TextClause, text
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.clock import Clock
from services.kit.command_digest import digest
from services.kit.paging import Page, PageRequest
from services.kit.round_limits import STAKE_LIMIT_CENTS
from services.kit.table.configuration import specific_rules
from services.kit.table.configuration.stored_commands import find_stored, lock
from services.kit.table.game import Game, Rules
from services.kit.table.refusals import TableRefused, invalid

_log = logging.getLogger(__name__)

# The author of what the platform itself enters.
PLATFORM = "platform"
# Any number will do, as long as nothing else in this database locks it: versions are numbered without a gap.
_LOCK_KEY = 0x636F6E66

_REQUESTED = text("""
SELECT table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at, digest
FROM configurations WHERE request_id = :request_id
""")
_INSERT = text("""
INSERT INTO configurations (table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at,
                            request_id, digest)
VALUES (:table_id, :version, :configuration, :approval_reference, :effective_at, :entered_by, :entered_at,
        :request_id, :digest)
""")
_VERSIONS = text("""
SELECT table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at
FROM configurations WHERE table_id = :table_id ORDER BY version DESC
""")
# A version replaces the one in force until it takes effect, which is not always the one that was entered before.
_PAGE = text("""
SELECT * FROM (
    SELECT table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at,
           COALESCE(lag(version) OVER (ORDER BY effective_at, version), 0) AS replaces
    FROM configurations WHERE table_id = :table_id
) AS versions WHERE version < CAST(:before AS bigint) ORDER BY version DESC LIMIT :rows
""")
_VERSION = text("""
SELECT table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at
FROM configurations WHERE table_id = :table_id AND version = :version
""")
_IN_FORCE = text("""
SELECT table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at
FROM configurations WHERE table_id = :table_id AND effective_at <= :at
ORDER BY effective_at DESC, version DESC LIMIT 1
""")
_ALL_IN_FORCE = text("""
SELECT DISTINCT ON (table_id)
       table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at
FROM configurations WHERE effective_at <= :at
ORDER BY table_id, effective_at DESC, version DESC
""")
_UPCOMING = text("""
SELECT table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at
FROM configurations WHERE effective_at > :at ORDER BY table_id, effective_at, version
""")


# Takes the id of a new table for its game; refused if another game has it.
# With the most that one stake can get back by these rules.
RegisterTable = Callable[[str, types_pb2.TableConfiguration, int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class InitialTable:
    """A table that a deployment brings along, until an operator enters specific rules for it."""

    table_id: str
    configuration: types_pb2.TableConfiguration
    approval_reference: str


class Configurations:
    """The specific rules of all tables of one game."""

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def add_version(
        self,
        *,
        request_id: str,
        table_id: str,
        configuration: types_pb2.TableConfiguration,
        approval_reference: str,
        effective_at: datetime | None,
        entered_by: str,
        game: Game[Any, Any],
        register: RegisterTable,
    ) -> types_pb2.ConfigurationVersion:
        """Enters the next version, once (G3); refuses rules that the regulation or the game does not allow.

        Every version is registered at the wallet, which keeps the id for the game and knows the operator's limits.
        """
        content_digest = _digest(table_id, configuration, approval_reference, effective_at)
        async with self._engine.begin() as connection:
            await lock(connection, _LOCK_KEY)
            stored = await find_stored(connection, _REQUESTED, request_id, content_digest)
            if stored is not None:
                return _version(stored)
            now = self._clock.now()
            if effective_at is not None and effective_at < now:
                raise invalid("effective_at", "lies in the past: rules hold from now on, or from later on.")
            latest = (await connection.execute(_VERSIONS, {"table_id": table_id})).first()
            existing = None if latest is None else _version(latest).configuration
            specific_rules.verify(
                table_id, configuration, game, approval_reference=approval_reference, existing=existing
            )
            rules = verify_by_game(game, configuration)
            # If this process dies before the version is stored, the id waits for the next attempt.
            await register(table_id, configuration, rules.largest_payout_limit_cents)
            row = {
                "table_id": table_id,
                "version": 1 if latest is None else latest.version + 1,
                "configuration": configuration.SerializeToString(deterministic=True),
                "approval_reference": approval_reference,
                "effective_at": effective_at or now,
                "entered_by": entered_by,
                "entered_at": now,
                "request_id": request_id,
                "digest": content_digest,
            }
            await connection.execute(_INSERT, row)
        return _message(row)

    async def add_initial_tables(
        self, initial_tables: Iterable[InitialTable], game: Game[Any, Any], register: RegisterTable
    ) -> list[types_pb2.ConfigurationVersion]:
        """Enters the tables that have no rules yet, and returns their versions. Any other table is the operator's.

        A table whose id another game has is left out, and the log says so.
        """
        entered: list[types_pb2.ConfigurationVersion] = []
        for table in initial_tables:
            specific_rules.verify(
                table.table_id, table.configuration, game, approval_reference=table.approval_reference
            )
            rules = verify_by_game(game, table.configuration)
            async with self._engine.begin() as connection:
                await lock(connection, _LOCK_KEY)
                # Under the lock: the rules of a deployment never follow those of an operator.
                if (await connection.execute(_VERSIONS, {"table_id": table.table_id})).first() is None:
                    try:
                        await register(table.table_id, table.configuration, rules.largest_payout_limit_cents)
                    except TableRefused as refused:
                        extra = {"table_id": table.table_id, "reason": refused.reason, "facts": dict(refused.facts)}
                        _log.error("a table of the deployment is left out", extra=extra)
                        continue
                    row = _initial_version(table, self._clock.now())
                    await connection.execute(_INSERT, row)
                    entered.append(_message(row))
        return entered

    async def versions(self, table_id: str) -> list[types_pb2.ConfigurationVersion]:
        """Returns all versions of a table, newest first."""
        return await self._read(_VERSIONS, table_id=table_id)

    async def page(
        self, table_id: str, requested: PageRequest
    ) -> Page[tuple[types_pb2.ConfigurationVersion, table_pb2.ConfigurationChange]]:
        """Returns some versions of a table, newest first, each with what it changes."""
        values = {"table_id": table_id, "before": requested.before, "rows": requested.row_limit}
        async with self._engine.connect() as connection:
            rows = (await connection.execute(_PAGE, values)).all()
        changes = (table_pb2.ConfigurationChange(version=row.version, replaces=row.replaces) for row in rows)
        found = zip((_version(row) for row in rows), changes, strict=True)
        return requested.page([(version.version, (version, change)) for version, change in found])

    async def version(self, table_id: str, version: int) -> types_pb2.ConfigurationVersion | None:
        """Returns one version, such as the one that a round was played by."""
        found = await self._read(_VERSION, table_id=table_id, version=version)
        return found[0] if found else None

    async def in_force(self, table_id: str, at: datetime) -> types_pb2.ConfigurationVersion | None:
        """Returns the version for a round that opens at this moment; None if there is no such table yet."""
        found = await self._read(_IN_FORCE, table_id=table_id, at=at)
        return found[0] if found else None

    async def all_in_force(self, at: datetime) -> list[types_pb2.ConfigurationVersion]:
        """Returns the version in force of every table, in the order of their ids."""
        return await self._read(_ALL_IN_FORCE, at=at)

    async def upcoming(self, at: datetime) -> list[types_pb2.ConfigurationVersion]:
        """Returns the versions that do not hold yet, each table's in the order in which they will."""
        return await self._read(_UPCOMING, at=at)

    async def _read(self, statement: TextClause, **values: object) -> list[types_pb2.ConfigurationVersion]:
        async with self._engine.connect() as connection:
            return [_version(row) for row in await connection.execute(statement, values)]


def _initial_version(table: InitialTable, now: datetime) -> dict[str, object]:
    return {
        "table_id": table.table_id,
        "version": 1,
        "configuration": table.configuration.SerializeToString(deterministic=True),
        "approval_reference": table.approval_reference,
        "effective_at": now,
        "entered_by": PLATFORM,
        "entered_at": now,
        # With a space, which no caller's request id has.
        "request_id": f"initial {table.table_id}",
        "digest": _digest(table.table_id, table.configuration, table.approval_reference, None),
    }


def verify_by_game(game: Game[Any, Any], configuration: types_pb2.TableConfiguration) -> Rules[Any, Any]:
    """Returns the rules; refuses what this game does not allow, or what its tables could not play."""
    if configuration.game != game.name:
        raise invalid("configuration.game", f"has to be `{game.name}` here.")
    if configuration.play not in game.plays:
        plays = ", ".join(wallet_types.Play.Name(play) for play in sorted(game.plays))
        raise invalid("configuration.play", f"has to be one of {plays} for {game.name}.")
    rules = game.rules(configuration)
    largest_cents = rules.largest_stake_cents
    if largest_cents > STAKE_LIMIT_CENTS:
        sentence = f"would let a player stake {largest_cents} cents in a round, and {STAKE_LIMIT_CENTS} is the most."
        raise invalid("configuration.rules", sentence)
    return rules


def _digest(
    table_id: str,
    configuration: types_pb2.TableConfiguration,
    approval_reference: str,
    effective_at: datetime | None,
) -> bytes:
    request = table_pb2.ConfigureTableRequest(
        table_id=table_id, configuration=configuration, approval_reference=approval_reference
    )
    if effective_at is not None:
        request.effective_at.FromDatetime(effective_at)
    return digest(request)


def _version(row: Row[Any]) -> types_pb2.ConfigurationVersion:
    return _message(row._mapping)  # noqa: SLF001 - public by its documentation


def _message(row: Mapping[Any, Any]) -> types_pb2.ConfigurationVersion:
    message = types_pb2.ConfigurationVersion(
        table_id=row["table_id"],
        version=row["version"],
        configuration=types_pb2.TableConfiguration.FromString(row["configuration"]),
        approval_reference=row["approval_reference"],
        entered_by=row["entered_by"],
    )
    message.effective_at.FromDatetime(row["effective_at"])
    message.entered_at.FromDatetime(row["entered_at"])
    return message
