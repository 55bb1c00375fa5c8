"""In Macau's baccarat the table's own limit can be read on every screen, while one bets."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.driver.baccarat_page import BaccaratPage
from tests.browser.driver.navigation import choose_language
from tests.browser.driver.rest import Json
from tests.browser.recorded import answers
from tests.browser.recorded.baccarat import TABLE

LIMIT = {
    "PT": "Prémios da mesa até 10\u00a0000 créditos por jogada",
    "EN": "Prizes of the table up to 10,000 credits a round",
}
# Words of the limit that do not lie wholly on the cloth, or are too small.
_CUT = """
(terms) => {
  const box = terms.getBoundingClientRect();
  const felt = terms.closest(".baccarat-felt").getBoundingClientRect();
  const cut = [];
  if (box.left < felt.left || box.right > felt.right || box.top < felt.top || box.bottom > felt.bottom) cut.push("cut");
  if (terms.scrollWidth > terms.clientWidth + 1) cut.push("too wide");
  if (Number.parseFloat(getComputedStyle(terms).fontSize) < 10) cut.push("too small");
  for (const chance of document.querySelectorAll(".chance")) {
    const other = chance.getBoundingClientRect();
    if (other.bottom > box.top + 1 && other.top < box.bottom - 1) cut.push(`on ${chance.dataset.testid}`);
  }
  return cut;
}
"""


@pytest.fixture
def macau(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorded table, under the rules of Macau."""
    read = answers.read

    def with_macau(name: str) -> Json:
        recorded = read(name)
        if name == TABLE:
            layout = recorded["BaccaratService.GetLayout"]
            layout["rules"] |= {"macau": True, "prize_cap_cents": "1000000", "player_maximum_cents": "5000000"}
            for chance in layout["chances"]:
                chance["maximum_cents"] = "0"
        return recorded

    monkeypatch.setattr(answers, "read", with_macau)


@pytest.mark.rule("812/2015:41", "903-B/2015:6.2.2")
@pytest.mark.usefixtures("macau")
@pytest.mark.parametrize("size", [(320, 568), (390, 844), (667, 375), (768, 1024), (1440, 900)])
def test_the_limit_of_the_table_is_on_the_cloth(new_context: NewContext, size: tuple[int, int]) -> None:
    width, height = size
    page = new_context("portrait", viewport={"width": width, "height": height}).new_page()
    table = BaccaratPage(page, TABLE).open()
    for language in ("PT", "EN"):
        choose_language(page, language)
        terms = page.get_by_test_id("terms")
        expect(terms).to_contain_text(LIMIT[language])
        assert terms.evaluate(_CUT) == []
    table.bet({"banca": 500})
