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
from services.kit.database import DATABASE_FAILURES
from services.kit.table.configurations import PLATFORM, Configurations
from services.kit.table.game import Bets, Game, Outcome
from services.kit.table.platform_switch import PlatformSwitch
from services.kit.table.refusals import TableRefused
from services.kit.table.surroundings import Configured
from services.kit.table.switches import Switches, SwitchState

# How soon a process hears what another one was told.
READ_EVERY_S = 0.5

_log = logging.getLogger(__name__)


class LiveCatalogue(Generic[Bets, Outcome]):
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
        self._configured: dict[tuple[str, int], Configured[Bets, Outcome]] = {}
        self._switched = SwitchState(None, {})
        # What the platform has switched off itself holds from that moment, whatever the database is doing.
        self._own: dict[str | None, str] = {}
        self.changed: Callable[[], None] = lambda: None
        # One reads after the other: what was read before a switch must not come after it.
        self._reading = asyncio.Lock()

    async def refresh(self) -> None:
        """Reads everything anew."""
        async with self._reading:
            await self._refresh()

    async def _refresh(self) -> None:
        now = self._clock.now()
        versions = [*await self._configurations.all_in_force(now), *await self._configurations.coming(now)]
        switched = await self._switches.state()
        if (versions, switched) != (self._versions, self._switched):
            self._versions, self._switched = versions, switched
            self._work_out(self._clock.now())
            self.changed()

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
            await asyncio.sleep(READ_EVERY_S)
            try:
                await self.refresh()
                away = False
            except DATABASE_FAILURES as failed:
                if not away:
                    _log.warning("configurations cannot be read", extra={"error": str(failed)[:300]})
                away = True

    def house_ids(self) -> frozenset[str]:
        """Every table that has rules in force."""
        self._hold()
        return self._house_ids

    def configured(self, house_id: str) -> Configured[Bets, Outcome]:
        """The specific rules in force now."""
        version = self._hold().get(house_id)
        if version is None:
            raise TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=house_id)
        return self._read(version)

    async def version(self, house_id: str, version: int) -> Configured[Bets, Outcome]:
        """The specific rules that a round was opened under."""
        known = self._configured.get((house_id, version))
        if known is not None:
            return known
        entered = await self._configurations.version(house_id, version)
        if entered is None:
            raise TableRefused("TABLE_UNKNOWN", "There is no such version of the rules.", table_id=house_id)
        return self._read(entered)

    def _read(self, version: types_pb2.ConfigurationVersion) -> Configured[Bets, Outcome]:
        key = (version.table_id, version.version)
        configured = self._configured.get(key)
        if configured is None:
            configured = self._configured[key] = Configured(version, self._game.rules(version.configuration))
        return configured

    def game_is_on(self) -> bool:
        """Whether the game as a whole is switched on."""
        return self._switched.game is None and None not in self._own

    def closed_because(self, house_id: str) -> str | None:
        own = self._own.get(None) or self._own.get(house_id)
        return own or self._platform.why_off() or self._switched.why_off(house_id)

    async def switch_off(self, house_id: str | None, reason: str) -> None:
        """The platform's own switch: it holds at once, and is logged as soon as the database lets it."""
        self._own[house_id] = reason
        self.changed()
        request_id = f"{PLATFORM}:{uuid.uuid4()}"
        while True:
            try:
                await self._switches.set_switch(
                    request_id=request_id,
                    scope=types_pb2.SWITCH_SCOPE_GAME if house_id is None else types_pb2.SWITCH_SCOPE_TABLE,
                    table_id=house_id or "",
                    enabled=False,
                    reason=reason,
                    set_by=PLATFORM,
                )
                break
            except DATABASE_FAILURES as failed:
                _log.warning("a switch cannot be logged yet", extra={"error": str(failed)[:300]})
                await asyncio.sleep(READ_EVERY_S)
        await self._settle_own(house_id)

    async def _settle_own(self, house_id: str | None) -> None:
        """From here on the database's word holds, so that whoever mends the fault can switch on again."""
        while house_id in self._own:
            try:
                async with self._reading:
                    self._switched = await self._switches.state()
                    del self._own[house_id]
            except DATABASE_FAILURES:
                await asyncio.sleep(READ_EVERY_S)
