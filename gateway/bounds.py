"""What a field of a request may say, as its proto declares it (`feltro.access.v1.bounds`), in words of JSON Schema."""

from __future__ import annotations

from google.protobuf.descriptor import FieldDescriptor

from feltro.access.v1 import bounds_pb2

Bounds = bounds_pb2.Bounds

# No text holds U+0000: it could not be stored.
_TEXT = r"^[^\u0000]*$"
_WORDS = r"^[^\u0000]*[^\u0000\s][^\u0000]*$"


def of(field: FieldDescriptor) -> Bounds:
    """The bounds of a field; empty ones where it has none."""
    said: Bounds = field.GetOptions().Extensions[bounds_pb2.bounds]
    return said


def of_text(bound: Bounds) -> dict[str, object]:
    if bound.form:
        made: dict[str, object] = {"pattern": f"^(?:{bound.form})$" if bound.needed else f"^(?:{bound.form})?$"}
    else:
        made = {"pattern": _WORDS if bound.needed else _TEXT}
    if bound.longest:
        made["maxLength"] = bound.longest
    return made


def of_number(bound: Bounds, lowest: int, highest: int, *, in_words: bool = False) -> dict[str, object]:
    """`in_words`: it may also be a string of digits, so many that it keeps within the bounds whatever they are."""
    if bound.HasField("least"):
        lowest = bound.least
    if bound.HasField("most"):
        highest = bound.most
    made: dict[str, object] = {"minimum": lowest, "maximum": highest}
    if in_words:
        made["pattern"] = _digits(lowest, highest)
    return made


def of_list(bound: Bounds, schema: dict[str, object]) -> dict[str, object]:
    made = dict(schema)
    if bound.needed:
        made["minItems"] = 1
    if bound.longest:
        made["maxItems"] = bound.longest
    return made


def _digits(lowest: int, highest: int) -> str:
    """Not every number within the bounds, but no other."""
    most = max(len(str(highest)) - 1, 1)
    if lowest < 0:
        return f"^-?[0-9]{{1,{most}}}$"
    return f"^[0-9]{{1,{most}}}$" if lowest == 0 else f"^[1-9][0-9]{{0,{most - 1}}}$"
