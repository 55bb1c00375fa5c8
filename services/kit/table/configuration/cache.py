"""What the operator has laid down for the tables of a game, as this process knows it: read often, always at hand."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Generic

from feltro.table.v1 import types_pb2
from services.kit.clock import Clock
from services.kit.database.postgresql import DATABASE_FAILURES
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.configuration.platform_switch import PlatformSwitch
from services.kit.table.configuration.switches import Switches, SwitchState
from services.kit.table.configuration.versions import PLATFORM, Configurations
from services.kit.table.game import Bets, Game, Outcome
from services.kit.table.refusals import TableRefused

# How soon a process hears what another one was told.
REFRESH_EVERY_S = 0.5

_log = logging.getLogger(__name__)


class CatalogueCache(Generic[Bets, Outcome]):
    """Configurations and switches in memory, for tables that cannot wait for a database to know what holds."""

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
        # Those of them that hold, and until when that is so: asked with every bet, worked out when it changes.
        self._holding: dict[str, types_pb2.ConfigurationVersion] = {}
        self._house_ids: frozenset[str] = frozenset()
        self._hold_until = datetime.min.replace(tzinfo=UTC)
        self._configured: dict[tuple[str, int], VersionedRules[Bets, Outcome]] = {}
        self._switched = SwitchState(None, {})
        # What the platform has switched off itself holds from that moment, whatever the database is doing.
        self._own: dict[str | None, str] = {}
        self.on_change: Callable[[], None] = lambda: None
        # One reads after the other: what was read before a switch must not come after it.
        self._reading = asyncio.Lock()

    async def refresh(self) -> None:
        """Reads everything anew."""
        async with self._reading:
            await self._refresh()

    async def _refresh(self) -> None:
        now = self._clock.now()
        versions = [*await self._configurations.all_in_force(now), *await self._configurations.upcoming(now)]
        switched = await self._switches.state()
        if (versions, switched) != (self._versions, self._switched):
            self._versions, self._switched = versions, switched
            self._work_out(self._clock.now())
            self.on_change()

    def _work_out(self, now: datetime) -> None:
        """Which versions hold now: of each table the one that came into force last."""
        holding, until = dict[str, types_pb2.ConfigurationVersion](), datetime.max.replace(tzinfo=UTC)
        for version in self._versions:
            effective_at = version.effective_at.ToDatetime(UTC)
            if effective_at <= now:
                holding[version.table_id] = version
            else:
                until = min(until, effective_at)
        self._holding, self._house_ids, self._hold_until = holding, frozenset(holding), until

    def _hold(self) -> dict[str, types_pb2.ConfigurationVersion]:
        now = self._clock.now()
        if now >= self._hold_until:
            self._work_out(now)
        return self._holding

    async def run(self) -> None:
        """Reads for ever."""
        away = False
        while True:
            await asyncio.sleep(REFRESH_EVERY_S)
            try:
                await self.refresh()
                away = False
            except DATABASE_FAILURES as failed:
                if not away:
                    _log.warning("configurations cannot be read", extra={"error": str(failed)[:300]})
                away = True

    def placement_ids(self) -> frozenset[str]:
        """Every table that has rules in force."""
        self._hold()
        return self._house_ids

    def rules_in_force(self, placement_id: str) -> VersionedRules[Bets, Outcome]:
        """The specific rules in force now."""
        version = self._hold().get(placement_id)
        if version is None:
            raise TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=placement_id)
        return self._read(version)

    async def rules_of_version(self, placement_id: str, version: int) -> VersionedRules[Bets, Outcome]:
        """The specific rules that a round was opened under."""
        known = self._configured.get((placement_id, version))
        if known is not None:
            return known
        entered = await self._configurations.version(placement_id, version)
        if entered is None:
            raise TableRefused("TABLE_UNKNOWN", "There is no such version of the rules.", table_id=placement_id)
        return self._read(entered)

    def _read(self, version: types_pb2.ConfigurationVersion) -> VersionedRules[Bets, Outcome]:
        key = (version.table_id, version.version)
        configured = self._configured.get(key)
        if configured is None:
            configured = self._configured[key] = VersionedRules(version, self._game.rules(version.configuration))
        return configured

    def game_enabled(self) -> bool:
        """Whether the game as a whole is switched on."""
        return self._switched.game_off_reason is None and None not in self._own

    def closed_reason(self, placement_id: str) -> str | None:
        own = self._own.get(None) or self._own.get(placement_id)
        return own or self._platform.off_reason() or self._switched.off_reason(placement_id)

    async def switch_off(self, placement_id: str | None, reason: str) -> None:
        """The platform's own switch: it holds at once, and is logged as soon as the database lets it."""
        self._own[placement_id] = reason
        self.on_change()
        request_id = f"{PLATFORM}:{uuid.uuid4()}"
        while True:
            try:
                await self._switches.set_switch(
                    request_id=request_id,
                    scope=types_pb2.SWITCH_SCOPE_GAME if placement_id is None else types_pb2.SWITCH_SCOPE_TABLE,
                    table_id=placement_id or "",
                    enabled=False,
                    reason=reason,
                    set_by=PLATFORM,
                )
                break
            except DATABASE_FAILURES as failed:
                _log.warning("a switch cannot be logged yet", extra={"error": str(failed)[:300]})
                await asyncio.sleep(REFRESH_EVERY_S)
        await self._settle_own(placement_id)

    async def _settle_own(self, placement_id: str | None) -> None:
        """From here on the database's word holds, so that whoever mends the fault can switch on again."""
        while placement_id in self._own:
            try:
                async with self._reading:
                    self._switched = await self._switches.state()
                    del self._own[placement_id]
            except DATABASE_FAILURES:
                await asyncio.sleep(REFRESH_EVERY_S)
