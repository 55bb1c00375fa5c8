"""Entries that were won: what a satellite gives, entering by one, and taking that back (810/2015:28 to 30, 32)."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from feltro.poker.v1 import tournament_pb2
from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.navigation import choose_language
from tests.browser.driver.view_checks import violations
from tests.browser.recorded.tournaments.platform import TournamentPlatform
from tests.browser.recorded.tournaments.test_tournaments import BLANK, open_page
from tests.browser.recorded.tournaments.tournament import finish

PRICE = f"11,00{BLANK}€"


@pytest.mark.rule("810/2015:28", "810/2015:29", "810/2015:32")
def test_a_satellite_says_what_its_prizes_are_and_leads_to_their_tournament(
    desktop: Page, platform: TournamentPlatform
) -> None:
    target = platform.tournament()
    page = open_page(desktop, platform.satellite(target))
    expect(page.get_by_text("Satélite", exact=True)).to_be_visible()
    expect(page.get_by_text("O segundo que se ganha para o mesmo torneio é pago em dinheiro")).to_be_visible()
    page.get_by_role("tab", name="Prémios").click()
    prizes = page.get_by_test_id("prizes")
    expect(prizes).to_contain_text(f"Os primeiros 2 lugares ganham um bilhete de {PRICE} para outro torneio.")
    expect(prizes.get_by_role("row", name="2.º")).to_contain_text("Bilhete")
    expect(prizes.get_by_role("row", name="3.º")).to_contain_text(f"8,00{BLANK}€")
    choose_language(page, "EN")
    expect(prizes).to_contain_text("The first 2 places win a ticket of")
    page.get_by_test_id("satellite-target").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rehearsal tournament")


@pytest.mark.rule("810/2015:25", "810/2015:28")
def test_a_player_chooses_the_won_entry_or_money_and_gets_back_what_was_used(
    desktop: Page, platform: TournamentPlatform
) -> None:
    tournament = platform.tournament()
    tournament.give_ticket()
    page = open_page(desktop, tournament)
    expect(page.get_by_test_id("register-tournament")).to_have_text(f"Inscrever-se: {PRICE}")
    page.get_by_test_id("register-by-ticket").click()
    expect(page.get_by_test_id("own-standing")).to_have_text("Está inscrito, com o seu bilhete.")
    (asked,) = platform.sent("TournamentService.Register")
    assert asked["ticket_id"] == f"ticket-to-{tournament.tournament_id}"
    expect(page.get_by_text("recebe o bilhete de volta, e não dinheiro")).to_be_visible()
    page.get_by_test_id("unregister").click()
    expect(page.get_by_test_id("own-standing")).to_contain_text("pode voltar a usar o bilhete")
    page.get_by_test_id("register-tournament").click()
    expect(page.get_by_test_id("own-standing")).to_have_text("Está inscrito.")
    assert "ticket_id" not in platform.sent("TournamentService.Register")[-1]


def test_a_ticket_that_is_refused_says_why(desktop: Page, platform: TournamentPlatform) -> None:
    tournament = platform.tournament()
    tournament.give_ticket()
    page = open_page(desktop, tournament)
    tournament.refusal = ("TICKET_UNUSABLE", {"field": "state", "rule": "810/2015:28"})
    page.get_by_test_id("register-by-ticket").click()
    expect(page.get_by_test_id("tournament-refused")).to_contain_text("Esse bilhete já foi usado ou já não vale.")


def test_a_won_entry_is_told_at_once_and_kept_in_the_lobby(desktop: Page, platform: TournamentPlatform) -> None:
    target = platform.tournament()
    page = open_page(desktop, platform.satellite(target))
    target.give_ticket()
    told = tournament_pb2.OwnTournamentNotice(
        tournament_id="satellite",
        event=tournament_pb2.OWN_TOURNAMENT_EVENT_TICKET_ISSUED,
        amount_cents=1100,
        ticket_tournament_id=target.tournament_id,
    )
    platform.tell(target, told)
    expect(page.get_by_text("Ganhou um bilhete para outro torneio")).to_be_visible()
    page.goto("/")
    ticket = page.get_by_test_id("ticket")
    expect(ticket).to_contain_text(f"Bilhete de {PRICE}")
    ticket.get_by_role("link", name="Torneio de ensaio").click()
    expect(page.get_by_test_id("register-by-ticket")).to_be_visible()


@pytest.mark.parametrize("device", ["desktop", "portrait"])
def test_tickets_are_accessible_and_as_wide_as_the_screen(
    new_context: NewContext, platform: TournamentPlatform, screenshot: Screenshot, device: str
) -> None:
    page = new_context(device, reduced_motion="reduce", bypass_csp=True).new_page()
    target = platform.tournament()
    target.give_ticket()
    satellite = platform.satellite(target)
    page.goto("/")
    expect(page.get_by_test_id("ticket")).to_be_visible()
    page.get_by_test_id("tickets").scroll_into_view_if_needed()
    screenshot(page, f"tickets-{device}-lobby")
    found = {"lobby": violations(page)}
    open_page(page, target)
    expect(page.get_by_test_id("register-by-ticket")).to_be_visible()
    screenshot(page, f"tickets-{device}-entering")
    found["entering"] = violations(page)
    finish(satellite)
    for player, cents in zip(satellite.players, (1100, 0, 0), strict=True):
        player.prize_ticket_cents = cents
    open_page(page, satellite)
    page.get_by_role("tab", name="Prémios").click()
    screenshot(page, f"tickets-{device}-prizes")
    found["prizes"] = violations(page)
    page.get_by_role("tab", name="Resultados").click()
    expect(page.get_by_test_id("player-1")).to_contain_text(f"bilhete de {PRICE} + 18,00")
    screenshot(page, f"tickets-{device}-results")
    found["results"] = violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert {name: each for name, each in found.items() if each} == {}
