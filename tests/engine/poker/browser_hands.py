"""Hands of the engine for the front-end's tests: `python -m tests.engine.poker.browser_hands` writes them down.

Each has its record as a player gets it, and what lay on the table after every decision.
"""

from __future__ import annotations

import json
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from services.poker import messages
from services.poker.hand.state import Hand
from services.poker.history.hand_history import HandFacts, for_player
from services.poker.specific_rules import EntryMode
from tests.engine.poker.tables import OMAHA, act, begin, read, table
from tests.engine.poker.test_hand_history import STARTED_AT

FILE = Path(__file__).resolve().parents[3] / "web/tests/games/poker/steps/hands.json"
AKQJ = "AsAd KsKd QsQd JsJd"
LOW_BOARD = "7h 8h 9c 2c 3d"


def hands() -> list[dict[str, object]]:
    """The rulebook's examples by their numbers, and a newcomer who posts a big blind."""
    full = [10_000] * 6
    waits = table(entry_mode=EntryMode.WAIT_OR_VOLUNTARY_POST)
    return [
        _played("C-01", begin(table(), full), "r300 f f f f f"),
        _played("C-02", begin(table(), full[:3]), "f f"),
        _played(
            "C-03",
            begin(table(), full[:3], "7c7d AhQs KsKd", "Kh 9h 4c 2s 3d"),
            "r300 c c x r450 c f x x x r900 c",
        ),
        _played("C-04", begin(table(), full[:2]), "c r300 c x r300 f"),
        _played("C-06", begin(table(), full[:3]), "r300 c c r600 r2000 f f"),
        _played(
            "C-07",
            begin(table(), [2000, 10_000, 10_000], "AsAd KsKd QsQd", LOW_BOARD),
            "r300 r2000 c c r1500 c x x x x",
        ),
        _played("C-09", begin(table(), [533, 1287, 2711, 10_000], AKQJ, LOW_BOARD), "r2711 c c c"),
        _played("C-25", begin(table(), full[:3]), "c c x f f"),
        _played("C-26", begin(table(), [1500, 1500], "AsAd KsKd", LOW_BOARD), "r1500 c"),
        _played(
            "C-27",
            begin(table(), [800, 10_000, 10_000, 10_000], AKQJ, LOW_BOARD),
            "r300 c r800 c c c r1000 c c r2000 c f x x",
        ),
        _played(
            "C-33",
            begin(table(), [500, 10_000, 10_000], "QsQd KsKd AsAd", "7h 8h 9c 3c 2h"),
            "c r500 c c r300 c f",
        ),
        _played("uncalled", begin(table(), [1500, 10_000], "AsAd KsKd", LOW_BOARD), "c r3000 c"),
        _played("Omaha", begin(table(OMAHA), full[:3]), "r350 c c x x x x x x x x x"),
        _played("posted", begin(waits, full[:4], posters=[2]), "x f f x x x x x x x"),
    ]


def _played(name: str, hand: Hand, script: str) -> dict[str, object]:
    begun, lies, moves = hand, [_lies(hand)], []
    for word in script.split():
        move = _json(messages.move_message(read(hand, word)))
        moves.append({"seat": hand.deal.seats[hand.actor], "move": move, "acted_by": "ACTED_BY_PLAYER"})
        hand = act(hand, word)
        lies.append(_lies(hand))
    facts = HandFacts(name, "table", STARTED_AT, "EUR", [""] * len(hand.deal.seats))
    return {
        "name": name,
        "outcome": _json(messages.outcome_message(hand, messages.view_message(hand))),
        "moves": moves,
        "lies": lies,
        "personal": hand.deal.rules.variant.hole_cards,
        "phh": for_player(begun, hand, facts, 2),
    }


def _lies(hand: Hand) -> dict[str, object]:
    """Returns what lies on the table, as everybody sees it: the caves and the bets are by seats."""
    view = messages.view_message(hand)
    return {
        "board": list(view.board),
        "total_cents": view.total_cents,
        "caves": [seat.stack_cents for seat in view.seats],
        "bets": [seat.bet_cents for seat in view.seats],
        "folded": [seat.seat for seat in view.seats if seat.folded],
        "pots": [pot.cents for pot in view.pots],
    }


def _json(message: Message) -> dict[str, object]:
    """Converts a message as the gateway does: every field is there, and 64-bit numbers are text."""
    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


def text() -> str:
    """What stands in the file: one hand in each line."""
    return "[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in hands()) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
