"""The first visit: three clicks to a result that is understood, and found again."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Screenshot
from tests.browser.driver.navigation import open_panel
from tests.browser.driver.player import Player
from tests.browser.driver.table_page import TablePage, cents_in
from tests.system.platform import Platform


def test_three_clicks_to_a_result_that_is_understood_and_found_again(
    each_device_page: Page, platform: Platform, screenshot: Screenshot
) -> None:
    page = each_device_page
    page.goto("/")
    page.get_by_test_id("play-now").click()
    expect(page).to_have_url(re.compile("#/table/"))
    table = TablePage(page, page.url.rpartition("/")[2])
    table.wait_until_playable()
    expect(table.phase).to_contain_text("Façam as vossas apostas")
    table.place_chips("red")
    expect(table.part("staked")).to_have_text("1 crédito")
    table.spin()

    called = table.part("outcome-called")
    expect(called).to_have_attribute("data-verdict", re.compile("won|lost"))
    (round_,) = Player.demo_player_of(platform, page).rounds()
    number, paid = round_["round"]["outcome"]["number"], int(round_["payout_cents"])
    expect(called.locator(".outcome-number")).to_have_text(number)
    told = table.part("outcome-result").inner_text()
    if paid:
        assert told.startswith("Ganhou"), told
        assert cents_in(called.inner_text()) == [100, 200, 100, 100]
    else:
        assert told.startswith("Perdeu"), told
        assert cents_in(told) == [100]
        expect(called).to_contain_text("Nenhuma aposta premiada")
    size = page.viewport_size
    assert size is not None
    # Large, where the ball has just come to rest.
    expect(table.wheel.locator(".wheel-called")).to_have_text(number)
    screenshot(page, f"newcomer-result-{size['width']}x{size['height']}")

    open_panel(page, "last")
    story = page.get_by_test_id("round-story")
    expect(story.get_by_test_id("round-told")).to_have_attribute("data-number", number)
    expect(story.locator(".round-net")).to_have_text("Ganhou 1 crédito" if paid else "Perdeu 1 crédito")
    row = story.locator('[data-place="red"]')
    expect(row.get_by_role("rowheader")).to_have_text("Encarnado")
    expect(row.get_by_role("cell")).to_have_text(["1", "2" if paid else "0", "1" if paid else "0"])
    expect(story.get_by_role("definition").filter(has_text="→")).to_have_text(_moved(round_))
    expect(story).to_contain_text(round_["round"]["round_id"])
    screenshot(page, f"newcomer-last-round-{size['width']}x{size['height']}")


def _moved(round_: dict[str, str]) -> re.Pattern[str]:
    before, after = (int(round_[f"balance_{when}_cents"]) // 100 for when in ("before", "after"))
    return re.compile(rf"{_spaced(before)} créditos → {_spaced(after)} créditos")


def _spaced(whole: int) -> str:
    """Matches however the language groups digits."""
    return r"\s?".join(f"{whole:,}".split(","))
