"""The tournaments in the lobby, and the page of each: what players read there, and registering."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from feltro.poker.v1 import tournament_pb2
from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.navigation import choose_language
from tests.browser.driver.view_checks import violations
from tests.browser.recorded.tournaments.platform import TournamentPlatform
from tests.browser.recorded.tournaments.tournament import DirectedTournament, finish

BLANK = "\u00a0"


def open_page(page: Page, tournament: DirectedTournament) -> Page:
    """Opens the page of a tournament."""
    page.goto(f"/#/game/poker/{tournament.tournament_id}")
    expect(page.get_by_test_id("tournament-page")).to_be_visible()
    expect(page.get_by_test_id("balance").first).to_be_attached()
    return page


def test_the_lobby_lists_tournaments_and_leads_to_their_pages(desktop: Page, platform: TournamentPlatform) -> None:
    tournament = platform.tournament()
    desktop.goto("/")
    card = desktop.get_by_test_id("tournament")
    expect(card).to_have_attribute("data-tournament", tournament.tournament_id)
    for text in (
        "Torneio de ensaio",
        "Rebuy",
        "Inscrições abertas",
        f"11,00{BLANK}€",
        "3 de 60 inscritos",
        "provisórios",
    ):
        expect(card).to_contain_text(text)
    card.get_by_test_id("open-tournament").click()
    expect(desktop.get_by_role("heading", level=1)).to_have_text("Torneio de ensaio")
    expect(desktop).to_have_title("Torneio de ensaio · Feltro")


def test_a_lobby_without_tournaments_says_nothing_of_them(desktop: Page, platform: TournamentPlatform) -> None:
    desktop.goto("/")
    expect(desktop.get_by_test_id("table-card").first).to_be_visible()
    expect(desktop.get_by_test_id("tournaments")).to_have_count(0)


def test_a_player_registers_and_takes_it_back(desktop: Page, platform: TournamentPlatform) -> None:
    page = open_page(desktop, platform.tournament())
    expect(page.get_by_test_id("register-tournament")).to_have_text(f"Inscrever-se: 11,00{BLANK}€")
    page.get_by_test_id("register-tournament").click()
    expect(page.get_by_test_id("own-standing")).to_have_text("Está inscrito.")
    expect(page.get_by_test_id("register-tournament")).to_have_count(0)
    page.get_by_role("tab", name="Jogadores").click()
    expect(page.get_by_test_id("player-4")).to_contain_text("você")
    page.get_by_test_id("unregister").click()
    expect(page.get_by_test_id("own-standing")).to_contain_text("o preço foi devolvido")
    expect(page.get_by_test_id("register-tournament")).to_be_visible()
    assert len(platform.sent("TournamentService.Register")) == 1
    assert len(platform.sent("TournamentService.Unregister")) == 1


def test_a_free_tournament_has_no_price_and_can_be_entered(desktop: Page, platform: TournamentPlatform) -> None:
    tournament = platform.tournament()
    tournament.summary.configuration.rules.ClearField("price")
    page = open_page(desktop, tournament)
    expect(page.get_by_test_id("tournament-facts")).to_contain_text("InscriçãoGratuito")
    page.get_by_role("button", name="Inscrever-se: Gratuito").click()
    expect(page.get_by_test_id("own-standing")).to_have_text("Está inscrito.")


def test_a_refusal_is_told_in_plain_words(desktop: Page, platform: TournamentPlatform) -> None:
    tournament = platform.tournament()
    page = open_page(desktop, tournament)
    tournament.refusal = ("REGISTRATION_CLOSED", {"rule": "810/2015:23"})
    page.get_by_test_id("register-tournament").click()
    refused = page.get_by_test_id("tournament-refused")
    expect(refused).to_have_text("As inscrições neste torneio estão fechadas. Nada lhe foi cobrado.")
    expect(page.get_by_test_id("own-standing")).to_have_text("")


def test_who_waits_is_told_of_the_start_and_brought_to_the_table(desktop: Page, platform: TournamentPlatform) -> None:
    tournament = platform.tournament()
    table = platform.inner_table(tournament, 3, seat=2)
    page = open_page(desktop, tournament)
    page.get_by_test_id("register-tournament").click()
    expect(page.get_by_test_id("own-standing")).to_have_text("Está inscrito.")
    told = tournament_pb2.OwnTournamentNotice(tournament_id=tournament.tournament_id)
    told.event = tournament_pb2.OWN_TOURNAMENT_EVENT_STARTS_SOON
    platform.tell(tournament, told)
    expect(page.get_by_text("começa dentro de momentos")).to_be_visible()

    platform.do(lambda: tournament.start(table.table_id, 2))
    told.event, told.table_id, told.seat = tournament_pb2.OWN_TOURNAMENT_EVENT_SEATED, table.table_id, 2
    platform.tell(tournament, told)
    expect(page).to_have_url(re.compile(f"#/table/{table.table_id}$"))
    expect(page.get_by_text("está na mesa 3, lugar 2")).to_be_visible()
    expect(page.get_by_test_id("seat-2")).to_contain_text("Você")


def test_prizes_are_provisional_until_they_are_final(desktop: Page, platform: TournamentPlatform) -> None:
    tournament = platform.tournament()
    page = open_page(desktop, tournament)
    page.get_by_role("tab", name="Prémios").click()
    prizes = page.get_by_test_id("prizes")
    expect(prizes).to_contain_text("provisórios")
    expect(prizes.get_by_role("row", name="1.º")).to_contain_text(f"18,00{BLANK}€")
    expect(prizes.get_by_role("row", name="2.º")).to_contain_text(f"12,00{BLANK}€")

    platform.do(lambda: setattr(tournament.summary.prizes, "frozen", True))
    notice = tournament_pb2.OwnTournamentNotice(event=tournament_pb2.OWN_TOURNAMENT_EVENT_STARTS_SOON)
    platform.tell(tournament, notice)
    expect(prizes).to_have_attribute("data-frozen", "true")
    expect(prizes).to_contain_text("definitivos")


def test_the_structure_has_levels_blinds_and_breaks(desktop: Page, platform: TournamentPlatform) -> None:
    page = open_page(desktop, platform.tournament())
    structure = page.get_by_test_id("structure")
    expect(structure.get_by_test_id("level-1")).to_contain_text("10 / 20")
    expect(structure.get_by_test_id("level-1")).to_contain_text("10 min")
    expect(structure.get_by_test_id("break-2")).to_contain_text("Intervalo de 5 min")
    expect(structure.get_by_test_id("level-3")).to_contain_text("até ao fim")
    expect(page.get_by_text("Rebuy: um por entrada, até ao fim do nível 2")).to_be_visible()


def test_results_name_places_that_players_share(desktop: Page, platform: TournamentPlatform) -> None:
    tournament = platform.tournament()
    finish(tournament)
    page = open_page(desktop, tournament)
    for entry, place, prize in ((1, "1.º", "18,00"), (2, "2.º–3.º", "6,00"), (3, "2.º–3.º", "6,00")):
        line = page.get_by_test_id(f"player-{entry}")
        expect(line.get_by_test_id("place")).to_have_text(place)
        expect(line).to_contain_text(prize)
    expect(page.get_by_test_id("register-tournament")).to_have_count(0)


def test_a_cancelled_tournament_says_why_and_by_which_rule(desktop: Page, platform: TournamentPlatform) -> None:
    tournament = platform.tournament()
    tournament.summary.phase = tournament_pb2.TOURNAMENT_PHASE_CANCELLED
    tournament.summary.open_to_entries = False
    tournament.summary.cancelled_reason, tournament.summary.cancelled_rule = "avaria", "810/2015:36.a"
    page = open_page(desktop, tournament)
    expect(page.get_by_test_id("cancelled")).to_contain_text("avaria")
    expect(page.get_by_test_id("cancelled")).to_contain_text("810/2015:36.a")


def test_an_unknown_tournament_leads_back(desktop: Page, platform: TournamentPlatform) -> None:
    desktop.goto("/#/game/poker/nothing")
    expect(desktop.get_by_test_id("no-tournament")).to_contain_text("Este torneio não existe")


@pytest.mark.rule("810/2015:56", "810/2015:57", "810/2015:59")
def test_the_page_is_portuguese_has_a_glossary_and_another_language_on_request(
    desktop: Page, platform: TournamentPlatform
) -> None:
    tournament = platform.tournament()
    page = open_page(desktop, tournament)
    expect(page.locator("html")).to_have_attribute("lang", "pt")
    expect(page.get_by_text("A inscrição pode ser anulada até ao início.")).to_be_visible()
    page.get_by_role("tab", name="Glossário").click()
    # The one kind of this tournament that has a foreign word.
    expect(page.get_by_test_id("glossary")).to_contain_text("Rebuycompra de mais fichas")
    # The complete rules, which the platform writes in either language.
    page.get_by_test_id("tournament-rules").click()
    expect(page.get_by_test_id("rules").get_by_role("heading", name="Regras", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    asked = platform.sent("TableService.GetRules")
    assert [(each["table_id"], each["language"]) for each in asked] == [(tournament.tournament_id, "pt")]
    choose_language(page, "EN")
    expect(page.get_by_test_id("glossary")).to_contain_text("more chips, bought by a player")
    page.get_by_role("tab", name="Structure").click()
    expect(page.get_by_text("A registration can be taken back until the start.")).to_be_visible()


@pytest.mark.parametrize("device", ["desktop", "portrait", "landscape"])
def test_every_part_is_accessible_and_as_wide_as_the_screen(
    new_context: NewContext, platform: TournamentPlatform, screenshot: Screenshot, device: str
) -> None:
    page = new_context(device, reduced_motion="reduce", bypass_csp=True).new_page()
    tournament = platform.tournament()
    page.goto("/")
    expect(page.get_by_test_id("tournament")).to_be_visible()
    found = {"lobby": violations(page)}
    open_page(page, tournament)
    for tab in ("Estrutura", "Prémios", "Jogadores", "Glossário"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel")).not_to_be_empty()
        screenshot(page, f"tournament-{device}-{tab}")
        found[tab] = violations(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
    assert {name: each for name, each in found.items() if each} == {}
