"""What somebody does around a game, on whatever device."""

from __future__ import annotations

import uuid

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import LogIn


def new_name(who: str) -> str:
    """Nobody has played under it."""
    return f"{who}-{uuid.uuid4().hex[:8]}"


def new_player_page(context: BrowserContext, log_in: LogIn, who: str) -> tuple[Page, str]:
    """Somebody new logs in, with 100 €; his page, before it is opened, and his name."""
    name = new_name(who)
    log_in(context, name)
    return context.new_page(), name


def open_panel(page: Page, what: str) -> None:
    """At a table: `rules`, `last`, `history` or `complaint`, wherever the device has it."""
    button = page.get_by_test_id(f"open-{what}")
    if button.is_visible():
        button.click()
        return
    page.get_by_test_id("table-more").click()
    page.get_by_test_id(f"menu-{what}").click()


def open_leave_dialog(page: Page) -> None:
    """At a table: the dialog that asks how."""
    button = page.get_by_test_id("leave")
    if button.is_visible():
        button.click()
        return
    page.get_by_test_id("table-more").click()
    page.get_by_test_id("menu-leave").click()


def end_session(page: Page) -> Locator:
    """At a table; the summary that one is shown."""
    open_leave_dialog(page)
    page.get_by_test_id("end-session").click()
    summary = page.get_by_test_id("session-over")
    expect(summary).to_be_visible()
    return summary


def choose_language(page: Page, language: str) -> None:
    """`PT` or `EN`, wherever the device has the switch."""
    switch = page.locator("header").get_by_test_id("language-switch").get_by_role("button", name=language)
    shown = switch.and_(page.locator(":visible"))
    if shown.count():
        shown.first.click()
        return
    menu = page.get_by_test_id("menu").or_(page.get_by_test_id("table-more"))
    menu.click()
    shown.first.click()
    page.keyboard.press("Escape")
