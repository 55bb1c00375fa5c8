"""Generates JSON Schemas of messages, from their descriptors and comments, for answers and for requests.

They differ: an answer has every field that cannot be absent, and writes a large integer as a string; a request may
leave fields out, write them in every way that `json_reader` reads, and keeps to the bounds that the protos declare.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from feltro.table.v1 import any_topic_pb2
from gateway.contracts import bounds
from gateway.contracts.any_types import ANY_FULL_NAME, AnyTopic, topic_of_field, type_url
from gateway.contracts.descriptors import PACKAGE_PREFIX, enum_type, is_map, map_fields, message_type
from gateway.contracts.json_types import (
    BASE64_PATTERN,
    INTEGER_RANGES,
    INTEGER_TYPES,
    NOT_FINITE,
    WELL_KNOWN_TYPES,
)
from gateway.contracts.methods import Contracts

Schema = dict[str, object]
SchemaOf = Callable[[FieldDescriptor], Schema]

COMPONENTS = "#/components/schemas/"
# The schema of a message in a request; of an enum without its unspecified value.
REQUEST_SUFFIX = ".Request"
VALUE_SUFFIX = ".Value"
_EXAMPLE = re.compile(r"[Ss]uch as `([^`]+)`")
# A duration of ten thousand years has twelve digits, but not all numbers of twelve digits are valid durations.
_DURATION, _DURATION_IN_REQUEST = r"^-?[0-9]{1,12}(\.[0-9]{1,9})?s$", r"^-?[0-9]{1,11}(\.[0-9]{1,9})?s$"


def component_name(descriptor: Descriptor | EnumDescriptor) -> str:
    """Returns the component's name, such as `table.v1.Turn`."""
    return descriptor.full_name.removeprefix(PACKAGE_PREFIX)


