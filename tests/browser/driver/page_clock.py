"""Stops the clock of a page while a message is on its way: however late it comes, the page takes it for new.

On a busy machine a page shows less of a result that has been on its way for long, as it should. Timers go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Page

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
