"""Decisions before the turn: the page sends them when the turn comes, and forgets them when the amount changes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.platform import PokerPlatform
from tests.browser.recorded.poker.test_acting import BOARD, HOLES, demo_table, moves

PRESSED = "aria-pressed"


def waiting(page: Page, platform: PokerPlatform) -> FeltPage:
    """Opens a table at which the player, who has the small blind, waits for four others."""
    felt = FeltPage(page, demo_table(platform)).open().deal(HOLES, BOARD)
    expect(felt.part("pre-actions")).to_be_visible()
    return felt


@pytest.mark.rule("806/2015:34.c")
def test_a_call_is_sent_when_the_turn_comes(desktop: Page, platform: PokerPlatform) -> None:
    felt = waiting(desktop, platform)
    felt.part("before-call").click()
    expect(felt.part("before-call")).to_have_attribute(PRESSED, "true")
    expect(felt.part("before-call")).to_have_text("Acompanhar 0,5 créditos")
    assert moves(felt) == []
    felt.play("f f f f")
    expect(felt.part("bet-1")).to_have_attribute("data-cents", "100")
    assert moves(felt) == [("CALL", "0")]


def test_a_call_of_another_amount_is_cancelled(desktop: Page, platform: PokerPlatform) -> None:
    felt = waiting(desktop, platform)
    felt.part("before-call").click()
    felt.play("r300")
    expect(felt.part("before-call")).to_have_text("Acompanhar 2,5 créditos")
    expect(felt.part("before-call")).to_have_attribute(PRESSED, "false")
    felt.play("f f f")
    expect(felt.part("asked")).to_be_visible()
    assert moves(felt) == []


@pytest.mark.rule("806/2015:34.a", "806/2015:34.b")
def test_fold_and_call_whatever_comes(desktop: Page, platform: PokerPlatform) -> None:
    felt = waiting(desktop, platform)
    felt.part("before-check_or_fold").click()
    # At most one is given, and it can be taken back.
    felt.part("before-call_any").click()
    expect(felt.part("before-check_or_fold")).to_have_attribute(PRESSED, "false")
    felt.play("r300 f f f")
    expect(felt.part("bet-1")).to_have_attribute("data-cents", "300")
    felt.play("f")
    # In the next betting round the player decides anew.
    expect(felt.part("asked")).to_be_visible()
    felt.part("act-check").click()
    expect(felt.part("pre-actions")).to_be_visible()
    felt.part("before-check_or_fold").press("Enter")
    felt.play("r500")
    expect(felt.part("poker")).to_have_attribute("data-stage", "result")
    assert moves(felt) == [("CALL", "0"), ("CHECK", "0"), ("FOLD", "0")]
