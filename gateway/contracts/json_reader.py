"""Reads messages from JSON values, strictly: a value that is not understood is refused with the name of its field."""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from gateway.contracts.any_types import (
    ANY_FULL_NAME,
    ANY_TOPIC,
    TYPE_URL_PREFIX,
    AnyTopic,
    matches_topic,
    topic_of_field,
)
from gateway.contracts.descriptors import descriptor_of, enum_type, is_map, map_fields, message_type
from gateway.contracts.json_types import (
    BASE64_PATTERN,
    INTEGER_RANGES,
    INTEGER_TYPES,
    NOT_FINITE,
    WELL_KNOWN_TYPES,
    message_class_of,
)

MessageT = TypeVar("MessageT", bound=Message)
# Fills a message from a JSON value.
Reader = Callable[[object, Any], None]
# Converts a JSON value to the value of a field.
Converter = Callable[[object], object]
# Sets a field of a message to a JSON value.
Setter = Callable[[Message, object], None]

# One way to write each number, as the documents describe it: no leading zeros, no `-0`.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,19}", re.ASCII)
_BASE64 = re.compile(BASE64_PATTERN, re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")
_READERS: dict[Descriptor, Reader] = {}


class JsonMismatch(Exception):
    """The value is not the JSON of such a message; `path` names the field, and is empty for the whole message."""

    def __init__(self, sentence: str, path: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.path = path

    def nested_under(self, name: str) -> JsonMismatch:
        """The same error as seen from the message that holds this one in the field `name`."""
        separator = "" if not self.path or self.path.startswith("[") else "."
        return JsonMismatch(self.sentence, f"{name}{separator}{self.path}")

    def __str__(self) -> str:
        return f"`{self.path}` {self.sentence}" if self.path else f"The message {self.sentence}"


@dataclass(frozen=True, slots=True)
class _Rule:
    """How one field is read."""

    name: str
    """The field's name in the proto, by which paths call it: a client may use it or lowerCamelCase, but not both."""
    group: str
    """The oneof of the field, or its own name: at most one value of a group may be given."""
    accepts_null: bool
    put: Setter


def reader_of(descriptor: Descriptor) -> Reader:
    """Returns the reader of messages of this type."""
    return _READERS.get(descriptor) or _compile(descriptor)


def converter_of(field: FieldDescriptor) -> Converter:
    """Returns the converter of one value of a scalar or enum field."""
    if field.type == FieldDescriptor.TYPE_ENUM:
        return _enum_reader(enum_type(field))
    return _SCALARS[field.type]


def _compile(descriptor: Descriptor) -> Reader:
    special = _SPECIAL.get(descriptor.full_name)
    if special is None and descriptor.full_name in WELL_KNOWN_TYPES:
        special = _well_known
    if special is not None:
        _READERS[descriptor] = special
        return special
    rules: dict[str, _Rule] = {}
    # A message type may hold itself: its reader is registered before those of its fields are compiled.
    _READERS[descriptor] = read = _object_reader(rules)
    for field in descriptor.fields:
        rules[field.name] = rules[field.json_name] = _rule(field)
    return read


def _object_reader(rules: Mapping[str, _Rule]) -> Reader:
    def read(value: object, message: Message) -> None:
        if not isinstance(value, dict):
            raise JsonMismatch("has to be an object.")
        # Fields, and the oneofs of those that have a value: no oneof of a message has the name of a field.
        given: set[str] = set()
        for name, inner in value.items():
            rule = rules.get(name)
            if rule is None:
                raise JsonMismatch("is not a field here.", _shown(name))
            if rule.name in given:
                raise JsonMismatch("is given twice, in two spellings.", rule.name)
            given.add(rule.name)
            if inner is None and not rule.accepts_null:
                continue
            if rule.group != rule.name:
                if rule.group in given:
                    raise JsonMismatch(f"is given beside another of `{rule.group}`.", rule.name)
                given.add(rule.group)
            try:
                rule.put(message, inner)
            except JsonMismatch as mismatch:
                raise mismatch.nested_under(rule.name) from None

    return read


def _rule(field: FieldDescriptor) -> _Rule:
    name, oneof = field.name, field.containing_oneof
    # An `optional` field is the only one of a oneof that the compiler makes.
    group = name if oneof is None or len(oneof.fields) == 1 else oneof.name
    accepts_null = field.type == FieldDescriptor.TYPE_MESSAGE and not field.is_repeated
    accepts_null = accepts_null and message_type(field).full_name == "google.protobuf.Value"
    return _Rule(name, group, accepts_null, _setter(field))


def _setter(field: FieldDescriptor) -> Setter:
    name = field.name
    if is_map(field):
        return _map_setter(field)
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        read = (
            _any_reader(topic_of_field(field))
            if message_type(field).full_name == ANY_FULL_NAME
            else reader_of(message_type(field))
        )
        return _messages_setter(name, read) if field.is_repeated else _message_setter(name, read)
    convert = converter_of(field)
    if field.is_repeated:
        return _values_setter(name, convert)
    return lambda message, value: setattr(message, name, convert(value))


def _message_setter(name: str, read: Reader) -> Setter:
    def put(message: Message, value: object) -> None:
        inner: Message = getattr(message, name)
        inner.SetInParent()
        read(value, inner)

    return put


def _messages_setter(name: str, read: Reader) -> Setter:
    def put(message: Message, value: object) -> None:
        inner = getattr(message, name)
        for index, each in enumerate(_list(value)):
            try:
                read(each, inner.add())
            except JsonMismatch as mismatch:
                raise mismatch.nested_under(f"[{index}]") from None

    return put


def _values_setter(name: str, convert: Converter) -> Setter:
    def put(message: Message, value: object) -> None:
        inner = getattr(message, name)
        for index, each in enumerate(_list(value)):
            try:
                inner.append(convert(each))
            except JsonMismatch as mismatch:
                raise mismatch.nested_under(f"[{index}]") from None

    return put


def _map_setter(field: FieldDescriptor) -> Setter:
    name = field.name
    key, value_field = map_fields(field)
    key_of = _bool_key if key.type == FieldDescriptor.TYPE_BOOL else converter_of(key)
    holds_messages = value_field.type == FieldDescriptor.TYPE_MESSAGE
    read = reader_of(message_type(value_field)) if holds_messages else None
    convert = None if holds_messages else converter_of(value_field)

    def put(message: Message, value: object) -> None:
        if not isinstance(value, dict):
            raise JsonMismatch("has to be an object.")
        entries = getattr(message, name)
        for key_text, each in value.items():
            try:
                key = _new_key(key_of(key_text), entries)
                if read is not None:
                    read(each, entries[key])
                elif convert is not None:
                    entries[key] = convert(each)
            except JsonMismatch as mismatch:
                raise mismatch.nested_under(f"[{_shown(key_text)}]") from None

    return put


def _new_key(key: object, entries: Container[object]) -> object:
    """Returns a key of a map; refuses one that was given before in another spelling, such as `01` for `1`."""
    if key in entries:
        raise JsonMismatch("is given twice, in two spellings.")
    return key


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise JsonMismatch("has to be a list.")
    return value


def _integer(lowest: int, highest: int) -> Converter:
    def convert(value: object) -> object:
        number = _number(value)
        if number is None:
            raise JsonMismatch("has to be an integer.")
        if not lowest <= number <= highest:
            raise JsonMismatch(f"has to be from {lowest} to {highest}.")
        return number

    return convert


def _number(value: object) -> int | None:
    if type(value) is int:
        return value
    if isinstance(value, str) and _INTEGER.fullmatch(value) is not None:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def _float(packed: struct.Struct) -> Converter:
    def convert(value: object) -> object:
        if isinstance(value, str) and value in NOT_FINITE:
            return NOT_FINITE[value]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise JsonMismatch("has to be a number.")
        try:
            number = float(value)
            packed.pack(number)
        except OverflowError:
            raise JsonMismatch("is too large a number.") from None
        if not math.isfinite(number):
            raise JsonMismatch("is too large a number.")
        return number

    return convert


def _bool(value: object) -> object:
    if not isinstance(value, bool):
        raise JsonMismatch("has to be true or false.")
    return value


def _bool_key(value: object) -> object:
    if value not in {"true", "false"}:
        raise JsonMismatch("has to be true or false.")
    return value == "true"


def _string(value: object) -> object:
    if not isinstance(value, str):
        raise JsonMismatch("has to be a string.")
    if "\0" in value or not (value.isascii() or _SURROGATE.search(value) is None):
        # PostgreSQL cannot store U+0000, nor half a surrogate pair.
        raise JsonMismatch("has to be text without U+0000.")
    return value


def _bytes(value: object) -> object:
    if not isinstance(value, str) or _BASE64.fullmatch(value) is None:
        raise JsonMismatch("has to be bytes in base64.")
    plain = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4))
    except binascii.Error:
        raise JsonMismatch("has to be bytes in base64.") from None


