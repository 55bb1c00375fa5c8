"""Screens."""
from __future__ import annotations
import pytest
from playwright.sync_api import Page, expect
from services.blackjack.engine import Decision, Move
from feltro.table.v1 import types_pb2
from tests.browser.conftest import Screenshot, NewContext
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform

SIZES = {"desk": (1440, 900), "p390": (390, 844), "p320": (320, 568), "land": (844, 390), "tablet": (1024, 768)}

@pytest.mark.parametrize("size", SIZES)
def test_a(new_context: NewContext, platform: BlackjackPlatform, screenshot: Screenshot, size: str) -> None:
    w, h = SIZES[size]
    page = new_context("desktop" if w > 900 else "portrait", viewport={"width": w, "height": h}).new_page()
    felt = FeltPage(page, platform.table("Ts 8d 9s 6h Ah Kc 8s 2c 6d 7c 3h Jd 9c 4d 5h Qs", individual=False, places=7, places_per_player=2, seat=3)).open()
    felt.table.do(lambda t: (t.stake(1, {"1": 1000}), t.stake(5, {"5": 2500}), t.stake(6, {"6": 500})))
    felt.bet(3, 2)
    screenshot(page, f"bj-multi-open-{size}")
    felt.table.do(lambda t: t.close())
    felt.expect_stage("playing")
    page.wait_for_timeout(500)
    screenshot(page, f"bj-multi-insurance-{size}")
    felt.decide("INSURE")
    page.wait_for_timeout(300)
    felt.table.do(lambda t: t.act(1, Move(1, Decision.DECLINE), types_pb2.ACTED_BY_PLAYER))
    felt.table.do(lambda t: t.run_out())
    page.wait_for_timeout(500)
    screenshot(page, f"bj-multi-turn-{size}")
    print(felt.table.do(lambda t: t.dealt.view()))
    for _ in range(3):
        turn = felt.table.do(lambda t: t.dealt.turn)
        if turn is None or turn.seats == (3,):
            break
        felt.table.do(lambda t: t.run_out())
        page.wait_for_timeout(200)
    page.wait_for_timeout(300)
    screenshot(page, f"bj-multi-own-{size}")
    felt.decide("SPLIT")
    page.wait_for_timeout(600)
    screenshot(page, f"bj-multi-split-{size}")
    for _ in range(12):
        if felt.table.do(lambda t: t.dealt is None or t.dealt.turn is None):
            break
        felt.table.do(lambda t: t.run_out())
    felt.expect_stage("result")
    page.wait_for_timeout(800)
    screenshot(page, f"bj-multi-result-{size}")
