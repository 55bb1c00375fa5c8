"""The front-end opens: on a desktop and on a phone, with and without a login."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.system.platform import Platform


def test_it_opens_everywhere(each_device_page: Page, screenshot: Screenshot, platform: Platform) -> None:
    each_device_page.goto("/")
    expect(each_device_page.get_by_role("heading").first).to_be_visible()
    size = each_device_page.viewport_size
    assert size is not None
    screenshot(each_device_page, f"opens-{size['width']}x{size['height']}")


def test_it_asks_the_operator_s_site_who_is_there(new_context: NewContext, log_in: LogIn, platform: Platform) -> None:
    """Over another origin, with cookies, past the browser's own rules."""
    context = new_context()
    page = context.new_page()
    page.goto("/")
    ask = """async (url) => {
      const said = await fetch(url, { credentials: "include" });
      return [said.status, said.status === 200 ? await said.json() : null];
    }"""
    status, said = page.evaluate(ask, f"{platform.operator_site}/token")
    assert (status, said) == (204, None)
    log_in(context, "ana")
    status, said = page.evaluate(ask, f"{platform.operator_site}/token")
    assert (status, said["player_id"]) == (200, "ana")


def test_the_operator_site_works_without_scripts_on_a_phone(new_context: NewContext, screenshot: Screenshot) -> None:
    """Developers meet it first."""
    told = new_context().request.get("/front-end.json").json()
    page = new_context("portrait", java_script_enabled=False).new_page()
    page.goto(told["cashier_url"])
    expect(page.get_by_role("heading", name="Entrar")).to_be_visible()
    screenshot(page, "operator-site-login")
    page.get_by_role("link", name="English").click()
    page.get_by_label("Name").fill("bea")
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("heading", name="Cashier")).to_be_visible()
    expect(page.get_by_text("€100.00").first).to_be_visible()
    page.get_by_role("button", name="€50.00").click()
    expect(page.get_by_role("status")).to_have_text("You deposited €50.00.")
    expect(page.get_by_text("€150.00")).to_be_visible()
    screenshot(page, "operator-site-cashier")
