"""What the processes of a world log and count, for tests that look for secrets in it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import REGISTRY

from services.kit.telemetry.logs import JsonLines


class KeptLog(logging.Handler):
    """Keeps what the platform logs, at whatever level, without the time of the machine."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(JsonLines())
        self.lines: list[bytes] = []

    def emit(self, record: logging.LogRecord) -> None:
        facts = json.loads(self.format(record))
        self.lines.append(json.dumps({name: fact for name, fact in facts.items() if name != "at"}).encode())


@contextmanager
def kept_log() -> Iterator[KeptLog]:
    """Keeps what is logged meanwhile; a simulated world is silent until its script calls `logging.disable(NOTSET)`."""
    log, platform = KeptLog(), logging.getLogger("services")
    level = platform.level
    platform.addHandler(log)
    platform.setLevel(logging.DEBUG)
    try:
        yield log
    finally:
        platform.setLevel(level)
        platform.removeHandler(log)


def counted() -> dict[str, float]:
    """Returns the metrics that count something, by name and labels; those of time differ from run to run."""
    samples = (sample for metric in REGISTRY.collect() for sample in metric.samples)
    return {
        f"{each.name} {sorted(each.labels.items())}": each.value
        for each in samples
        if each.name.startswith("feltro") and each.name.endswith(("_total", "_count"))
    }
