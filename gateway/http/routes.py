"""Finds the target of a verb and a path: a tree of path segments, built once from the bindings of all methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Node(Generic[T]):
    literals: dict[str, _Node[T]] = field(default_factory=dict)
    variable: _Node[T] | None = None
    """The node after a segment that may be anything."""
    ends: dict[str, dict[str, T]] = field(default_factory=dict)
    """Targets of paths that end here, by custom verb (`enter` of `/tables/{table_id}:enter`, or none) and HTTP verb."""


class Routes(Generic[T]):
    """Paths such as `/v1/tables/{table_id}:enter`; a variable is one whole segment, or one before a custom verb."""

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()

    def add(self, verb: str, template: str, target: T) -> None:
        node = self._root
        *segments, last = _segments(template)
        last, custom = _without_custom_verb(last)
        for segment in (*segments, last):
            if segment.startswith("{"):
                node.variable = node = node.variable or _Node()
            else:
                node = node.literals.setdefault(segment, _Node())
        node.ends.setdefault(custom, {})[verb] = target

    def find(self, path: str) -> tuple[Mapping[str, T], list[str]] | None:
        """Returns the targets at a raw path by HTTP verb, and the raw values of its variables; None if it has none."""
        *segments, last = _segments(path)
        bare, colon, custom = last.rpartition(":")
        # A custom verb is tried first; where it does not exist, the colon belongs to the value.
        for segment, verb in ((bare, custom), (last, "")) if colon else ((last, ""),):
            values: list[str] = []
            ends = _walk(self._root, [*segments, segment], verb, values)
            if ends:
                return ends, values
        return None

    @property
    def first_segments(self) -> Iterable[str]:
        """The first segments of all paths."""
        return sorted(self._root.literals)


def _walk(node: _Node[T], segments: list[str], custom: str, values: list[str]) -> dict[str, T] | None:
    for depth, segment in enumerate(segments):
        literal = node.literals.get(segment)
        if literal is not None:
            if node.variable is not None:
                # Both may match: the literal one wins if the rest of the path matches it.
                before = len(values)
                found = _walk(literal, segments[depth + 1 :], custom, values)
                if found:
                    return found
                del values[before:]
            else:
                node = literal
                continue
        if node.variable is None or not segment:
            return None
        values.append(segment)
        node = node.variable
    return node.ends.get(custom)


def _segments(path: str) -> list[str]:
    return path.removeprefix("/").split("/")


def _without_custom_verb(segment: str) -> tuple[str, str]:
    bare, colon, custom = segment.rpartition(":")
    return (bare, custom) if colon else (segment, "")
