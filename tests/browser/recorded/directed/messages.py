"""Messages of the protos as pages get them: in the JSON of the gateway, with the time of now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from gateway.contracts import json_codec


def packed(message: Message) -> Any:
    """Puts a message into an Any."""
    holder = Any()
    holder.Pack(message)
    return holder


def now() -> Timestamp:
    return moment(datetime.now(UTC))


def moment(at: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(at)
    return stamp


def in_ms(ms: int) -> datetime:
    return datetime.now(UTC) + timedelta(milliseconds=ms)


def json_of(message: Message) -> object:
    """Converts a message as the gateway does."""
    return json_codec.to_json(message)
