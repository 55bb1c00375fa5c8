"""What writing and reading JSON share: moments and spans as text, and which message an Any holds."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import cast

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

# Whose JSON is not an object of their fields.
WELL_KNOWN_TYPES = frozenset(
    f"google.protobuf.{name}"
    for name in (
        "Any",
        "Duration",
        "FieldMask",
        "ListValue",
        "Struct",
        "Timestamp",
        "Value",
        "BoolValue",
        "BytesValue",
        "DoubleValue",
        "FloatValue",
        "Int32Value",
        "Int64Value",
        "StringValue",
        "UInt32Value",
        "UInt64Value",
    )
)
_NANOS = 1_000_000_000
# Of 0001-01-01 and 9999-12-31, and ten thousand years.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_SPAN_LIMIT_S = 315_576_000_000


def descriptor_of(message_class: type[Message]) -> Descriptor:
    """The one class of descriptors that all implementations of protobuf have in common for whoever reads types."""
    return cast("Descriptor", message_class.DESCRIPTOR)


def message_type(field: FieldDescriptor) -> Descriptor:
    """Of a field that holds a message."""
    return cast("Descriptor", field.message_type)


def enum_type(field: FieldDescriptor) -> EnumDescriptor:
    """Of a field that holds a value of an enum."""
    return cast("EnumDescriptor", field.enum_type)


def is_map(field: FieldDescriptor) -> bool:
    return field.type == FieldDescriptor.TYPE_MESSAGE and bool(message_type(field).GetOptions().map_entry)


def map_fields(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """Key and value of a map."""
    entry = message_type(field)
    return entry.fields_by_name["key"], entry.fields_by_name["value"]


@cache
def _known(full_name: str) -> type[Message]:
    return GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(full_name))


def message_class_of(type_url: str) -> type[Message] | None:
    """The class of what an Any holds; None if no contract of ours has it."""
    _, slash, full_name = type_url.rpartition("/")
    if not slash:
        return None
    try:
        return _known(full_name)
    except KeyError:
        return None


def timestamp_text(moment: Timestamp) -> str:
    """RFC 3339 in UTC."""
    seconds, nanos = moment.seconds, moment.nanos
    if not 0 <= nanos < _NANOS:
        raise ValueError(f"a moment of {nanos} nanoseconds")
    return f"{_second(seconds)}{_fraction(nanos)}Z"


def duration_text(span: Duration) -> str:
    """Seconds, such as `1.500s`."""
    seconds, nanos = span.seconds, span.nanos
    if abs(seconds) > _SPAN_LIMIT_S or abs(nanos) >= _NANOS or seconds * nanos < 0:
        raise ValueError(f"a span of {seconds} s and {nanos} ns")
    sign = "-" if seconds < 0 or nanos < 0 else ""
    return f"{sign}{abs(seconds)}{_fraction(abs(nanos))}s"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    """What happens at a table happens in few different seconds."""
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
        raise ValueError(f"a moment {seconds} s from 1970")
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment.year:04}{moment:-%m-%dT%H:%M:%S}"


def _fraction(nanos: int) -> str:
    """In 0, 3, 6 or 9 digits."""
    if not nanos:
        return ""
    if nanos % 1_000_000 == 0:
        return f".{nanos // 1_000_000:03}"
    if nanos % 1_000 == 0:
        return f".{nanos // 1_000:06}"
    return f".{nanos:09}"