def _enum_reader(enum: EnumDescriptor) -> Converter:
    numbers = {value.name: value.number for value in enum.values}
    known = frozenset(numbers.values())
    names = ", ".join(numbers)

    def convert(value: object) -> object:
        if isinstance(value, str):
            number = numbers.get(value)
            if number is not None:
                return number
        elif type(value) is int and value in known:
            return value
        raise JsonMismatch(f"has to be one of {names}.")

    return convert


def _any_reader(topic: AnyTopic) -> Reader:
    def read(value: object, message: AnyMessage) -> None:
        if not isinstance(value, dict):
            raise JsonMismatch("has to be an object.")
        if not value:
            return
        type_url = value.get("@type")
        if not isinstance(type_url, str):
            raise JsonMismatch("has to name the type of the object, such as type.googleapis.com/feltro.….", "@type")
        inner_class = message_class_of(type_url) if type_url.startswith(TYPE_URL_PREFIX) else None
        if inner_class is None or not matches_topic(descriptor_of(inner_class), topic):
            raise JsonMismatch("names no type that can stand here: /openapi.json lists those that can.", "@type")
        inner = inner_class()
        reader_of(descriptor_of(inner_class))({name: each for name, each in value.items() if name != "@type"}, inner)
        message.type_url = type_url
        message.value = inner.SerializeToString(deterministic=True)

    return read