class Schemas:
    """Generates schemas, and collects the components that they refer to."""

    def __init__(self, contracts: Contracts, *, discriminators: bool = False) -> None:
        """Only OpenAPI knows discriminators; without them `@type` decides as well."""
        self._contracts = contracts
        self._discriminators = discriminators
        self.components: dict[str, Schema] = {}

    def response_schema(self, message: Descriptor) -> Schema:
        """Returns a reference to the schema of a message in an answer."""
        return self._response(message, component_name(message), {})

    def request_schema(self, message: Descriptor, without: Collection[str] = ()) -> Schema:
        """Returns a reference to the schema of a message in a request; `without` names fields outside the body."""
        return self._request(message, f"{component_name(message)}{REQUEST_SUFFIX}", {}, without)

    def parameter_schema(self, field: FieldDescriptor) -> Schema:
        """Returns the schema of a field in a path or a query, where every value is text."""
        value = self._parameter_value(field)
        return {"type": "array", "items": value} if field.is_repeated else value

    def comment(self, field: FieldDescriptor) -> str:
        return self._contracts.comment(field.full_name)

    def message_comment(self, message: Descriptor) -> str:
        return self._contracts.comment(message.full_name)

    # -- messages ----------------------------------------------------------------------------------------------------

    def _response(self, message: Descriptor, name: str, extra: Mapping[str, Schema]) -> Schema:
        if name not in self.components:
            self.components[name] = {}
            self.components[name] = _RESPONSES.get(message.full_name) or self._object(
                message, self._response_field, extra
            )
            if message.full_name not in WELL_KNOWN_TYPES:
                always = [field.name for field in message.fields if not field.has_presence]
                self.components[name]["required"] = [*extra, *always]
        return {"$ref": COMPONENTS + name}

    def _request(
        self, message: Descriptor, name: str, extra: Mapping[str, Schema], without: Collection[str] = ()
    ) -> Schema:
        if name not in self.components:
            self.components[name] = {}
            self.components[name] = _REQUESTS.get(message.full_name) or self._object(
                message, self._request_field, extra, without
            )
            if message.full_name not in WELL_KNOWN_TYPES:
                required = [
                    field.name
                    for field in message.fields
                    if bounds.bounds_of(field).required and field.name not in without
                ]
                if always := [*extra, *required]:
                    self.components[name]["required"] = always
                self.components[name]["additionalProperties"] = False
        return {"$ref": COMPONENTS + name}

    def _object(
        self, message: Descriptor, schema_of: SchemaOf, extra: Mapping[str, Schema], without: Collection[str] = ()
    ) -> Schema:
        properties = dict(extra)
        for field in message.fields:
            if field.name not in without:
                properties[field.name] = _described(schema_of(field), self.comment(field))
        schema: Schema = {"type": "object", "properties": properties}
        comment = self._contracts.comment(message.full_name)
        groups = [
            f"At most one of {', '.join(f'`{field.name}`' for field in group.fields)}."
            for group in message.oneofs
            if len(group.fields) > 1
        ]
        if described := "\n\n".join([comment, *groups]).strip():
            schema["description"] = described
        return schema

    def _games_messages(self, field: FieldDescriptor, *, in_request: bool) -> Schema:
        """Returns a reference to the schema of an Any: one of the games' messages of its topic."""
        topic: AnyTopic = topic_of_field(field)
        topic_name = any_topic_pb2.AnyTopic.Name(topic).removeprefix("ANY_TOPIC_")
        words = "".join(word.capitalize() for word in topic_name.split("_"))
        name = f"table.v1.Game{words}" + (REQUEST_SUFFIX if in_request else "")
        if name not in self.components:
            one_of: list[Schema] = []
            mapping: dict[str, str] = {}
            for message in self._contracts.messages_about(topic):
                url = type_url(message)
                typed: dict[str, Schema] = {
                    "@type": {"type": "string", "const": url, "description": "The type of this message."}
                }
                typed_name = f"{component_name(message)}.Any"
                reference = (
                    self._request(message, f"{typed_name}{REQUEST_SUFFIX}", typed)
                    if in_request
                    else self._response(message, typed_name, typed)
                )
                one_of.append(reference)
                mapping[url] = str(reference["$ref"])
            comment = self._contracts.comment(f"{any_topic_pb2.AnyTopic.DESCRIPTOR.full_name}.ANY_TOPIC_{topic_name}")
            self.components[name] = {
                "description": f"{comment}\n\nEach game has a message of its own: `@type` says which one this is.",
                "oneOf": one_of,
            }
            if self._discriminators:
                self.components[name]["discriminator"] = {"propertyName": "@type", "mapping": mapping}
        return {"$ref": COMPONENTS + name}

    # -- fields ------------------------------------------------------------------------------------------------------

    def _response_field(self, field: FieldDescriptor) -> Schema:
        return _with_cardinality(field, self._response_value)

    def _request_field(self, field: FieldDescriptor) -> Schema:
        bound = bounds.bounds_of(field)
        many = bounds.array_schema(bound, _with_cardinality(field, self._request_value)) if field.is_repeated else None
        schema = many or _with_cardinality(field, self._request_value)
        return schema if bound.required else nullable(schema)

    def _response_value(self, field: FieldDescriptor) -> Schema:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            inner = message_type(field)
            return self._games_messages(field, in_request=False) if _has_topic(field) else self.response_schema(inner)
        if field.type == FieldDescriptor.TYPE_ENUM:
            return self._enum(enum_type(field))
        name = _integer_format(field)
        if name in {"int64", "uint64"}:
            return {"type": "string", "format": name, "pattern": "^-?[0-9]{1,20}$"}
        if name:
            lowest, highest = INTEGER_RANGES[name]
            return {"type": "integer", "format": name, "minimum": lowest, "maximum": highest}
        return dict(_SCALARS[field.type])

    def _request_value(self, field: FieldDescriptor) -> Schema:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            return (
                self._games_messages(field, in_request=True)
                if _has_topic(field)
                else self.request_schema(message_type(field))
            )
        bound = bounds.bounds_of(field)
        if field.type == FieldDescriptor.TYPE_ENUM:
            values = enum_type(field).values[1 if bound.required else 0 :]
            return {
                "anyOf": [
                    self._enum(enum_type(field), without_first=bound.required),
                    {"type": "integer", "enum": [value.number for value in values]},
                ]
            }
        if name := _integer_format(field):
            schema: Schema = {"type": ["integer", "string"], "format": name}
            return schema | bounds.integer_schema(bound, *INTEGER_RANGES[name], text_allowed=True)
        return self._text(field)

    def _parameter_value(self, field: FieldDescriptor) -> Schema:
        bound = bounds.bounds_of(field)
        if field.type == FieldDescriptor.TYPE_ENUM:
            return self._enum(enum_type(field), without_first=bound.required)
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            return dict(_REQUESTS[message_type(field).full_name])
        if name := _integer_format(field):
            return {"type": "integer", "format": name, **bounds.integer_schema(bound, *INTEGER_RANGES[name])}
        return self._text(field)

    def _text(self, field: FieldDescriptor) -> Schema:
        schema = dict(_SCALARS[field.type])
        return (
            {**schema, **bounds.string_schema(bounds.bounds_of(field))}
            if field.type == FieldDescriptor.TYPE_STRING
            else schema
        )

    def _enum(self, enum: EnumDescriptor, *, without_first: bool = False) -> Schema:
        name = component_name(enum) + (VALUE_SUFFIX if without_first else "")
        if name not in self.components:
            values = enum.values[1 if without_first else 0 :]
            lines = [self._contracts.comment(enum.full_name)]
            for value in values:
                comment = self._contracts.comment(f"{enum.full_name}.{value.name}")
                lines.append(f"* `{value.name}`: {comment}" if comment else f"* `{value.name}`")
            schema: Schema = {"type": "string", "enum": [value.name for value in values]}
            self.components[name] = {**schema, "description": "\n".join(lines).strip()}
        return {"$ref": COMPONENTS + name}


