"""Checks what one client is sent about a table: no event twice, no gap that is not told, nothing that is hidden."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Json = dict[str, Any]

# Events whose content is compared between clients, the latest of all tables (G11).
COMPARED_EVENTS_LIMIT = 50_000
# Nothing that everybody at a table is sent may hold these.
_PRIVATE_FIELDS = frozenset({"player_id", "account_id", "session_id", "own_view", "entropy"})
_BEFORE_OUTCOME = frozenset({"PHASE_BETTING", "PHASE_CLOSED", "PHASE_PLAYING"})


class FeedOrder:
    """The numbers of the events of one table, as one client gets them over all its connections."""

    def __init__(self) -> None:
        self.last: int | None = None
        """The number of the last event, or of the snapshot that replaced it; None before the first one."""
        self.told_gaps = 0

    def subscribed(self, seq: int, *, resumed: bool) -> str:
        """Takes the answer to a subscription; returns what is wrong with it."""
        before, self.last = self.last, seq
        if before is None:
            return "resumed what was never seen" if resumed else ""
        if resumed and seq != before:
            return f"resumed after {seq} instead of {before}"
        # What an owner had numbered and could not publish before it died may get other numbers: a snapshot tells that.
        self.told_gaps += seq != before
        return ""

    def event(self, seq: int, *, is_snapshot: bool = False) -> str:
        """Takes an event; returns what is wrong with its number."""
        before, self.last = self.last, seq
        if before is None:
            return f"event {seq} before any snapshot"
        if seq == before + 1:
            return ""
        if is_snapshot:
            self.told_gaps += 1
            return ""
        if seq <= before:
            self.last = before
            return f"event {seq} after event {before}: twice, or out of order"
        return f"event {seq} after event {before}: a gap that nobody told"


class RoundStory:
    """The rounds of one table as one client hears of them: each that was seen to open is seen to end.

    What an owner could not publish before it lost the table is not told event by event: the next owner tells the end of
    the round that it found, and right after it a snapshot that replaces everything before.
    """

    def __init__(self) -> None:
        self._open = ""
        # What is wrong with the last event, unless a snapshot follows it.
        self._without_snapshot = ""

    def snapshot(self) -> None:
        """Whatever was known is replaced."""
        self._open = self._without_snapshot = ""

    def event(self, event: Mapping[str, Any]) -> str:
        """Takes an event; returns what is wrong with the story."""
        wrong, self._without_snapshot = self._without_snapshot, ""
        return wrong or self._take(event)

    def _take(self, event: Mapping[str, Any]) -> str:
        # A hand of poker opens when it is dealt.
        opened = event["round_opened"]["round"] if "round_opened" in event else event.get("round_dealt")
        if opened and opened["round_id"] != self._open:
            before, self._open = self._open, opened["round_id"]
            return f"round {self._open} opens, and nobody told the end of {before}" if before else ""
        ended = event.get("round_settled") or event.get("round_voided")
        if ended:
            before, self._open = self._open, ""
            if before not in {"", ended["round_id"]}:
                self._without_snapshot = f"round {ended['round_id']} ends while {before} is open"
        return ""


class PrivateCards:
    """The cards of one pack that each player alone was shown: nobody is shown another's."""

    def __init__(self) -> None:
        self._owners: OrderedDict[tuple[str, str], str] = OrderedDict()

    def shown(self, round_id: str, player_id: str, cards: Iterable[str]) -> list[str]:
        """Takes what a player was shown in a round; returns what is wrong with it."""
        found = []
        for card in cards:
            owner = self._owners.setdefault((round_id, card), player_id)
            if owner != player_id:
                found.append(f"{card} of {owner} in {round_id} is shown to {player_id}")
            if len(self._owners) > COMPARED_EVENTS_LIMIT:
                self._owners.popitem(last=False)
        return found


class SameContent:
    """Compares what different clients get as the same event of a table."""

    def __init__(self) -> None:
        self.compared = 0
        self._seen: OrderedDict[tuple[str, int], bytes] = OrderedDict()

    def event(self, table_id: str, seq: int, content: Mapping[str, Any]) -> str:
        digest = hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).digest()
        known = self._seen.setdefault((table_id, seq), digest)
        if len(self._seen) > COMPARED_EVENTS_LIMIT:
            self._seen.popitem(last=False)
        self.compared += 1
        return "" if known == digest else f"event {seq} of {table_id} has two contents"


def public_leaks(message: Mapping[str, Any]) -> list[str]:
    """What everybody at a table was sent and may not know, whatever the game (G7)."""
    found = [f"{path} is private" for path, name, _ in _fields(message) if name in _PRIVATE_FIELDS]
    snapshot = message.get("table") or (message.get("snapshot_published") or {}).get("snapshot") or {}
    if snapshot.get("phase") in _BEFORE_OUTCOME and (snapshot.get("round") or {}).get("outcome"):
        found.append(f"an outcome in {snapshot['phase']}")
    return found


def others_facts(message: Mapping[str, Any], player_id: str, account_id: str) -> list[str]:
    """What a player was sent in private, and concerns another player (G7)."""
    own = {"player_id": player_id, "account_id": account_id}
    return [
        f"{path} is {value}, of another player"
        for path, name, value in _fields(message)
        if name in own and value not in {own[name], ""}
    ]


def _fields(value: object, path: str = "") -> Iterator[tuple[str, str, object]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield f"{path}{name}", name, inner
            yield from _fields(inner, f"{path}{name}.")
    elif isinstance(value, list):
        for inner in value:
            yield from _fields(inner, path)
