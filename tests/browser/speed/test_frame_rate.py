"""A table with 200 other players' chips stays as smooth as an empty one.

Measured at one table, one round alone and the next in a crowd, and judged by what the crowd adds; and by the browser's
own trace, in which no single task of the page may take so long that it is noticed. What counts is the processor time of
the page's main thread, never the clock on the wall. How many frames a page draws meanwhile is for the machine to say,
which has other things to do, now in the one round, now in the other: a round costs something once, and something for
each frame.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice

import pytest
from playwright.sync_api import Browser, CDPSession, Page

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.back_office import WINDOW_S, BackOffice
from tests.browser.driver.navigation import new_name
from tests.browser.driver.player import Player
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform

CROWD = 199
BETS_EACH = 4
UNIT = 100
# So many of them ask at once; the platform shares the machine with the browser.
AT_ONCE = 4
# What a page that nobody disturbs draws from the throw of the ball until the prizes are paid.
FRAMES_AT_LEAST = 300

# The shortest pause that is noticed (web.dev/articles/optimize-long-tasks), in microseconds of the thread's own time.
LONGEST_TASK_US = 50_000
# On a slow machine the same work takes longer: then it is judged by the longest task of a round alone.
SLOWER_THAN_ALONE = 3
TRACED = ["-*", "toplevel", "devtools.timeline"]

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


@dataclass(frozen=True, slots=True)
class Task:
    """Something that a page's main thread did in one go, and by what it was longest kept."""

    own_us: int
    kept_by: tuple[str, ...]


def _longest_task(trace: bytes) -> Task:
    """Of all pages that there are: the others do nothing."""
    events = json.loads(trace)["traceEvents"]
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    timed = [event for event in events if "tdur" in event and (event["pid"], event["tid"]) in mains]
    tasks = [event for event in timed if event["name"].endswith("RunTask")]
    assert tasks, "nothing was traced"
    longest = max(tasks, key=lambda task: int(task["tdur"]))
    until = longest["ts"] + longest["dur"]
    within = [
        event
        for event in timed
        if (event["pid"], event["tid"]) == (longest["pid"], longest["tid"])
        and longest["ts"] <= event["ts"] < until
        and not event["name"].endswith("RunTask")
    ]
    kept_by = sorted(within, key=lambda event: -int(event["tdur"]))[:8]
    return Task(int(longest["tdur"]), tuple(f"{event['name']} {event['tdur']} µs" for event in kept_by))


@pytest.mark.alone
def test_two_hundred_players_do_not_slow_a_page_down(
    new_context: NewContext, chromium: Browser, screenshot: Screenshot, platform: Platform
) -> None:
    name = ("Roleta francesa cheia (demonstração)", "Full French roulette (demonstration)")
    times = {"betting_window_ms": WINDOW_S * 1000, "result_shown_ms": 8000, "seats": CROWD + 1}
    office = BackOffice(platform)
    listed = office.configure_table("full-demo", "french-demo", name, **times)
    context = new_context()
    context.add_init_script(_FRAMES)
    crowd = [Player.with_account(platform, new_name("gente")) for _ in range(CROWD)]
    table = TablePage(context.new_page(), listed).open()
    meter = Meter(table.page)
    places = len(crowd[0].layout(listed)["places"])

    table.wait_for_betting()
    chromium.start_tracing(page=table.page, categories=TRACED)
    table.record_stages()
    office.advance_tables(WINDOW_S)
    alone = _rolling_and_paying(table, meter)
    longest_alone = _longest_task(chromium.stop_tracing())
    with ThreadPoolExecutor(AT_ONCE) as hands:
        list(hands.map(lambda player: player.enter(listed), crowd))
        table.wait_for_betting()
        chromium.start_tracing(page=table.page, categories=TRACED)
        began = meter.read()
        _all_bet(hands, crowd, listed)
        marked = table.part("others").evaluate(_ALL_MARKED, CROWD * BETS_EACH)
        betting = meter.read() - began
    assert marked == places
    table.record_stages()
    office.advance_tables(WINDOW_S)
    crowded = _rolling_and_paying(table, meter)
    longest = _longest_task(chromium.stop_tracing())
    screenshot(table.page, "smooth-crowd-paid")
    with ThreadPoolExecutor(AT_ONCE) as hands:
        list(hands.map(Player.leave, [*crowd, Player.demo_player_of(platform, table.page)]))
    print(f"alone {alone}\ncrowded {crowded}\nbetting {betting}\n{longest}")
    assert longest.own_us < max(LONGEST_TASK_US, SLOWER_THAN_ALONE * longest_alone.own_us), (longest, longest_alone)
    # All of their chips together cost less than to show one round to a player who sits alone.
    assert betting.busy_s < alone.per_frame * max(alone.frames, FRAMES_AT_LEAST)
    # A crowd's chips lie there, and are cleared away; the ball does not notice.
    assert crowded.busy_s < alone.busy_s + 1.5 * alone.per_frame * crowded.frames


def _rolling_and_paying(table: TablePage, meter: Meter) -> Load:
    """From the throw of the ball until the prizes are paid, which is soon over."""
    table.expect_recorded_stage("rolling")
    began = meter.read()
    table.expect_recorded_stage("paid")
    return meter.read() - began


def _all_bet(hands: ThreadPoolExecutor, crowd: list[Player], table_id: str) -> None:
    """Each of them on other places, so that the whole board is full."""
    shown = crowd[0].table(table_id)["table"]
    round_id = shown["round"]["round_id"]
    places = cycle(place["place"] for place in crowd[0].layout(table_id)["places"])
    bets = [dict.fromkeys(islice(places, BETS_EACH), UNIT) for _ in crowd]
    list(hands.map(lambda player, felt: player.bet(table_id, round_id, felt), crowd, bets))
