"""The table as the regulations demand it: seats, caves and pots in euros, markers, common cards, whose turn it is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.browser.conftest import NewContext, Screenshot
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.hands import (
    BOARD,
    FOUR_CAVES,
    SIX,
    TEN_CAVES,
    TWO_CAVES,
    to_flop,
    to_river,
    to_side_pot,
)
from tests.browser.recorded.poker.platform import PokerPlatform
from tests.browser.recorded.poker.rules import both

EURO = "\u00a0€"
SIZES = {"phone": (390, 844), "small": (360, 640), "tablet": (820, 1180), "wide": (1440, 900), "side": (844, 390)}
# Plates that lie on one another, on a common card or on the player's own cards, or off the screen.
_UPON = """
() => {
  const box = (part, name) => ({ name, ...part.getBoundingClientRect().toJSON() });
  const plates = [...document.querySelectorAll(".poker-plate")].map((plate) =>
    box(plate, plate.parentElement.dataset.testid));
  const slots = [...document.querySelectorAll(".poker-slot")].map((slot) => box(slot, "a common card"));
  const room = document.querySelector(".poker-room").getBoundingClientRect();
  const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
    && one.top < other.bottom - 1 && other.top < one.bottom - 1;
  const found = [];
  for (const [index, plate] of plates.entries()) {
    for (const other of [...plates.slice(index + 1), ...slots]) {
      if (meet(plate, other)) found.push(`${plate.name} on ${other.name}`);
    }
    if (plate.left < 0 || plate.right > innerWidth || plate.top < room.top || plate.bottom > room.bottom + 1) {
      found.push(`${plate.name} is cut`);
    }
  }
  return found;
}
"""
# The seat to which the button lies nearest.
_NEAREST_TO_BUTTON = """
() => {
  const middle = (part) => {
    const box = part.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const mark = middle(document.querySelector(".poker-button"));
  const away = (seat) => Math.hypot(middle(seat).x - mark.x, middle(seat).y - mark.y);
  const seats = [...document.querySelectorAll(".poker-seat")];
  return seats.reduce((one, other) => (away(other) < away(one) ? other : one)).dataset.testid;
}
"""


@both("3", "4.a")
@pytest.mark.parametrize("seats", [2, 6, 10])
@pytest.mark.parametrize("size", SIZES)
def test_seats_are_clearly_separated_on_every_screen(
    new_context: NewContext, platform: PokerPlatform, screenshot: Screenshot, size: str, seats: int
) -> None:
    width, height = SIZES[size]
    page = new_context("desktop", viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()
    caves = dict.fromkeys(range(1, seats + 1), 10000)
    felt = FeltPage(page, platform.table(seats=seats, caves=caves, button=seats)).open()
    expect(page.locator(".poker-plate")).to_have_count(seats)
    felt.deal()
    screenshot(page, f"poker-{size}-{seats}-seats")
    assert page.evaluate(_UPON) == []


@both("4.a")
def test_free_seats_are_shown_as_free(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table(caves={1: 10_000, 4: 5_000})).open()
    expect(felt.seat(2)).to_contain_text("Livre")
    felt.table.do(lambda table: table.sit(2, 7_500))
    felt.expect_cave(2, 7_500)
    felt.table.do(lambda table: table.leave(4))
    expect(felt.seat(4)).to_contain_text("Livre")


@both("4.d", "4.e", "13")
def test_caves_bets_and_the_pot_are_in_chips_and_euros(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_flop(FeltPage(desktop, platform.table()).open())
    felt.play("r450")
    for seat, cents, text in [(1, 9_250, "92,50"), (2, 10_000, "100,00"), (3, 9_700, "97,00"), (6, 9_950, "99,50")]:
        felt.expect_cave(seat, cents)
        expect(felt.seat(seat).locator(".plate-amount")).to_have_text(f"{text}{EURO}")
        expect(felt.seat(seat).locator(".plate-cave .chip")).not_to_have_count(0)
    expect(felt.part("bet-1")).to_contain_text(f"4,50{EURO}")
    # Chips have face values: the largest one of 4.50 is worth 2.50.
    expect(felt.part("bet-1").locator(".chip-value").last).to_have_text(re.compile(r"^(0,5|1|2,5)$"))
    expect(felt.part("pot-0")).to_contain_text(f"Pote 9,50{EURO}")
    expect(felt.part("total")).to_have_text(f"Com as apostas: 14,00{EURO}")


def test_a_demonstration_plays_for_credits(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_flop(FeltPage(desktop, platform.table(mode=wallet_types.MODE_DEMO)).open())
    expect(felt.seat(3).locator(".plate-amount")).to_have_text("97")
    expect(felt.part("pot-0")).to_contain_text("9,5")
    expect(desktop.locator(".poker")).not_to_contain_text("€")


@both("2.p", "41")
def test_the_main_pot_and_the_side_pot_are_apart_and_have_names(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_side_pot(FeltPage(desktop, platform.table(seats=4, caves=FOUR_CAVES)).open())
    expect(felt.part("pot-0")).to_contain_text(f"Pote principal 60,50{EURO}")
    expect(felt.part("pot-1")).to_contain_text(f"Pote lateral 1 10,00{EURO}")
    expect(felt.seat(2)).to_contain_text("All in")


@both("2.c", "4.c", "47")
def test_the_button_lies_at_its_seat_and_moves_to_the_next_one(
    new_context: NewContext, platform: PokerPlatform
) -> None:
    # It does not glide there.
    desktop = new_context("desktop", reduced_motion="reduce").new_page()
    felt = FeltPage(desktop, platform.table(caves={1: 10_000, 3: 10_000, 6: 10_000})).open()
    expect(felt.part("button")).to_have_count(0)
    for seat in (3, 6, 1):
        felt.deal(button=seat)
        expect(felt.part("button")).to_have_attribute("data-seat", str(seat))
        expect(felt.seat(seat)).to_contain_text("Botão: tem a mão")
        desktop.wait_for_function(f"seat => ({_NEAREST_TO_BUTTON})() === seat", arg=f"seat-{seat}")
        felt.play("f f")
        felt.expect_stage("result")


def test_the_blinds_have_their_marks(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table()).open().deal(button=4)
    expect(felt.seat(5).get_by_test_id("marker-SB")).to_be_visible()
    expect(felt.seat(6).get_by_test_id("marker-BB")).to_be_visible()


@both("2.e", "55")
def test_common_cards_lie_side_by_side_the_turn_next_to_the_flop(
    new_context: NewContext, platform: PokerPlatform
) -> None:
    # No card is still on its way when the test looks.
    desktop = new_context("desktop", reduced_motion="reduce").new_page()
    felt = to_river(FeltPage(desktop, platform.table()).open())
    expect(felt.part("board")).to_have_accessible_name(
        "Cartas viradas: valete de espadas, dama de paus, rei de ouros, 4 de copas e 2 de copas"
    )
    boxes = [card.bounding_box() for card in felt.part("board").locator(".playing-card").all()]
    lefts = [box["x"] for box in boxes if box is not None]
    assert len(lefts) == 5
    assert lefts == sorted(lefts)


@both("3")
def test_what_players_do_is_seen_at_their_seats(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table()).open().deal(SIX, BOARD, button=5)
    felt.play("f c r300")
    expect(felt.seat(2)).to_contain_text("Desistiu")
    expect(felt.seat(3)).to_contain_text("Acompanhou")
    expect(felt.seat(4)).to_contain_text("Subiu")
    # Who has folded has no cards any more.
    expect(felt.seat(2).locator(".playing-card")).to_have_count(0)
    expect(felt.seat(3).locator(".playing-card")).to_have_count(2)


def test_the_clock_shows_whose_turn_it_is_and_the_time_bank_after_it(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table()).open().deal(button=5)
    expect(felt.seat(2).get_by_test_id("turn-seconds")).to_have_attribute("data-stage", "usual")
    expect(felt.part("status")).to_contain_text("Decide o lugar 2")
    felt.play("f")
    expect(felt.seat(3).get_by_test_id("turn-seconds")).to_be_visible()
    expect(felt.part("turn-seconds")).to_have_count(1)
    felt.table.do(lambda table: table.pause())
    expect(felt.part("turn-seconds")).to_have_text("Relógio parado")


def test_the_time_bank_runs_when_the_time_to_decide_is_over(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table(decision_ms=5_000, time_bank_ms=290_000)).open().deal(button=5)
    expect(felt.part("turn-seconds")).to_have_attribute("data-stage", "extra")
    expect(felt.part("turn-seconds")).to_have_text(re.compile(r"^\+\d+ s$"))


def test_standings_and_lost_connections_are_seen(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table()).open()
    for standing, text in [
        (types_pb2.CAVE_STANDING_AWAY, "Ausente"),
        (types_pb2.CAVE_STANDING_RESTING, "Em pausa"),
        (types_pb2.CAVE_STANDING_WAITING, "Entra a seguir"),
        (types_pb2.CAVE_STANDING_SHORT, "Sem cave"),
        (types_pb2.CAVE_STANDING_LEAVING, "A sair"),
    ]:
        felt.table.do(lambda table, standing=standing: table.stand(3, standing))  # type: ignore[misc]
        expect(felt.seat(3).locator(".plate-state")).to_have_text(text)

    felt.table.do(lambda table: table.lose_connection(4))
    expect(felt.seat(4).locator(".plate-state")).to_have_text("sem ligação")


def test_a_table_waits_for_a_second_player(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table(caves={1: 10_000})).open()
    expect(felt.part("status")).to_contain_text("À espera de jogadores")
    felt.table.do(lambda table: table.sit(2, 10_000))
    expect(felt.part("status")).to_contain_text("A próxima jogada vai começar")


def test_a_void_hand_leaves_caves_as_they_were(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_flop(FeltPage(desktop, platform.table()).open())
    felt.table.do(lambda table: table.void())
    expect(felt.part("status")).to_contain_text("Jogada nula")
    for seat in range(1, 7):
        felt.expect_cave(seat, 10_000)
        felt.expect_cards(seat, "")


def test_two_players_and_ten(desktop: Page, platform: PokerPlatform) -> None:
    two = FeltPage(desktop, platform.table(seats=2, caves=TWO_CAVES, button=2)).open().deal("AsKs QhQd", BOARD)
    two.expect_cave(1, 12_295)
    two.expect_cards(1, "As Ks")
    ten = FeltPage(desktop, platform.table(seats=10, caves=TEN_CAVES, button=4)).open().deal()
    for seat in range(1, 11):
        expect(ten.seat(seat).locator(".playing-card")).to_have_count(2)
