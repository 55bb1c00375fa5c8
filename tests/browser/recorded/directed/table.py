"""A table of any game that a test directs: it tells events, and notes what its page asks for."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from google.protobuf.message import Message

from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.refusals import TableRefused
from tests.browser.recorded.directed.messages import moment, now, packed


@dataclass(slots=True, kw_only=True)
class DirectedTable(ABC):
    """One table. Its methods are called in the thread of the connection."""

    table_id: str
    # Sends a notification to the page.
    notify: Callable[[str, Message], None]
    player_id: str = ""
    seq: int = 10
    # The next command is refused like this.
    refusal: tuple[str, Mapping[str, str]] | None = None
    # The rounds of the page's player, newest first.
    rounds: list[table_pb2.PlayerRound] = field(default_factory=list)
    # What pages have asked for, by their methods.
    asked: list[tuple[str, object]] = field(default_factory=list)
    asked_more: asyncio.Event = field(default_factory=asyncio.Event)

    @abstractmethod
    def configuration(self) -> types_pb2.TableConfiguration:
        """How the table is configured."""

    @abstractmethod
    def snapshot(self) -> types_pb2.TableSnapshot:
        """What everybody may see of it."""

    @abstractmethod
    def own_seat(self) -> table_pb2.OwnSeat | None:
        """What the page's player alone may see of it; None before they sit down."""

    @abstractmethod
    def balance(self) -> wallet_types.Balance:
        """The balance of the page's player."""

    @abstractmethod
    def enter(self, seat: int) -> None:
        """Seats the page's player; 0 for any seat that is free."""

    @abstractmethod
    def decide(self, request: table_pb2.ActRequest) -> table_pb2.ActResponse:
        """Has the page's player decide."""

    def was_asked(self, method: str, params: object) -> None:
        """A page asks for something."""
        self.asked.append((method, params))
        self.asked_more.set()

    async def wait_until_asked(self, method: str) -> object:
        """Waits until a page asks with a method, and returns what it has asked first."""
        while True:
            found = next((params for asked, params in self.asked if asked == method), None)
            if found is not None:
                return found
            self.asked_more.clear()
            await self.asked_more.wait()

    def event(self, what: str, message: Message) -> None:
        """Tells an event of the table by its field."""
        self.seq += 1
        event = events_pb2.TableEvent(table_id=self.table_id, seq=self.seq, at=now())
        getattr(event, what).CopyFrom(message)
        self.notify("table", event)

    def ended_round(
        self, round_id: str, opened_at: datetime, outcome: Message, trigger: types_pb2.DrawTrigger.ValueType
    ) -> table_pb2.TableRound:
        """A round that has just been drawn and paid, as histories show it."""
        return table_pb2.TableRound(
            round_id=round_id,
            state=wallet_types.ROUND_STATE_SETTLED,
            opened_at=moment(opened_at),
            drawn_at=now(),
            ended_at=now(),
            outcome=packed(outcome),
            configuration_version=1,
            closed_at=now(),
            draw_trigger=trigger,
        )

    def refuse_if_told(self) -> None:
        """Refuses a command that the test has said is to be refused."""
        if self.refusal is not None:
            (reason, facts), self.refusal = self.refusal, None
            raise TableRefused(reason, "Refused by the test.", **facts)
