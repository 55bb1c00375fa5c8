"""Which of the games' own messages an Any may hold, by the topic of the Any."""

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
    """Returns the topic that a field's Any is about."""
    topic: AnyTopic = field.GetOptions().Extensions[any_topic_pb2.holds]
    return topic


def topic_of_message(message: Descriptor) -> AnyTopic:
    """Returns the topic of a game's message; unspecified where the message belongs in no Any."""
    topic: AnyTopic = message.GetOptions().Extensions[any_topic_pb2.topic]
    return topic


def matches_topic(message: Descriptor, topic: AnyTopic) -> bool:
    """Whether an Any of this topic may hold the message."""
    own_topic = topic_of_message(message)
    return own_topic != ANY_TOPIC and topic in {ANY_TOPIC, own_topic}
