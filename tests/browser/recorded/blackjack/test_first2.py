"""Screens."""
from __future__ import annotations
import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Screenshot, NewContext
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.driver.navigation import open_panel, choose_language
from tests.browser.recorded.blackjack.platform import BlackjackPlatform
SIZES = {"desk": (1440, 900), "p390": (390, 844), "p320": (320, 568)}

@pytest.mark.parametrize("size", SIZES)
def test_b(new_context: NewContext, platform: BlackjackPlatform, screenshot: Screenshot, size: str) -> None:
    w, h = SIZES[size]
    page = new_context("desktop" if w > 900 else "portrait", viewport={"width": w, "height": h}).new_page()
    felt = FeltPage(page, platform.table("As 9d 8s Qh 3c 5d", dealing_ms=300)).open()
    felt.bet(times=2)
    felt.deal()
    page.wait_for_timeout(750)
    screenshot(page, f"bj-solo-dealing-{size}")
    felt.expect_stage("playing")
    screenshot(page, f"bj-solo-own-{size}")
    felt.decide("DOUBLE")
    screenshot(page, f"bj-solo-warn-{size}")
    felt.part("soft-double-do").click()
    felt.expect_stage("result")
    page.wait_for_timeout(700)
    screenshot(page, f"bj-solo-result-{size}")
    open_panel(page, "last")
    page.wait_for_timeout(500)
    screenshot(page, f"bj-solo-last-{size}")
    page.keyboard.press("Escape")
    page.goto("/#/")
    page.wait_for_timeout(900)
    screenshot(page, f"bj-lobby-{size}")
