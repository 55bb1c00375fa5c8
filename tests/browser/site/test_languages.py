"""The language switch, and the rules in both languages."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Screenshot
from tests.browser.driver.back_office import BackOffice
from tests.browser.driver.navigation import choose_language
from tests.system.platform import Platform


def test_the_language_is_chosen_anywhere_and_kept(each_device_page: Page, screenshot: Screenshot) -> None:
    each_device_page.goto("/")
    expect(each_device_page.get_by_role("heading", level=1)).to_have_text("A mesa está posta.")
    assert each_device_page.locator("html").get_attribute("lang") == "pt"
    choose_language(each_device_page, "EN")
    expect(each_device_page.get_by_role("heading", level=1)).to_have_text("The table is laid.")
    each_device_page.reload()
    expect(each_device_page.get_by_role("heading", level=1)).to_have_text("The table is laid.")
    assert each_device_page.locator("html").get_attribute("lang") == "en"
    size = each_device_page.viewport_size
    assert size is not None
    screenshot(each_device_page, f"english-lobby-{size['width']}x{size['height']}")


@pytest.mark.rule("903-B/2015:6.1.6")
def test_the_rules_are_read_without_playing_in_portuguese_first_and_in_english(
    desktop: Page, platform: Platform
) -> None:
    """All that the platform gives can be read, prizes and limits included."""
    office = BackOffice(platform)
    desktop.goto("/")
    for table_id in ("french-demo", "american-00-solo-demo"):
        card = desktop.locator(f'[data-table="{table_id}"]')
        card.get_by_test_id("card-rules").click()
        rules = desktop.get_by_test_id("rules")
        for language in ("pt", "en"):
            if language == "en":
                rules.get_by_role("button", name="EN").click()
                expect(rules).to_contain_text("O texto português prevalece.")
            shown = rules.locator(f'.markdown[lang="{language}"]')
            expect(shown).to_be_visible()
            said = " ".join(shown.inner_text().split())
            for line in office.rules(table_id, language).splitlines():
                for part in _read(line):
                    assert part in said, (table_id, language, part)
        desktop.keyboard.press("Escape")
        expect(rules).to_have_count(0)


def _read(line: str) -> list[str]:
    """The texts of a line of Markdown."""
    if re.fullmatch(r"[|\s:-]*", line):
        return []
    plain = re.sub(r"\*|`|^#+ |^[-*] |^\d+\. ", "", line.strip())
    return [" ".join(part.split()) for part in plain.split("|") if part.strip()]
