"""Facts for the bus, and how they are packed into the outbox row of their transaction."""

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from feltro.wallet.v1 import events_pb2

TRANSFERS_SUBJECT = "feltro.wallet.transfers"

_LENGTHS = struct.Struct("<HI")
_INSERT = text("INSERT INTO outbox (at, facts) VALUES (:at, :facts)")


@dataclass(frozen=True, slots=True)
class Fact:
    """One message for the bus."""

    subject: str
    payload: bytes
    # The trace of the command behind it, while spans are recorded.
    traceparent: str = ""


def player_subject(player_id: str) -> str:
    return f"feltro.player.{player_id}.wallet"


def rounds_subject(table_id: str) -> str:
    return f"feltro.wallet.rounds.{table_id}"


def player_fact(player_id: str, fact: events_pb2.PlayerFact) -> Fact:
    return Fact(player_subject(player_id), fact.SerializeToString())


def pack(facts: Iterable[Fact]) -> bytes:
    """Packs all facts of one transaction into one outbox row: a row for each would cost more than the ledger's own."""
    parts: list[bytes] = []
    for fact in facts:
        subject = fact.subject.encode()
        parts += (_LENGTHS.pack(len(subject), len(fact.payload)), subject, fact.payload)
    return b"".join(parts)


def pack_traces(facts: Sequence[Fact]) -> str | None:
    """Returns the traces of a row's facts, a line for each; None if there are none."""
    return "\n".join(fact.traceparent for fact in facts) if any(fact.traceparent for fact in facts) else None


def unpack(row: bytes, traces: str | None = None) -> Iterator[Fact]:
    """Returns the facts of an outbox row, in order."""
    position = 0
    lines = iter(() if traces is None else traces.split("\n"))
    while position < len(row):
        subject_length, payload_length = _LENGTHS.unpack_from(row, position)
        position += _LENGTHS.size
        subject = row[position : position + subject_length].decode()
        position += subject_length
        yield Fact(subject, row[position : position + payload_length], next(lines, ""))
        position += payload_length


async def insert(connection: AsyncConnection, facts: list[Fact], at: datetime) -> None:
    """Inserts facts into the outbox; they are published if and only if the transaction commits (G5)."""
    if facts:
        await connection.execute(_INSERT, {"at": at, "facts": pack(facts)})
