"""The result of one check: how much it looked at, and what it found."""

from __future__ import annotations

from dataclasses import dataclass, field

# Violations of one check that are kept in words; all are counted (G11).
SENTENCES_LIMIT = 50


@dataclass
class Check:
    """One check of a drill."""

    name: str
    guarantee: str = ""
    looked_at: int = 0
    unit: str = ""
    violations: int = 0
    sentences: list[str] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    """Of the first violations: the commands around them, or what a command printed."""
    note: str = ""

    def violate(self, sentence: str, around: list[str] | None = None) -> None:
        """Counts a violation."""
        self.violations += 1
        if len(self.sentences) < SENTENCES_LIMIT:
            self.sentences.append(sentence)
            self.around += around or []

    @property
    def holds(self) -> bool:
        return not self.violations
