"""The versions of every table's specific rules: who entered them, by which approval, and from when on they hold.

A version holds from its `effective_at` until that of the next one. Versions never change, and none takes effect before
it was entered, so the rules that a round was played by stay what they were. The rows are also the log of who changed
what, when, from what, to what (`903-B/2015:6.3.6.6`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from sqlalchemy import Row, TextClause, text
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.clock import Clock
from services.kit.command_digest import digest
from services.kit.round_limits import STAKE_LIMIT_CENTS
from services.kit.table.configuration import specific_rules
from services.kit.table.configuration.stored_commands import find_stored, lock
from services.kit.table.game import Game
from services.kit.table.refusals import invalid

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
    ) -> types_pb2.ConfigurationVersion:
        """Enters the next version, once (G3); refuses rules that the regulation or the game does not allow."""
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
            specific_rules.verify(table_id, configuration, approval_reference=approval_reference, existing=existing)
            verify_by_game(game, configuration)
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
        self, initial_tables: Iterable[InitialTable], game: Game[Any, Any]
    ) -> list[types_pb2.ConfigurationVersion]:
        """Enters the tables that have no rules yet, and returns their versions. Any other table is the operator's."""
        entered: list[types_pb2.ConfigurationVersion] = []
        for table in initial_tables:
            specific_rules.verify(table.table_id, table.configuration, approval_reference=table.approval_reference)
            verify_by_game(game, table.configuration)
            async with self._engine.begin() as connection:
                await lock(connection, _LOCK_KEY)
                # Under the lock: the rules of a deployment never follow those of an operator.
                if (await connection.execute(_VERSIONS, {"table_id": table.table_id})).first() is None:
                    row = _initial_version(table, self._clock.now())
                    await connection.execute(_INSERT, row)
                    entered.append(_message(row))
        return entered

    async def versions(self, table_id: str) -> list[types_pb2.ConfigurationVersion]:
        """Returns all versions of a table, newest first."""
        return await self._read(_VERSIONS, table_id=table_id)

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


def configuration_changes(versions: Sequence[types_pb2.ConfigurationVersion]) -> list[table_pb2.ConfigurationChange]:
    """Returns which version each of a table's versions replaces: not always the one entered before."""
    in_order = sorted(versions, key=lambda each: (each.effective_at.ToNanoseconds(), each.version))
    replaced = {after.version: before.version for before, after in pairwise(in_order)}
    return [
        table_pb2.ConfigurationChange(version=each.version, replaces=replaced.get(each.version, 0)) for each in versions
    ]


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


def verify_by_game(game: Game[Any, Any], configuration: types_pb2.TableConfiguration) -> None:
    """Refuses what this game does not allow, or what its tables could not play."""
    if configuration.game != game.name:
        raise invalid("game", f"has to be `{game.name}` here.")
    if configuration.play not in game.plays:
        plays = ", ".join(wallet_types.Play.Name(play) for play in sorted(game.plays))
        raise invalid("play", f"has to be one of {plays} for {game.name}.")
    largest_cents = game.rules(configuration).largest_stake_cents
    if largest_cents > STAKE_LIMIT_CENTS:
        sentence = f"would let a player stake {largest_cents} cents in a round, and {STAKE_LIMIT_CENTS} is the most."
        raise invalid("rules", sentence)


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
