"""Reads what a table has published, and checks that it has no gap."""

from __future__ import annotations

import asyncio

import nats.js.errors
from nats.aio.client import Client as Nats

from feltro.table.v1 import events_pb2
from services.kit.bus.subjects import EVENTS_STREAM, table_subject
from services.kit.table.events.publisher import TablePublisher

TIMEOUT_S = 240.0
# The game of the tables that publish.
GAME = "roulette"


def seat_taken(seat: int) -> events_pb2.TableEvent:
    return events_pb2.TableEvent(seat_taken=events_pb2.SeatTaken(seat=seat))


async def published_messages(bus: Nats, table_id: str) -> list[list[events_pb2.TableEvent]]:
    """Returns every message of a table in the stream."""
    jetstream = bus.jetstream(timeout=TIMEOUT_S)
    state = (await jetstream.stream_info(EVENTS_STREAM)).state
    messages = []
    for number in range(max(state.first_seq, 1), state.last_seq + 1):
        try:
            message = await jetstream.get_msg(EVENTS_STREAM, number)
        except nats.js.errors.NotFoundError:
            continue
        if message.subject == table_subject(GAME, table_id):
            messages.append(list(events_pb2.TableEvents.FromString(message.data or b"").events))
    return messages


async def flush(publisher: TablePublisher) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        await publisher.flush()


def expect_no_gap(events: list[events_pb2.TableEvent], first: int = 1) -> None:
    assert [event.seq for event in events] == list(range(first, first + len(events)))
