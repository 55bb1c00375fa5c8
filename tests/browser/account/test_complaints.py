"""A complaint: made about a round, answered by the operator, followed and added to in the account."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.back_office import BackOffice, quick_real_table
from tests.browser.driver.navigation import new_player_page, open_panel
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform


@pytest.mark.rule("804/2015:25", "807/2015:27")
def test_a_complaint_about_a_round_is_answered_and_followed_step_by_step(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot
) -> None:
    page, name = new_player_page(new_context(), log_in, "marta")
    office = BackOffice(platform)
    table = TablePage(page, quick_real_table(office)).open()
    table.place_chips("8")
    table.spin()
    table.expect_stage("paid")
    open_panel(page, "last")
    page.get_by_test_id("complain-round").click()
    form = page.get_by_test_id("complaint")
    expect(form.get_by_role("radio").first).to_be_checked()
    send = form.get_by_test_id("complaint-send")
    expect(send).to_be_disabled()
    form.get_by_test_id("complaint-text").fill("A bola parou no 8 e não me pagaram.")
    screenshot(page, "complaint-form")
    send.click()
    reference = page.get_by_test_id("reference").inner_text()
    screenshot(page, "complaint-filed")
    filed = office.complaint(reference)
    (round_,) = office.rounds(name)
    assert filed["round_id"] == round_["round"]["round_id"]
    assert [step["text"] for step in filed["steps"]] == ["A bola parou no 8 e não me pagaram."]

    page.get_by_role("link", name="Ver as minhas reclamações").click()
    line = page.get_by_test_id("complaint-line")
    expect(line).to_contain_text(re.compile(rf"{reference}.*Recebida"))
    line.click()
    office.complaint_step(reference, "review", "")
    expect(page.get_by_test_id("toasts")).to_contain_text(f"A reclamação {reference} avançou")
    expect(line).to_contain_text("Em análise")
    office.complaint_step(reference, "answer", "Saiu outro número: veja a jogada.")
    expect(page.get_by_test_id("toasts")).to_contain_text(f"A reclamação {reference} tem resposta")
    told = page.get_by_test_id("complaint-story")
    expect(told.get_by_role("listitem")).to_have_count(3)
    expect(told.get_by_role("listitem").nth(2)).to_contain_text("Saiu outro número: veja a jogada.")
    expect(told.get_by_role("listitem").nth(2)).to_contain_text("Da nossa parte")
    told.get_by_role("textbox").fill("Obrigada, já vi.")
    told.get_by_role("button", name="Acrescentar").click()
    expect(told.get_by_role("listitem")).to_have_count(4)
    screenshot(page, "complaint-answered")
    office.complaint_step(reference, "answer", "De nada.")
    expect(told.get_by_role("listitem")).to_have_count(5)
    office.complaint_step(reference, "close", "Encerrada a pedido.")
    expect(told).to_contain_text("Esta reclamação está encerrada.")
    expect(told.get_by_role("textbox")).to_have_count(0)
    said = [step.get_by_role("paragraph").last.inner_text() for step in told.get_by_role("listitem").all()]
    assert [text for text in (step["text"] for step in office.complaint(reference)["steps"]) if text] == [
        text for text in said if "·" not in text
    ]
    screenshot(page, "complaint-closed")


def test_a_session_can_be_complained_about_from_the_account(
    new_context: NewContext, log_in: LogIn, platform: Platform
) -> None:
    page, name = new_player_page(new_context("portrait"), log_in, "olga")
    office = BackOffice(platform)
    TablePage(page, quick_real_table(office)).open()
    page.goto("/#/account/sessions")
    page.get_by_test_id("summary-button").click()
    page.get_by_role("button", name="Reclamar desta sessão").click()
    page.get_by_test_id("complaint-text").fill("Não fui eu.")
    page.get_by_test_id("complaint-send").click()
    reference = page.get_by_test_id("reference").inner_text()
    assert office.complaint(reference)["session_id"] == office.sessions(name)[0]["session_id"]
