"""What one client is sent about a table: numbers without a gap, and nothing that is hidden."""

from __future__ import annotations

import pytest

from tests.drill.checks import feed
from tests.drill.checks.feed import FeedOrder, PrivateCards, RoundStory, SameContent, others_facts, public_leaks
from tests.drill.play.games import DrillBaccarat, DrillBlackjack, DrillPoker


def test_a_snapshot_and_every_event_after_it_are_in_order() -> None:
    order = FeedOrder()
    answers = [order.subscribed(7, resumed=False), order.event(8), order.event(9), order.subscribed(9, resumed=True)]
    assert [*answers, order.event(10)] == [""] * 5
    assert not order.told_gaps


@pytest.mark.guarantee("G5")
def test_an_event_that_comes_twice_is_found() -> None:
    order = FeedOrder()
    order.subscribed(7, resumed=False)
    assert not order.event(8)
    assert "twice" in order.event(8)
    assert "out of order" in order.event(7)
    assert not order.event(9)


@pytest.mark.guarantee("G5")
def test_a_gap_that_nobody_tells_is_found() -> None:
    order = FeedOrder()
    order.subscribed(7, resumed=False)
    assert "a gap that nobody told" in order.event(9)


def test_a_snapshot_tells_a_gap() -> None:
    order = FeedOrder()
    order.subscribed(7, resumed=False)
    assert not order.event(12, is_snapshot=True)
    assert not order.subscribed(20, resumed=False)
    assert order.told_gaps == 2


@pytest.mark.guarantee("G5")
def test_a_resumed_feed_that_begins_elsewhere_is_found() -> None:
    order = FeedOrder()
    assert "never seen" in order.subscribed(3, resumed=True)
    assert "instead of 3" in order.subscribed(5, resumed=True)


def test_a_snapshot_may_have_an_earlier_number_after_a_takeover() -> None:
    order = FeedOrder()
    order.subscribed(7, resumed=False)
    assert not order.event(6, is_snapshot=True)
    assert not order.event(7)
    assert not order.subscribed(5, resumed=False)
    assert order.told_gaps == 2


@pytest.mark.guarantee("G4", "G5")
def test_a_round_whose_end_nobody_tells_is_found() -> None:
    def opened(round_id: str) -> dict[str, object]:
        return {"round_opened": {"round": {"round_id": round_id}}}

    story = RoundStory()
    assert not story.event({"round_settled": {"round_id": "felt.1"}}), "it was open before"
    assert not story.event(opened("felt.2"))
    assert not story.event({"round_settled": {"round_id": "felt.2"}})
    assert not story.event(opened("felt.3"))
    assert "the end of felt.3" in story.event(opened("felt.4"))
    assert not story.event({"round_voided": {"round_id": "felt.2"}}), "a snapshot may follow"
    assert "while felt.4 is open" in story.event({"bets_placed": {}})
    assert not story.event(opened("felt.5"))
    story.snapshot()
    assert not story.event(opened("felt.6"))
    assert not story.event({"round_dealt": {"round_id": "felt.6"}})
    assert "the end of felt.6" in story.event({"round_dealt": {"round_id": "felt.7"}})


@pytest.mark.guarantee("G4", "G5")
def test_a_snapshot_tells_the_rounds_that_a_former_owner_could_not_tell() -> None:
    story = RoundStory()
    assert not story.event({"round_opened": {"round": {"round_id": "felt.1"}}})
    assert not story.event({"round_voided": {"round_id": "felt.2"}})
    story.snapshot()
    assert not story.event({"snapshot_published": {}})
    assert not story.event({"round_opened": {"round": {"round_id": "felt.3"}}})


def test_an_event_before_any_snapshot_is_found() -> None:
    assert FeedOrder().event(1)


@pytest.mark.guarantee("G8")
def test_an_event_with_two_contents_is_found() -> None:
    """Two owners of one table would publish different events under one number."""
    same = SameContent()
    assert not same.event("a", 1, {"seq": "1", "x": 1})
    assert not same.event("a", 1, {"x": 1, "seq": "1"})
    assert not same.event("b", 1, {"seq": "1", "x": 2})
    assert "two contents" in same.event("a", 1, {"seq": "1", "x": 2})


