"""The rules of a table: all of them, for anybody, in Portuguese first."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.navigation import new_name, open_panel
from tests.browser.driver.player import Player
from tests.system.platform import Platform

KINDS = {
    "STRAIGHT": "Pleno",
    "SPLIT": "Cavalo",
    "STREET": "Rua",
    "CORNER": "Quadro",
    "SIX_LINE": "Linha",
    "DOZEN": "Dúzia",
    "COLUMN": "Coluna",
    "DOUBLE_DOZEN": "Cavalo de dúzia",
    "DOUBLE_COLUMN": "Cavalo de coluna",
    "EVEN": "Par",
    "ODD": "Ímpar",
    "LOW": "Menor",
    "HIGH": "Maior",
    "RED": "Encarnado",
    "BLACK": "Preto",
}


@pytest.mark.rule("903-B/2015:6.1.6", "903-B/2015:6.2.2")
def test_whoever_does_not_play_can_read_them_too(
    new_context: NewContext, screenshot: Screenshot, platform: Platform
) -> None:
    # Portuguese comes first whatever a browser speaks.
    page = new_context(locale="en-GB").new_page()
    page.goto("/#/table/french")
    expect(page.get_by_role("heading", level=1)).to_have_text("Roleta francesa")
    open_panel(page, "rules")
    sheet = page.get_by_test_id("rules")
    expect(sheet.get_by_role("heading", name="O cilindro")).to_be_visible()
    screenshot(page, "rules-desktop")
    player = Player.with_account(platform, new_name("leitor"))
    portuguese = player.rules("french", "pt")
    _is_shown_whole(sheet, portuguese)
    _names_every_prize(sheet, player)

    sheet.get_by_role("button", name="EN").click()
    expect(sheet.get_by_role("heading", name="The wheel")).to_be_visible()
    english = player.rules("french", "en")
    _is_shown_whole(sheet, english)
    # Equal in content: every number that the one names the other names too.
    assert sorted(re.findall(r"\d+", english)) == sorted(re.findall(r"\d+", portuguese))


def _is_shown_whole(sheet: Locator, text: str) -> None:
    """Every word, without the marks of its Markdown."""
    words = re.sub(r"^\d+\. ", "", text, flags=re.MULTILINE)
    shown = sheet.locator(".markdown").text_content() or ""
    assert re.sub(r"\W", "", shown) == re.sub(r"\W", "", words)


def _names_every_prize(sheet: Locator, player: Player) -> None:
    """With the least and the most that may be bet."""
    rows = {}
    for row in sheet.locator("tbody tr").all():
        first, *rest = row.locator("td").all_inner_texts()
        rows[first] = rest
    for place in player.layout("french")["places"]:
        halves = place["prize_halves"]
        least, most = (f"{int(place[f'{which}_cents']) // 100},00" for which in ("minimum", "maximum"))
        _, minimum, maximum, prize = rows[KINDS[place["kind"].removeprefix("KIND_")]]
        assert prize == ("½ ×" if halves == 1 else f"{halves // 2} ×")
        assert (minimum.split()[0], maximum.split()[0]) == (least, most)
    assert "O maior prémio é de 35 vezes a aposta" in (sheet.text_content() or "")
