"""What a field of a request may say, as its proto declares it (`feltro.access.v1.bounds`), in words of JSON Schema."""

from __future__ import annotations

from google.protobuf.descriptor import FieldDescriptor

from feltro.access.v1 import bounds_pb2

Bounds = bounds_pb2.Bounds

# No text holds U+0000: it could not be stored.
_TEXT = r"^[^\u0000]*$"
_WORDS = r"^[^\u0000]*[^\u0000\s][^\u0000]*$"


def bounds_of(field: FieldDescriptor) -> Bounds:
    """The bounds of a field; empty ones where it has none."""
    said: Bounds = field.GetOptions().Extensions[bounds_pb2.bounds]
    return said


def string_schema(bounds: Bounds) -> dict[str, object]:
    if bounds.pattern:
        made: dict[str, object] = {
            "pattern": f"^(?:{bounds.pattern})$" if bounds.required else f"^(?:{bounds.pattern})?$"
        }
    else:
        made = {"pattern": _WORDS if bounds.required else _TEXT}
    if bounds.max_length:
        made["maxLength"] = bounds.max_length
    return made


def integer_schema(bounds: Bounds, lowest: int, highest: int, *, text_allowed: bool = False) -> dict[str, object]:
    """`in_words`: it may also be a string of digits, so many that it keeps within the bounds whatever they are."""
    if bounds.HasField("minimum"):
        lowest = bounds.minimum
    if bounds.HasField("maximum"):
        highest = bounds.maximum
    made: dict[str, object] = {"minimum": lowest, "maximum": highest}
    if text_allowed:
        made["pattern"] = _digits(lowest, highest)
    return made


def array_schema(bounds: Bounds, schema: dict[str, object]) -> dict[str, object]:
    made = dict(schema)
    if bounds.required:
        made["minItems"] = 1
    if bounds.max_length:
        made["maxItems"] = bounds.max_length
    return made


def _digits(lowest: int, highest: int) -> str:
    """Not every number within the bounds, but no other."""
    most = max(len(str(highest)) - 1, 1)
    if lowest < 0:
        return f"^-?[0-9]{{1,{most}}}$"
    return f"^[0-9]{{1,{most}}}$" if lowest == 0 else f"^[1-9][0-9]{{0,{most - 1}}}$"
