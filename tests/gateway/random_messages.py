"""Draws any message of any type, for properties that hold for all of them."""

from __future__ import annotations

import struct
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from gateway.contracts.any_types import ANY_FULL_NAME, matches_topic, topic_of_field
from gateway.contracts.descriptors import enum_type, is_map, map_fields, message_type

DEPTH_LIMIT = 4
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


def _float32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


_SCALARS: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.TYPE_BOOL: st.booleans(),
    FieldDescriptor.TYPE_STRING: TEXT,
    FieldDescriptor.TYPE_BYTES: st.binary(max_size=8),
    FieldDescriptor.TYPE_DOUBLE: st.floats(),
    FieldDescriptor.TYPE_FLOAT: st.floats(width=32).map(_float32),
    **dict.fromkeys(
        (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32),
        st.integers(-(2**31), 2**31 - 1),
    ),
    **dict.fromkeys(
        (FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64),
        st.integers(-(2**63), 2**63 - 1),
    ),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32), st.integers(0, 2**32 - 1)),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64), st.integers(0, 2**64 - 1)),
}


class RandomMessages:
    """Draws messages; an Any holds one of these types, if its topic is the Any's."""

    def __init__(self, any_types: list[Descriptor]) -> None:
        self._any_types = any_types

    def strategy_for(self, descriptor: Descriptor) -> st.SearchStrategy[Message]:
        return st.composite(lambda draw: self._message(draw, descriptor, DEPTH_LIMIT))()

    def _message(self, draw: st.DrawFn, descriptor: Descriptor, depth: int) -> Message:
        made = GetMessageClass(descriptor)()
        message: Any = made
        if descriptor.full_name == "google.protobuf.Timestamp":
            message.seconds = draw(st.integers(-62_135_596_800, 253_402_300_799))
            message.nanos = draw(st.sampled_from([0, 5, 5_000, 5_000_000, 999_999_999]))
        elif descriptor.full_name == "google.protobuf.Duration":
            sign = draw(st.sampled_from([-1, 1]))
            message.seconds = sign * draw(st.integers(0, 315_576_000_000))
            message.nanos = sign * draw(st.sampled_from([0, 5, 5_000, 5_000_000, 999_999_999]))
        else:
            for field in descriptor.fields:
                self._set_field(draw, message, field, depth)
        return made

    def _set_field(self, draw: st.DrawFn, message: Message, field: FieldDescriptor, depth: int) -> None:
        group = field.containing_oneof
        if draw(st.integers(0, 2)) == 0 or (group is not None and message.WhichOneof(group.name) is not None):
            return
        if is_map(field):
            key, value = map_fields(field)
            for each in draw(st.lists(_SCALARS[key.type], max_size=2)):
                if value.type == FieldDescriptor.TYPE_MESSAGE:
                    getattr(message, field.name)[each].CopyFrom(self._message(draw, message_type(value), depth - 1))
                else:
                    getattr(message, field.name)[each] = draw(_one(value))
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            if depth > 0:
                self._set_message(draw, message, field, depth - 1)
        elif field.is_repeated:
            getattr(message, field.name).extend(draw(st.lists(_one(field), max_size=3)))
        else:
            setattr(message, field.name, draw(_one(field)))

    def _set_message(self, draw: st.DrawFn, message: Message, field: FieldDescriptor, depth: int) -> None:
        if not field.is_repeated:
            getattr(message, field.name).CopyFrom(self._field_value(draw, field, depth))
            getattr(message, field.name).SetInParent()
            return
        for _ in range(draw(st.integers(0, 2))):
            getattr(message, field.name).add().CopyFrom(self._field_value(draw, field, depth))

    def _field_value(self, draw: st.DrawFn, field: FieldDescriptor, depth: int) -> Message:
        if message_type(field).full_name != ANY_FULL_NAME:
            return self._message(draw, message_type(field), depth)
        made = AnyMessage()
        made.Pack(
            self._message(
                draw,
                draw(st.sampled_from([each for each in self._any_types if matches_topic(each, topic_of_field(field))])),
                depth,
            )
        )
        return made


def _one(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.type == FieldDescriptor.TYPE_ENUM:
        return st.sampled_from([value.number for value in enum_type(field).values])
    return _SCALARS[field.type]
