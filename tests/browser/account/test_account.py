"""A player's own account: logging in at the operator's, money, rounds, and logging out."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.back_office import BackOffice, play_rounds, quick_real_table
from tests.browser.driver.navigation import new_name, new_player_page
from tests.browser.driver.player import Player
from tests.browser.driver.table_page import TablePage, cents_in
from tests.system.platform import Platform


def test_log_in_play_for_money_pay_in_and_log_out(desktop: Page, platform: Platform, screenshot: Screenshot) -> None:
    page, office, name = desktop, BackOffice(platform), new_name("ines")
    listed = quick_real_table(office)
    page.goto("/")
    page.get_by_test_id("log-in").click()
    page.get_by_label("Nome").fill(name)
    page.get_by_role("button", name="Entrar", exact=True).click()

    own = page.get_by_test_id("player-line")
    expect(own.get_by_test_id("balance").first).to_have_attribute("data-cents", "10000")
    expect(page.get_by_test_id("mode-MODE_REAL")).to_have_attribute("aria-pressed", "true")
    screenshot(page, "lobby-player-new")

    page.locator(f'[data-table="{listed}"]').get_by_test_id("sit").click()
    table = TablePage(page, listed)
    table.wait_until_playable()
    table.place_chips("black")
    expect(table.part("staked")).to_have_text("1,00 €")
    table.spin()
    table.expect_stage("paid")
    after = office.balance(name, "MODE_REAL")["free_cents"]
    expect(table.balance).to_have_attribute("data-cents", after)

    page.get_by_test_id("account-menu").click()
    page.get_by_role("button", name="Depósitos e levantamentos").click()
    expect(page.get_by_role("heading", name="Caixa")).to_be_visible()
    page.get_by_role("button", name=re.compile(r"50,00")).click()
    expect(page.get_by_role("status")).to_contain_text("50,00")
    page.get_by_role("link", name=re.compile("Voltar")).click()
    table.wait_until_playable()
    expect(table.balance).to_have_attribute("data-cents", str(int(after) + 5000))

    page.get_by_test_id("account-menu").click()
    page.get_by_test_id("log-out").click()
    expect(page.get_by_test_id("toasts")).to_contain_text("Saiu. As suas sessões terminaram.")
    expect(page.get_by_test_id("log-in")).to_be_visible()
    expect(page.get_by_test_id("player-line")).to_have_count(0)
    (session,) = office.sessions(name)
    assert (session["state"], session["end_cause"]) == ("SESSION_STATE_ENDED", "END_CAUSE_LOGOUT")
    page.reload()
    expect(page.get_by_test_id("log-in")).to_be_visible()


def test_rounds_are_listed_in_pages_with_their_details(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot
) -> None:
    page, name = new_player_page(new_context(), log_in, "rita")
    office = BackOffice(platform)
    play_rounds(office, Player.with_account(platform, name), 23, {"red": 100, "17-20": 100})
    rounds = office.rounds(name)
    page.goto("/#/account/rounds")
    lines = page.get_by_test_id("round")
    expect(lines).to_have_count(20)
    page.get_by_test_id("show-more").click()
    expect(lines).to_have_count(23)
    expect(page.get_by_test_id("show-more")).to_have_count(0)
    for line, round_ in zip(lines.all(), rounds, strict=True):
        number = round_["round"]["outcome"]["number"]
        net = int(round_["payout_cents"]) - int(round_["staked_cents"])
        expect(line.locator("strong")).to_have_text(re.compile(rf"^{number} (encarnado|preto|verde)$"))
        said = line.inner_text()
        assert "Apostado 2,00" in said
        assert {-200: "Perdeu 2,00", 0: "Sem ganho nem perda"}.get(net, f"Ganhou {net // 100},00") in said, (net, said)

    lines.nth(21).click()
    story = page.get_by_test_id("round-story")
    told = rounds[21]
    expect(story.get_by_test_id("round-told")).to_have_attribute("data-number", told["round"]["outcome"]["number"])
    expect(story).to_contain_text(told["round"]["round_id"])
    for result in told["stakes"][0]["results"]["results"]:
        row = story.locator(f'[data-place="{result["place"]}"]').get_by_role("cell")
        assert [cents_in(text) for text in row.all_inner_texts()] == [
            [int(result[what])] for what in ("amount_cents", "payout_cents", "prize_cents")
        ]
    screenshot(page, "account-rounds-told")


def test_every_movement_of_money_is_listed_with_what_was_before_and_after(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot
) -> None:
    page, name = new_player_page(new_context(), log_in, "vera")
    office = BackOffice(platform)
    play_rounds(office, Player.with_account(platform, name), 13, {"red": 100})
    transactions = office.transactions(office.balance(name, "MODE_REAL")["account_id"])
    assert len(transactions) == 27
    page.goto("/#/account/money")
    listed = page.get_by_test_id("transaction")
    expect(listed).to_have_count(25)
    page.get_by_test_id("show-more").click()
    expect(listed).to_have_count(27)
    words = {"STAKE": "Aposta", "ROUND_SETTLED": "Jogada liquidada", "DEPOSIT": "Depósito"}
    shown = listed.evaluate_all("(all) => all.map((one) => [...one.rows].map((row) => row.innerText))")
    for rows, transaction in zip(shown, transactions, strict=True):
        assert words[transaction["kind"].removeprefix("TRANSFER_KIND_")] in rows[0]
        for row, entry in zip(rows, transaction["entries"], strict=True):
            moved = int(entry["amount_cents"])
            assert ("−" in row) == (moved < 0), row
            assert [_cents(sum_) for sum_ in re.findall(r"\d+,\d\d", row)] == [
                int(entry["before_cents"]),
                abs(moved),
                int(entry["after_cents"]),
            ]
            assert ("Em jogo" in row) == (entry["balance_part"] == "BALANCE_PART_LOCKED"), row
    screenshot(page, "account-money-desktop")


def _cents(written: str) -> int:
    return int(written.replace(",", ""))
