"""Times as protobuf messages carry them."""

from datetime import datetime
from typing import overload

from google.protobuf.timestamp_pb2 import Timestamp


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
