"""The steps around a game, on any device."""

from __future__ import annotations

import uuid

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import LogIn


def new_name(who: str) -> str:
    """Returns a name that nobody has played under."""
    return f"{who}-{uuid.uuid4().hex[:8]}"


def new_player_page(context: BrowserContext, log_in: LogIn, who: str) -> tuple[Page, str]:
    """Logs a new player in, with 100 €; returns a blank page and the player's name."""
    name = new_name(who)
    log_in(context, name)
    return context.new_page(), name


def open_panel(page: Page, what: str) -> None:
    """Opens `rules`, `last`, `history` or `complaint` at a table, wherever the device has it."""
    button = page.get_by_test_id(f"open-{what}")
    if button.is_visible():
        button.click()
        return
    page.get_by_test_id("table-more").click()
    page.get_by_test_id(f"menu-{what}").click()


def open_leave_dialog(page: Page) -> None:
    """Opens the dialog that asks how to leave a table."""
    button = page.get_by_test_id("leave")
    if button.is_visible():
        button.click()
        return
    page.get_by_test_id("table-more").click()
    page.get_by_test_id("menu-leave").click()


def end_session(page: Page) -> Locator:
    """Ends the session at a table; returns the summary that is shown."""
    open_leave_dialog(page)
    page.get_by_test_id("end-session").click()
    summary = page.get_by_test_id("session-over")
    expect(summary).to_be_visible()
    return summary


def choose_language(page: Page, language: str) -> None:
    """Chooses `PT` or `EN`, wherever the device has the switch."""
    switch = page.locator("header").get_by_test_id("language-switch").get_by_role("button", name=language)
    shown = switch.and_(page.locator(":visible"))
    if shown.count():
        shown.first.click()
        return
    menu = page.get_by_test_id("menu").or_(page.get_by_test_id("table-more"))
    menu.click()
    shown.first.click()
    page.keyboard.press("Escape")
