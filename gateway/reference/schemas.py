"""JSON Schemas of messages, from their descriptors and comments: what is answered, and what may be sent.

They differ: an answer always has every field that cannot be absent, and says a large integer as a string; a request may
leave fields out, say them in every way that `json_reader` understands, and keeps to the bounds that the protos declare.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from feltro.table.v1 import any_topic_pb2
from gateway.contracts import bounds
from gateway.contracts.any_types import ANY_FULL_NAME, AnyTopic, topic_of_field, type_url
from gateway.contracts.json_types import WELL_KNOWN_TYPES, enum_type, is_map, map_fields, message_type
from gateway.contracts.methods import PACKAGE_PREFIX, Contracts

Schema = dict[str, object]
SchemaOf = Callable[[FieldDescriptor], Schema]

COMPONENTS = "#/components/schemas/"
_SUCH_AS = re.compile(r"[Ss]uch as `([^`]+)`")
# Ten thousand years have twelve digits, and not all of twelve digits are within them.
_SPAN, _SPAN_SENT = r"^-?[0-9]{1,12}(\.[0-9]{1,9})?s$", r"^-?[0-9]{1,11}(\.[0-9]{1,9})?s$"
_BASE64 = r"^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$"
_INT32 = {FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32}
_UINT32 = {FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32}
_INT64 = {FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64}
_UINT64 = {FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64}
_INTEGERS: Mapping[str, tuple[set[int], int, int]] = {
    "int32": (_INT32, -(2**31), 2**31 - 1),
    "uint32": (_UINT32, 0, 2**32 - 1),
    "int64": (_INT64, -(2**63), 2**63 - 1),
    "uint64": (_UINT64, 0, 2**64 - 1),
}
_NOT_FINITE = ["NaN", "Infinity", "-Infinity"]


def component_name(descriptor: Descriptor | EnumDescriptor) -> str:
    """Under which name it is among the components: `roulette.v1.Bet`."""
    return descriptor.full_name.removeprefix(PACKAGE_PREFIX)


class Schemas:
    """Collects the components that are referred to."""

    def __init__(self, contracts: Contracts, *, discriminators: bool = False) -> None:
        """OpenAPI alone has discriminators that map; `@type` decides without them too."""
        self._contracts = contracts
        self._discriminators = discriminators
        self.components: dict[str, Schema] = {}

    def response_schema(self, message: Descriptor) -> Schema:
        """Refers to what a message looks like in an answer."""
        return self._answered(message, component_name(message), {})

    def request_schema(self, message: Descriptor, without: Collection[str] = ()) -> Schema:
        """Refers to what a message may look like in a request; in its body, `without` what is said elsewhere."""
        return self._sent(message, f"{component_name(message)}.Sent", {}, without)

    def parameter_schema(self, field: FieldDescriptor) -> Schema:
        """What a field is in a path or a query, where everything is text."""
        one = self._parameter_value(field)
        return {"type": "array", "items": one} if field.is_repeated else one

    def comment(self, field: FieldDescriptor) -> str:
        return self._contracts.comment(field.full_name)

    def message_comment(self, message: Descriptor) -> str:
        return self._contracts.comment(message.full_name)

    # -- messages ----------------------------------------------------------------------------------------------------

    def _answered(self, message: Descriptor, name: str, first: Mapping[str, Schema]) -> Schema:
        if name not in self.components:
            self.components[name] = {}
            self.components[name] = _ANSWERED.get(message.full_name) or self._object(
                message, self._answered_field, first
            )
            if message.full_name not in WELL_KNOWN_TYPES:
                always = [field.name for field in message.fields if not field.has_presence]
                self.components[name]["required"] = [*first, *always]
        return {"$ref": COMPONENTS + name}

    def _sent(
        self, message: Descriptor, name: str, first: Mapping[str, Schema], without: Collection[str] = ()
    ) -> Schema:
        if name not in self.components:
            self.components[name] = {}
            self.components[name] = _SENT.get(message.full_name) or self._object(
                message, self._sent_field, first, without
            )
            if message.full_name not in WELL_KNOWN_TYPES:
                needed = [
                    one.name for one in message.fields if bounds.bounds_of(one).required and one.name not in without
                ]
                if always := [*first, *needed]:
                    self.components[name]["required"] = always
                self.components[name]["additionalProperties"] = False
        return {"$ref": COMPONENTS + name}

    def _object(
        self, message: Descriptor, schema_of: SchemaOf, first: Mapping[str, Schema], without: Collection[str] = ()
    ) -> Schema:
        properties = dict(first)
        for field in message.fields:
            if field.name not in without:
                properties[field.name] = _described(schema_of(field), self.comment(field))
        made: Schema = {"type": "object", "properties": properties}
        words = self._contracts.comment(message.full_name)
        groups = [
            f"At most one of {', '.join(f'`{field.name}`' for field in group.fields)}."
            for group in message.oneofs
            if len(group.fields) > 1
        ]
        if described := "\n\n".join([words, *groups]).strip():
            made["description"] = described
        return made

    def _in_own_words(self, field: FieldDescriptor, *, sent: bool) -> Schema:
        """Refers to what an Any may hold: of each game's messages the one that says what the Any is about."""
        matter: AnyTopic = topic_of_field(field)
        kind = any_topic_pb2.AnyTopic.Name(matter).removeprefix("ANY_TOPIC_")
        name = f"table.v1.Own{kind.capitalize()}" + (".Sent" if sent else "")
        if name not in self.components:
            one_of: list[Schema] = []
            mapping: dict[str, str] = {}
            for message in self._contracts.messages_about(matter):
                url = type_url(message)
                typed: dict[str, Schema] = {
                    "@type": {"type": "string", "const": url, "description": "Whose words these are."}
                }
                own = f"{component_name(message)}.Own"
                made = self._sent(message, f"{own}.Sent", typed) if sent else self._answered(message, own, typed)
                one_of.append(made)
                mapping[url] = str(made["$ref"])
            words = self._contracts.comment(f"{any_topic_pb2.AnyTopic.DESCRIPTOR.full_name}.ANY_TOPIC_{kind}")
            self.components[name] = {
                "description": f"{words}\n\nEach game has words of its own: `@type` says whose these are.",
                "oneOf": one_of,
            }
            if self._discriminators:
                self.components[name]["discriminator"] = {"propertyName": "@type", "mapping": mapping}
        return {"$ref": COMPONENTS + name}

    # -- fields ------------------------------------------------------------------------------------------------------

    def _answered_field(self, field: FieldDescriptor) -> Schema:
        return _of_many(field, self._answered_value)

    def _sent_field(self, field: FieldDescriptor) -> Schema:
        bound = bounds.bounds_of(field)
        many = bounds.array_schema(bound, _of_many(field, self._sent_value)) if field.is_repeated else None
        schema = many or _of_many(field, self._sent_value)
        return schema if bound.required else nullable(schema)

    def _answered_value(self, field: FieldDescriptor) -> Schema:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            inner = message_type(field)
            return self._in_own_words(field, sent=False) if _is_own(field) else self.response_schema(inner)
        if field.type == FieldDescriptor.TYPE_ENUM:
            return self._enum(enum_type(field))
        if field.type in _INT64 | _UINT64:
            name = "int64" if field.type in _INT64 else "uint64"
            return {"type": "string", "format": name, "pattern": "^-?[0-9]{1,20}$"}
        for name, (types, lowest, highest) in _INTEGERS.items():
            if field.type in types:
                return {"type": "integer", "format": name, "minimum": lowest, "maximum": highest}
        return dict(_SCALARS[field.type])

    def _sent_value(self, field: FieldDescriptor) -> Schema:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            return self._in_own_words(field, sent=True) if _is_own(field) else self.request_schema(message_type(field))
        bound = bounds.bounds_of(field)
        if field.type == FieldDescriptor.TYPE_ENUM:
            values = enum_type(field).values[1 if bound.required else 0 :]
            return {
                "anyOf": [
                    self._enum(enum_type(field), without_first=bound.required),
                    {"type": "integer", "enum": [value.number for value in values]},
                ]
            }
        for name, (types, lowest, highest) in _INTEGERS.items():
            if field.type in types:
                made: Schema = {"type": ["integer", "string"], "format": name}
                return made | bounds.integer_schema(bound, lowest, highest, text_allowed=True)
        return self._text(field)

    def _parameter_value(self, field: FieldDescriptor) -> Schema:
        bound = bounds.bounds_of(field)
        if field.type == FieldDescriptor.TYPE_ENUM:
            return self._enum(enum_type(field), without_first=bound.required)
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            return dict(_SENT[message_type(field).full_name])
        for name, (types, lowest, highest) in _INTEGERS.items():
            if field.type in types:
                return {"type": "integer", "format": name, **bounds.integer_schema(bound, lowest, highest)}
        return self._text(field)

    def _text(self, field: FieldDescriptor) -> Schema:
        schema = dict(_SCALARS[field.type])
        return (
            {**schema, **bounds.string_schema(bounds.bounds_of(field))}
            if field.type == FieldDescriptor.TYPE_STRING
            else schema
        )

    def _enum(self, enum: EnumDescriptor, *, without_first: bool = False) -> Schema:
        name = component_name(enum) + (".Said" if without_first else "")
        if name not in self.components:
            values = enum.values[1 if without_first else 0 :]
            lines = [self._contracts.comment(enum.full_name)]
            for value in values:
                words = self._contracts.comment(f"{enum.full_name}.{value.name}")
                lines.append(f"* `{value.name}`: {words}" if words else f"* `{value.name}`")
            made: Schema = {"type": "string", "enum": [value.name for value in values]}
            self.components[name] = {**made, "description": "\n".join(lines).strip()}
        return {"$ref": COMPONENTS + name}


