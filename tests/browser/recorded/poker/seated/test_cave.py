"""The player's cave and presence: buying in, topping up, sitting out, resting, leaving, and waiting for a seat."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from tests.browser.driver.navigation import choose_language, open_leave_dialog
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.platform import PokerPlatform
from tests.browser.recorded.poker.table import SEAT_KEPT_MS
from tests.browser.recorded.poker.test_acting import BOARD, HOLES, demo_table, violations
from tools import web

FULL = dict.fromkeys(range(1, 7), 10_000)


def short_of_cave(page: Page, platform: PokerPlatform, **options: object) -> FeltPage:
    """Opens a table at which the player sits without a cave, and may bring 40 to 100."""
    made = demo_table(platform, caves=FULL | {1: 0}, **options)
    made.table.bounds = (4000, 10_000)
    made.table.standings[1] = types_pb2.CAVE_STANDING_SHORT
    return FeltPage(page, made).open()


@pytest.mark.rule("806/2015:8", "806/2015:13")
def test_a_player_who_sits_down_is_asked_for_the_cave_inicial(desktop: Page, platform: PokerPlatform) -> None:
    felt = short_of_cave(desktop, platform)
    expect(felt.part("buy-in")).to_be_visible()
    expect(felt.part("buy-in-bounds")).to_have_text("De 40 créditos a 100 créditos")
    expect(felt.part("buy-in-commission")).to_have_count(0)
    felt.part("amount-field").fill("39")
    expect(felt.part("amount-problem")).to_contain_text("o mínimo é 40 créditos")
    expect(felt.part("buy-in-confirm")).to_have_attribute("aria-disabled", "true")
    felt.part("amount-field").fill("60,5")
    expect(felt.part("buy-in-confirm")).to_have_text("Trazer 60,5 créditos")
    felt.part("amount-field").press("Enter")
    expect(felt.part("buy-in")).to_have_count(0)
    expect(felt.part("own-cave")).to_have_attribute("data-cents", "6050")
    (bought,) = felt.sent("PokerService.BuyIn")
    assert bought["amount_cents"] == "6050"


@pytest.mark.rule("806/2015:17.b")
def test_a_commission_on_caves_is_shown_before_it_is_paid(desktop: Page, platform: PokerPlatform) -> None:
    rules = {"commission_mode": poker_pb2.COMMISSION_MODE_CAVE, "commission_bps": 1000}
    felt = short_of_cave(desktop, platform, rules=rules)
    expect(felt.part("buy-in-commission")).to_have_text("10 créditos")
    expect(felt.part("buy-in-charge")).to_have_attribute("data-debit", "11000")


@pytest.mark.rule("806/2015:11.b", "806/2015:12")
def test_a_top_up_during_a_hand_is_in_play_from_the_next_one_on(desktop: Page, platform: PokerPlatform) -> None:
    made = demo_table(platform, caves=FULL | {1: 5000})
    felt = FeltPage(desktop, made).open().deal(HOLES, BOARD)
    felt.part("open-buy-in").click()
    expect(felt.part("buy-in-next-hand")).to_contain_text("só entra em jogo na próxima")
    felt.part("buy-in-confirm").click()
    expect(felt.part("cave-waiting")).to_have_text("mais 50 créditos na próxima jogada")
    # The player has the small blind: what lies in front of them is what their seat shows.
    expect(felt.part("own-cave")).to_have_attribute("data-cents", "4950")
    felt.expect_cave(1, 4_950)


@pytest.mark.rule("806/2015:15", "806/2015:71")
def test_a_cave_that_is_too_small_has_so_long_to_be_filled(desktop: Page, platform: PokerPlatform) -> None:
    made = demo_table(platform, caves=FULL | {1: 99})
    made.table.standings[1] = types_pb2.CAVE_STANDING_SHORT
    made.table.fill_by = datetime.now(UTC) + timedelta(minutes=5)
    felt = FeltPage(desktop, made).open()
    countdown = felt.part("buy-in").get_by_test_id("fill-by")
    expect(countdown).to_contain_text("Depois a sua sessão nesta mesa termina")
    assert 0 < int(countdown.get_attribute("data-seconds") or 0) <= 300
    felt.part("buy-in-later").click()
    # It stays in sight without the dialog.
    expect(felt.part("fill-by")).to_be_visible()
    felt.part("open-buy-in").click()
    felt.part("buy-in-confirm").click()
    expect(felt.part("fill-by")).to_have_count(0)


def test_a_refused_purchase_says_what_is_possible(desktop: Page, platform: PokerPlatform) -> None:
    felt = short_of_cave(desktop, platform)
    facts = {"amount_cents": "10000", "minimum_cents": "8000", "maximum_cents": "9000", "rule": "806/2015:8"}
    felt.table.do(lambda at: setattr(at, "refusal", ("CAVE_OUT_OF_BOUNDS", facts)))
    felt.part("buy-in-confirm").click()
    expect(felt.part("buy-in-refused")).to_have_text("Pode trazer de 80 créditos a 90 créditos. Nada lhe foi cobrado.")
    expect(felt.part("own-cave")).to_have_attribute("data-cents", "0")


@pytest.mark.rule("806/2015:68")
def test_sitting_out_coming_back_and_resting(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, demo_table(platform)).open()
    bar = felt.part("cave-bar")
    felt.part("sit-out").click()
    expect(bar).to_have_attribute("data-standing", "CAVE_STANDING_AWAY")
    expect(bar).to_contain_text("Está de fora: não recebe cartas")
    felt.part("come-back").click()
    expect(bar).to_contain_text("Espera pela sua primeira jogada")
    felt.part("rest").click()
    expect(bar).to_have_attribute("data-standing", "CAVE_STANDING_RESTING")
    presences = [params["presence"] for params in felt.sent("PokerService.SetPresence")]
    assert presences == ["PRESENCE_AWAY", "PRESENCE_PLAYING", "PRESENCE_RESTING"]


def test_posting_a_big_blind_where_the_table_offers_it(desktop: Page, platform: PokerPlatform) -> None:
    made = demo_table(platform, rules={"entry_mode": poker_pb2.ENTRY_MODE_WAIT_OR_VOLUNTARY_POST})
    made.table.standings[1] = types_pb2.CAVE_STANDING_WAITING
    felt = FeltPage(desktop, made).open()
    felt.part("post").click()
    sent = felt.asked("PokerService.SetPresence")
    assert (sent["presence"], sent["posts_big_blind"]) == ("PRESENCE_PLAYING", True)


@pytest.mark.rule("806/2015:10", "806/2015:69")
def test_leaving_says_what_happens_to_the_hand_under_way(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, demo_table(platform)).open()
    note = felt.part("leave-note")
    open_leave_dialog(desktop)
    expect(note).to_have_text("A sua cave de 100 créditos volta ao seu saldo.")
    desktop.keyboard.press("Escape")
    felt.deal(HOLES, BOARD)
    open_leave_dialog(desktop)
    expect(note).to_contain_text("desiste dela na sua vez, e o que já apostou fica no pote")
    desktop.keyboard.press("Escape")
    felt.play("c c c c r10000")
    open_leave_dialog(desktop)
    expect(note).to_contain_text("vale até ao fim sem si")


def test_waiting_for_a_seat(desktop: Page, platform: PokerPlatform) -> None:
    made = demo_table(platform, seat=0)
    felt = FeltPage(desktop, made)
    desktop.goto(f"/#/table/{made.table_id}")
    expect(felt.part("seat-picker")).to_contain_text("Todos os lugares estão ocupados")
    felt.part("join-waiting-list").click()
    expect(felt.part("waiting-list")).to_contain_text("É o 1.º da lista de espera")
    felt.part("leave-waiting-list").click()
    expect(felt.part("join-waiting-list")).to_be_visible()
    felt.part("join-waiting-list").click()
    expect(felt.part("leave-waiting-list")).to_be_visible()
    felt.table.do(lambda at: at.tell_place(2))
    expect(felt.part("waiting-list")).to_contain_text("É o 2.º da lista de espera")
    # A seat falls free, and is kept.
    felt.table.do(lambda at: at.leave(4))
    felt.table.do(lambda at: at.tell_place(1, 4))
    expect(felt.part("kept-for")).to_contain_text("Fica guardado durante mais")
    # The page learns the platform's time from its messages, and so a little late.
    assert 0 < int(felt.part("kept-for").get_attribute("data-seconds") or 0) <= SEAT_KEPT_MS // 1000 + 1
    # The page was told, and has not asked.
    assert len(felt.sent("PokerService.JoinWaitingList")) == 2
    expect(felt.part("take-kept-seat")).to_have_text("Sentar-me no lugar 4")
    felt.part("take-kept-seat").click()
    expect(felt.part("poker")).to_be_visible()
    (entered,) = felt.sent("TableService.EnterTable")
    assert entered["seat"] == 4


def test_a_seat_that_is_not_taken_in_time_is_lost(desktop: Page, platform: PokerPlatform) -> None:
    made = demo_table(platform, seat=0)
    felt = FeltPage(desktop, made)
    desktop.goto(f"/#/table/{made.table_id}")
    felt.part("join-waiting-list").click()
    expect(felt.part("waiting-list")).to_contain_text("É o 1.º da lista de espera")
    felt.table.do(lambda at: at.leave(4))
    felt.table.do(lambda at: at.tell_place(1, 4))
    expect(felt.part("take-kept-seat")).to_be_visible()
    felt.table.do(lambda at: at.tell_place(0))
    expect(felt.part("waiting-list").get_by_role("status")).to_have_text("Já não está na lista de espera.")
    expect(felt.part("take-kept-seat")).to_have_count(0)
    # Seat 4 is free: there is nothing to wait for.
    expect(felt.part("join-waiting-list")).to_have_count(0)


def test_how_many_wait_is_told_with_the_caves(desktop: Page, platform: PokerPlatform) -> None:
    made = demo_table(platform, seat=0)
    felt = FeltPage(desktop, made)
    desktop.goto(f"/#/table/{made.table_id}")
    expect(felt.part("waiting-list")).to_contain_text("Quando um lugar ficar livre")
    felt.table.do(lambda at: setattr(at, "waiting", 3))
    felt.table.do(lambda at: at.tell_caves())
    expect(felt.part("waiting-list")).to_contain_text("Esperam 3 jogadores")


@pytest.mark.parametrize("language", ["PT", "EN"])
@pytest.mark.parametrize("size", [(390, 844), (1440, 900)])
def test_the_dialog_is_whole_and_accessible(
    desktop_open: Page, platform: PokerPlatform, language: str, size: tuple[int, int]
) -> None:
    page = desktop_open
    page.set_viewport_size({"width": size[0], "height": size[1]})
    made = demo_table(platform, caves=FULL | {1: 5000})
    made.table.bounds = (100, 5000)
    felt = FeltPage(page, made).open()
    choose_language(page, language)
    felt.part("open-buy-in").click()
    expect(felt.part("buy-in")).to_be_visible()
    page.add_script_tag(path=web.PACKAGES / "axe-core" / "axe.min.js")
    assert violations(page) == []
    # By keyboard alone: to the amount, an amount, and Enter.
    expect(page.get_by_role("heading", name="Reforçar a cave" if language == "PT" else "Top up")).to_be_focused()
    felt.part("amount-field").focus()
    page.keyboard.type("20")
    expect(felt.part("buy-in-charge")).to_have_attribute("data-debit", "2000")
    page.keyboard.press("Enter")
    expect(felt.part("own-cave")).to_have_attribute("data-cents", "7000")
    # The focus is where it was before.
    expect(felt.part("open-buy-in")).to_be_focused()
