"""A guest's first pages: nothing is asked for that must fail, and the browser's console stays empty."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Request, Response, expect

from tests.browser.conftest import DEVICES, NewContext
from tests.browser.driver.navigation import choose_language
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE


class _Log:
    """What the console says and what failed on the network."""

    def __init__(self, page: Page) -> None:
        self.lines: list[str] = []
        self.answered: list[str] = []
        page.on("console", lambda message: self.lines.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.lines.append(f"uncaught: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._answer)

    def _failed(self, request: Request) -> None:
        self.lines.append(f"failed: {request.method} {request.url} {request.failure}")

    def _answer(self, response: Response) -> None:
        self.answered.append(response.url)
        if response.status >= 400:
            self.lines.append(f"{response.status}: {response.url}")


@pytest.mark.parametrize("device", DEVICES)
def test_a_guest_s_first_pages_leave_console_and_network_clean(new_context: NewContext, device: str) -> None:
    page = new_context(device).new_page()
    log = _Log(page)
    page.goto("/")
    expect(page.get_by_test_id("play-now")).to_be_visible()
    # The page asks the operator's site who plays, and shows nothing before it knows.
    assert any(url.endswith("/operator/token") for url in log.answered)
    page.get_by_test_id("play-now").click()
    table = TablePage(page, TABLE)
    table.wait_until_playable()
    choose_language(page, "EN")
    # A guest who comes back.
    page.reload()
    table.wait_until_playable()
    page.goto("/#/account/rounds")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto("/#/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert log.lines == []
