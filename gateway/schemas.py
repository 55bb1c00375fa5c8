"""JSON Schemas of messages, from their descriptors and comments: what is answered, and what may be sent.

They differ: an answer always has every field that cannot be absent, and says a large integer as a string; a request may
leave fields out and say them in every way that `json_reader` understands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from gateway.contracts import OURS, Contracts
from gateway.json_types import WELL_KNOWN, enum_type, is_map, map_fields, message_type

Schema = dict[str, object]
SchemaOf = Callable[[FieldDescriptor], Schema]

COMPONENTS = "#/components/schemas/"
_SUCH_AS = re.compile(r"[Ss]uch as `([^`]+)`")
_SPAN = r"^-?[0-9]{1,11}(\.[0-9]{1,9})?s$"
_TEXT = r"^[^\u0000]*$"
_BASE64 = r"^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$"
_INT32 = {FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32}
_UINT32 = {FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32}
_INT64 = {FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64}
_UINT64 = {FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64}
# Bounds, and digits that a string may have without leaving them.
_INTEGERS: Mapping[str, tuple[set[int], int, int, str]] = {
    "int32": (_INT32, -(2**31), 2**31 - 1, "^-?[0-9]{1,9}$"),
    "uint32": (_UINT32, 0, 2**32 - 1, "^[0-9]{1,9}$"),
    "int64": (_INT64, -(2**63), 2**63 - 1, "^-?[0-9]{1,18}$"),
    "uint64": (_UINT64, 0, 2**64 - 1, "^[0-9]{1,19}$"),
}
_NOT_FINITE = ["NaN", "Infinity", "-Infinity"]


def name_of(descriptor: Descriptor | EnumDescriptor) -> str:
    """Under which name it is among the components: `roulette.v1.Bet`."""
    return descriptor.full_name.removeprefix(OURS)


class Schemas:
    """Collects the components that are referred to."""

    def __init__(self, contracts: Contracts) -> None:
        self._contracts = contracts
        self.components: dict[str, Schema] = {}

    def answered(self, message: Descriptor) -> Schema:
        """Refers to what a message looks like in an answer."""
        name = name_of(message)
        if name not in self.components:
            self.components[name] = {}
            self.components[name] = _ANSWERED.get(message.full_name) or self._object(message, self._answered_field, ())
            if message.full_name not in WELL_KNOWN:
                self.components[name]["required"] = [field.name for field in message.fields if not field.has_presence]
        return {"$ref": COMPONENTS + name}

    def sent(self, message: Descriptor, without: Collection[str] = ()) -> Schema:
        """Refers to what a message may look like in a request; in its body, `without` what is said elsewhere."""
        name = f"{name_of(message)}.Sent"
        if name not in self.components:
            self.components[name] = {}
            self.components[name] = _SENT.get(message.full_name) or self._object(message, self._sent_field, without)
            if message.full_name not in WELL_KNOWN:
                self.components[name]["additionalProperties"] = False
        return {"$ref": COMPONENTS + name}

    def parameter(self, field: FieldDescriptor) -> Schema:
        """What a field is in a path or a query, where everything is text."""
        one = self._text(field)
        return {"type": "array", "items": one} if field.is_repeated else one

    def words(self, field: FieldDescriptor) -> str:
        return self._contracts.words(field.full_name)

    def message_words(self, message: Descriptor) -> str:
        return self._contracts.words(message.full_name)

    def _scalar(self, field: FieldDescriptor) -> Schema:
        if field.type == FieldDescriptor.TYPE_ENUM:
            return self._enum(enum_type(field))
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            return dict(_SENT[message_type(field).full_name])
        for name, (types, lowest, highest, _) in _INTEGERS.items():
            if field.type in types:
                return {"type": "integer", "format": name, "minimum": lowest, "maximum": highest}
        return dict(_SCALARS[field.type])

    def _text(self, field: FieldDescriptor) -> Schema:
        schema = self._scalar(field)
        return {**schema, "pattern": _TEXT} if field.type == FieldDescriptor.TYPE_STRING else schema

    def _object(self, message: Descriptor, schema_of: SchemaOf, without: Collection[str]) -> Schema:
        properties: dict[str, Schema] = {}
        for field in message.fields:
            if field.name not in without:
                properties[field.name] = _described(schema_of(field), self.words(field))
        made: Schema = {"type": "object", "properties": properties}
        words = self._contracts.words(message.full_name)
        groups = [
            f"At most one of {', '.join(f'`{field.name}`' for field in group.fields)}."
            for group in message.oneofs
            if len(group.fields) > 1
        ]
        if described := "\n\n".join([words, *groups]).strip():
            made["description"] = described
        return made

    def _answered_field(self, field: FieldDescriptor) -> Schema:
        return _of_many(field, self._answered_value)

    def _sent_field(self, field: FieldDescriptor) -> Schema:
        return or_null(_of_many(field, self._sent_value))

    def _answered_value(self, field: FieldDescriptor) -> Schema:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            return self.answered(message_type(field))
        if field.type == FieldDescriptor.TYPE_ENUM:
            return self._enum(enum_type(field))
        if field.type in _INT64 | _UINT64:
            name = "int64" if field.type in _INT64 else "uint64"
            return {"type": "string", "format": name, "pattern": "^-?[0-9]{1,20}$"}
        return self._scalar(field)

    def _sent_value(self, field: FieldDescriptor) -> Schema:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            return self.sent(message_type(field))
        if field.type == FieldDescriptor.TYPE_ENUM:
            numbers = [value.number for value in enum_type(field).values]
            return {"anyOf": [self._enum(enum_type(field)), {"type": "integer", "enum": numbers}]}
        for name, (types, lowest, highest, digits) in _INTEGERS.items():
            if field.type in types:
                made: Schema = {"type": ["integer", "string"], "format": name}
                return made | {"minimum": lowest, "maximum": highest, "pattern": digits}
        return self._text(field)

    def _enum(self, enum: EnumDescriptor) -> Schema:
        name = name_of(enum)
        if name not in self.components:
            lines = [self._contracts.words(enum.full_name)]
            for value in enum.values:
                words = self._contracts.words(f"{enum.full_name}.{value.name}")
                lines.append(f"* `{value.name}`: {words}" if words else f"* `{value.name}`")
            made: Schema = {"type": "string", "enum": [value.name for value in enum.values]}
            self.components[name] = {**made, "description": "\n".join(lines).strip()}
        return {"$ref": COMPONENTS + name}


def _of_many(field: FieldDescriptor, schema_of: SchemaOf) -> Schema:
    if is_map(field):
        return {"type": "object", "additionalProperties": schema_of(map_fields(field)[1])}
    return {"type": "array", "items": schema_of(field)} if field.is_repeated else schema_of(field)


def or_null(schema: Schema) -> Schema:
    """In a request null stands for a field that is left out."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    if isinstance(kind, list):
        return {**schema, "type": [*kind, "null"]}
    if isinstance(schema.get("anyOf"), list):
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}  # type: ignore[misc]
    rest = {name: value for name, value in schema.items() if name != "$ref"}
    return {**rest, "anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}]}


def _described(schema: Schema, words: str) -> Schema:
    if not words:
        return schema
    described = {**schema, "description": words}
    example = _SUCH_AS.search(words)
    if example is not None and schema.get("type") == "string":
        described["examples"] = [example[1]]
    return described


_ANY: Schema = {
    "type": "object",
    "description": "What only one game knows: an object of the type that `@type` names, with that type's own fields.",
    "properties": {
        "@type": {"type": "string", "examples": ["type.googleapis.com/feltro.roulette.v1.Outcome"]},
    },
}
_MOMENT: Schema = {"type": "string", "format": "date-time"}
_SPAN_TEXT: Schema = {"type": "string", "pattern": _SPAN, "description": "Seconds, such as `1.5s`."}
_ANSWERED: Mapping[str, Schema] = {
    "google.protobuf.Any": _ANY,
    "google.protobuf.Timestamp": _MOMENT,
    "google.protobuf.Duration": _SPAN_TEXT,
}
_SENT: Mapping[str, Schema] = {
    **_ANSWERED,
    "google.protobuf.Any": {**_ANY, "required": ["@type"]},
}
_NUMBER: Schema = {"anyOf": [{"type": "number"}, {"type": "string", "enum": _NOT_FINITE}]}
_SCALARS: Mapping[int, Schema] = {
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: {"type": "string"},
    FieldDescriptor.TYPE_BYTES: {"type": "string", "contentEncoding": "base64", "pattern": _BASE64},
    FieldDescriptor.TYPE_DOUBLE: _NUMBER,
    FieldDescriptor.TYPE_FLOAT: _NUMBER,
}
