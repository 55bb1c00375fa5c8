"""Writes messages as JSON values."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from typing import Any

from google.protobuf import json_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from gateway.contracts.descriptors import descriptor_of, enum_type, is_map, map_fields, message_type
from gateway.contracts.json_types import WELL_KNOWN_TYPES, duration_text, message_class_of, timestamp_text

Writer = Callable[[Any], object]

_FLOAT = struct.Struct("<f")
_WRITERS: dict[Descriptor, Writer] = {}


def writer_of(descriptor: Descriptor) -> Writer:
    """Returns the writer of messages of this type."""
    return _WRITERS.get(descriptor) or _compile(descriptor)


def _compile(descriptor: Descriptor) -> Writer:
    special = _SPECIAL.get(descriptor.full_name)
    if special is None and descriptor.full_name in WELL_KNOWN_TYPES:
        special = json_format.MessageToDict
    if special is not None:
        _WRITERS[descriptor] = special
        return special
    rules: dict[FieldDescriptor, tuple[str, Writer | None]] = {}
    defaults = {field.name: _default(field) for field in descriptor.fields if not field.has_presence}

    def write(message: Message) -> object:
        # Only fields that are set are visited: most messages leave most fields alone.
        written = defaults.copy()
        for field, value in message.ListFields():
            name, convert = rules[field]
            written[name] = value if convert is None else convert(value)
        return written

    # A message type may hold itself: its writer is registered before those of its fields are compiled.
    _WRITERS[descriptor] = write
    rules.update((field, (field.name, _field_writer(field))) for field in descriptor.fields)
    return write


def _field_writer(field: FieldDescriptor) -> Writer | None:
    """Returns None for a field whose value is JSON as it is."""
    if is_map(field):
        return _map_writer(field)
    write = _value_writer(field)
    if not field.is_repeated:
        return write
    return list if write is None else lambda values: [write(value) for value in values]


def _map_writer(field: FieldDescriptor) -> Writer:
    key, value = map_fields(field)
    key_text = _BOOL_KEYS.__getitem__ if key.type == FieldDescriptor.TYPE_BOOL else str
    write = _value_writer(value) or _unchanged
    return lambda entries: {key_text(name): write(entries[name]) for name in entries}


def _value_writer(field: FieldDescriptor) -> Writer | None:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return writer_of(message_type(field))
    if field.type == FieldDescriptor.TYPE_ENUM:
        return _enum_writer(enum_type(field))
    return _SCALARS.get(field.type)


def _enum_writer(enum: EnumDescriptor) -> Writer:
    if enum.full_name == "google.protobuf.NullValue":
        return lambda _: None
    names = {value.number: value.name for value in reversed(enum.values)}
    # A number without a name is a value of a newer proto: it passes as it is.
    return lambda number: names.get(number, number)


def _default(field: FieldDescriptor) -> object:
    if is_map(field):
        return {}
    if field.is_repeated:
        return []
    convert = _value_writer(field)
    return field.default_value if convert is None else convert(field.default_value)


def _any(message: AnyMessage) -> object:
    if not message.type_url and not message.value:
        return {}
    typed: dict[str, object] = {"@type": message.type_url}
    inner_class = message_class_of(message.type_url)
    if inner_class is None:
        # A message of a newer proto: the client may know it.
        return typed | {"value": _base64(message.value)}
    inner = descriptor_of(inner_class)
    written = writer_of(inner)(inner_class.FromString(message.value))
    if inner.full_name in WELL_KNOWN_TYPES:
        return typed | {"value": written}
    return typed | written if isinstance(written, dict) else typed


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _double(value: float) -> object:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _float(value: float) -> object:
    """Returns the shortest number that has the same four bytes."""
    if not math.isfinite(value):
        return _double(value)
    for digits in (6, 7, 8):
        short = float(f"{value:.{digits}g}")
        if _FLOAT.pack(short) == _FLOAT.pack(value):
            return short
    return float(f"{value:.9g}")


def _unchanged(value: object) -> object:
    return value


_BOOL_KEYS = {True: "true", False: "false"}
_SCALARS: dict[int, Writer] = {
    **dict.fromkeys(
        (
            FieldDescriptor.TYPE_INT64,
            FieldDescriptor.TYPE_UINT64,
            FieldDescriptor.TYPE_SINT64,
            FieldDescriptor.TYPE_FIXED64,
            FieldDescriptor.TYPE_SFIXED64,
        ),
        str,
    ),
    FieldDescriptor.TYPE_BYTES: _base64,
    FieldDescriptor.TYPE_DOUBLE: _double,
    FieldDescriptor.TYPE_FLOAT: _float,
}
_SPECIAL: dict[str, Writer] = {
    "google.protobuf.Any": _any,
    "google.protobuf.Timestamp": timestamp_text,
    "google.protobuf.Duration": duration_text,
}
