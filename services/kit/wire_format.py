"""Puts values into protobuf messages: times, and encoded messages that stay unread and unchanged inside larger ones.

In protobuf's wire format a message inside a message is its bytes behind a short header.
"""

from datetime import datetime
from typing import overload

from google.protobuf.timestamp_pb2 import Timestamp

_ONE_BYTE, _TWO_BYTES = 1 << 7, 1 << 14


def embedded(field_number: int, message: bytes) -> bytes:
    """Returns an encoded message as the value of a field of another one; for field numbers up to 15."""
    tag, length = field_number << 3 | 2, len(message)
    if length < _ONE_BYTE:
        return bytes((tag, length)) + message
    if length < _TWO_BYTES:
        return bytes((tag, length & 0x7F | 0x80, length >> 7)) + message
    header = bytearray((tag,))
    while length >= _ONE_BYTE:
        header.append(length & 0x7F | 0x80)
        length >>= 7
    header.append(length)
    return bytes(header) + message


@overload
def timestamp(at: datetime) -> Timestamp: ...


@overload
def timestamp(at: datetime | None) -> Timestamp | None: ...


def timestamp(at: datetime | None) -> Timestamp | None:
    """The message of a time; None stays None."""
    if at is None:
        return None
    message = Timestamp()
    message.FromDatetime(at)
    return message
