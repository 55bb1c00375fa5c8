"""A table with 200 other players' chips stays as smooth as an empty one.

Measured at one table, one round alone and the next in a crowd, and judged by what the crowd adds. What counts is the
processor time of the page's main thread. How many frames a page draws meanwhile is for the machine to say, which has
other things to do, now in the one round, now in the other: a round costs something once, and something for each frame.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice

import pytest
from playwright.sync_api import CDPSession, Page

from tests.browser.back_office import BackOffice
from tests.browser.conftest import NewContext, Screenshot
from tests.browser.player import Player
from tests.browser.table_page import TablePage
from tests.browser.visitor import new_name
from tests.system.platform import Platform

CROWD = 199
BETS_EACH = 4
UNIT = 100
# So many of them ask at once; the platform shares the machine with the browser.
AT_ONCE = 4
# What a page that nobody disturbs draws from the throw of the ball until the prizes are paid.
FRAMES_AT_LEAST = 300

_FRAMES = """
(() => {
  window.smooth = { frames: 0 };
  const frame = () => { window.smooth.frames += 1; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
})();
"""
# How many places are marked, once so many bets are.
_ALL_MARKED = """
(others, bets) => new Promise((told) => {
  const look = () => {
    const marks = [...others.querySelectorAll("[data-other]")];
    const all = marks.reduce((sum, mark) => sum + Number(mark.dataset.players), 0);
    if (all === bets) told(marks.length);
    else requestAnimationFrame(look);
  };
  look();
})
"""


@dataclass(frozen=True, slots=True)
class Load:
    """What the page did between two moments: processor time of its main thread, and the frames it drew."""

    busy_s: float
    frames: int

    def __sub__(self, before: Load) -> Load:
        return Load(self.busy_s - before.busy_s, self.frames - before.frames)

    @property
    def per_frame(self) -> float:
        return self.busy_s / self.frames


class Meter:
    """Reads what the browser counts of a page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._devtools: CDPSession = page.context.new_cdp_session(page)
        self._devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read(self) -> Load:
        told = self._devtools.send("Performance.getMetrics")["metrics"]
        metrics = {metric["name"]: float(metric["value"]) for metric in told}
        frames = int(self._page.evaluate("() => window.smooth.frames"))
        return Load(metrics["TaskDuration"], frames)


@pytest.mark.alone
def test_two_hundred_players_do_not_slow_a_page_down(
    new_context: NewContext, screenshot: Screenshot, platform: Platform
) -> None:
    name = ("Roleta francesa cheia (demonstração)", "Full French roulette (demonstration)")
    times = {"betting_window_ms": 24_000, "result_shown_ms": 8000, "seats": CROWD + 1}
    listed = BackOffice(platform).table("full-demo", "french-demo", name, **times)
    context = new_context()
    context.add_init_script(_FRAMES)
    crowd = [Player.known_as(platform, new_name("gente")) for _ in range(CROWD)]
    table = TablePage(context.new_page(), listed).open()
    meter = Meter(table.page)
    places = len(crowd[0].layout(listed)["places"])

    alone = _rolling_and_paying(table, meter)
    with ThreadPoolExecutor(AT_ONCE) as hands:
        list(hands.map(lambda player: player.enter(listed), crowd))
        table.window_of(22)
        began = meter.read()
        _all_bet(hands, crowd, listed)
        marked = table.part("others").evaluate(_ALL_MARKED, CROWD * BETS_EACH)
        betting = meter.read() - began
    assert marked == places
    screenshot(table.page, "smooth-crowd-bets")
    crowded = _rolling_and_paying(table, meter)
    screenshot(table.page, "smooth-crowd-paid")
    with ThreadPoolExecutor(AT_ONCE) as hands:
        list(hands.map(Player.leave, [*crowd, Player.guest_of(platform, table.page)]))
    print(f"alone {alone}\ncrowded {crowded}\nbetting {betting}")
    # All of their chips together cost less than to show one round to one who sits alone.
    assert betting.busy_s < alone.per_frame * max(alone.frames, FRAMES_AT_LEAST)
    # A crowd's chips lie there, and are cleared away; the ball does not notice.
    assert crowded.busy_s < alone.busy_s + 1.5 * alone.per_frame * crowded.frames


def _rolling_and_paying(table: TablePage, meter: Meter) -> Load:
    """From the throw of the ball until the prizes are paid."""
    table.stage_is("rolling")
    began = meter.read()
    table.stage_is("paid")
    return meter.read() - began


def _all_bet(hands: ThreadPoolExecutor, crowd: list[Player], table_id: str) -> None:
    """Each of them on other places, so that the whole board is full."""
    shown = crowd[0].table(table_id)["table"]
    round_id = shown["round"]["round_id"]
    places = cycle(place["place"] for place in crowd[0].layout(table_id)["places"])
    bets = [dict.fromkeys(islice(places, BETS_EACH), UNIT) for _ in crowd]
    list(hands.map(lambda player, felt: player.bet(table_id, round_id, felt), crowd, bets))
