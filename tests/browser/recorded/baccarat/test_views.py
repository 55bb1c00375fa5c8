"""Every view of a baccarat table: accessible as far as a program can tell, and whole in both languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.baccarat_page import BaccaratPage
from tests.browser.driver.navigation import open_leave_dialog, open_panel
from tests.browser.driver.view_checks import MISSING, texts, violations, words
from tests.browser.recorded.baccarat import TABLE, speaking
from tests.browser.recorded.platform import RecordedPlatform


def _views(page: Page) -> Iterator[str]:
    """Yields the name of each view of the table, while it is shown."""
    table = BaccaratPage(page, TABLE).open()
    yield "table"
    table.bet({"banca": 200, "ponto-pair": 100})
    yield "bets"
    table.chance("ponto").click()
    table.chance("ponto").click()
    expect(table.part("message")).not_to_be_empty()
    yield "refused"
    table.deal()
    table.expect_stage("dealing")
    yield "dealing"
    table.expect_stage("paid")
    yield "result"
    if table.part("open-roads").is_visible():
        table.part("open-roads").click()
        yield "roads"
        page.keyboard.press("Escape")
    for what in ("rules", "last", "history", "complaint"):
        open_panel(page, what)
        expect(page.get_by_role("dialog")).to_be_visible()
        if what == "rules":
            expect(page.get_by_test_id("rules").locator("table").first).to_be_visible()
        if what == "last":
            expect(page.get_by_test_id("round-told")).to_be_visible()
        if what == "history":
            page.get_by_test_id("round").click()
            expect(page.get_by_test_id("round-told")).to_be_visible()
        yield what
        page.keyboard.press("Escape")
    open_leave_dialog(page)
    yield "leave"
    page.keyboard.press("Escape")
    page.goto("/#/")
    page.get_by_test_id("game-baccarat").click()
    expect(page.get_by_test_id("table-card").first).to_be_visible()
    expect(page.get_by_role("heading", level=2).filter(has_text="oleta")).to_have_count(0)
    yield "lobby"


@pytest.mark.rule("903-B/2015:6.1.6")
@pytest.mark.parametrize("device", ["desktop", "portrait", "landscape"])
def test_every_view_is_accessible_and_whole_in_both_languages(
    new_context: NewContext, screenshot: Screenshot, device: str, platform: RecordedPlatform
) -> None:
    problems: list[str] = []
    found: dict[str, dict[str, list[str]]] = {}
    for language in ("pt", "en"):
        spoken = speaking(language, platform.url)
        page = new_context(device, reduced_motion="reduce", bypass_csp=True, storage_state=spoken).new_page()
        found[language] = {}
        for name in _views(page):
            screenshot(page, f"baccarat-{device}-{language}-{name}")
            found[language][name] = texts(page)
            problems += [f"{name} {language}: {violation}" for violation in violations(page)]
            problems += [f"{name} {language}: «{text}» is no text" for text in texts(page) if MISSING.search(text)]
    here, there = found["pt"], found["en"]
    assert here.keys() == there.keys()
    for name, said in here.items():
        left_over = words(said) & words(there[name])
        problems += [f"{name}: «{text}» is in both languages" for text in sorted(left_over)]
    assert not problems, "\n".join(problems)