def test_so_many_events_are_compared_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "COMPARED_EVENTS_LIMIT", 2)
    same = SameContent()
    assert not any(same.event("a", seq, {"seq": seq}) for seq in range(5))
    assert not same.event("a", 0, {"seq": "another"})
    assert same.event("a", 4, {"seq": "another"})


@pytest.mark.guarantee("G7")
def test_private_fields_in_what_everybody_gets_are_found() -> None:
    assert not public_leaks({"seq": "1", "bets_placed": {"seat": 2}})
    assert public_leaks({"seq": "1", "bets_placed": {"seat": 2, "player_id": "ana"}})
    assert public_leaks({"table": {"seats": [{"account_id": "a"}]}})


@pytest.mark.guarantee("G6", "G7")
def test_an_outcome_before_its_time_is_found() -> None:
    assert public_leaks({"table": {"phase": "PHASE_CLOSED", "round": {"outcome": {"number": "7"}}}})
    assert not public_leaks({"table": {"phase": "PHASE_RESULT_SHOWN", "round": {"outcome": {"number": "7"}}}})


@pytest.mark.guarantee("G7")
def test_what_concerns_another_player_is_found() -> None:
    changed = {"balance_changed": {"balance": {"account_id": "a-1", "free_cents": "5"}}}
    assert not others_facts(changed, "ana", "a-1")
    assert others_facts(changed, "rui", "a-2")


@pytest.mark.guarantee("G7")
def test_the_second_card_of_the_bank_is_found_while_anybody_decides() -> None:
    def moved(cards: list[str], seats: list[int], **bank: bool) -> dict[str, object]:
        return {"move_made": {"view": {"bank": {"cards": cards, **bank}}, "turn": {"turn": 2, "seats": seats}}}

    blackjack = DrillBlackjack()
    assert not blackjack.leaks(moved(["As", ""], [1]))
    assert not blackjack.leaks(moved(["As", "Td"], []))
    assert blackjack.leaks(moved(["As", "Td"], [1]))
    assert blackjack.leaks(moved(["As", ""], [1], hole_shown=True))
    shown = {"view": {"bank": {"cards": ["As", "Td"]}}, "turn": {"turn": 1, "seats": [3]}}
    assert blackjack.leaks({"table": {"round": shown}})
    assert blackjack.leaks({"snapshot_published": {"snapshot": {"round": shown}}})


@pytest.mark.guarantee("G6", "G7")
def test_cards_of_baccarat_before_the_outcome_are_found() -> None:
    baccarat = DrillBaccarat()
    assert not baccarat.leaks({"betting_closed": {"round_id": "x.1"}})
    assert not baccarat.leaks({"outcome_drawn": {"outcome": {"ponto": ["As"]}}})
    assert baccarat.leaks({"betting_closed": {"round_id": "x.1", "next": ["As"]}})


@pytest.mark.guarantee("G7")
def test_hole_cards_that_everybody_gets_are_found() -> None:
    poker = DrillPoker()

    def moved(cards: list[str], seats: list[int]) -> dict[str, object]:
        return {"move_made": {"view": {"seats": [{"seat": 2, "cards": cards}]}, "turn": {"turn": 3, "seats": seats}}}

    assert not poker.leaks(moved([], [1]))
    assert not poker.leaks(moved(["As", "Td"], [])), "all are all-in"
    assert poker.leaks(moved(["As", "Td"], [1]))


@pytest.mark.guarantee("G7")
def test_a_hole_card_that_two_players_get_is_found() -> None:
    cards = PrivateCards()
    assert not cards.shown("felt.1", "ana", ["As", "Td"])
    assert not cards.shown("felt.1", "ana", ["As", "Td"])
    assert not cards.shown("felt.2", "rui", ["As", "Td"])
    assert "As of ana" in cards.shown("felt.1", "rui", ["2c", "As"])[0]
