"""WCAG 2.2 AA, as far as a program can tell, of every view and dialog; and a picture of each."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.browser.conftest import DEVICES, LogIn, NewContext, Screenshot
from tests.browser.driver.views import views
from tests.system.platform import Platform
from tools import web

AXE = web.PACKAGES / "axe-core" / "axe.min.js"
_LOOK = """
async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ["violations"] });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`));
}
"""


# A large screen, and a tablet held upright.
SIZES: dict[str, ViewportSize] = {"large": {"width": 1920, "height": 1080}, "tablet": {"width": 820, "height": 1180}}


@pytest.mark.parametrize("device", [*DEVICES, *SIZES])
def test_nothing_serious_on_any_view(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot, device: str
) -> None:
    size = {"viewport": SIZES[device]} if device in SIZES else {}
    context = new_context("desktop" if size else device, reduced_motion="reduce", bypass_csp=True, **size)
    found: dict[str, list[str]] = {}
    for name, page in views(context, log_in, platform):
        screenshot(page, f"tour-{device}-{name}")
        if wrong := _violations(page):
            found[name] = wrong
    assert not found, "\n".join(f"{name}: {one}" for name, wrong in found.items() for one in wrong)


def _violations(page: Page) -> list[str]:
    if not page.evaluate("() => 'axe' in window"):
        page.add_script_tag(path=AXE)
    wrong: list[str] = page.evaluate(_LOOK)
    return wrong
