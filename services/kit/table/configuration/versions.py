"""The specific rules of tables, version after version: who entered them, by which approval, from when on they hold.

A version holds from its `effective_at` until that of the next one. None is ever changed, and none takes effect before
it was entered, so the rules that a round was played by stay what they were. The rows are the log of who changed what,
when, from what, to what (`903-B/2015:6.3.6.6`).
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
from services.kit.clock import Clock
from services.kit.command_digest import digest
from services.kit.table.configuration import specific_rules
from services.kit.table.game import Game
from services.kit.table.refusals import TableRefused, invalid

# Who enters what a deployment brings along.
PLATFORM = "platform"
# Any number will do, as long as it is this table's alone: entering waits for entering, in every process.
_ONE_AT_A_TIME = 0x636F6E66

_LOCK = text("SELECT pg_advisory_xact_lock(:key)")
_REQUESTED = text("""
SELECT table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at, digest
FROM configurations WHERE request_id = :request_id
""")
_ENTER = text("""
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
_COMING = text("""
SELECT table_id, version, configuration, approval_reference, effective_at, entered_by, entered_at
FROM configurations WHERE effective_at > :at ORDER BY table_id, effective_at, version
""")


@dataclass(frozen=True, slots=True)
class InitialTable:
    """A table that a deployment brings along, for as long as nobody has entered rules for it."""

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
        """Enters the next version, once (G3); refused if a rule of the regulation or of the game is broken."""
        content = _digest(table_id, configuration, approval_reference, effective_at)
        async with self._engine.begin() as connection:
            await connection.execute(_LOCK, {"key": _ONE_AT_A_TIME})
            known = (await connection.execute(_REQUESTED, {"request_id": request_id})).one_or_none()
            if known is not None:
                return _repeated(known, content, request_id)
            now = self._clock.now()
            if effective_at is not None and effective_at < now:
                raise invalid("effective_at", "lies in the past: rules hold from now on, or from later on.")
            latest = (await connection.execute(_VERSIONS, {"table_id": table_id})).first()
            before = None if latest is None else _version(latest).configuration
            specific_rules.verify(table_id, configuration, approval_reference=approval_reference, existing=before)
            _verify_for(game, configuration)
            entered = {
                "table_id": table_id,
                "version": 1 if latest is None else latest.version + 1,
                "configuration": configuration.SerializeToString(deterministic=True),
                "approval_reference": approval_reference,
                "effective_at": effective_at or now,
                "entered_by": entered_by,
                "entered_at": now,
                "request_id": request_id,
                "digest": content,
            }
            await connection.execute(_ENTER, entered)
        return _message(entered)

    async def add_initial_tables(
        self, initial_tables: Iterable[InitialTable], game: Game[Any, Any]
    ) -> list[types_pb2.ConfigurationVersion]:
        """Enters those whose table has no rules yet, and returns them. A table once entered is the operator's."""
        entered: list[types_pb2.ConfigurationVersion] = []
        for seed in initial_tables:
            specific_rules.verify(seed.table_id, seed.configuration, approval_reference=seed.approval_reference)
            _verify_for(game, seed.configuration)
            async with self._engine.begin() as connection:
                await connection.execute(_LOCK, {"key": _ONE_AT_A_TIME})
                # Asked under the lock: the rules of a deployment never follow those of an operator.
                if (await connection.execute(_VERSIONS, {"table_id": seed.table_id})).first() is None:
                    row = _seeded(seed, self._clock.now())
                    await connection.execute(_ENTER, row)
                    entered.append(_message(row))
        return entered

    async def versions(self, table_id: str) -> list[types_pb2.ConfigurationVersion]:
        """All of a table, newest first."""
        return await self._read(_VERSIONS, table_id=table_id)

    async def version(self, table_id: str, version: int) -> types_pb2.ConfigurationVersion | None:
        """One of them: the rules that a round was played by."""
        found = await self._read(_VERSION, table_id=table_id, version=version)
        return found[0] if found else None

    async def in_force(self, table_id: str, at: datetime) -> types_pb2.ConfigurationVersion | None:
        """What a round that opens at this moment is played by; None if there is no such table yet."""
        found = await self._read(_IN_FORCE, table_id=table_id, at=at)
        return found[0] if found else None

    async def all_in_force(self, at: datetime) -> list[types_pb2.ConfigurationVersion]:
        """Of each table, in the order of their ids."""
        return await self._read(_ALL_IN_FORCE, at=at)

    async def upcoming(self, at: datetime) -> list[types_pb2.ConfigurationVersion]:
        """Those that are entered and do not hold yet, of each table in the order in which they will."""
        return await self._read(_COMING, at=at)

    async def _read(self, statement: TextClause, **values: object) -> list[types_pb2.ConfigurationVersion]:
        async with self._engine.connect() as connection:
            return [_version(row) for row in await connection.execute(statement, values)]


def configuration_changes(versions: Sequence[types_pb2.ConfigurationVersion]) -> list[table_pb2.ConfigurationChange]:
    """Which version each of a table's takes the place of, given all of them: not always the one entered before."""
    in_turn = sorted(versions, key=lambda each: (each.effective_at.ToNanoseconds(), each.version))
    replaced = {after.version: before.version for before, after in pairwise(in_turn)}
    return [
        table_pb2.ConfigurationChange(version=each.version, replaces=replaced.get(each.version, 0)) for each in versions
    ]


def _seeded(seed: InitialTable, now: datetime) -> dict[str, object]:
    return {
        "table_id": seed.table_id,
        "version": 1,
        "configuration": seed.configuration.SerializeToString(deterministic=True),
        "approval_reference": seed.approval_reference,
        "effective_at": now,
        "entered_by": PLATFORM,
        "entered_at": now,
        # No caller's id has a space in it.
        "request_id": f"seed {seed.table_id}",
        "digest": _digest(seed.table_id, seed.configuration, seed.approval_reference, None),
    }


def _verify_for(game: Game[Any, Any], configuration: types_pb2.TableConfiguration) -> None:
    if configuration.game != game.name:
        raise invalid("game", f"has to be `{game.name}` here.")
    game.rules(configuration)


def _repeated(known: Row[Any], content: bytes, request_id: str) -> types_pb2.ConfigurationVersion:
    if known.digest != content:
        raise TableRefused("REQUEST_REUSED", "The request id was used for other rules.", request_id=request_id)
    return _version(known)


def _digest(
    table_id: str,
    configuration: types_pb2.TableConfiguration,
    approval_reference: str,
    effective_at: datetime | None,
) -> bytes:
    """What makes two requests the same: everything in them but their id."""
    content = table_pb2.ConfigureTableRequest(
        table_id=table_id, configuration=configuration, approval_reference=approval_reference
    )
    if effective_at is not None:
        content.effective_at.FromDatetime(effective_at)
    return digest(content)


def _version(row: Row[Any]) -> types_pb2.ConfigurationVersion:
    return _message(row._mapping)  # noqa: SLF001 - public by its documentation


def _message(entered: Mapping[Any, Any]) -> types_pb2.ConfigurationVersion:
    message = types_pb2.ConfigurationVersion(
        table_id=entered["table_id"],
        version=entered["version"],
        configuration=types_pb2.TableConfiguration.FromString(entered["configuration"]),
        approval_reference=entered["approval_reference"],
        entered_by=entered["entered_by"],
    )
    message.effective_at.FromDatetime(entered["effective_at"])
    message.entered_at.FromDatetime(entered["entered_at"])
    return message
