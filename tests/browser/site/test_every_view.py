"""Every view and dialog: WCAG 2.2 AA as far as a program can tell, no word missing, none of the other language left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.view_checks import MISSING, texts, violations, words
from tests.browser.driver.views import views
from tests.system.platform import Platform

# How many views there are on every device, or more.
VIEWS_AT_LEAST = 28
# A large screen, and a tablet held upright.
SIZES: dict[str, ViewportSize] = {"large": {"width": 1920, "height": 1080}, "tablet": {"width": 820, "height": 1180}}


@dataclass(slots=True)
class Tour:
    """What was found on the way through all views on one device, in one language."""

    language: str
    texts: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def visit(self, name: str, page: Page) -> None:
        """Looks at one view."""
        self.texts[name] = texts(page)
        self.problems += [f"{name}: {violation}" for violation in violations(page)]
        self.problems += [f"{name}: «{text}» is no text" for text in self.texts[name] if MISSING.search(text)]
        if (language := page.locator("html").get_attribute("lang")) != self.language.lower():
            self.problems.append(f"{name}: its language is {language}")


TakeTour = Callable[[str, str], Tour]


@pytest.fixture
def take_tour(new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot) -> TakeTour:
    """Goes through all views on a device, in a language."""

    def take(device: str, language: str) -> Tour:
        size = {"viewport": SIZES[device]} if device in SIZES else {}
        context = new_context("desktop" if size else device, reduced_motion="reduce", bypass_csp=True, **size)
        tour = Tour(language)
        for name, page in views(context, log_in, platform, language):
            screenshot(page, f"tour-{device}-{name}")
            tour.visit(name, page)
        context.close()
        return tour

    return take


@pytest.mark.rule("903-B/2015:6.1.6")
@pytest.mark.parametrize(("portuguese", "english"), [("desktop", "large"), ("portrait", "landscape")])
def test_every_view_is_accessible_and_whole_in_both_languages(
    take_tour: TakeTour, portuguese: str, english: str
) -> None:
    tours = [take_tour(portuguese, "PT"), take_tour(english, "EN")]
    here, there = (tour.texts for tour in tours)
    # A phone on its side has room for more, and a few menus less.
    common = here.keys() & there.keys()
    assert len(common) >= VIEWS_AT_LEAST, sorted(common)
    if portuguese == "desktop":
        assert here.keys() == there.keys()
    problems = [problem for tour in tours for problem in tour.problems]
    for name in sorted(common):
        left_over = words(here[name]) & words(there[name])
        problems += [f"{name}: «{text}» is in both languages" for text in sorted(left_over)]
    assert not problems, "\n".join(problems)


def test_every_view_is_accessible_on_a_tablet(take_tour: TakeTour) -> None:
    tour = take_tour("tablet", "PT")
    assert not tour.problems, "\n".join(tour.problems)
