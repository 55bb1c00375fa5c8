"""What games say in words of their own: which of their messages an Any may hold, by what the Any is about."""

from __future__ import annotations

from typing import TypeAlias

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from feltro.table.v1 import matter_pb2

URL_BEGINNING = "type.googleapis.com/"
ANYTHING = matter_pb2.MATTER_UNSPECIFIED
ANY: str = AnyMessage.DESCRIPTOR.full_name

Matter: TypeAlias = matter_pb2.Matter.ValueType


def type_url(message: Descriptor) -> str:
    return f"{URL_BEGINNING}{message.full_name}"


def about(field: FieldDescriptor) -> Matter:
    """What an Any is about."""
    said: Matter = field.GetOptions().Extensions[matter_pb2.about]
    return said


def says(message: Descriptor) -> Matter:
    """What a game's message says; `ANYTHING` for one that stands in no Any."""
    said: Matter = message.GetOptions().Extensions[matter_pb2.says]
    return said


def fits(message: Descriptor, matter: Matter) -> bool:
    """Whether an Any about this may hold the message."""
    said = says(message)
    return said != ANYTHING and matter in {ANYTHING, said}
