"""Every button at a table has a name that says what it does."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE


@pytest.mark.rule("903-B/2015:6.1.6")
def test_every_button_says_what_it_does(anywhere_at_a_table: TablePage) -> None:
    unnamed = anywhere_at_a_table.page.evaluate(
        """() => [...document.querySelectorAll("button, a, [role=button], [role=radio], input")]
          .filter((one) => one.checkVisibility())
          .filter((one) => !(one.ariaLabel || one.textContent.trim() || one.title || one.labels?.length))
          .map((one) => one.outerHTML)"""
    )
    assert unnamed == []
    for action in ("undo", "clear", "repeat", "double", "spin"):
        button = anywhere_at_a_table.part(action)
        expect(button).to_have_accessible_name(re.compile(r"\w{4,}"))
        expect(button).to_have_attribute("title", re.compile(r"\w{4,}"))


@pytest.fixture(params=["desktop", "portrait", "landscape"])
def anywhere_at_a_table(new_context: NewContext, request: pytest.FixtureRequest) -> TablePage:
    """A table for one, on each device in turn."""
    return TablePage(new_context(request.param).new_page(), TABLE).open()
