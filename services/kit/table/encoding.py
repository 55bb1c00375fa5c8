"""Puts values of the runtime into the protobuf messages that all games share."""

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from feltro.table.v1 import types_pb2


def packed(message: Message) -> AnyMessage:
    """Packs a game's own message for a field that holds the message of any game."""
    any_message = AnyMessage()
    any_message.Pack(message)
    return any_message


def draw_trigger_value(trigger: int) -> types_pb2.DrawTrigger.ValueType:
    """Converts a draw trigger of the journal, which uses the numbers of the proto."""
    return types_pb2.DrawTrigger.ValueType(trigger)


def acted_by_value(acted_by: int) -> types_pb2.ActedBy.ValueType:
    """Converts on whose word a decision was made, for which the journal uses the numbers of the proto."""
    return types_pb2.ActedBy.ValueType(acted_by)
