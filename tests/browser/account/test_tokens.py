"""Tokens end, are renewed and are revoked: the page says so, and the player can log in again."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, Route, expect

from stack.data_folder import DataFolder
from stack.issuer import AUDIENCE, DevelopmentIssuer
from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.back_office import BackOffice, quick_demo_table, quick_real_table
from tests.browser.driver.navigation import new_player_page
from tests.browser.driver.player import Player
from tests.browser.driver.recording import record_pages
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform


def test_a_token_is_renewed_before_it_ends_and_the_connection_stays(
    new_context: NewContext, log_in: LogIn, platform: Platform
) -> None:
    """The operator gives a short one first; the platform says in time that it ends."""
    context = new_context()
    page, name = new_player_page(context, log_in, "joana")
    # The gateway warns a page at once if its token has less than a minute left.
    minutes = 0.9
    short = DevelopmentIssuer(DataFolder(platform.data).issuer).token(["player"], name, minutes)
    asked: list[str] = []

    def give(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            route.continue_()
            return
        until = datetime.now(UTC) + timedelta(minutes=minutes)
        body = {"token": short, "player_id": name, "expires_at": f"{until:%Y-%m-%dT%H:%M:%SZ}"}
        headers = {"Access-Control-Allow-Origin": platform.url, "Access-Control-Allow-Credentials": "true"}
        route.fulfill(json=body, headers=headers)

    context.route(f"{platform.operator_site}/token", give)
    record_pages(context)
    page.goto("/")
    page.wait_for_function("() => window.recording?.log.some(({ method }) => method === 'refresh')")
    assert len(asked) == 2
    # A second call on the same line is answered: the new token holds.
    expect(page.get_by_test_id("player-line").get_by_test_id("balance").first).to_be_visible()
    assert page.evaluate("() => window.recording.sockets.map((line) => line.readyState)") == [1]


def test_a_player_whose_token_is_revoked_at_a_table_may_log_in_again(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot
) -> None:
    page, name = new_player_page(new_context(), log_in, "paula")
    office = BackOffice(platform)
    table = TablePage(page, quick_real_table(office)).open()
    office.revoke_tokens(name)
    out = page.get_by_test_id("out")
    expect(out).to_contain_text("O seu acesso terminou")
    expect(table.balance).to_have_count(0)
    screenshot(page, "shut-out-at-a-table")
    # Tokens say to the second when they were issued: one of the same second is taken back too.
    page.wait_for_function(f"() => Date.now() >= {1000 * (int(time.time()) + 1)}")
    out.get_by_role("button", name="Entrar").click()
    page.get_by_label("Nome").fill(name)
    page.get_by_role("button", name="Entrar", exact=True).click()
    table.wait_until_playable()
    assert len(office.sessions(name)) == 1


def test_a_revoked_token_is_reported_in_the_lobby_until_it_is_read(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot
) -> None:
    page, name = new_player_page(new_context(), log_in, "pedro")
    page.goto("/")
    expect(page.get_by_test_id("player-line")).to_be_visible()
    BackOffice(platform).revoke_tokens(name)
    told = page.get_by_test_id("shut-out")
    expect(told).to_contain_text("O seu acesso foi terminado. Entre de novo.")
    expect(page.get_by_test_id("player-line")).to_have_count(0)
    screenshot(page, "shut-out-in-the-lobby")
    told.get_by_role("button", name="Fechar").click()
    expect(told).to_have_count(0)


def test_a_guest_whose_token_has_ended_may_begin_anew(
    desktop: Page, platform: Platform, screenshot: Screenshot
) -> None:
    office = BackOffice(platform)
    table = TablePage(desktop, quick_demo_table(office)).open()
    before = Player.demo_player_of(platform, desktop)
    desktop.evaluate("(kept) => localStorage.setItem('feltro.guest', kept)", _soon_over(platform, before.name))
    desktop.reload()
    # At the table, or before on a slow machine: the page says the same.
    out = desktop.get_by_test_id("out")
    expect(out).to_contain_text("A demonstração terminou")
    expect(out).to_contain_text("Pode começar outra.")
    # A guest has no account to log in to.
    expect(out.get_by_role("button")).to_have_text("Jogar com créditos")
    screenshot(desktop, "guest-over")
    out.get_by_role("button", name="Jogar com créditos").click()
    table.wait_until_playable()
    expect(table.balance).to_have_attribute("data-cents", "100000")
    assert Player.demo_player_of(platform, desktop).name != before.name


def test_a_guest_ends_the_demonstration(desktop: Page, platform: Platform) -> None:
    office = BackOffice(platform)
    TablePage(desktop, quick_demo_table(office)).open()
    guest = Player.demo_player_of(platform, desktop)
    desktop.get_by_test_id("account-menu").click()
    desktop.get_by_role("button", name="Terminar a demonstração").click()
    expect(desktop).to_have_url(re.compile("#/$"))
    expect(desktop.get_by_test_id("toasts")).to_contain_text("Saiu. As suas sessões terminaram.")
    expect(desktop.get_by_test_id("player-line")).to_have_count(0)
    assert office.sessions(guest.name)[0]["end_cause"] == "END_CAUSE_LOGOUT"
    desktop.goto("/#/account/rounds")
    expect(desktop.get_by_role("heading", name="Ainda não há nada de seu para ver")).to_be_visible()


def _soon_over(platform: Platform, name: str) -> str:
    """What a browser keeps of a guest whose token ends; half a minute more is forgiven to every token."""
    key = DevelopmentIssuer(DataFolder(platform.data).issuer).demo_keys.key()
    now = int(time.time())
    claims = {"iss": "feltro-gateway", "aud": AUDIENCE, "sub": name, "scope": "demo", "iat": now - 60, "exp": now - 18}
    token = key.sign({**claims, "jti": name})
    return json.dumps({"token": token, "player_id": name, "expires_at": "2099-01-01T00:00:00Z"})
