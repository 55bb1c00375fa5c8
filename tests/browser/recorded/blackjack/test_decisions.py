"""Every decision that a hand allows is shown with its cost, and can be chosen (805/2015:24)."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from feltro.table.v1 import types_pb2
from services.blackjack.engine import Decision, Move
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform


@pytest.mark.rule("805/2015:24")
@pytest.mark.parametrize(
    ("shoe", "choices"),
    [
        ("4s 7c 3d 9d", ["DRAW", "GIVE_UP"]),
        ("6s 7c 5d 9d", ["DRAW", "DOUBLE", "GIVE_UP"]),
        ("Ts 7c 6d 9d", ["DRAW", "STAND", "GIVE_UP"]),
        ("4s 7c 4d 9d", ["DRAW", "SPLIT", "GIVE_UP"]),
        ("8s 7c 8d 9d", ["DRAW", "STAND", "SPLIT", "GIVE_UP"]),
        ("5s 7c 5d 9d", ["DRAW", "DOUBLE", "SPLIT", "GIVE_UP"]),
        ("As 7c 8d 9d", ["DRAW", "STAND", "DOUBLE", "GIVE_UP"]),
    ],
)
def test_all_that_a_hand_allows_is_offered(
    desktop: Page, platform: BlackjackPlatform, shoe: str, choices: list[str]
) -> None:
    felt = FeltPage(desktop, platform.table(shoe)).open().play()
    felt.expect_choices(choices)
    for decision in {"DOUBLE", "SPLIT"} & set(choices):
        expect(felt.part(f"DECISION_{decision}")).to_have_attribute("data-cost", "1000")
        expect(felt.part(f"DECISION_{decision}")).to_contain_text("+ 10 créditos")


def test_drawing_and_standing(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 3h 9d 4s")).open().play()
    felt.decide("DRAW")
    felt.expect_cards("Ts 3h 4s")
    expect(felt.hand().locator(".score")).to_have_text("17")
    # After the third card there is nothing else to decide.
    felt.expect_choices(["DRAW", "STAND"])
    felt.decide("STAND")
    felt.expect_stage("result")
    expect(felt.part("bank-score")).to_have_text("18")
    expect(felt.part("result")).to_have_attribute("data-verdict", "lost")


def test_going_above_21(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 6h 9d Kd")).open().play()
    felt.decide("DRAW")
    felt.expect_stage("result")
    expect(felt.hand()).to_have_attribute("data-verdict", "bust")
    expect(felt.hand()).to_contain_text("Passou")
    # Nobody is left to play against: the bank's second card stays hidden (805/2015:20.c).
    felt.expect_bank("7c ")
    expect(felt.part("result-headline")).to_have_text("Perdeu 10 créditos")


def test_doubling(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("6s 6h 5d Tc Td 4d")).open().play()
    felt.decide("DOUBLE")
    felt.expect_stage("result")
    felt.expect_cards("6s 5d Td")
    expect(felt.hand()).to_contain_text("×2")
    expect(felt.part("result-headline")).to_have_text("Ganhou 20 créditos")
    expect(felt.part("result")).to_contain_text("Recebe 40 créditos; apostou 20 créditos")


def test_doubling_a_soft_hand_warns_that_the_ace_stays_1(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("As 5h 8d Tc 2c 2d")).open().play()
    expect(felt.hand().locator(".score")).to_have_text("9/19")
    felt.decide("DOUBLE")
    warning = felt.part("soft-double")
    expect(warning).to_have_role("alert")
    expect(warning).to_contain_text("o ás passa a valer 1 até ao fim da jogada: 9 e não 19")
    assert felt.sent("TableService.Act") == []
    felt.part("soft-double-back").click()
    expect(felt.part("DECISION_DOUBLE")).to_be_visible()
    felt.decide("DOUBLE")
    felt.part("soft-double-do").click()
    felt.expect_stage("result")
    expect(felt.hand().locator(".score")).to_have_text("11×2")


def test_no_ace_is_frozen_where_any_score_may_be_doubled(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("As 5h 8d Tc 2c 2d", double_any_score=True)).open().play()
    felt.decide("DOUBLE")
    felt.expect_stage("result")
    expect(felt.hand().locator(".score")).to_have_text("21×2")


def test_giving_up(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts Th 6d 9c")).open().play()
    expect(felt.part("DECISION_GIVE_UP")).to_have_attribute(
        "title", "Perde metade da aposta e recebe já a outra metade."
    )
    felt.decide("GIVE_UP")
    felt.expect_stage("result")
    expect(felt.hand()).to_have_attribute("data-verdict", "given_up")
    expect(felt.part("result-headline")).to_have_text("Perdeu 5 créditos")


def test_splitting_into_several_hands(desktop: Page, platform: BlackjackPlatform) -> None:
    # 8-8 is split, an 8 comes to the first, and is split again.
    shoe = "8s 6h 8d Tc 8c 3h 9s Td Kh Qd"
    felt = FeltPage(desktop, platform.table(shoe)).open().play()
    felt.decide("SPLIT")
    felt.expect_cards("8s 8c")
    felt.expect_cards("8d", number=2)
    expect(felt.part("asked")).to_contain_text("lugar 1, mão 1")
    felt.decide("SPLIT")
    felt.expect_cards("8s 3h")
    felt.expect_cards("8c", number=3)
    expect(felt.part("circle-1")).to_have_attribute("data-cents", "3000")
    felt.decide("DOUBLE")
    felt.expect_cards("8s 3h 9s")
    expect(felt.part("asked")).to_contain_text("lugar 1, mão 3")
    felt.expect_cards("8c Td", number=3)
    felt.decide("STAND")
    expect(felt.part("asked")).to_contain_text("lugar 1, mão 2")
    felt.expect_cards("8d Kh", number=2)
    felt.decide("STAND")
    felt.expect_stage("result")
    # The bank goes above 21: every hand has won, the doubled one twice.
    expect(felt.part("result-headline")).to_have_text("Ganhou 40 créditos")
    for number, won in ((1, "+20"), (2, "+10"), (3, "+10")):
        expect(felt.hand(1, number)).to_contain_text(won)


def test_a_refusal_is_told_and_changes_nothing(desktop: Page, platform: BlackjackPlatform) -> None:
    table = platform.table("Ts 7c 5h 9d 4s")
    felt = FeltPage(desktop, table).open().play()

    def refuse(reason: str, **facts: str) -> None:
        table.do(lambda at: setattr(at, "refusal", (reason, facts)))

    refuse("DECISION_ILLEGAL", legal="DECISION_DRAW")
    felt.decide("STAND")
    expect(felt.part("message")).to_contain_text("não é possível com esta mão")
    refuse("TURN_OVER", turn="1")
    felt.decide("STAND")
    expect(felt.part("message")).to_contain_text("A decisão chegou tarde")
    refuse("INSUFFICIENT_FUNDS", free_cents="0", needed_cents="1000")
    felt.decide("DRAW")
    expect(felt.part("message")).to_contain_text("O saldo não chega")
    felt.expect_cards("Ts 5h")
    felt.decide("DRAW")
    felt.expect_cards("Ts 5h 4s")


def test_a_decision_is_sent_once_with_its_turn(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 2h 9d 2s 3s")).open().play()
    felt.part("DECISION_DRAW").dblclick()
    felt.expect_cards("Ts 2h 2s")
    felt.part("DECISION_DRAW").click()
    felt.expect_cards("Ts 2h 2s 3s")
    acts = felt.sent("TableService.Act")
    assert [act["turn"] for act in acts] == [1, 2]
    assert len({act["request_id"] for act in acts}) == 2
    assert acts[0]["move"] == {
        "@type": "type.googleapis.com/feltro.blackjack.v1.Move",
        "place": 1,
        "decision": "DECISION_DRAW",
        "insurance_cents": "0",
    }


def test_other_players_hands_and_turns_are_seen(desktop: Page, platform: BlackjackPlatform) -> None:
    table = platform.table("Ts 9d 7c 5h 9h Qs 4d 8c", individual=False, places=7, seat=2)
    felt = FeltPage(desktop, table).open()
    table.do(lambda at: at.stake(5, {"5": 1000}))
    felt.bet(2)
    table.do(lambda at: at.close())
    felt.decide("STAND")
    expect(felt.part("waits")).to_contain_text("Decide o lugar 5")
    expect(felt.part("waits")).to_contain_text("Espere pela sua vez")
    expect(felt.part("asked")).to_have_count(0)
    expect(felt.part("place-5").locator(".turn-ring")).to_be_visible()
    table.do(lambda at: at.act(5, Move(5, Decision.SPLIT), types_pb2.ACTED_BY_PLAYER))
    felt.expect_cards("9d 4d", place=5)
    felt.expect_cards("9h", place=5, number=2)


def test_a_player_without_a_bet_watches(desktop: Page, platform: BlackjackPlatform) -> None:
    table = platform.table("Ts 7c 5h 9d", individual=False, places=7, seat=2)
    felt = FeltPage(desktop, table).open()
    table.do(lambda at: at.stake(5, {"5": 1000}))
    table.do(lambda at: at.close())
    felt.expect_stage("playing")
    expect(felt.part("waits")).to_contain_text("Aposte na próxima")
    table.do(lambda at: at.run_out())
    felt.expect_stage("result")
    expect(felt.part("result")).to_have_attribute("data-verdict", "unstaked")
