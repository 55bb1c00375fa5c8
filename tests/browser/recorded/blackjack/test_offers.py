"""Insurance and even money are asked before anything else."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform


@pytest.mark.rule("805/2015:15.f")
def test_insurance_is_asked_first_with_half_of_the_bet_chosen(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts Ah Kd Kc")).open().play()
    expect(felt.part("insurance")).to_contain_text("a banca mostra um ás. Quer fazer seguro?")
    felt.expect_choices(["INSURE", "DECLINE"])
    expect(felt.part("insurance-chosen")).to_have_attribute("data-cents", "500")
    felt.decide("INSURE")
    # The amount lies in the insurance area.
    expect(felt.part("insured-1")).to_have_attribute("data-cents", "500")
    felt.decide("STAND")
    felt.expect_stage("result")
    expect(felt.part("bank-score")).to_have_text("Blackjack")
    expect(felt.part("result-headline")).to_have_text("Recuperou o que apostou")
    expect(felt.part("result")).to_contain_text("Seguro: ganhou 10 créditos")


@pytest.mark.rule("805/2015:15.f")
def test_less_than_half_may_be_insured(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts Ah Kd 7c")).open().play()
    amount = felt.part("insurance-amount")
    amount.focus()
    desktop.keyboard.press("ArrowLeft")
    expect(felt.part("insurance-chosen")).to_have_attribute("data-cents", "450")
    desktop.get_by_role("button", name="Menos").click()
    expect(felt.part("insurance-chosen")).to_have_attribute("data-cents", "400")
    expect(felt.part("DECISION_INSURE")).to_have_attribute("data-cost", "400")
    for _ in range(5):
        desktop.get_by_role("button", name="Mais").click()
    expect(felt.part("insurance-chosen")).to_have_attribute("data-cents", "500")
    amount.focus()
    desktop.keyboard.press("Home")
    expect(felt.part("insurance-chosen")).to_have_attribute("data-cents", "50")
    felt.decide("INSURE")
    expect(felt.part("insured-1")).to_have_attribute("data-cents", "50")
    assert felt.sent("TableService.Act")[0]["move"]["insurance_cents"] == "50"


def test_no_insurance(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts Ah Kd 7c")).open().play()
    felt.decide("DECLINE")
    felt.expect_choices(["DRAW", "STAND", "SPLIT"])
    expect(felt.part("insured-1")).to_have_count(0)


@pytest.mark.rule("805/2015:20.b")
@pytest.mark.parametrize(
    ("decision", "hole", "headline", "verdict"),
    [
        ("EVEN_MONEY", "Kc", "Ganhou 10 créditos", "even_money"),
        ("DECLINE", "Kc", "Recuperou o que apostou", "tie"),
        ("DECLINE", "7c", "Ganhou 15 créditos", "blackjack"),
    ],
)
def test_a_blackjack_against_an_ace_may_be_paid_at_once(
    desktop: Page, platform: BlackjackPlatform, decision: str, hole: str, headline: str, verdict: str
) -> None:
    felt = FeltPage(desktop, platform.table(f"As Ah Kd {hole}")).open().play()
    expect(felt.part("even-money")).to_contain_text("Quer receber já 10 créditos de prémio?")
    felt.expect_choices(["EVEN_MONEY", "DECLINE"])
    felt.decide(decision)
    felt.expect_stage("result")
    expect(felt.part("result-headline")).to_have_text(headline)
    expect(felt.hand()).to_have_attribute("data-verdict", verdict)


def test_several_places_are_asked_one_after_the_other(desktop: Page, platform: BlackjackPlatform) -> None:
    table = platform.table("Ts As Ah Kd Kc 7c", individual=False, places=7, places_per_player=3, seat=2)
    felt = FeltPage(desktop, table).open().bet(2, 2).bet(3, 2)
    table.do(lambda at: at.close())
    expect(felt.part("insurance")).to_contain_text("Lugar 2")
    felt.decide("DECLINE")
    expect(felt.part("even-money")).to_be_visible()
    felt.decide("EVEN_MONEY")
    felt.expect_choices(["DRAW", "STAND", "SPLIT"])


def test_a_blackjack_that_cannot_be_beaten_is_paid_and_collected_at_once(
    desktop: Page, platform: BlackjackPlatform
) -> None:
    table = platform.table("As Ts 6h Kd 5c 9c", individual=False, places=7, places_per_player=2, seat=2)
    felt = FeltPage(desktop, table).open().bet(2, 2).bet(3, 2)
    table.do(lambda at: at.close())
    felt.expect_stage("playing")
    expect(felt.hand(2)).to_have_attribute("data-verdict", "blackjack")
    expect(felt.hand(2)).to_contain_text("Blackjack, paga 3 para 2")
    # 20 were staked and 25 came back, while the other hand plays.
    expect(felt.part("balance").first).to_contain_text("1005")
    felt.expect_choices(["DRAW", "STAND", "GIVE_UP"])


# What of the bar lies beyond its edge: words that a player cannot read, buttons that are half there.
_BEYOND = """
() => {
  const bar = document.querySelector("[data-testid=decision]").getBoundingClientRect();
  return [...document.querySelectorAll("[data-testid=decision] *")].filter((part) => {
    const box = part.getBoundingClientRect();
    return box.width > 1 && (box.top < bar.top - 1 || box.bottom > bar.bottom + 1
      || box.left < bar.left - 1 || box.right > bar.right + 1);
  }).map((part) => `${part.className} ${part.textContent.trim().slice(0, 40)}`);
}
"""


@pytest.mark.parametrize("shoe", ["Ts Ah Kd Kc", "As Ah Kd Kc"], ids=["insurance", "even money"])
@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (1024, 768)], ids=str)
def test_the_whole_question_is_read_at_a_table_that_waits(
    new_context: NewContext, screenshot: Screenshot, size: tuple[int, int], shoe: str, platform: BlackjackPlatform
) -> None:
    """An individual hand stays open, and the bar says until when, below the question."""
    width, height = size
    page = new_context("desktop", viewport={"width": width, "height": height}).new_page()
    felt = FeltPage(page, platform.table(shoe)).open().play()
    expect(felt.part("open-until")).to_be_visible()
    screenshot(page, f"blackjack-offer-{shoe[:2]}-{width}")
    assert page.evaluate(_BEYOND) == []
