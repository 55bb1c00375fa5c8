"""What games say in words of their own: which of their messages an Any may hold, by what the Any is about."""

from __future__ import annotations

from typing import TypeAlias

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from feltro.table.v1 import any_topic_pb2

TYPE_URL_PREFIX = "type.googleapis.com/"
ANY_TOPIC = any_topic_pb2.ANY_TOPIC_UNSPECIFIED
ANY_FULL_NAME: str = AnyMessage.DESCRIPTOR.full_name

AnyTopic: TypeAlias = any_topic_pb2.AnyTopic.ValueType


def type_url(message: Descriptor) -> str:
    return f"{TYPE_URL_PREFIX}{message.full_name}"


def topic_of_field(field: FieldDescriptor) -> AnyTopic:
    """What an Any is about."""
    said: AnyTopic = field.GetOptions().Extensions[any_topic_pb2.holds]
    return said


def topic_of_message(message: Descriptor) -> AnyTopic:
    """What a game's message says; `ANYTHING` for one that stands in no Any."""
    said: AnyTopic = message.GetOptions().Extensions[any_topic_pb2.topic]
    return said


def matches_topic(message: Descriptor, topic: AnyTopic) -> bool:
    """Whether an Any about this may hold the message."""
    said = topic_of_message(message)
    return said != ANY_TOPIC and topic in {ANY_TOPIC, said}
