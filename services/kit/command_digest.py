"""Digests a command: two requests under one id are the same command if and only if their digests agree (G3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from feltro.access.v1 import access_pb2

_Cleared = tuple[Message, str, object]


def digest(request: Message, *context: str) -> bytes:
    """Digests all fields but those that its proto declares to be `not_content`; `context` is content beside it."""
    cleared = [*_cleared(request)]
    try:
        content = request.SerializeToString(deterministic=True)
    finally:
        # Put back, because a copy costs several times as much.
        for message, field, value in cleared:
            setattr(message, field, value)
    head = "\0".join((request.DESCRIPTOR.full_name, *context, ""))
    return hashlib.blake2b(head.encode() + content, digest_size=16).digest()


def _cleared(request: Message) -> Iterator[_Cleared]:
    for way, field in _not_content(request.DESCRIPTOR):
        message = request
        for name in way:
            if not message.HasField(name):
                break
            message = getattr(message, name)
        else:
            value = getattr(message, field)
            if value:
                message.ClearField(field)
                yield message, field, value


@cache
def _not_content(message: Descriptor) -> tuple[tuple[tuple[str, ...], str], ...]:
    return tuple(_find(message, (), frozenset()))


def _find(
    message: Descriptor, way: tuple[str, ...], above: frozenset[Descriptor]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for field in message.fields:
        if field.GetOptions().Extensions[access_pb2.not_content]:
            if field.is_repeated or field.message_type is not None:
                raise ValueError(f"{field.full_name} cannot be `not_content`: it is not a single plain value")
            yield way, field.name
        elif field.message_type is not None and field.message_type not in above:
            inner = _find(field.message_type, (*way, field.name), above | {message})
            if field.is_repeated and next(inner, None) is not None:
                raise ValueError(f"{message.full_name} cannot be digested whole: digest its {field.name} one by one")
            yield from inner
