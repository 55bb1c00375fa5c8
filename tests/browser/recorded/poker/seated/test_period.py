"""A table in session mode as a player finds it: when it is open, and the registration that one needs beforehand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from feltro.poker.v1 import poker_pb2
from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.navigation import choose_language
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.platform import PokerPlatform
from tests.browser.recorded.poker.test_acting import violations
from tools import web

pytestmark = pytest.mark.rule("806/2015:6.b", "811/2015:6.b")

# Longer than any test lasts.
FAR = timedelta(hours=6)
THREE = dict.fromkeys((1, 2, 3), 10_000)
# A finger hits what is as high (WCAG 2.5.5).
FINGER_PX = 44


def period_table(page: Page, platform: PokerPlatform, begins: timedelta, ends: timedelta) -> FeltPage:
    """Opens a table for a player who has no seat yet; its period begins and ends so long from now."""
    period, now = poker_pb2.Period(), datetime.now(UTC)
    period.begins_at.FromDatetime(now + begins)
    period.ends_at.FromDatetime(now + ends)
    made = platform.table(seat=0, caves=THREE, rules={"period": period})
    made.table.registration.players = 2
    felt = FeltPage(page, made)
    page.goto(f"/#/table/{made.table_id}")
    expect(felt.part("period")).to_be_visible()
    return felt


def test_a_player_registers_before_the_session_and_takes_it_back(desktop: Page, platform: PokerPlatform) -> None:
    felt = period_table(desktop, platform, FAR, 2 * FAR)
    note = felt.part("period")
    expect(note).to_contain_text("só para inscritos")
    expect(note.get_by_role("status")).to_have_text("Inscreva-se antes de a sessão começar. Inscritos: 2.")
    felt.part("register").click()
    expect(note).to_have_attribute("data-registered", "true")
    expect(note.get_by_role("status")).to_have_text("Está inscrito. Inscritos: 3.")
    # The focus stays where it was, for players who go on by keyboard.
    expect(felt.part("cancel-registration")).to_be_focused()
    felt.part("cancel-registration").press("Enter")
    expect(note).to_have_attribute("data-registered", "false")
    expect(note.get_by_role("status")).to_have_text("Inscreva-se antes de a sessão começar. Inscritos: 2.")
    assert len(felt.sent("PokerService.RegisterForPeriod")) == 1
    assert len(felt.sent("PokerService.CancelPeriodRegistration")) == 1


def test_a_registration_that_is_refused_says_why(desktop: Page, platform: PokerPlatform) -> None:
    felt = period_table(desktop, platform, FAR, 2 * FAR)
    felt.table.do(lambda at: setattr(at, "refusal", ("PERIOD_FULL", {"limit": "200"})))
    felt.part("register").click()
    expect(felt.part("period").get_by_role("alert")).to_have_text("As inscrições para esta mesa estão esgotadas.")
    expect(felt.part("period")).to_have_attribute("data-registered", "false")
    expect(felt.part("register")).to_be_enabled()


@pytest.mark.parametrize(
    ("begins", "ends", "sentence"),
    [
        (-FAR, FAR, "As inscrições acabaram quando a sessão começou."),
        (-2 * FAR, -FAR, "A sessão desta mesa acabou."),
    ],
)
def test_once_the_session_has_begun_nobody_registers(
    desktop: Page, platform: PokerPlatform, begins: timedelta, ends: timedelta, sentence: str
) -> None:
    felt = period_table(desktop, platform, begins, ends)
    expect(felt.part("period").get_by_role("status")).to_have_text(sentence)
    expect(felt.part("register")).to_have_count(0)


@pytest.mark.parametrize("device", ["desktop", "portrait", "landscape"])
@pytest.mark.parametrize("language", ["PT", "EN"])
def test_the_registration_is_whole_and_accessible(
    new_context: NewContext, platform: PokerPlatform, screenshot: Screenshot, device: str, language: str
) -> None:
    page = new_context(device, reduced_motion="reduce", bypass_csp=True).new_page()
    felt = period_table(page, platform, FAR, 2 * FAR)
    choose_language(page, language)
    page.add_script_tag(path=web.PACKAGES / "axe-core" / "axe.min.js")
    for button in ("register", "cancel-registration"):
        expect(felt.part(button)).to_be_visible()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        box = felt.part(button).bounding_box()
        assert box is not None
        assert box["height"] >= FINGER_PX
        screenshot(page, f"poker-{device}-{language}-period-{button}")
        felt.part(button).click()
