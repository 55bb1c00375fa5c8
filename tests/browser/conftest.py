"""One platform and one Chromium for all tests; each test has browser contexts of its own.

Tests are plain functions: Playwright's calls wait by themselves, and no event loop runs beside theirs.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, expect, sync_playwright

from stack.processes import leftovers
from stack.servers.scratch import scratch_folder
from tests.system.platform import Platform
from tools import web

SCREENSHOTS = web.BUILD / "screenshots"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium-headless-shell")
# Chromium calls no other hosts, and cannot use its sandbox as root.
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]
# How long anything may take before it is called a hang.
TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS)
_PHONE: dict[str, Any] = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2}
DEVICES: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1440, "height": 900}},
    "portrait": {"viewport": {"width": 390, "height": 844}, **_PHONE},
    "landscape": {"viewport": {"width": 844, "height": 390}, **_PHONE},
}

_PAGES = pytest.StashKey[list[Page]]()


@dataclass
class BrowserErrors:
    """The errors that the browser reports: at the end of a test none may be unexpected."""

    messages: list[str] = field(default_factory=list)
    expected: list[re.Pattern[str]] = field(default_factory=list)

    def expect(self, pattern: str) -> None:
        """Expects an error that the test provokes: a part of `<text> <address>`."""
        self.expected.append(re.compile(pattern))

    @property
    def unexpected(self) -> list[str]:
        return [message for message in self.messages if not any(one.search(message) for one in self.expected)]

    def listen(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.messages.append(f"uncaught: {error.stack or error}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.messages.append(f"{message.text} {message.location.get('url', '')}")


# Makes a context for one of DEVICES; further arguments are Playwright's (`reduced_motion="reduce"`, `locale="en-GB"`).
NewContext = Callable[..., BrowserContext]
Screenshot = Callable[[Page, str], Path]
LogIn = Callable[[BrowserContext, str], None]


_T = TypeVar("_T")


def _or_fail(act: Callable[[], _T], kind: type[Exception], sentence: str) -> _T:
    problem = ""
    try:
        return act()
    except kind as failed:
        problem = str(failed)
    pytest.fail(f"{sentence} {problem}", pytrace=False)


def build_front_end() -> None:
    """Builds the front-end if its sources have changed."""
    _or_fail(web.build, web.CannotBuild, "The front-end could not be built.")


@pytest.fixture(scope="session")
def platform() -> Iterator[Platform]:
    """The platform as `make run` starts it, with the front-end built from the sources."""
    build_front_end()
    with tempfile.TemporaryDirectory(prefix="feltro-", dir=scratch_folder()) as folder:
        Path(folder).chmod(0o711)
        made = Platform(Path(folder) / "data")
        # Bots that take as long as people would have a tournament last for minutes.
        made.environment["FELTRO_PRACTICE_SPEED"] = "20"
        made.start()
        try:
            yield made
        finally:
            # A stop would wait for open rounds to finish.
            made.kill_all()
            leftovers.stop(made.processes(), made.data, made.data / "postgres" / "data")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One process for all tests; they share nothing in it."""
    with sync_playwright() as playwright:
        browser = _or_fail(
            lambda: playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET),
            Error,
            f"{CHROMIUM} does not start (`make test-browser` brings one).",
        )
        yield browser
        browser.close()


@pytest.fixture
def browser_errors() -> BrowserErrors:
    return BrowserErrors()


@pytest.fixture
def new_context(
    chromium: Browser, platform: Platform, browser_errors: BrowserErrors, request: pytest.FixtureRequest
) -> Iterator[NewContext]:
    """Makes contexts of this test, each like a browser of its own; addresses begin at the gateway."""
    made: list[BrowserContext] = []
    pages = request.node.stash.setdefault(_PAGES, [])

    def watch(page: Page) -> None:
        pages.append(page)
        browser_errors.listen(page)

    def make(device: str = "desktop", **more: object) -> BrowserContext:
        usual = {"locale": "pt-PT", "timezone_id": "Europe/Lisbon", "base_url": platform.url}
        options: dict[str, Any] = {**usual, **DEVICES[device], **more}
        context = chromium.new_context(**options)
        context.set_default_timeout(TIMEOUT_MS)
        context.set_default_navigation_timeout(TIMEOUT_MS)
        context.on("page", watch)
        made.append(context)
        return context

    yield make
    for context in made:
        context.close()
    assert not browser_errors.unexpected, "the browser complains:\n" + "\n".join(browser_errors.unexpected)


@pytest.fixture
def desktop(new_context: NewContext) -> Page:
    """A page of 1440 × 900."""
    return new_context("desktop").new_page()


@pytest.fixture
def portrait(new_context: NewContext) -> Page:
    """A page of a phone, upright."""
    return new_context("portrait").new_page()


@pytest.fixture
def landscape(new_context: NewContext) -> Page:
    """A page of a phone on its side."""
    return new_context("landscape").new_page()


@pytest.fixture(params=DEVICES)
def each_device_page(new_context: NewContext, request: pytest.FixtureRequest) -> Page:
    """A page of each device in turn."""
    return new_context(request.param).new_page()


@pytest.fixture
def log_in(platform: Platform) -> LogIn:
    """Logs a player in at the operator's site; the page that is opened next has the login."""

    def go(context: BrowserContext, name: str) -> None:
        headers = {"Origin": platform.operator_site}
        form: dict[str, str | float | bool] = {"name": name}
        answer = context.request.post(f"{platform.operator_site}/login", form=form, headers=headers, max_redirects=0)
        assert answer.status == 303, answer.text()

    return go


@pytest.fixture
def screenshot() -> Screenshot:
    """Saves a picture of a page as build/screenshots/<name>.png."""

    def take(page: Page, name: str) -> Path:
        return _shot(page, name)

    return take


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where a test fails its pages are kept as they were, and the report says what they showed."""
    report = yield
    if report.when == "call" and report.failed:
        pages: list[Page] = item.stash.get(_PAGES, [])
        for number, page in enumerate(pages):
            if not page.is_closed():
                _shot(page, f"failed-{item.name}-{number}")
                report.sections.append((f"page {number}: {page.url}", page.locator("body").inner_text()))
    return report


def _shot(page: Page, name: str) -> Path:
    path = SCREENSHOTS / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)}.png"
    # One pixel per CSS pixel: a phone's four times as many show no more.
    page.screenshot(path=path, scale="css")
    return path
