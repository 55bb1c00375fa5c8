"""The values that a field of a request may have, as its proto declares them (`feltro.access.v1.bounds`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor

from feltro.access.v1 import bounds_pb2

Bounds = bounds_pb2.Bounds

# PostgreSQL cannot store U+0000 in a text.
_ANY_TEXT = r"^[^\u0000]*$"
_NOT_BLANK = r"^[^\u0000]*[^\u0000\s][^\u0000]*$"


# The name of a command, by which it acts once (G3): the same over REST and WebSockets.
REQUEST_ID_FIELD = "request_id"
REQUEST_ID_CHARACTERS_LIMIT = 64
REQUEST_ID_RULE = f"has to be 1 to {REQUEST_ID_CHARACTERS_LIMIT} printable characters without spaces."
_REQUEST_ID = re.compile(rf"[!-~]{{1,{REQUEST_ID_CHARACTERS_LIMIT}}}")


def is_request_id(text: str) -> bool:
    """Whether a text can name a command."""
    return _REQUEST_ID.fullmatch(text) is not None


def request_id_schema() -> dict[str, object]:
    return {"type": "string", "minLength": 1, "maxLength": REQUEST_ID_CHARACTERS_LIMIT, "pattern": "^[!-~]+$"}


def bounds_of(field: FieldDescriptor) -> Bounds:
    """Returns the bounds of a field; empty ones where it declares none."""
    declared: Bounds = field.GetOptions().Extensions[bounds_pb2.bounds]
    return declared


def string_schema(bounds: Bounds) -> dict[str, object]:
    if bounds.pattern:
        schema: dict[str, object] = {
            "pattern": f"^(?:{bounds.pattern})$" if bounds.required else f"^(?:{bounds.pattern})?$"
        }
    else:
        schema = {"pattern": _NOT_BLANK if bounds.required else _ANY_TEXT}
    if bounds.max_length:
        schema["maxLength"] = bounds.max_length
    return schema


def integer_schema(bounds: Bounds, lowest: int, highest: int, *, text_allowed: bool = False) -> dict[str, object]:
    """`text_allowed`: the number may also be a string, of the digits of a number within the bounds."""
    if bounds.HasField("minimum"):
        lowest = bounds.minimum
    if bounds.HasField("maximum"):
        highest = bounds.maximum
    schema: dict[str, object] = {"minimum": lowest, "maximum": highest}
    if text_allowed:
        schema["pattern"] = integer_pattern(lowest, highest)
    return schema


def array_schema(bounds: Bounds, schema: dict[str, object]) -> dict[str, object]:
    bounded = dict(schema)
    if bounds.required:
        bounded["minItems"] = 1
    if bounds.max_length:
        bounded["maxItems"] = bounds.max_length
    return bounded


def integer_pattern(lowest: int, highest: int) -> str:
    """Returns the pattern of exactly the integers from `lowest` to `highest`, without leading zeros."""
    parts = [f"-{part}" for part in _digits(max(1, -highest), -lowest)] if lowest < 0 else []
    parts += _digits(max(0, lowest), highest)
    return f"^(?:{'|'.join(parts)})$"


def _digits(lowest: int, highest: int) -> Iterator[str]:
    """The patterns of all numbers of a range from 0 up, each for numbers that differ only in their last digits."""
    while lowest <= highest:
        length, longest = len(str(lowest)), len(str(highest + 1)) - 1
        if lowest == 10 ** (length - 1) and longest > length:
            # All numbers of several lengths.
            yield f"[1-9][0-9]{{{length - 1},{longest - 1}}}"
            lowest = 10**longest
            continue
        free = 0
        # One digit more may vary while the range still holds every number that this makes.
        while lowest and lowest % 10 ** (free + 1) == 0 and lowest + 10 ** (free + 1) - 1 <= highest:
            free += 1
        step = 10**free
        before, digit = divmod(lowest // step, 10)
        # The digit before the free ones varies too, as far as the range goes and without a carry.
        more = min(9 - digit, (highest - lowest + 1) // step - 1)
        varying = f"[{digit}-{digit + more}]" if more else str(digit)
        yield (str(before) if before else "") + varying + (f"[0-9]{{{free}}}" if free else "")
        lowest += (more + 1) * step
