"""A bot reads its situation from what the gateway answers, and nothing where it has nothing to decide."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import Message

from services.poker.engine import Table
from services.poker.hand.state import Hand
from services.poker.messages import own_view_message, view_message
from services.poker.specific_rules import Limit, default_rules
from services.poker.variant import Variant
from stack.practice.situation import big_blind, question
from tests.stack.practice.positions import BIG_BLIND, random_positions, situation_of

Json = dict[str, Any]


def _json(message: Message | None) -> Json:
    assert message is not None
    return json_format.MessageToDict(message, preserving_proto_field_name=True)


def shown(hand: Hand) -> Json:
    """The answer of `GetTable` to the player in turn."""
    seat = hand.deal.seats[hand.actor]
    turn = {"turn": 3, "seats": [seat], "decide_by": "2026-11-20T09:00:32Z", "extra_time_from": "2026-11-20T09:00:22Z"}
    return {
        "table": {
            "at": "2026-11-20T09:00:00.500Z",
            "phase": "PHASE_PLAYING",
            "configuration": {"rules": {"big_blind_cents": str(BIG_BLIND)}},
            "round": {
                "round_id": "t.1",
                "view": _json(view_message(hand)),
                "turn": turn,
                "shown_at": "2026-11-20T09:00:02Z",
            },
        },
        "own_seat": {"seat": seat, "own_view": _json(own_view_message(hand, seat))},
    }


def test_every_position_is_read_as_it_is() -> None:
    table = Table(default_rules(Variant.HOLDEM, BIG_BLIND, limit=Limit.NO_LIMIT))
    for hand in random_positions(table, 20, Random(5)):
        asked = question(shown(hand))
        assert asked is not None
        assert asked.situation == situation_of(hand)
        assert (asked.round_id, asked.turn, asked.shown_in_s, asked.time_s) == ("t.1", 3, 1.5, 20.0)


def test_there_is_no_question_for_anybody_else() -> None:
    table = Table(default_rules(Variant.HOLDEM, BIG_BLIND, limit=Limit.NO_LIMIT))
    answer = shown(next(random_positions(table, 1, Random(6))))
    watching = {key: value for key, value in answer.items() if key != "own_seat"}
    assert question(watching) is None
    other = copy.deepcopy(answer)
    other["own_seat"]["seat"] += 1
    assert question(other) is None
    over = copy.deepcopy(answer)
    over["table"]["phase"] = "PHASE_RESULT_SHOWN"
    assert question(over) is None


def test_the_blind_of_a_tournament_is_its_level_s() -> None:
    assert big_blind({"configuration": {}, "chips": {"notice": {"big_blind": "40"}}}) == 40
    assert big_blind({"configuration": {"rules": {"big_blind_cents": "100"}}}) == 100
