"""A refusal: a typed reason, a sentence for a person, and the facts that a caller needs."""

from __future__ import annotations

from collections.abc import Mapping


class Refused(Exception):
    """The command was not carried out, and nothing has changed (G12).

    `reason` belongs to the closed set of the service's protos; `domain` says whose set it is. The gRPC code follows
    from the two where the refusal leaves the process (`services.kit.rpc.status`).
    """

    domain = "feltro"
    """Of a reason that all domains have: the service that answers puts its own here."""

    def __init__(self, reason: str, sentence: str, facts: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence
        self.facts = dict(facts or {})
