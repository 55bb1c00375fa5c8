"""A past hand is stepped through by button and by key, shows what its player may see, and is kept as a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driver.navigation import choose_language, open_panel
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.platform import PokerPlatform
from tests.browser.recorded.poker.test_acting import BOARD, HOLES, demo_table, violations
from tools import web

STEP = "data-step"


def played(page: Page, platform: PokerPlatform, script: str = "f f f f c x x x x x x x") -> FeltPage:
    """Opens the last hand, which the player, who has the small blind, has played to this end."""
    felt = FeltPage(page, demo_table(platform)).open().deal(HOLES, BOARD).play(script)
    felt.expect_stage("result")
    open_panel(page, "last")
    expect(felt.part("hand-stepper")).to_be_visible()
    # The hand's file has the player's own cards.
    expect(felt.part("download-hand")).to_have_attribute("aria-disabled", "false")
    return felt


def cards(felt: FeltPage) -> list[str]:
    """The cards at the seats of the moment that is shown."""
    found = felt.part("hand-stepper").locator("[data-testid^=seat-]")
    return [seat.get_attribute("data-cards") or "" for seat in found.all()]


@pytest.mark.rule("806/2015:65", "811/2015:65")
def test_a_hand_from_the_blinds_to_the_payment(desktop: Page, platform: PokerPlatform) -> None:
    felt = played(desktop, platform)
    stepper, text = felt.part("hand-stepper"), felt.part("step-text")
    expect(stepper).to_have_attribute("data-kind", "blinds")
    expect(text).to_have_text("Pequena e grande aposta; as cartas são dadas.")
    shown = []
    for step in range(1, int(stepper.get_attribute("data-steps") or 0)):
        felt.part("step-next").click()
        expect(stepper).to_have_attribute(STEP, str(step))
        shown.append(text.inner_text().replace("\u00a0", " "))
    assert shown[0] == "Lugar 3 desistiu"
    assert shown[4] == "Você acompanhou com 0,5 créditos"
    assert "Flop: ás de copas, rei de copas e 2 de copas" in shown
    assert shown[-2] == "As cartas viram-se."
    assert shown[-1].startswith("Lugar 2 recebe 1,9 créditos. Comissão: 0,1 créditos")
    expect(felt.part("step-next")).to_have_attribute("aria-disabled", "true")


@pytest.mark.rule("806/2015:34.a", "806/2015:11.d", "806/2015:65")
def test_own_cards_are_shown_and_folded_ones_never(desktop: Page, platform: PokerPlatform) -> None:
    # The player folds, and two others compare.
    felt = played(desktop, platform, "c f f f f x x x x x x x")
    assert cards(felt)[0] == "As Kd"
    felt.part("step-last").click()
    expect(felt.part("hand-stepper")).to_have_attribute("data-kind", "paid")
    # The others that were compared are turned up; nobody else's.
    assert [seat.strip() for seat in cards(felt)] == ["As Kd", "2c 2d", "5h 6h", "", "", ""]


def test_keys_and_playing_to_the_end(desktop: Page, platform: PokerPlatform) -> None:
    felt = played(desktop, platform, "f f f f f")
    stepper = felt.part("hand-stepper")
    last = int(stepper.get_attribute("data-steps") or 0) - 1
    felt.part("step-next").focus()
    desktop.keyboard.press("ArrowRight")
    desktop.keyboard.press("ArrowRight")
    expect(stepper).to_have_attribute(STEP, "2")
    desktop.keyboard.press("ArrowLeft")
    expect(stepper).to_have_attribute(STEP, "1")
    desktop.keyboard.press("End")
    expect(stepper).to_have_attribute(STEP, str(last))
    desktop.keyboard.press("Home")
    expect(stepper).to_have_attribute(STEP, "0")
    felt.part("step-play").click()
    expect(stepper).to_have_attribute(STEP, str(last))
    expect(felt.part("step-play")).to_have_text("Ver tudo")


def test_the_hand_as_a_file(desktop: Page, platform: PokerPlatform) -> None:
    felt = played(desktop, platform)
    with desktop.expect_download() as download:
        felt.part("download-hand").click()
    assert download.value.suggested_filename == f"{felt.table.table.round_id}.phh"
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert text == felt.table.do(lambda at: at.exported())
    assert '"d dh p1 AsKd"' in text


@pytest.mark.parametrize("language", ["PT", "EN"])
@pytest.mark.parametrize("size", [(390, 844), (1440, 900)])
def test_the_stepper_is_accessible(
    desktop_open: Page, platform: PokerPlatform, language: str, size: tuple[int, int]
) -> None:
    page = desktop_open
    page.set_viewport_size({"width": size[0], "height": size[1]})
    felt = FeltPage(page, demo_table(platform)).open()
    choose_language(page, language)
    felt.deal(HOLES, BOARD).play("f f f f c x x x x x x x")
    felt.expect_stage("result")
    open_panel(page, "last")
    expect(felt.part("hand-stepper")).to_be_visible()
    # The table fills the room that it has.
    whole, picture = (felt.page.locator(part).bounding_box() for part in (".hand-stepper", ".hand-stepper .poker-room"))
    assert whole is not None
    assert picture is not None
    assert picture["width"] > 0.95 * whole["width"]
    assert picture["height"] > 290
    page.add_script_tag(path=web.PACKAGES / "axe-core" / "axe.min.js")
    assert violations(page) == []
    felt.part("step-last").click()
    expect(felt.part("hand-stepper")).to_have_attribute("data-kind", "paid")
    assert violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