def _well_known(value: object, message: Message) -> None:
    _verify_texts(value)
    try:
        json_format.ParseDict(value, message)  # type: ignore[arg-type]
    except (json_format.ParseError, RecursionError, TypeError, ValueError):
        raise JsonMismatch(f"has to be the JSON of a {message.DESCRIPTOR.full_name}.") from None


def _verify_texts(value: object) -> None:
    """Verifies every text in a value, the names of fields included."""
    if isinstance(value, str):
        _string(value)
    for each in (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        _verify_texts(each)


def _timestamp(value: object, message: Timestamp) -> None:
    try:
        message.FromJsonString(value)  # type: ignore[arg-type]
    except (ValueError, TypeError, AttributeError):
        raise JsonMismatch("has to be a moment such as 2026-01-31T12:00:00Z.") from None


def _duration(value: object, message: Duration) -> None:
    try:
        message.FromJsonString(value)  # type: ignore[arg-type]
    except (ValueError, TypeError, AttributeError):
        raise JsonMismatch("has to be a span in seconds such as 1.5s.") from None


def _shown(name: object) -> str:
    return str(name)[:60]


_SCALARS: dict[int, Converter] = {
    **{kind: _integer(*INTEGER_RANGES[name]) for name, kinds in INTEGER_TYPES.items() for kind in kinds},
    FieldDescriptor.TYPE_DOUBLE: _float(struct.Struct("<d")),
    FieldDescriptor.TYPE_FLOAT: _float(struct.Struct("<f")),
    FieldDescriptor.TYPE_BOOL: _bool,
    FieldDescriptor.TYPE_STRING: _string,
    FieldDescriptor.TYPE_BYTES: _bytes,
}
_SPECIAL: dict[str, Reader] = {
    ANY_FULL_NAME: _any_reader(ANY_TOPIC),
    "google.protobuf.Timestamp": _timestamp,
    "google.protobuf.Duration": _duration,
}
