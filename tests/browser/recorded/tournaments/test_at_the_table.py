"""A table of a tournament: how it stands, chips and not money, who is away, more chips, and moving to another table."""

from __future__ import annotations

import re
from typing import cast

import pytest
from playwright.sync_api import Page, expect

from feltro.poker.v1 import tournament_pb2
from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.view_checks import violations
from tests.browser.recorded.directed.messages import in_ms, moment
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.hands import BOARD, SIX
from tests.browser.recorded.tournaments.platform import TournamentPlatform
from tests.browser.recorded.tournaments.tournament import DirectedTournament
from tests.browser.recorded.tournaments.tournament_table import TournamentTable

LATER_MS = 300_000
# Lines of the table that lie over one another.
_COVERED = """
() => {
  const lines = [...document.querySelectorAll(".poker-status > *, .tournament-line > :not(.unseen), .poker-seat")];
  const boxes = lines.map((line) => [line.textContent, line.getBoundingClientRect()]);
  const overlap = (from, until, its, end) => from < end - 1 && its < until - 1;
  const covered = [];
  boxes.forEach(([text, box], at) => {
    for (const [other, its] of boxes.slice(at + 1)) {
      const across = overlap(box.left, box.right, its.left, its.right);
      if (across && overlap(box.top, box.bottom, its.top, its.bottom)) covered.push(`${text} / ${other}`);
    }
  });
  return covered;
}
"""


def seated(page: Page, platform: TournamentPlatform) -> tuple[FeltPage, DirectedTournament, TournamentTable]:
    """Opens the table of a player who sits at seat 1 of a tournament that has started."""
    tournament = platform.tournament()
    directed = platform.inner_table(tournament)
    tournament.start(directed.table_id, 1)
    return FeltPage(page, directed).open(), tournament, cast("TournamentTable", directed.table)


def tell(platform: TournamentPlatform, tournament: DirectedTournament, event: str) -> None:
    """Tells the player what concerns them alone; the page then reads how they stand."""
    kind = tournament_pb2.OwnTournamentEvent.Value(f"OWN_TOURNAMENT_EVENT_{event}")
    platform.tell(tournament, tournament_pb2.OwnTournamentNotice(tournament_id=tournament.tournament_id, event=kind))


def test_the_table_tells_how_the_tournament_stands(desktop: Page, platform: TournamentPlatform) -> None:
    felt, tournament, table = seated(desktop, platform)
    expect(felt.part("level")).to_have_text("Nível 1 50 / 100 · a seguir 75 / 150")
    expect(felt.part("level-clock")).to_have_text(re.compile(r"Até ao próximo nível \d:\d\d$"))
    expect(felt.part("players-left")).to_contain_text("12 em jogo")
    expect(felt.part("players-left")).to_contain_text("média 1")
    expect(felt.part("own-place")).to_contain_text("2.º lugar")
    expect(felt.part("tournament-said")).to_have_text("Nível 1, blinds 50 / 100.")

    def next_level() -> None:
        table.notice.level, table.notice.small_blind, table.notice.big_blind = 2, 75, 150
        table.notice.hand_for_hand = True
        table.tell_caves()

    platform.do(next_level)
    expect(felt.part("level")).to_contain_text("75 / 150")
    expect(felt.part("hand-for-hand")).to_be_visible()
    expect(felt.part("tournament-said")).to_have_text("Nível 2, blinds 75 / 150. Joga-se mão a mão.")

    def take_a_break() -> None:
        table.notice.ClearField("level_ends_at")
        table.notice.break_until.CopyFrom(moment(in_ms(LATER_MS)))
        table.hold("break")

    platform.do(take_a_break)
    expect(felt.part("level-clock")).to_have_attribute("data-kind", "break")
    expect(felt.part("status")).to_contain_text("Intervalo")
    assert tournament.summary.level == 1


def test_hands_are_played_in_chips(desktop: Page, platform: TournamentPlatform) -> None:
    felt, _, _ = seated(desktop, platform)
    expect(felt.part("own-chips")).to_have_attribute("data-chips", "1500")
    felt.deal(SIX, BOARD, button=5).play("f f f f c")
    expect(felt.part("asked")).to_be_visible()
    expect(felt.part("poker")).not_to_contain_text("€")
    # Chips are worth what is written on them, and no part of a euro.
    labels = desktop.locator(".poker-chips .chip-value").all_text_contents()
    assert labels
    assert not [label for label in labels if "," in label]
    field = felt.part("amount-field")
    field.fill("400")
    expect(felt.part("amount-chooser")).to_have_attribute("data-cents", "400")
    felt.part("act-raise").click()
    expect(felt.part("asked")).to_have_count(0)
    assert felt.sent("TableService.Act")[0]["move"]["to_cents"] == "400"
    # Nobody entered, and nobody buys a cave.
    assert not platform.sent("TableService.EnterTable")
    expect(felt.part("cave-bar")).to_have_count(0)


@pytest.mark.rule("810/2015:26")
def test_who_is_away_is_marked_before_and_throughout_a_hand(desktop: Page, platform: TournamentPlatform) -> None:
    felt, _, table = seated(desktop, platform)
    expect(felt.seat(3)).not_to_contain_text("Ausente")
    platform.do(lambda: table.mark(3, away=True))
    expect(felt.seat(3).locator(".plate-state")).to_have_text("Ausente")
    # Also where the seat would say what has been decided there.
    felt.deal(SIX, BOARD, button=5).play("f f")
    expect(felt.seat(2).locator(".plate-state")).to_have_text("Desistiu")
    expect(felt.seat(3).locator(".plate-state")).to_have_text("Ausente")
    platform.do(lambda: table.mark(3, away=False))
    expect(felt.seat(3).locator(".plate-state")).to_have_text("Desistiu")