def _is_own(field: FieldDescriptor) -> bool:
    """Whether it is an Any that the protos say something about; what does not may hold whatever there is."""
    return message_type(field).full_name == ANY_FULL_NAME and bool(topic_of_field(field))


def _of_many(field: FieldDescriptor, schema_of: SchemaOf) -> Schema:
    if is_map(field):
        return {"type": "object", "additionalProperties": schema_of(map_fields(field)[1])}
    return {"type": "array", "items": schema_of(field)} if field.is_repeated else schema_of(field)


def nullable(schema: Schema) -> Schema:
    """In a request null stands for a field that is left out."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    if isinstance(kind, list):
        return {**schema, "type": [*kind, "null"]}
    if "anyOf" in schema:
        return {**schema, "anyOf": [*cast("list[Schema]", schema["anyOf"]), {"type": "null"}]}
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
    "description": "An object of the type that `@type` names, with that type's own fields.",
    "properties": {"@type": {"type": "string"}},
}
_MOMENT: Schema = {"type": "string", "format": "date-time"}
_SPAN_TEXT: Schema = {"type": "string", "pattern": _SPAN, "description": "Seconds, such as `1.5s`."}
_ANSWERED: Mapping[str, Schema] = {
    ANY_FULL_NAME: _ANY,
    "google.protobuf.Timestamp": _MOMENT,
    "google.protobuf.Duration": _SPAN_TEXT,
}
_SENT: Mapping[str, Schema] = {**_ANSWERED, "google.protobuf.Duration": {**_SPAN_TEXT, "pattern": _SPAN_SENT}}
_NUMBER: Schema = {"anyOf": [{"type": "number"}, {"type": "string", "enum": _NOT_FINITE}]}
_SCALARS: Mapping[int, Schema] = {
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: {"type": "string"},
    FieldDescriptor.TYPE_BYTES: {"type": "string", "contentEncoding": "base64", "pattern": _BASE64},
    FieldDescriptor.TYPE_DOUBLE: _NUMBER,
    FieldDescriptor.TYPE_FLOAT: _NUMBER,
}
