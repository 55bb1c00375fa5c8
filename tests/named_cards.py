"""The cards that a message names, in every field of it and in what it packs."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf import symbol_database
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from services.kit.cards.card import Card


def named_cards(message: Message) -> Iterator[str]:
    """Returns every card that a message names, anywhere: as a text of its own, and not as a part of an id."""
    if isinstance(message, AnyMessage):
        if message.type_url:
            yield from named_cards(unpacked(message))
        return
    for _, value in message.ListFields():
        values = [value] if isinstance(value, Message | str | bytes | int | float) else list(value)
        for each in values:
            if isinstance(each, Message):
                yield from named_cards(each)
            elif isinstance(each, str) and is_card(each):
                yield each


def unpacked(packed: AnyMessage) -> Message:
    """Returns the message in an `Any`."""
    message: Message = symbol_database.Default().GetSymbol(packed.TypeName())()
    packed.Unpack(message)
    return message


def is_card(word: str) -> bool:
    try:
        Card.named(word)
    except ValueError:
        return False
    return True
