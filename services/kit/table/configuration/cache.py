"""Keeps the configurations and switches of a game in memory, as last read from its database."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Generic

from feltro.table.v1 import types_pb2
from services.kit.bus.outages import Outage
from services.kit.clock import Clock
from services.kit.database.postgresql import DATABASE_FAILURES
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.configuration.platform_switch import PlatformSwitch
from services.kit.table.configuration.switches import REASON_CHARACTERS_LIMIT, Switches, SwitchState
from services.kit.table.configuration.versions import PLATFORM, Configurations
from services.kit.table.game import Bets, Game, Outcome
from services.kit.table.refusals import TableRefused

# How soon a process notices what another one has stored.
REFRESH_EVERY_S = 0.5

_log = logging.getLogger(__name__)


class CatalogueCache(Generic[Bets, Outcome]):
    """The catalogue of one process: tables ask it with every bet and cannot wait for the database."""

    def __init__(
        self,
        game: Game[Bets, Outcome],
        configurations: Configurations,
        switches: Switches,
        platform: PlatformSwitch,
        clock: Clock,
    ) -> None:
        self._game = game
        self._configurations = configurations
        self._switches = switches
        self._platform = platform
        self._clock = clock
        self._versions: list[types_pb2.ConfigurationVersion] = []
        # The versions in force, and until when: asked with every bet, so computed only when they change.
        self._in_force: dict[str, types_pb2.ConfigurationVersion] = {}
        self._placement_ids: frozenset[str] = frozenset()
        self._in_force_until = datetime.min.replace(tzinfo=UTC)
        self._rules: dict[tuple[str, int], VersionedRules[Bets, Outcome]] = {}
        self._switched = SwitchState(None, {})
        # The platform's own switches hold at once, whether the database can be reached or not. By table, or None for
        # the game as a whole. There are no more of them than tables (G11), and a task of its own logs them.
        self._own_switches: dict[str | None, str] = {}
        self._unlogged: dict[str | None, str] = {}
        self._switched_off = asyncio.Event()
        self._all_logged = asyncio.Event()
        self._all_logged.set()
        self.on_change: Callable[[], None] = lambda: None
        # One read after another: a state that was read before a switch must not replace a later one.
        self._reading = asyncio.Lock()

    async def refresh(self) -> None:
        """Reads configurations and switches from the database."""
        async with self._reading:
            await self._refresh()

    async def _refresh(self) -> None:
        now = self._clock.now()
        versions = [*await self._configurations.all_in_force(now), *await self._configurations.upcoming(now)]
        switched = await self._switches.state()
        if (versions, switched) != (self._versions, self._switched):
            self._versions, self._switched = versions, switched
            self._compute_in_force(self._clock.now())
            self.on_change()

    def _compute_in_force(self, now: datetime) -> None:
        """Finds the version of each table that came into force last."""
        in_force, until = dict[str, types_pb2.ConfigurationVersion](), datetime.max.replace(tzinfo=UTC)
        for version in self._versions:
            effective_at = version.effective_at.ToDatetime(UTC)
            if effective_at <= now:
                in_force[version.table_id] = version
            else:
                until = min(until, effective_at)
        self._in_force, self._placement_ids, self._in_force_until = in_force, frozenset(in_force), until

    def _current_versions(self) -> dict[str, types_pb2.ConfigurationVersion]:
        now = self._clock.now()
        if now >= self._in_force_until:
            self._compute_in_force(now)
        return self._in_force

    async def run(self) -> None:
        """Reads again and again, and logs the platform's own switches, until it is cancelled."""
        async with asyncio.TaskGroup() as running:
            running.create_task(self._read_forever())
            running.create_task(self._log_forever())

    async def _read_forever(self) -> None:
        outage = Outage(_log, "reading configurations and switches")
        while True:
            await asyncio.sleep(REFRESH_EVERY_S)
            await _retry(self.refresh, outage)

    async def _log_forever(self) -> None:
        while True:
            await self._switched_off.wait()
            self._switched_off.clear()
            while self._unlogged:
                await self._log_switch(*next(iter(self._unlogged.items())))
            self._all_logged.set()

    def placement_ids(self) -> frozenset[str]:
        """Returns the ids of all configured tables that have rules in force."""
        self._current_versions()
        return self._placement_ids

    def rules_in_force(self, placement_id: str) -> VersionedRules[Bets, Outcome]:
        """Returns the specific rules in force now."""
        version = self._current_versions().get(placement_id)
        if version is None:
            raise TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=placement_id)
        return self._read(version)

    async def rules_of_version(self, placement_id: str, version: int) -> VersionedRules[Bets, Outcome]:
        """Returns the specific rules of one version, such as the one that a round was opened under."""
        rules = self._rules.get((placement_id, version))
        if rules is not None:
            return rules
        entered = await self._configurations.version(placement_id, version)
        if entered is None:
            raise TableRefused("TABLE_UNKNOWN", "There is no such version of the rules.", table_id=placement_id)
        return self._read(entered)

    def _read(self, version: types_pb2.ConfigurationVersion) -> VersionedRules[Bets, Outcome]:
        key = (version.table_id, version.version)
        rules = self._rules.get(key)
        if rules is None:
            rules = self._rules[key] = VersionedRules(version, self._game.rules(version.configuration))
        return rules

    def game_enabled(self) -> bool:
        """Whether the game as a whole is switched on."""
        return self._switched.game_off_reason is None and None not in self._own_switches

    def closed_reason(self, placement_id: str) -> str | None:
        own = self._own_switches.get(None) or self._own_switches.get(placement_id)
        return own or self._platform.off_reason() or self._switched.off_reason(placement_id)

    def switch_off(self, placement_id: str | None, reason: str) -> None:
        """Sets a switch of the platform's own: it holds at once, and is logged when the database can be reached.

        Nobody waits for the log: what switches a table off is a fault in a round whose stakes have to go back (G12).
        """
        self._own_switches[placement_id] = self._unlogged[placement_id] = reason[:REASON_CHARACTERS_LIMIT]
        self._all_logged.clear()
        self._switched_off.set()
        self.on_change()

    async def log_switches(self) -> None:
        """Returns when every switch of the platform's own is logged; for a process that stops."""
        await self._all_logged.wait()

    async def _log_switch(self, placement_id: str | None, reason: str) -> None:
        request_id = f"{PLATFORM}:{uuid.uuid4()}"

        async def log_switch() -> None:
            await self._switches.set_switch(
                request_id=request_id,
                scope=types_pb2.SWITCH_SCOPE_GAME if placement_id is None else types_pb2.SWITCH_SCOPE_TABLE,
                table_id=placement_id or "",
                enabled=False,
                reason=reason,
                set_by=PLATFORM,
            )

        async def follow_database() -> None:
            """From here on the logged switches decide, so that an operator can switch on again."""
            async with self._reading:
                self._switched = await self._switches.state()
                if self._unlogged.get(placement_id) == reason:
                    del self._unlogged[placement_id], self._own_switches[placement_id]

        outage = Outage(_log, "logging a switch of the platform")
        await _retry(log_switch, outage)
        await _retry(follow_database, outage)


async def _retry(action: Callable[[], Awaitable[None]], outage: Outage) -> None:
    """Repeats an action until the database has carried it out."""
    while True:
        try:
            await action()
        except DATABASE_FAILURES as failed:
            outage.failed(failed)
            await asyncio.sleep(REFRESH_EVERY_S)
        else:
            outage.recovered()
            return
