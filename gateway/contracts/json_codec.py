"""JSON of messages: the proto3 JSON mapping with the protos' own names, compiled once for each message type."""

from __future__ import annotations

import msgspec
from google.protobuf.message import Message

from gateway.contracts.descriptors import descriptor_of
from gateway.contracts.json_parser import MalformedJson, RepeatedName, loads, repeated_path
from gateway.contracts.json_reader import JsonMismatch, MessageT, reader_of
from gateway.contracts.json_writer import writer_of

__all__ = [
    "JsonMismatch",
    "MalformedJson",
    "RepeatedName",
    "dumps",
    "encode",
    "from_json",
    "loads",
    "repeated_path",
    "to_json",
]

_ENCODER = msgspec.json.Encoder()


def to_json(message: Message) -> object:
    """Converts a message to dicts, lists and scalars. Do not change them: parts may be shared between messages."""
    return writer_of(descriptor_of(type(message)))(message)


def encode(message: Message) -> bytes:
    """Converts a message to JSON text."""
    return _ENCODER.encode(writer_of(descriptor_of(type(message)))(message))


def from_json(value: object, message_class: type[MessageT]) -> MessageT:
    """Converts a JSON value to a message; a `JsonMismatch` names the field that is wrong."""
    message = message_class()
    reader_of(descriptor_of(message_class))(value, message)
    return message


def dumps(value: object) -> bytes:
    """Converts a JSON value to JSON text."""
    return _ENCODER.encode(value)
