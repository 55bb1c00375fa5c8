"""`/docs` says which fields are required, finds what a developer looks for, and tries calls as new commands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.driver.rest import Json
from tests.browser.reference.conftest import DocumentsServer

DEPOSIT = "WalletService_Deposit"
BODY_FIELDS = """(details) => [...details.querySelectorAll("h3")]
  .filter((title) => title.textContent.startsWith("Body"))
  .flatMap((title) => [...title.nextElementSibling.rows])
  .map((row) => [row.querySelector("code").textContent, !row.querySelector("small")])"""


@pytest.fixture
def docs(desktop: Page) -> Page:
    """The page with the whole document read."""
    desktop.goto("/docs")
    expect(desktop.locator(f"#{DEPOSIT}")).to_have_count(1)
    return desktop


def _bodies(document: Json) -> Iterator[tuple[str, Json]]:
    """Yields each operation that takes a body, with the schema of the body."""
    for verbs in document["paths"].values():
        for operation in verbs.values():
            if "requestBody" in operation:
                reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
                yield operation["operationId"], document["components"]["schemas"][reference.split("/")[-1]]


def _open(docs: Page, part: str) -> Locator:
    docs.evaluate("(part) => { location.hash = part; }", part)
    details = docs.locator(f"[id='{part}']")
    expect(details).to_be_visible()
    expect(details).to_have_attribute("open", "")
    return details


def test_fields_of_bodies_are_required_and_optional_as_the_document_says(docs: Page, platform: DocumentsServer) -> None:
    for operation, schema in _bodies(platform.document):
        shown = dict(_open(docs, operation).evaluate(BODY_FIELDS))
        required = schema.get("required", [])
        assert shown == {name: name in required for name in schema.get("properties", {})}, operation


def test_links_to_schemas_lead_there_while_a_search_hides_them(docs: Page) -> None:
    find, schema = docs.get_by_label("Find"), docs.locator("[id='schema-wallet.v1.DepositResponse']")
    find.fill("/deposits")
    expect(schema).to_be_hidden()
    link = _open(docs, DEPOSIT).get_by_role("link", name="wallet.v1.DepositResponse")
    link.click()
    expect(schema).to_be_visible()
    expect(schema).to_be_in_viewport()
    # The same link leads there again, although the address does not change.
    find.fill("accounts deposits")
    expect(schema).to_be_hidden()
    link.click()
    expect(schema).to_be_visible()


def test_links_to_services_lead_there_while_a_search_hides_them(docs: Page) -> None:
    docs.get_by_label("Find").fill("/deposits")
    heading = docs.locator("#RouletteService")
    expect(heading).to_be_hidden()
    docs.get_by_role("link", name="RouletteService").click()
    expect(heading).to_be_visible()


@pytest.mark.parametrize(
    ("words", "found", "missed"),
    [
        ("INSUFFICIENT_FUNDS", "RouletteService_PlaceBets", "GatewayService_ListGames"),
        ("needed_cents", "RouletteService_PlaceBets", "GatewayService_ListGames"),
        ("approval_reference", "TableService_ConfigureTable", DEPOSIT),
        ("running_only", "SessionService_ListSessions", DEPOSIT),
        ("WHEEL_FRENCH", "RouletteService_GetLayout", DEPOSIT),
        ("complaints_unanswered", "ComplaintService_FileComplaint", DEPOSIT),
        ("duration_ms", "schema-wallet.v1.SessionSummary", "schema-wallet.v1.Balance"),
    ],
)
def test_a_search_finds_reasons_facts_fields_and_values(docs: Page, words: str, found: str, missed: str) -> None:
    docs.get_by_label("Find").fill(words)
    expect(docs.locator(f"[id='{found}']")).to_be_visible()
    expect(docs.locator(f"[id='{missed}']")).to_be_hidden()


def test_a_new_try_is_a_new_command_and_a_repeat_is_the_same(docs: Page, platform: DocumentsServer) -> None:
    docs.get_by_label("Token").fill("a-token")
    deposit = _open(docs, DEPOSIT)
    deposit.get_by_label("account_id").fill("an-account")
    answer = deposit.locator("pre")

    def press(button: str) -> str:
        number = len(platform.calls) + 1
        deposit.get_by_role("button", name=button).click()
        expect(answer).to_contain_text(f'"noted": {number}')
        return platform.calls[-1].key

    expect(deposit.get_by_role("button", name="Repeat")).to_be_disabled()
    first = press("Try it")
    assert first
    assert press("Repeat") == first
    second = press("Try it")
    assert second not in {"", first}
    assert press("Repeat") == second
    deposit.get_by_label("Idempotency-Key").fill("my-own-name")
    assert press("Try it") == "my-own-name"
    assert press("Repeat") == "my-own-name"
    assert press("Try it") not in {"", "my-own-name", first, second}
    paths = {(call.verb, call.path, call.authorization) for call in platform.calls}
    assert paths == {("POST", "/v1/accounts/an-account/deposits", "Bearer a-token")}
