"""The player's turn: every action with its cost and bounds, by pointer, by key and by typing; nothing is sent twice."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.browser.driver.navigation import choose_language
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.platform import Directed, PokerPlatform
from tools import web

HOLES, BOARD = "AsKd 2c2d 5h6h 7c8c 9sTs JdQd", "Ah Kh 2h 3d 4s"
STAGE, SECONDS = "data-stage", "data-seconds"
# The boxes of everything that can be pressed in the bar, with the bar's own.
_BOXES = """
() => [...document.querySelectorAll(".action-bar button, .action-bar input, .pre-actions button")].map((part) => {
  const { left, top, right, bottom, height } = part.getBoundingClientRect();
  const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  const name = part.dataset.testid ?? part.textContent;
  const seen = part.contains(at) || at?.contains(part);
  return { name, height, whole: left >= 0 && top >= 0 && right <= innerWidth + 1 && bottom <= innerHeight + 1 && seen };
})
"""


def demo_table(platform: PokerPlatform, **options: object) -> Directed:
    """Makes a table for credits."""
    return platform.table(**{"mode": wallet_types.MODE_DEMO, **options})


def in_turn(page: Page, platform: PokerPlatform, **options: object) -> FeltPage:
    """Opens a table at which everybody before the player has called: the player has the small blind."""
    felt = FeltPage(page, demo_table(platform, **options)).open().deal(HOLES, BOARD).play("c c c c")
    expect(felt.part("asked")).to_be_visible()
    return felt


def moves(felt: FeltPage) -> list[tuple[str, str]]:
    """The decisions that the page has sent."""
    sent = [params["move"] for params in felt.sent("TableService.Act")]
    return [(move["action"].removeprefix("ACTION_"), move["to_cents"]) for move in sent]


@pytest.mark.rule("806/2015:34", "806/2015:34.c", "806/2015:24.c")
def test_every_action_is_offered_with_its_cost_and_the_bounds_in_euros(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform, mode=wallet_types.MODE_REAL)
    expect(felt.part("act-fold")).to_have_text("DesistirF")
    expect(felt.part("act-call")).to_contain_text("0,50 €")
    expect(felt.part("act-raise")).to_contain_text("Subir para 2,00 €")
    expect(felt.part("bounds")).to_have_text("Pode apostar de 2,00 € a 100,00 €")
    felt.part("act-call").click()
    expect(felt.part("asked")).to_have_count(0)
    assert moves(felt) == [("CALL", "0")]


@pytest.mark.rule("806/2015:24.b", "811/2015:24.b", "811/2015:34.d")
def test_the_pot_limits_what_can_be_bet_in_omaha(desktop: Page, platform: PokerPlatform) -> None:
    table = demo_table(platform, omaha=True, limit=poker_pb2.LIMIT_POT)
    felt = FeltPage(desktop, table).open().deal().play("c c c c")
    # The pot is 5.50; with the call of 0.50 it is 6, and the bet may become 7.
    expect(felt.part("bounds")).to_contain_text("a 7 créditos")
    expect(felt.part("part-pot")).to_have_attribute("data-cents", "700")
    expect(felt.part("part-max")).to_have_attribute("data-cents", "700")


@pytest.mark.rule("806/2015:34.d", "806/2015:37")
def test_an_amount_by_parts_of_the_pot_by_slider_and_by_steps(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    chosen = felt.part("amount-chooser")
    for part, cents in (("third", 300), ("half", 400), ("two_thirds", 500), ("pot", 700), ("max", 10_000)):
        felt.part(f"part-{part}").click()
        expect(chosen).to_have_attribute("data-cents", str(cents))
        expect(felt.part(f"part-{part}")).to_have_attribute("aria-pressed", "true")
    # Everything that the player has.
    expect(felt.part("act-raise")).to_contain_text("tudo")
    felt.part("amount-slider").press("Home")
    expect(chosen).to_have_attribute("data-cents", "200")
    felt.part("amount-slider").press("ArrowRight")
    expect(chosen).to_have_attribute("data-cents", "300")
    desktop.get_by_role("button", name="Mais", exact=True).click()
    expect(felt.part("amount-field")).to_have_value("4")
    felt.part("act-raise").click()
    expect(felt.part("asked")).to_have_count(0)
    assert moves(felt) == [("RAISE", "400")]
    expect(felt.part("bet-1")).to_have_attribute("data-cents", "400")


@pytest.mark.rule("806/2015:34.d")
def test_an_amount_that_is_typed_and_one_that_is_not_possible(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    field, problem = felt.part("amount-field"), felt.part("amount-problem")
    for text, why in (
        ("1,99", "o mínimo é 2 créditos"),
        ("100,01", "o máximo é 100 créditos"),
        ("abc", "Escreva um valor"),
    ):
        field.fill(text)
        expect(problem).to_contain_text(why)
        expect(problem).to_contain_text("de 2 créditos a 100 créditos")
        expect(felt.part("act-raise")).to_have_attribute("aria-disabled", "true")
        field.press("Enter")
    assert moves(felt) == []
    field.fill("12,5")
    expect(problem).to_be_empty()
    field.press("Enter")
    expect(felt.part("asked")).to_have_count(0)
    assert moves(felt) == [("RAISE", "1250")]


def test_english_amounts(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    choose_language(desktop, "EN")
    expect(felt.part("bounds")).to_have_text("You can bet 2 credits to 100 credits")
    felt.part("amount-field").fill("12.50")
    felt.part("amount-field").press("Enter")
    expect(felt.part("asked")).to_have_count(0)
    assert moves(felt) == [("RAISE", "1250")]


def test_keys(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    expect(felt.part("asked")).to_be_focused()
    desktop.keyboard.press("4")
    expect(felt.part("amount-chooser")).to_have_attribute("data-cents", "700")
    desktop.keyboard.press("ArrowUp")
    expect(felt.part("amount-chooser")).to_have_attribute("data-cents", "800")
    desktop.keyboard.press("ArrowDown")
    # Digits are typed in the field, and letters act nowhere in it.
    felt.part("amount-field").fill("")
    felt.part("amount-field").press_sequentially("5f")
    expect(felt.part("amount-field")).to_have_value("5f")
    felt.part("amount-field").fill("9")
    felt.part("act-fold").focus()
    desktop.keyboard.press("r")
    expect(felt.part("asked")).to_have_count(0)
    assert moves(felt) == [("RAISE", "900")]
    felt.play("f f f f f")
    felt.deal(HOLES, BOARD, button=6).play("f f f f")
    expect(felt.part("asked")).to_be_focused()
    desktop.keyboard.press("c")
    expect(felt.part("asked")).to_have_count(0)
    assert moves(felt)[1:] == [("CALL", "0")]


@pytest.mark.rule("806/2015:35", "806/2015:34.a", "806/2015:34.b")
def test_folding_where_a_check_is_free_is_asked_once(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    felt.part("act-call").click()
    expect(felt.part("asked")).to_have_count(0)
    felt.play("x")
    expect(felt.part("act-check")).to_be_visible()
    desktop.keyboard.press("f")
    expect(felt.part("fold-asked")).to_have_role("alert")
    expect(felt.part("fold-asked")).to_contain_text("Pode passar sem pagar nada")
    assert moves(felt) == [("CALL", "0")]
    felt.part("act-check").click()
    expect(felt.part("asked")).to_have_count(0)
    felt.play("x x x x x")
    expect(felt.part("act-check")).to_be_visible()
    felt.part("act-fold").click()
    felt.part("act-fold").click()
    expect(felt.part("asked")).to_have_count(0)
    assert moves(felt) == [("CALL", "0"), ("CHECK", "0"), ("FOLD", "0")]


def test_a_double_click_sends_one_decision(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    felt.part("act-raise").dblclick()
    expect(felt.part("asked")).to_have_count(0)
    assert moves(felt) == [("RAISE", "200")]


@pytest.mark.rule("806/2015:24.c")
def test_a_refused_decision_shows_its_reason_with_the_bounds(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    facts = {"amount_cents": "200", "minimum_cents": "300", "maximum_cents": "9000", "rule": "806/2015:23"}
    felt.table.do(lambda at: setattr(at, "refusal", ("BELOW_MINIMUM", facts)))
    felt.part("act-raise").click()
    refused = felt.part("action-refused")
    expect(refused).to_have_role("alert")
    expect(refused).to_have_text(
        "Essa aposta é pequena demais. Pode apostar de 3 créditos a 90 créditos. Não lhe custou nada."
    )
    felt.part("act-call").click()
    expect(felt.part("asked")).to_have_count(0)
    expect(refused).to_be_empty()


@pytest.mark.rule("806/2015:39")
def test_a_call_that_takes_everything_and_leaves_no_raise(desktop: Page, platform: PokerPlatform) -> None:
    caves = dict.fromkeys(range(1, 7), 10_000) | {1: 300}
    felt = FeltPage(desktop, demo_table(platform, caves=caves)).open().deal(HOLES, BOARD).play("r1000 f f f")
    expect(felt.part("act-call")).to_have_text("Acompanhar com tudo 2,5 créditosC")
    expect(felt.part("act-raise")).to_have_count(0)
    expect(felt.part("bounds")).to_have_text("Nesta vez não pode subir a aposta")


@pytest.mark.rule("806/2015:43", "806/2015:44")
def test_the_clock_and_then_the_time_bank(desktop: Page, platform: PokerPlatform) -> None:
    desktop.clock.install()
    felt = in_turn(desktop, platform, time_bank_ms=290_000)
    clock = felt.part("action-clock")
    expect(clock).to_have_attribute(STAGE, "usual")
    expect(clock).to_contain_text("+ 290 s do banco de tempo")
    desktop.clock.fast_forward(felt.table.table.options.decision_ms)
    expect(clock).to_have_attribute(STAGE, "extra")
    expect(clock.get_by_role("status")).to_have_text("Banco de tempo")
    assert 0 < int(clock.get_attribute(SECONDS) or 0) <= 290


def test_a_clock_that_stands_still_says_so(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    felt.table.do(lambda at: at.pause())
    clock = felt.part("action-clock")
    expect(clock).to_have_attribute(STAGE, "paused")
    expect(clock.get_by_role("status")).to_contain_text("O relógio está parado")
    felt.table.do(lambda at: at.resume())
    expect(clock).to_have_attribute(STAGE, "usual")
    # The same question: the decision is for the same turn.
    felt.part("act-call").click()
    expect(felt.part("asked")).to_have_count(0)
    assert [action for action, _ in moves(felt)] == ["CALL"]


@pytest.mark.rule("806/2015:44")
def test_the_time_bank_begins_when_the_platform_says_so(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    clock = felt.part("action-clock")
    expect(clock).to_have_attribute(STAGE, "usual")
    felt.table.do(lambda at: at.begin_time_bank())
    expect(clock).to_have_attribute(STAGE, "extra")


@pytest.mark.rule("806/2015:45")
def test_what_the_clock_decides_ends_the_question(desktop: Page, platform: PokerPlatform) -> None:
    felt = in_turn(desktop, platform)
    felt.table.do(lambda at: at.act("t", types_pb2.ACTED_BY_CLOCK))
    expect(felt.part("asked")).to_have_count(0)
    assert moves(felt) == []


@pytest.mark.parametrize("size", [(390, 844), (844, 390), (360, 640), (1024, 768), (1440, 900)])
def test_nothing_is_cut_on_any_screen_and_everything_is_large_enough(
    desktop: Page, platform: PokerPlatform, size: tuple[int, int]
) -> None:
    desktop.set_viewport_size({"width": size[0], "height": size[1]})
    felt = FeltPage(desktop, demo_table(platform)).open().deal(HOLES, BOARD)
    expect(felt.part("pre-actions")).to_be_visible()
    boxes = desktop.evaluate(_BOXES)
    felt.play("c c c c")
    expect(felt.part("asked")).to_be_visible()
    boxes += desktop.evaluate(_BOXES)
    assert len(boxes) == 3 + 5 + 4 + 3
    assert [box["name"] for box in boxes if not box["whole"] or box["height"] < 44] == []


@pytest.mark.parametrize("language", ["PT", "EN"])
def test_the_bar_is_accessible(desktop_open: Page, platform: PokerPlatform, language: str) -> None:
    felt = FeltPage(desktop_open, demo_table(platform)).open()
    choose_language(desktop_open, language)
    felt.deal(HOLES, BOARD)
    expect(felt.part("pre-actions")).to_be_visible()
    desktop_open.add_script_tag(path=web.PACKAGES / "axe-core" / "axe.min.js")
    assert violations(desktop_open) == []
    felt.play("c c c c")
    expect(felt.part("asked")).to_be_visible()
    assert violations(desktop_open) == []
    felt.part("amount-field").fill("x")
    assert violations(desktop_open) == []


def violations(page: Page) -> list[str]:
    """What axe finds in the parts below the felt and in dialogs."""
    found: list[str] = page.evaluate(
        """
        async () => {
          const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
          const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ["violations"] });
          return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${target}`));
        }
        """
    )
    return found
