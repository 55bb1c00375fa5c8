"""Parses JSON text, and refuses an object that gives a name twice: which value was meant nobody knows (G12)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import msgspec

_DECODER: msgspec.json.Decoder[object] = msgspec.json.Decoder()
_STRING = re.compile(rb'"(?:[^"\\]+|\\.)*"', re.DOTALL)


class MalformedJson(Exception):
    """The text is not JSON."""


class RepeatedName(MalformedJson):
    """An object of the text gives a name twice. `marked` is the text's value, such objects replaced by marks."""

    def __init__(self, marked: object) -> None:
        self.marked = marked
        super().__init__(f"it gives `{repeated_path(marked)}` twice")


@dataclass(frozen=True, slots=True)
class _Mark:
    """Stands for an object that gives this name twice."""

    name: str


def loads(text: bytes) -> object:
    """Parses JSON text, or raises `MalformedJson`."""
    try:
        value = _DECODER.decode(text)
    except msgspec.DecodeError as error:
        raise MalformedJson(str(error)) from None
    except UnicodeDecodeError:
        raise MalformedJson("it is not UTF-8") from None
    except RecursionError:
        raise MalformedJson("it is nested too deeply") from None
    # The decoder keeps the last value of a name. So names are counted: each has a colon of its own in the text. That is
    # several times cheaper than a decoder that calls back for each object.
    colons = text.count(b":")
    if colons:
        names = _count_names(value)
        if colons != names and _STRING.sub(b"", text).count(b":") != names:
            raise RepeatedName(_parse_marked(text))
    return value


def repeated_path(marked: object) -> str | None:
    """Returns the first field that is given twice, such as `bets[0].amount_cents`; None if there is none."""
    waiting: list[tuple[str, object]] = [("", marked)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, _Mark):
            return f"{path}.{value.name}" if path else value.name
        if isinstance(value, dict):
            inner = [(f"{path}.{name}" if path else str(name), each) for name, each in value.items()]
        elif isinstance(value, list):
            inner = [(f"{path}[{index}]", each) for index, each in enumerate(value)]
        else:
            continue
        waiting.extend(reversed(inner))
    return None


def _count_names(value: object) -> int:
    """Counts the names of all objects in a value."""
    count, waiting = 0, [value]
    for each in waiting:
        if type(each) is dict:
            count += len(each)
            waiting.extend(each.values())
        elif type(each) is list:
            waiting.extend(each)
    return count


def _parse_marked(text: bytes) -> object:
    """Parses valid JSON text with a mark in the place of each object that gives a name twice."""
    try:
        return json.loads(
            text, object_pairs_hook=_mark_repeated, parse_int=_DECODER.decode, parse_float=_DECODER.decode
        )
    except RecursionError:
        raise MalformedJson("it is nested too deeply") from None


def _mark_repeated(pairs: list[tuple[str, object]]) -> object:
    names: set[str] = set()
    for name, _ in pairs:
        if name in names:
            return _Mark(name[:60])
        names.add(name)
    return dict(pairs)
