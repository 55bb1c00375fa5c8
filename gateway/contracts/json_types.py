"""What reading and writing JSON share: timestamps and durations as text, ranges of integers, and the types of Anys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

# Messages whose JSON is not an object of their fields.
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
# By JSON Schema's names of formats.
INTEGER_TYPES: Mapping[str, frozenset[int]] = {
    "int32": frozenset({FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32}),
    "uint32": frozenset({FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32}),
    "int64": frozenset({FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64}),
    "uint64": frozenset({FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64}),
}
INTEGER_RANGES: Mapping[str, tuple[int, int]] = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
# Both alphabets, padded or not.
BASE64_PATTERN = r"(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?"

_NANOS_PER_SECOND = 1_000_000_000
# 0001-01-01 and the end of 9999-12-31; ten thousand years: the limits of protobuf's own types.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_DURATION_LIMIT_S = 315_576_000_000


@cache
def _message_class(full_name: str) -> type[Message]:
    return GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(full_name))


def message_class_of(type_url: str) -> type[Message] | None:
    """Returns the class of the message that an Any holds; None if no proto of the platform declares it."""
    _, slash, full_name = type_url.rpartition("/")
    if not slash:
        return None
    try:
        return _message_class(full_name)
    except KeyError:
        return None


def timestamp_text(timestamp: Timestamp) -> str:
    """Formats a timestamp as RFC 3339 in UTC."""
    seconds, nanos = timestamp.seconds, timestamp.nanos
    if not 0 <= nanos < _NANOS_PER_SECOND:
        raise ValueError(f"a timestamp of {nanos} nanoseconds")
    return f"{_date_and_time(seconds)}{_fraction(nanos)}Z"


def duration_text(duration: Duration) -> str:
    """Formats a duration as seconds, such as `1.500s`."""
    seconds, nanos = duration.seconds, duration.nanos
    if abs(seconds) > _DURATION_LIMIT_S or abs(nanos) >= _NANOS_PER_SECOND or seconds * nanos < 0:
        raise ValueError(f"a duration of {seconds} s and {nanos} ns")
    sign = "-" if seconds < 0 or nanos < 0 else ""
    return f"{sign}{abs(seconds)}{_fraction(abs(nanos))}s"


# Events of many tables happen in few different seconds.
@lru_cache(maxsize=4096)
def _date_and_time(seconds: int) -> str:
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
        raise ValueError(f"a timestamp {seconds} s from 1970")
    at = datetime.fromtimestamp(seconds, UTC)
    return f"{at.year:04}{at:-%m-%dT%H:%M:%S}"


def _fraction(nanos: int) -> str:
    """Formats nanoseconds in 0, 3, 6 or 9 digits, as protobuf does."""
    if not nanos:
        return ""
    if nanos % 1_000_000 == 0:
        return f".{nanos // 1_000_000:03}"
    if nanos % 1_000 == 0:
        return f".{nanos // 1_000:06}"
    return f".{nanos:09}"
