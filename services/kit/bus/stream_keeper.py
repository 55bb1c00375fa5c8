"""Creates the streams of the platform where they are missing, at the start and after the bus has lost them.

Only the wallet does: a process that may create a stream chooses its subjects, and so what it hears.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace

import nats.js.errors
from nats.aio.client import Client as Nats
from nats.js import JetStreamContext
from nats.js.api import StreamConfig

from services.kit.bus.connection import require_connection
from services.kit.bus.outages import BUS_FAILURES, Outage
from services.kit.bus.streams import PLATFORM_STREAMS
from services.kit.bus.subjects import API_PREFIX

CHECK_EVERY_S = 1.0
# How many times in between it is looked whether the connection is a new one.
CONNECTION_CHECKS = 20
ANSWERED_WITHIN_S = 2.0

_log = logging.getLogger(__name__)


class StreamKeeper:
    """Looks after the streams as long as it runs."""

    def __init__(self, bus: Nats, streams: Iterable[StreamConfig] = PLATFORM_STREAMS, replicas: int = 1) -> None:
        """`replicas` is on how many servers of the bus each stream is kept; one that exists keeps what it has."""
        self._bus = bus
        self._jetstream: JetStreamContext = bus.jetstream(prefix=API_PREFIX, timeout=ANSWERED_WITHIN_S)
        self._streams = [replace(stream, num_replicas=replicas) for stream in streams]
        self._outage = Outage(_log, "the streams of the bus")
        self._unfit: set[str] = set()

    async def run(self) -> None:
        """Creates missing streams until it is cancelled."""
        while True:
            connection = self._bus.stats["reconnects"]
            try:
                await self.create_missing()
                self._outage.recovered()
            except BUS_FAILURES as failed:
                self._outage.failed(failed)
            for _ in range(CONNECTION_CHECKS):
                await asyncio.sleep(CHECK_EVERY_S / CONNECTION_CHECKS)
                if self._bus.stats["reconnects"] != connection:
                    # A server that was started again has lost what it kept in memory, heartbeats among it.
                    break

    async def create_missing(self) -> None:
        """Creates the streams that do not exist; the others stay as they are."""
        require_connection(self._bus)
        await asyncio.gather(*(self._create_if_missing(config) for config in self._streams))

    async def _create_if_missing(self, config: StreamConfig) -> None:
        name = config.name or ""
        try:
            existing = (await self._jetstream.stream_info(name)).config
        except nats.js.errors.NotFoundError:
            await self._jetstream.add_stream(config)
            _log.info("a stream of the bus was created", extra={"stream": name})
            return
        # Replicas and retention are the operator's to choose; without these nothing is heard of the stream.
        fit = (
            existing.allow_direct
            and existing.republish is not None
            and config.republish is not None
            and existing.republish.dest == config.republish.dest
            and set(existing.subjects or ()) == set(config.subjects or ())
        )
        if not fit and name not in self._unfit:
            self._unfit.add(name)
            _log.error("a stream of the bus is of no use: delete it, and it is created anew", extra={"stream": name})
