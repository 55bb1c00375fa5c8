"""A player chooses a seat before they sit down, sees others come and go meanwhile, and may be too slow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewContext
from tests.browser.driver.navigation import choose_language
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform

# The seats lie wholly on the screen, and none lies on another or on the button for any seat.
_MISPLACED = """
() => {
  const boxes = [...document.querySelectorAll(".seat-picker button")].map((button) => {
    const { left, top, right, bottom } = button.getBoundingClientRect();
    const round = button.classList.contains("seat-picker-seat");
    return { name: button.dataset.testid, left, top, right, bottom, round };
  });
  const misplaced = [];
  const center = (box) => [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const meet = (one, other) => {
    if (!one.round || !other.round) {
      return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
    }
    const [[x, y], [a, b]] = [center(one), center(other)];
    return Math.hypot(x - a, y - b) < (one.right - one.left + other.right - other.left) / 2;
  };
  for (const [index, box] of boxes.entries()) {
    if (box.left < 0 || box.right > innerWidth) misplaced.push(`${box.name} is beside the screen`);
    if (box.right - box.left < 44 || box.bottom - box.top < 44) misplaced.push(`${box.name} is small`);
    for (const other of boxes.slice(index + 1)) if (meet(box, other)) misplaced.push(`${box.name} on ${other.name}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) misplaced.push("the page is too wide");
  return misplaced;
}
"""


def _open(page: Page, platform: BlackjackPlatform, *others: int) -> FeltPage:
    table = platform.table(individual=False, places=7, seat=0, others=others)
    return FeltPage(page, table).open_to_choose()


def _free(felt: FeltPage) -> Locator:
    return felt.part("seat-picker").locator(".seat-picker-seat[aria-disabled=false]")


@pytest.mark.rule("805/2015:4.a")
def test_a_player_sits_down_on_the_seat_they_choose(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = _open(desktop, platform, 2, 5)
    picker = felt.part("seat-picker")
    expect(picker.get_by_role("status")).to_have_text("Lugares livres: 5 de 7")
    expect(_free(felt)).to_have_count(5)
    expect(felt.part("seat-2")).to_have_attribute("aria-disabled", "true")
    felt.part("seat-2").click(force=True)
    felt.part("seat-6").click()
    felt.expect_seated()
    expect(felt.part("seat-picker")).to_have_count(0)
    assert felt.table.table.seat == 6
    # The seat is the player's place.
    felt.bet(6)


def test_any_free_seat_will_do(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = _open(desktop, platform, 1, 2)
    felt.part("any-seat").click()
    felt.expect_seated()
    assert felt.table.table.seat == 3


def test_seats_change_while_the_player_looks(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = _open(desktop, platform, 1, 2, 3, 4, 5, 6)
    status = felt.part("seat-picker").get_by_role("status")
    expect(status).to_have_text("Lugares livres: 1 de 7")
    felt.part("seat-7").focus()
    felt.table.do(lambda at: at.sit(7))
    expect(status).to_have_text("Todos os lugares estão ocupados")
    expect(felt.part("any-seat")).to_have_count(0)
    # The focus stays where it was, and the seat cannot be taken.
    expect(felt.part("seat-7")).to_be_focused()
    desktop.keyboard.press("Enter")
    felt.table.do(lambda at: at.leave(4))
    expect(status).to_have_text("Lugares livres: 1 de 7")
    felt.part("seat-4").click()
    felt.expect_seated()
    assert felt.table.table.seat == 4


def test_a_player_who_was_too_slow_chooses_another_seat(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = _open(desktop, platform)
    # The other player's coming has not been told yet.
    felt.table.do(lambda at: at.taken.add(4))
    felt.part("seat-4").click()
    alert = felt.part("seat-picker").get_by_role("alert")
    expect(alert).to_have_text("No lugar 4 acabou de se sentar outro jogador. Escolha outro.")
    expect(felt.part("seat-4")).to_have_attribute("aria-disabled", "true")
    felt.part("seat-5").click()
    felt.expect_seated()
    assert felt.table.table.seat == 5


def test_a_seat_is_chosen_with_the_keyboard_and_heard(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = _open(desktop, platform, 1)
    choose_language(desktop, "EN")
    picker = felt.part("seat-picker")
    expect(picker).to_have_role("region")
    expect(picker).to_have_accessible_name("Choose your seat")
    expect(felt.part("seat-1")).to_have_accessible_name("Seat 1 Taken")
    expect(felt.part("seat-2")).to_have_accessible_name("Seat 2 Free")
    felt.part("seat-1").focus()
    desktop.keyboard.press("Tab")
    expect(felt.part("seat-2")).to_be_focused()
    desktop.keyboard.press("Space")
    felt.expect_seated()
    # The next key does not begin at the top of the page again.
    expect(desktop.locator("#main")).to_be_focused()


@pytest.mark.parametrize("size", [(320, 568), (390, 844), (568, 320), (844, 390), (768, 1024), (1440, 900)])
@pytest.mark.parametrize("seats", [2, 7])
def test_seats_have_room_on_every_screen(
    new_context: NewContext, platform: BlackjackPlatform, size: tuple[int, int], seats: int
) -> None:
    width, height = size
    page = new_context("portrait", viewport={"width": width, "height": height}).new_page()
    table = platform.table(individual=False, places=seats, seat=0, others=(1,))
    FeltPage(page, table).open_to_choose()
    for language in ("PT", "EN"):
        choose_language(page, language)
        expect(page.get_by_test_id("seat-2")).to_have_accessible_name(
            re.compile("Lugar" if language == "PT" else "Seat")
        )
        assert page.evaluate(_MISPLACED) == []
