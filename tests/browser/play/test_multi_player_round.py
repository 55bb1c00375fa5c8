"""A whole round at a table for many: one window for all, whose end is shown, and one result that binds everybody."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver import recording, round_checks
from tests.browser.driver.back_office import RESULT_S, UNHURRIED, WINDOW_S, BackOffice
from tests.browser.driver.navigation import new_name
from tests.browser.driver.player import Bets, Player
from tests.browser.driver.rest import Json
from tests.browser.driver.table_page import LOOKS_EVERY_MS, ROUND_MS, TablePage
from tests.system.platform import Platform

SAME = ("2", "6", "6.e")
# How many seconds the clock of a window is watched for.
WATCHED_S = 5
# Three devices at once, each at a table of its own: their rounds take the same time.
TABLES = {"french": "desktop", "american": "portrait", "american-00": "landscape"}


@dataclass(frozen=True, slots=True)
class Sitting:
    """A player who has bet, on a device."""

    table: TablePage
    player: Player
    had: int
    bets: Bets
    round_id: str

    def played(self) -> Json:
        (played,) = [one for one in self.player.rounds() if one["round"]["round_id"] == self.round_id]
        return played


# How many different seconds the clock of the window has shown.
_CLOCK_RUNS = """
(least) => new Set(window.recording.log.filter(({ seconds }) => seconds).map(({ seconds }) => seconds)).size >= least
"""


@pytest.mark.rule(*(f"807/2015:{rule}" for rule in (*SAME, "9", "16", "18", "19", "26")))
@pytest.mark.rule(*(f"804/2015:{rule}" for rule in (*SAME, "8", "14", "16", "17", "24")))
@pytest.mark.rule("903-B/2015:6.1.2", "903-B/2015:6.2.1", "903-B/2015:6.2.3")
def test_a_round_of_many(new_context: NewContext, log_in: LogIn, screenshot: Screenshot, platform: Platform) -> None:
    sitting, office = [], BackOffice(platform)
    for variant, device in TABLES.items():
        words = (f"Mesa para todos ({variant})", f"A table for all ({variant})")
        listed_id = office.configure_table(f"{variant}-for-all", variant, words, **UNHURRIED)
        context = new_context(device)
        recording.record_pages(context)
        name = new_name("nuno")
        log_in(context, name)
        sitting.append(_bets(TablePage(context.new_page(), listed_id).open(), Player.with_account(platform, name)))
        screenshot(sitting[-1].table.page, f"many-{listed_id}-{device}-1-bets")
    for seat in sitting:
        seat.table.page.wait_for_function(_CLOCK_RUNS, arg=WATCHED_S)
    office.advance_tables(WINDOW_S)
    for seat in sitting:
        seat.table.phase.page.bring_to_front()
        seat.table.expect_stage("rolling", "marked", "collected", "paid")
        screenshot(seat.table.page, f"many-{seat.table.listed_id}-2-rolling")
    for seat in sitting:
        seat.table.expect_stage("paid")
    office.advance_tables(RESULT_S)
    for seat in sitting:
        _next_round_opens(seat)
        _verify_shown_round(seat)
        screenshot(seat.table.page, f"many-{seat.table.listed_id}-3-next-round")
        round_checks.verify_last_round_dialog(seat.table, seat.played())
        seat.player.leave()


def _bets(table: TablePage, player: Player) -> Sitting:
    had = player.balance("MODE_REAL")[0]
    bets = round_checks.mixed_bets(table.listed_id)
    table.wait_for_betting()
    table.place_bets(bets)
    assert player.on_felt(table.listed_id) == bets
    expect(table.balance).to_have_attribute("data-cents", str(had - sum(bets.values())))
    return Sitting(table, player, had, bets, player.table(table.listed_id)["table"]["round"]["round_id"])


def _next_round_opens(seat: Sitting) -> None:
    """Waits until nothing of the round is shown any more, but among the last numbers."""
    expect(seat.table.page.locator("[data-own]")).to_have_count(0, timeout=ROUND_MS)
    seat.table.wait_for_betting()
    expect(seat.table.part("marker")).to_be_hidden()


def _verify_shown_round(seat: Sitting) -> None:
    table, played = seat.table, seat.played()
    story = recording.recording_of(table.page)
    _clock_ran_down(story.until_event("betting_closed", seat.round_id))
    round_checks.verify_nothing_revealed_early(story, played)
    this_round = story.since_event("betting_closed", seat.round_id)
    next_id = next(
        one["round"]["round_id"]
        for one in this_round.table_events("round_opened")
        if one["round"]["round_id"] != seat.round_id
    )
    # All of it was over, and the result could be read, before bets were taken again.
    shown = story.until_event("round_opened", next_id)
    round_checks.verify_order(shown, played)
    round_checks.verify_announced_result(shown, played)
    assert {look["outcomeText"] for look in shown.since_stage("paid").page_states if look["stage"] == "paid"} != {""}
    after = story.since_event("round_opened", next_id).page_states
    assert all(look["chips"] == [] and look["marked"] is None for look in after[-1:])
    assert seat.player.balance("MODE_REAL") == (seat.had - sum(seat.bets.values()) + int(played["payout_cents"]), 0)
    round_checks.verify_ball_position(table, table.last_numbers()[0])
    assert round_checks.drawn_number(played) in table.last_numbers()


def _clock_ran_down(window: recording.Recording) -> None:
    """While bets are taken the time left is shown, and it only falls."""
    looks = [look for look in window.page_states if look["phase"] == "bets"]
    assert {look["headline"] for look in looks} == {"Façam as vossas apostas"}
    seconds = [int(look["seconds"]) for look in looks if look["seconds"]]
    this_window = seconds[len(seconds) - _falling_from_end(seconds) :]
    assert len(set(this_window)) >= WATCHED_S
    assert all(left <= WINDOW_S for left in this_window)


def _falling_from_end(seconds: list[int]) -> int:
    """How many of the last ones never rise: one window."""
    at = len(seconds) - 1
    while at > 0 and seconds[at - 1] >= seconds[at]:
        at -= 1
    return len(seconds) - at


@pytest.mark.rule("807/2015:16", "903-B/2015:6.1.2")
def test_players_see_each_other_s_chips_and_the_same_ball(
    new_context: NewContext, screenshot: Screenshot, platform: Platform
) -> None:
    """They bet against each other; the ball is the same for both."""
    name = ("Roleta francesa a dois (demonstração)", "French roulette for two (demonstration)")
    office = BackOffice(platform)
    listed = office.configure_table("two-demo", "french-demo", name, **UNHURRIED)
    one, other = (TablePage(new_context().new_page(), listed).open() for _ in range(2))
    one.wait_for_betting()
    one.place_chips("red", 2)
    one.place_chips("17")
    other.place_chips("black")
    other.place_chips("17")
    one.expect_confirmed_chips({"red": 200, "17": 100})
    other.expect_confirmed_chips({"black": 100, "17": 100})
    expect(one.page.locator("[data-other]")).to_have_count(2)
    expect(one.page.locator('[data-other="black"]')).to_have_attribute("data-players", "1")
    expect(other.page.locator("[data-other]")).to_have_count(2)
    expect(other.page.locator('[data-other="red"]')).to_have_attribute("data-players", "1")
    one.page.mouse.move(*one.chip_positions()["black"])
    expect(one.part("pointed")).to_contain_text("1 outro jogador: 1 crédito")
    screenshot(one.page, "two-players-bets")

    for table in (one, other):
        table.page.evaluate(_NOTE_MOTION)
    office.advance_tables(WINDOW_S)
    motions = [_motion_of_the_ball(table.page) for table in (one, other)]
    # Each wheel comes from where it stood; from before the first hop on it is the same for both, and so is the ball.
    (times_of_one, positions_of_one), (times_of_other, positions_of_other) = motions
    assert min(len(positions_of_one), len(positions_of_other)) > 30
    for moment, position in zip(times_of_one, positions_of_one, strict=True):
        if times_of_other[0] <= moment <= times_of_other[-1]:
            assert math.dist(position, _position_at(moment, times_of_other, positions_of_other)) < 1.0
    for table in (one, other):
        table.expect_stage("paid")
    screenshot(one.page, "two-players-paid")
    number = one.part("marker").get_attribute("data-number")
    assert other.part("marker").get_attribute("data-number") == number
    for table, there in ((one, "black"), (other, "red")):
        player = Player.demo_player_of(platform, table.page)
        won = number in player.numbers_of(listed, there)
        assert table.page.locator(f'[data-other="{there}"].lost').count() == (0 if won else 1)
        player.leave()


# Notes the motion of the ball while it rolls: the test may look at the second page when it has come to rest there.
_NOTE_MOTION = """
() => {
  const look = () => {
    const part = (id) => document.querySelector(`[data-testid=${id}]`);
    const moves = ({ effect }) => effect.getKeyframes().some(({ transform }) => transform);
    const motion = part("ball")?.getAnimations().find(moves);
    if (part("roulette").dataset.stage !== "rolling" || !motion) {
      setTimeout(look, 10);
      return;
    }
    const frames = motion.effect.getKeyframes().map(({ computedOffset, transform }) => {
      const { e, f } = new DOMMatrix(transform);
      return [computedOffset, e, f];
    });
    // The spin is the first third of the motion; the wheel is the same for all after the first four fifths of it.
    window.motion = frames.filter(([offset]) => offset > 0.8 / 3 && offset <= 1 / 3);
  };
  look();
}
"""


def _position_at(moment: float, times: list[float], positions: list[tuple[float, float]]) -> tuple[float, float]:
    """Where the ball is at a moment: pages round the times of their keyframes, so that one may have a few more."""
    after = max(1, bisect_left(times, moment))
    (x, y), (next_x, next_y) = positions[after - 1], positions[after]
    share = (moment - times[after - 1]) / (times[after] - times[after - 1])
    return x + share * (next_x - x), y + share * (next_y - y)


def _motion_of_the_ball(page: Page) -> tuple[list[float], list[tuple[float, float]]]:
    """The moments and positions of the last part of a spin."""
    frames = page.wait_for_function("() => window.motion", polling=LOOKS_EVERY_MS).json_value()
    return [offset for offset, _, _ in frames], [(x, y) for _, x, y in frames]