def _integer_format(field: FieldDescriptor) -> str:
    return next((name for name, kinds in INTEGER_TYPES.items() if field.type in kinds), "")


def _has_topic(field: FieldDescriptor) -> bool:
    """Whether a field is an Any with a topic; one without may hold any message."""
    return message_type(field).full_name == ANY_FULL_NAME and bool(topic_of_field(field))


def _with_cardinality(field: FieldDescriptor, schema_of: SchemaOf) -> Schema:
    if is_map(field):
        return {"type": "object", "additionalProperties": schema_of(map_fields(field)[1])}
    return {"type": "array", "items": schema_of(field)} if field.is_repeated else schema_of(field)


def nullable(schema: Schema) -> Schema:
    """Allows null, which stands for a field that is left out of a request."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    if isinstance(kind, list):
        return {**schema, "type": [*kind, "null"]}
    if "anyOf" in schema:
        return {**schema, "anyOf": [*cast("list[Schema]", schema["anyOf"]), {"type": "null"}]}
    rest = {name: value for name, value in schema.items() if name != "$ref"}
    return {**rest, "anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}]}


def _described(schema: Schema, comment: str) -> Schema:
    if not comment:
        return schema
    described = {**schema, "description": comment}
    example = _EXAMPLE.search(comment)
    if example is not None and schema.get("type") == "string":
        described["examples"] = [example[1]]
    return described


_ANY: Schema = {
    "type": "object",
    "description": "An object of the type that `@type` names, with that type's own fields.",
    "properties": {"@type": {"type": "string"}},
}
_TIMESTAMP: Schema = {"type": "string", "format": "date-time"}
_DURATION_TEXT: Schema = {"type": "string", "pattern": _DURATION, "description": "Seconds, such as `1.5s`."}
_RESPONSES: Mapping[str, Schema] = {
    ANY_FULL_NAME: _ANY,
    "google.protobuf.Timestamp": _TIMESTAMP,
    "google.protobuf.Duration": _DURATION_TEXT,
}
_REQUESTS: Mapping[str, Schema] = {
    **_RESPONSES,
    "google.protobuf.Duration": {**_DURATION_TEXT, "pattern": _DURATION_IN_REQUEST},
}
_NUMBER: Schema = {"anyOf": [{"type": "number"}, {"type": "string", "enum": list(NOT_FINITE)}]}
_SCALARS: Mapping[int, Schema] = {
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: {"type": "string"},
    FieldDescriptor.TYPE_BYTES: {"type": "string", "contentEncoding": "base64", "pattern": f"^{BASE64_PATTERN}$"},
    FieldDescriptor.TYPE_DOUBLE: _NUMBER,
    FieldDescriptor.TYPE_FLOAT: _NUMBER,
}
