"""The way between processes: what one asks of another arrives late, twice, after its sender's death, or never."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tests.simulation.environment.virtual_time import OUTSIDE_CONTEXT, Process, VirtualTimeLoop

_T = TypeVar("_T")


class NoAnswer(Exception):
    """Whoever asked does not know whether anything was done."""


class SimulationEnded(Exception):
    """The story has ended: nobody answers any more."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What becomes of one request and its answer."""

    request_delay_s: float = 0.002
    answer_delay_s: float = 0.002
    request_lost: bool = False
    answer_lost: bool = False
    refused_at_once: bool = False
    """There is nobody to take the request."""
    duplicate_after_s: float | None = None
    """A copy that was on its way arrives long afterwards, and nobody waits for its answer."""
    if_sender_dies: str = "arrives"
    """What becomes of it if its sender dies before it is there: `arrives`, `lost` or `late`."""

    def __str__(self) -> str:
        words = [word for word in ("request_lost", "answer_lost", "refused_at_once") if getattr(self, word)]
        if self.duplicate_after_s is not None:
            words.append(f"again after {self.duplicate_after_s:.3f}")
        return " ".join(words)


# How late something arrives that outlives its sender.
LATE_ARRIVAL_S = 30.0


def deliver_reliably(server: str, method: str) -> Delivery:
    """Nothing goes wrong."""
    return Delivery()


class Network:
    """Carries requests to where they are answered at once, and the answers back."""

    def __init__(self, loop: VirtualTimeLoop, trace: Callable[[str], None]) -> None:
        self.delivery_of: Callable[[str, str], Delivery] = deliver_reliably
        """Asked once for each request, with the server and the method."""
        self.ended = False
        self._loop = loop
        self._note = trace

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
        """What `act` returns or raises at the other end, or `NoAnswer`."""
        if self.ended:
            raise SimulationEnded
        fate = self.delivery_of(server, method)
        self._note(f"{sender.name} asks {server} {method} {about} {fate}".rstrip())
        if fate.refused_at_once:
            await asyncio.sleep(fate.request_delay_s)
            raise NoAnswer(f"{server} is away")
        answer: asyncio.Future[_T] = self._loop.create_future()
        name = f"{sender.name}'s {method} {about}".rstrip()
        if not fate.request_lost:
            self._later(fate.request_delay_s, self._arrive, sender, name, handle, answer, fate)
        if fate.duplicate_after_s is not None:
            self._later(fate.request_delay_s + fate.duplicate_after_s, self._act, f"{name} (again)", handle)
        if timeout_s is None:
            return await answer
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except TimeoutError:
            raise NoAnswer(f"{server} {method}: no answer") from None

    def _arrive(
        self, sender: Process, name: str, act: Callable[[], _T], answer: asyncio.Future[_T], fate: Delivery
    ) -> None:
        if sender.dead and fate.if_sender_dies != "arrives":
            if fate.if_sender_dies == "late":
                self._later(LATE_ARRIVAL_S, self._act, f"{name} (late)", act)
            return
        result = self._act(name, act)
        if result is not None and not fate.answer_lost:
            self._later(fate.answer_delay_s, _give, answer, result)

    def _act(self, name: str, act: Callable[[], _T]) -> tuple[_T | None, Exception | None] | None:
        if self.ended:
            return None
        try:
            result = act()
        except Exception as refused:  # noqa: BLE001 - it belongs to whoever asked
            self._note(f"{name}: {type(refused).__name__} {getattr(refused, 'reason', '')}".rstrip())
            return None, refused
        self._note(f"{name}: done")
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
        # Whoever asked may have stopped waiting.
        answer.exception()
