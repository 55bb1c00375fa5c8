"""The values that a field of a request may have, as its proto declares them (`feltro.access.v1.bounds`)."""

from __future__ import annotations

from google.protobuf.descriptor import FieldDescriptor

from feltro.access.v1 import bounds_pb2

Bounds = bounds_pb2.Bounds

# PostgreSQL cannot store U+0000 in a text.
_ANY_TEXT = r"^[^\u0000]*$"
_NOT_BLANK = r"^[^\u0000]*[^\u0000\s][^\u0000]*$"


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
    """`text_allowed`: the number may also be a string, of so few digits that any of them are within the bounds."""
    if bounds.HasField("minimum"):
        lowest = bounds.minimum
    if bounds.HasField("maximum"):
        highest = bounds.maximum
    schema: dict[str, object] = {"minimum": lowest, "maximum": highest}
    if text_allowed:
        schema["pattern"] = _digits_pattern(lowest, highest)
    return schema


def array_schema(bounds: Bounds, schema: dict[str, object]) -> dict[str, object]:
    bounded = dict(schema)
    if bounds.required:
        bounded["minItems"] = 1
    if bounds.max_length:
        bounded["maxItems"] = bounds.max_length
    return bounded


def _digits_pattern(lowest: int, highest: int) -> str:
    """Matches no number beyond the bounds, and not every number within them: a pattern cannot compare."""
    most = max(len(str(highest)) - 1, 1)
    if lowest < 0:
        return f"^-?[0-9]{{1,{most}}}$"
    return f"^[0-9]{{1,{most}}}$" if lowest == 0 else f"^[1-9][0-9]{{0,{most - 1}}}$"
