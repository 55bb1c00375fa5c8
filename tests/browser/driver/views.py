"""Opens every view and dialog, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import LogIn
from tests.browser.driver.back_office import BackOffice, play_rounds, quick_real_table
from tests.browser.driver.navigation import choose_language, end_session, new_name, open_leave_dialog, open_panel
from tests.browser.driver.player import Player
from tests.browser.driver.rest import call
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform

# Texts that people wrote, in no language.
ASKED, ANSWERED = "XXI", "XXII"


def views(
    context: BrowserContext, log_in: LogIn, platform: Platform, language: str = "PT"
) -> Iterator[tuple[str, Page]]:
    """Yields the name of each view and its page: first for a stranger, then for a player who has played."""
    page = context.new_page()
    page.goto("/")
    expect(page.get_by_test_id("table-card").first).to_be_visible()
    if language != "PT":
        choose_language(page, language)
        expect(page).to_have_title("Tables · Feltro")
    yield from _as_nobody(page)
    name = new_name("clara")
    log_in(context, name)
    office = BackOffice(platform)
    _past(office, Player.with_account(platform, name))
    page.goto("/#/account/rounds")
    page.reload()
    yield from _account(page, office, name)
    yield from _table(page, office)
    yield from _ends(page, office, name)


def _as_nobody(page: Page) -> Iterator[tuple[str, Page]]:
    yield "lobby", page
    menu = page.get_by_test_id("menu")
    if menu.is_visible():
        menu.click()
        yield "lobby-menu", page
        page.keyboard.press("Escape")
    page.get_by_test_id("mode-MODE_REAL").click()
    yield "lobby-money", page
    page.get_by_test_id("card-rules").first.click()
    expect(page.get_by_test_id("rules").get_by_role("heading", level=2)).not_to_have_count(0)
    expect(page.get_by_test_id("rules").locator("table").first).to_be_visible()
    yield "rules", page
    page.keyboard.press("Escape")
    page.goto("/#/table/french")
    expect(page.get_by_test_id("for-money")).to_be_visible()
    yield "table-for-money", page
    page.goto("/#/table/none")
    expect(page.get_by_test_id("unknown-table")).to_be_visible()
    yield "table-unknown", page
    page.goto("/#/account/rounds")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    yield "account-nobody", page


def _past(office: BackOffice, player: Player) -> None:
    """Gives the player an account, rounds, an answered complaint and a seat at a table."""
    own = play_rounds(office, player, 21, {"red": 100, "17-20": 100, "dozen-2": 200})
    account = office.balance(player.name, "MODE_REAL")["account_id"]
    round_id = player.rounds(own)[0]["round"]["round_id"]
    said = {"account_id": account, "round_id": round_id, "text": ASKED}
    reference = call(f"{player.url}/v1/complaints", player.token, said)["complaint"]["reference"]
    office.complaint_step(reference, "answer", ANSWERED)
    session = office.sessions(player.name)[0]["session_id"]
    call(f"{player.url}/v1/sessions/{session}:end", player.token, {})
    player.enter("french-solo")


def _account(page: Page, office: BackOffice, name: str) -> Iterator[tuple[str, Page]]:
    expect(page.get_by_test_id("round").first).to_be_visible()
    yield "account-rounds", page
    page.get_by_test_id("round").first.click()
    expect(page.get_by_test_id("round-told")).to_be_visible()
    yield "account-round-told", page
    page.get_by_test_id("complain-round").click()
    yield "complaint-form", page
    page.keyboard.press("Escape")
    page.get_by_test_id("account-sessions").click()
    expect(page.get_by_test_id("session")).to_have_count(2)
    yield "account-sessions", page
    page.get_by_test_id("summary-button").nth(1).click()
    expect(page.get_by_test_id("summary")).to_be_visible()
    yield "account-session-summary", page
    page.keyboard.press("Escape")
    page.get_by_test_id("account-money").click()
    expect(page.get_by_test_id("transaction").first).to_be_visible()
    yield "account-money", page
    page.get_by_test_id("account-complaints").click()
    expect(page.get_by_test_id("complaint-line").first).to_be_visible()
    yield "account-complaints", page
    page.get_by_test_id("complaint-line").click()
    expect(page.get_by_test_id("complaint-story")).to_be_visible()
    yield "account-complaint-told", page
    page.goto("/#/")
    expect(page.get_by_test_id("running")).to_be_visible()
    expect(page.get_by_test_id("last-session")).to_be_visible()
    yield "lobby-player", page
    account = page.get_by_test_id("account-menu").or_(page.get_by_test_id("menu")).and_(page.locator(":visible"))
    account.click()
    yield "lobby-player-menu", page
    page.keyboard.press("Escape")


def _table(page: Page, office: BackOffice) -> Iterator[tuple[str, Page]]:
    table = TablePage(page, quick_real_table(office)).open()
    yield "table", page
    more = page.get_by_test_id("table-more")
    if more.is_visible():
        more.click()
        yield "table-more", page
        page.keyboard.press("Escape")
    track = page.get_by_test_id("turn-track")
    if track.is_visible():
        track.click()
        expect(page.get_by_test_id("racetrack")).to_be_visible()
        yield "table-racetrack", page
        track.click()
    table.choose_chip(50000)
    table.place_chips("red")
    expect(table.part("message-cashier")).to_be_visible()
    yield "table-too-little-money", page
    table.choose_chip(100)
    table.place_chips("red")
    table.place_chips("17")
    table.expect_confirmed_chips({"red": 100, "17": 100})
    page.mouse.move(*table.chip_positions()["8"])
    yield "table-bets", page
    page.get_by_test_id("open-list").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    yield "table-list", page
    page.keyboard.press("Escape")
    table.spin()
    table.expect_stage("paid")
    yield "table-result", page
    for what in ("rules", "last", "history", "complaint"):
        open_panel(page, what)
        expect(page.get_by_role("dialog")).to_be_visible()
        if what == "rules":
            expect(page.get_by_test_id("rules").locator("table").first).to_be_visible()
        if what == "last":
            expect(page.get_by_test_id("round-told")).to_be_visible()
        if what == "history":
            expect(page.get_by_test_id("round")).to_have_count(1)
        yield f"table-{what}", page
        if what == "history":
            page.get_by_role("tab").nth(1).click()
            expect(page.get_by_role("tabpanel").get_by_role("row")).to_have_count(2)
            yield "table-history-of-table", page
        page.keyboard.press("Escape")
    open_leave_dialog(page)
    yield "table-leave", page
    page.keyboard.press("Escape")


def _ends(page: Page, office: BackOffice, name: str) -> Iterator[tuple[str, Page]]:
    office.advance_sessions(181)
    expect(page.get_by_test_id("invitation")).to_be_visible()
    yield "inactivity-invitation", page
    office.advance_sessions(21)
    expect(page.get_by_test_id("warning")).to_be_visible()
    yield "inactivity-warning", page
    end_session(page)
    yield "session-over", page
    switched = office.configure_table(
        "brief-solo-off", "french-solo", ("Roleta francesa reservada", "Reserved French roulette"), result_shown_ms=1000
    )
    office.switch(switched, ANSWERED, on=False)
    page.goto(f"/#/table/{switched}")
    expect(page.get_by_test_id("refused")).to_be_visible()
    yield "table-refused", page
    page.goto("/#/")
    page.goto("/#/table/french-solo")
    expect(page.get_by_test_id("played")).to_be_visible()
    office.revoke_tokens(name)
    expect(page.get_by_test_id("out")).to_be_visible()
    yield "table-out", page
    page.goto("/#/")
    expect(page.get_by_test_id("shut-out")).to_be_visible()
    yield "lobby-shut-out", page
