"""Carries out the steps of a schedule on the running platform, and mends what it has hurt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from tests.drill.checks.recovery import Injury
from tests.drill.fault_proxy import Network
from tests.drill.platform.processes import DrilledPlatform
from tests.drill.schedule import Fault, Hurt, Step

READY_WITHIN_S = 60.0
_NETWORKS: Mapping[Hurt, Network] = {
    Hurt.CUT: Network.CUT,
    Hurt.SILENT: Network.SILENT,
    Hurt.HALF_OPEN: Network.HALF_OPEN,
    Hurt.SLOW: Network.SLOW,
}


class Surgeon:
    """Hurts and mends."""

    def __init__(self, platform: DrilledPlatform, tell: Callable[[str], None]) -> None:
        self._platform = platform
        self._tell = tell

    async def carry_out(self, step: Step) -> Injury:
        """Carries out one step; returns when everything that it stopped is ready again."""
        await asyncio.sleep(step.quiet_s)
        injury = Injury(step, time.time(), time.time())
        await asyncio.gather(*(self._hurt(fault, injury) for fault in step.faults))
        injury.ready = time.time()
        return injury

    async def _hurt(self, fault: Fault, injury: Injury) -> None:
        await asyncio.sleep(fault.after_s)
        self._tell(str(fault))
        self._platform.hurt.add(fault.target)
        try:
            if fault.how in _NETWORKS:
                self._platform.network(fault.target, _NETWORKS[fault.how])
                await asyncio.sleep(fault.seconds)
                self._platform.network(fault.target, Network.FINE)
            elif fault.how is Hurt.PAUSE:
                self._platform.pause(fault.target)
                await asyncio.sleep(fault.seconds)
                self._platform.resume(fault.target)
            elif fault.how is Hurt.FULL_DISK:
                await self._fill_disk(fault)
            else:
                await self._stop_and_start(fault)
            injury.mended = max(injury.mended, time.time())
            if fault.how in {Hurt.KILL, Hurt.RESTART, Hurt.FULL_DISK}:
                await self._wait_ready(fault.target, injury)
        finally:
            self._platform.hurt.discard(fault.target)

    async def _stop_and_start(self, fault: Fault) -> None:
        if fault.how is Hurt.KILL:
            await self._platform.kill(fault.target)
            await asyncio.sleep(fault.seconds)
        else:
            status = await self._platform.stop(fault.target)
            self._tell(f"{fault.target} stopped with status {status}")
        self._platform.start(fault.target)

    async def _fill_disk(self, fault: Fault) -> None:
        disk = self._platform.disks[fault.target]
        await asyncio.to_thread(disk.fill)
        await asyncio.sleep(fault.seconds)
        disk.free()
        if fault.target.startswith("nats"):
            # It switches JetStream off when its disk is full, until an operator starts it again.
            await self._platform.stop(fault.target)
            self._platform.start(fault.target)

    async def _wait_ready(self, name: str, injury: Injury) -> None:
        try:
            async with asyncio.timeout(READY_WITHIN_S):
                await self._platform.ready(name)
        except (TimeoutError, AssertionError) as failed:
            # With the other fault of a pair it may not be ready yet; whether play goes on is judged elsewhere.
            injury.left_out = f"{name} was not ready in time: {str(failed)[:200]}"
