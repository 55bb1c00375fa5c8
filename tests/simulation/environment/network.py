"""The network between processes: a request arrives late, twice, after its sender's death, or never."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tests.simulation.environment.virtual_time import OUTSIDE_CONTEXT, Process, VirtualTimeLoop

_T = TypeVar("_T")


class NoAnswer(Exception):
    """The caller does not know whether anything was done."""


class SimulationEnded(Exception):
    """The simulation has ended, and no server answers any more."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What happens to one request and its answer."""

    request_delay_s: float = 0.002
    answer_delay_s: float = 0.002
    request_lost: bool = False
    answer_lost: bool = False
    refused_at_once: bool = False
    """The server is away."""
    duplicate_after_s: float | None = None
    """A copy of the request arrives this long afterwards, and nothing waits for its answer."""
    if_sender_dies: str = "arrives"
    """What happens to it if its sender dies before it arrives: `arrives`, `lost` or `late`."""

    def __str__(self) -> str:
        words = [word for word in ("request_lost", "answer_lost", "refused_at_once") if getattr(self, word)]
        if self.duplicate_after_s is not None:
            words.append(f"again after {self.duplicate_after_s:.3f}")
        return " ".join(words)


# How late a request arrives that outlives its sender.
LATE_ARRIVAL_S = 30.0


def deliver_reliably(server: str, method: str) -> Delivery:
    """Delivers every request and every answer."""
    return Delivery()


class Network:
    """Delivers requests to servers, which answer at once, and the answers to their senders."""

    def __init__(self, loop: VirtualTimeLoop, trace: Callable[[str], None]) -> None:
        self.delivery_of: Callable[[str, str], Delivery] = deliver_reliably
        """Decides about each request once, by its server and method."""
        self.ended = False
        self._loop = loop
        self._trace = trace

    async def call(
        self,
        sender: Process,
        server: str,
        method: str,
        handle: Callable[[], _T],
        *,
        about: str = "",
        timeout_s: float | None,
    ) -> _T:
        """Returns or raises what `handle` does at the server, or raises `NoAnswer`."""
        if self.ended:
            raise SimulationEnded
        delivery = self.delivery_of(server, method)
        self._trace(f"{sender.name} asks {server} {method} {about} {delivery}".rstrip())
        if delivery.refused_at_once:
            await asyncio.sleep(delivery.request_delay_s)
            raise NoAnswer(f"{server} is away")
        answer: asyncio.Future[_T] = self._loop.create_future()
        name = f"{sender.name}'s {method} {about}".rstrip()
        if not delivery.request_lost:
            self._later(delivery.request_delay_s, self._arrive, sender, name, handle, answer, delivery)
        if delivery.duplicate_after_s is not None:
            self._later(
                delivery.request_delay_s + delivery.duplicate_after_s, self._handle, f"{name} (duplicate)", handle
            )
        if timeout_s is None:
            return await answer
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except TimeoutError:
            raise NoAnswer(f"{server} {method}: no answer") from None

    def _arrive(
        self, sender: Process, name: str, handle: Callable[[], _T], answer: asyncio.Future[_T], delivery: Delivery
    ) -> None:
        if sender.dead and delivery.if_sender_dies != "arrives":
            if delivery.if_sender_dies == "late":
                self._later(LATE_ARRIVAL_S, self._handle, f"{name} (late)", handle)
            return
        result = self._handle(name, handle)
        if result is not None and not delivery.answer_lost:
            self._later(delivery.answer_delay_s, _give, answer, result)

    def _handle(self, name: str, handle: Callable[[], _T]) -> tuple[_T | None, Exception | None] | None:
        if self.ended:
            return None
        try:
            result = handle()
        except Exception as refused:  # noqa: BLE001 - the caller gets it
            self._trace(f"{name}: {type(refused).__name__} {getattr(refused, 'reason', '')}".rstrip())
            return None, refused
        self._trace(f"{name}: done")
        return result, None

    def _later(self, seconds: float, callback: Callable[..., object], *args: object) -> None:
        self._loop.call_later(seconds, callback, *args, context=OUTSIDE_CONTEXT)


def _give(answer: asyncio.Future[_T], result: tuple[_T, Exception | None]) -> None:
    if answer.done():
        return
    value, refused = result
    if refused is None:
        answer.set_result(value)
    else:
        answer.set_exception(refused)
        # The caller may have stopped waiting: then nobody retrieves it.
        answer.exception()