def test_one_click_comes_back(desktop: Page, platform: TournamentPlatform) -> None:
    felt, _, table = seated(desktop, platform)
    felt.part("sit-out").click()
    expect(felt.part("own-away")).to_contain_text("Está ausente")
    expect(felt.seat(1)).to_contain_text("Ausente")
    felt.part("come-back").click()
    expect(felt.part("own-away")).to_have_text("")
    expect(felt.part("sit-out")).to_be_visible()
    assert [asked["away"] for asked in platform.sent("TournamentService.SetTournamentPresence")] == [True, False]
    assert table.away == set()


def test_a_player_without_chips_is_asked_to_rebuy(desktop: Page, platform: TournamentPlatform) -> None:
    felt, tournament, _ = seated(desktop, platform)
    platform.do(lambda: tournament.ask_to_rebuy(LATER_MS))
    tell(platform, tournament, "ASKED_TO_REBUY")
    expect(felt.part("rebuy-clock")).to_contain_text("Ficou sem fichas")
    tournament.refusal = ("INSUFFICIENT_FUNDS", {})
    felt.part("rebuy").click()
    expect(felt.part("tournament-refused")).to_have_text("O saldo não chega para este preço. Nada lhe foi cobrado.")
    felt.part("rebuy").click()
    expect(felt.part("rebuy-clock")).to_have_count(0)
    first, second = platform.sent("TournamentService.Rebuy")
    assert first["request_id"] != second["request_id"]


def test_who_declines_is_out_and_reads_the_place(desktop: Page, platform: TournamentPlatform) -> None:
    felt, tournament, _ = seated(desktop, platform)
    platform.do(lambda: tournament.ask_to_rebuy(LATER_MS))
    tell(platform, tournament, "ASKED_TO_REBUY")
    felt.part("decline-rebuy").click()
    expect(felt.part("tournament-out")).to_have_text("Foi eliminado. Ficou em 5.º–6.º lugar, empatado.")
    felt.page.get_by_role("link", name="Ver o torneio").click()
    expect(felt.part("own-standing")).to_contain_text("5.º–6.º")


def test_an_add_on_that_came_too_late_is_told(desktop: Page, platform: TournamentPlatform) -> None:
    felt, tournament, _ = seated(desktop, platform)
    platform.do(tournament.offer_addon)
    tell(platform, tournament, "PAID")
    felt.part("add-on").click()
    expect(felt.part("tournament-refused")).to_contain_text("o preço foi devolvido")


def test_who_is_moved_goes_on_at_the_other_table(desktop: Page, platform: TournamentPlatform) -> None:
    felt, tournament, _ = seated(desktop, platform)
    other = platform.inner_table(tournament, 2, seat=4)

    def move() -> None:
        tournament.entry.table_id, tournament.entry.seat = other.table_id, 4

    platform.do(move)
    tell(platform, tournament, "MOVED")
    expect(desktop).to_have_url(re.compile(f"#/table/{other.table_id}$"))
    expect(felt.page.get_by_text("Mudou para a mesa 2, lugar 4.")).to_be_visible()
    expect(felt.seat(4)).to_contain_text("Você")
    other.do(lambda table: table.deal(SIX, BOARD, button=2))
    expect(felt.seat(4)).to_have_attribute("data-cards", "9h 8h")


def test_the_page_of_a_tournament_leads_its_players_to_their_table(desktop: Page, platform: TournamentPlatform) -> None:
    felt, tournament, _ = seated(desktop, platform)
    # Leaving the table leaves the seat: there is no session to end.
    felt.part("leave").click()
    expect(felt.part("own-standing")).to_have_text("Está na mesa 1, lugar 1. Vai em 2.º lugar.")
    felt.part("to-tournament-table").click()
    expect(desktop).to_have_url(re.compile(f"#/table/{tournament.tournament_id}-t1$"))
    expect(felt.seat(1)).to_contain_text("Você")
    assert not platform.sent("SessionService.EndSession")


def test_who_has_no_seat_there_is_led_to_the_tournament(desktop: Page, platform: TournamentPlatform) -> None:
    tournament = platform.tournament()
    table = platform.inner_table(tournament, seat=0)
    desktop.goto(f"/#/table/{table.table_id}")
    expect(desktop.get_by_test_id("not-appointed")).to_be_visible()
    desktop.get_by_test_id("to-game-page").click()
    expect(desktop.get_by_test_id("tournament-page")).to_be_visible()


@pytest.mark.parametrize("device", ["desktop", "portrait", "landscape"])
def test_the_table_is_accessible_and_fits_the_screen(
    new_context: NewContext, platform: TournamentPlatform, screenshot: Screenshot, device: str
) -> None:
    page = new_context(device, reduced_motion="reduce", bypass_csp=True).new_page()
    felt, tournament, _ = seated(page, platform)
    found = {}
    for name, script in (("between", ""), ("asked", "f f f f c")):
        if script:
            felt.deal(SIX, BOARD, button=5).play(script)
            expect(felt.part("asked")).to_be_visible()
        screenshot(page, f"tournament-table-{device}-{name}")
        found[name] = violations(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(_COVERED) == []
    expect(felt.part("level")).to_be_in_viewport()
    assert {name: each for name, each in found.items() if each} == {}
    assert tournament.entry.seat == 1
