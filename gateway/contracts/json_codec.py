"""JSON of messages: the proto3 JSON mapping with the protos' own names, compiled once for each message type."""

from __future__ import annotations

import msgspec
from google.protobuf.message import Message

from gateway.contracts.json_reader import JsonMismatch, MalformedJson, MessageT, reader_of
from gateway.contracts.json_types import descriptor_of
from gateway.contracts.json_writer import writer_of

__all__ = ["JsonMismatch", "MalformedJson", "dumps", "encode", "from_json", "loads", "to_json"]

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[object] = msgspec.json.Decoder()


def to_json(message: Message) -> object:
    """The message as dicts, lists and scalars. What it consists of may be shared: read it only."""
    return writer_of(descriptor_of(type(message)))(message)


def encode(message: Message) -> bytes:
    """The message as JSON text."""
    return _ENCODER.encode(writer_of(descriptor_of(type(message)))(message))


def from_json(value: object, message_class: type[MessageT]) -> MessageT:
    """The message that a JSON value stands for, or `WrongJson`, which names the field."""
    message = message_class()
    reader_of(descriptor_of(message_class))(value, message)
    return message


def dumps(value: object) -> bytes:
    """JSON text."""
    return _ENCODER.encode(value)


def loads(text: bytes) -> object:
    """What JSON text says, or `NotJson`."""
    try:
        return _DECODER.decode(text)
    except msgspec.DecodeError as wrong:
        raise MalformedJson(str(wrong)) from None
    except UnicodeDecodeError:
        raise MalformedJson("it is not UTF-8") from None
    except RecursionError:
        raise MalformedJson("it is nested too deeply") from None
