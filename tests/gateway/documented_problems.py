"""Verifies problems against the OpenAPI document: an operation gives only the reasons that it lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

JsonObject = dict[str, Any]


class DocumentedProblems:
    """The documented problems of each operation."""

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        self._operations = [
            (verb.upper(), _pattern(path), operation)
            for path, verbs in sorted(document["paths"].items(), key=lambda entry: entry[0].count("{"))
            for verb, operation in verbs.items()
        ]

    def operation(self, verb: str, path: str) -> JsonObject | None:
        """Returns the operation of an address, if there is one: paths with fewer variables come first."""
        address = path.partition("?")[0]
        matching = (found for of, pattern, found in self._operations if of == verb and pattern.fullmatch(address))
        return next(matching, None)

    def reasons(self, operation: JsonObject) -> Iterator[tuple[int, str, str]]:
        """Yields status, domain and reason of every problem that the operation lists."""
        for status, reference in operation["responses"].items():
            response = self._resolved(reference)
            for name in response.get("content", {}).get("application/problem+json", {}).get("examples", {}):
                domain, _, reason = name.rpartition(".")
                yield int(status), domain, reason

    def verify(self, verb: str, path: str, status: int, problem: JsonObject) -> None:
        """Fails if the operation does not list this problem."""
        operation = self.operation(verb, path)
        if operation is None or "reason" not in problem:
            return
        answered = (status, problem["domain"], problem["reason"])
        assert answered in set(self.reasons(operation)), (
            f"{operation['operationId']} answers {answered}, which its proto does not say (option `refuses`): {problem}"
        )

    def _resolved(self, definition: JsonObject) -> JsonObject:
        found: Any = definition
        while "$ref" in found:
            reference, found = found["$ref"], self._document
            for part in reference.removeprefix("#/").split("/"):
                found = found[part]
        return dict(found)


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{[^}]+\}", path)
    return re.compile(r"[^/]+?".join(map(re.escape, parts)))
