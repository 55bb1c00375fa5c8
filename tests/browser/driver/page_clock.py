"""Stops the time of a page, where a busy machine would have too little of it.

`stopped_clock` stops what a page measures by, while a message is on its way: however late it comes, the page takes it
for new. A page shows less of a result that has been on its way for long, as it should. Timers go on. `pause` stops
these, too, on Playwright's clock (`page.clock.install()`), which the test then moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Error, Page

_SCRIPT = """
(() => {
  const now = performance.now.bind(performance);
  let stopped_at = null;
  let stood_ms = 0;
  performance.now = () => (stopped_at ?? now()) - stood_ms;
  window.pageClock = {
    stop: () => { stopped_at = now(); },
    goOn: () => { stood_ms += now() - stopped_at; stopped_at = null; },
  };
})();
"""


def install_stoppable_clock(context: BrowserContext) -> None:
    """Gives the pages that this context opens from now on a clock that can be stopped."""
    context.add_init_script(_SCRIPT)


@contextmanager
def stopped_clock(page: Page) -> Iterator[None]:
    """Lets the clock of a page stand still."""
    page.evaluate("() => window.pageClock.stop()")
    yield
    page.evaluate("() => window.pageClock.goOn()")


# A page's time is stopped so soon after it was read, unless that takes longer.
_SOON_S = 0.25


def pause(page: Page) -> None:
    """Pauses Playwright's clock: it takes a moment to come, and pauses at once with an error where that has passed."""
    now_s: float = page.evaluate("() => Date.now() / 1000")
    try:
        page.clock.pause_at(now_s + _SOON_S)
    except Error:
        stands_at_s: float = page.evaluate("() => Date.now() / 1000")
        page.clock.pause_at(stands_at_s + _SOON_S)
