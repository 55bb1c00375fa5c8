"""Records every command with its answer, every event and every fault of a drill: JSON lines, and what checks need."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

from services.kit.table.banked.commands import BetCommand

ANSWERED, ABANDONED, UNANSWERED = "answered", "abandoned", "unanswered"


@dataclass
class Command:
    """One command of a client, over all its attempts."""

    kind: str
    """bet, cancel, act, launch, enter, read, balance, deposit, withdraw"""
    actor: str
    request_id: str
    account_id: str = ""
    placement: str = ""
    table_id: str = ""
    round_id: str = ""
    cents: int = 0
    invoked: float = field(default_factory=time.time)
    responded: float = math.inf
    attempts: int = 0
    outcome: str = ABANDONED
    """answered, abandoned, unanswered, or the reason of its refusal."""
    stake_id: str = ""
    balance: tuple[int, int, int] | None = None
    """Free and locked money, and the account's version, as the answer had them."""
    last_failure: str = ""

    @property
    def ledger_id(self) -> str:
        """Its id in the ledger."""
        return BetCommand(self.request_id, b"").wallet_request_id(self.account_id)

    def line(self) -> str:
        """The command as the record has it."""
        return json.dumps(_finite(asdict(self)))


class Recorder:
    """The record of one drill, in its folder; commands are kept in memory, too."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.commands: list[Command] = []
        self._files: dict[str, TextIO] = {}

    def command(self, command: Command) -> None:
        """Records a command that has ended."""
        self.commands.append(command)
        self.write("commands", asdict(command))

    def write(self, kind: str, facts: Mapping[str, Any]) -> None:
        """Appends a line to the record of this kind."""
        if kind not in self._files:
            self._files[kind] = (self.folder / f"{kind}.jsonl").open("w", encoding="utf-8")
        self._files[kind].write(json.dumps(_finite(facts)) + "\n")

    def close(self) -> None:
        for file in self._files.values():
            file.close()


def _finite(facts: Mapping[str, Any]) -> dict[str, Any]:
    # JSON has no infinity.
    return {name: None if value == math.inf else value for name, value in facts.items()}
