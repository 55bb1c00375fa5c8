"""A whole round at a table for many: one window for all, whose end is shown, and one result that binds everybody."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.browser import round_shown, witness
from tests.browser.back_office import BackOffice
from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.player import Felt, Player
from tests.browser.rest import Said
from tests.browser.table_page import ROUND_MS, TablePage
from tests.browser.visitor import new_name
from tests.system.platform import Platform

SAME = ("2", "6", "6.e")
# On a slow machine, too, one bets and sees all of a round.
WINDOW_S, TIMES = 30, {"betting_window_ms": 30_000, "result_shown_ms": 16_000}
# Three devices at once, each at a table of its own: their rounds take the same minute.
TABLES = {"french": "desktop", "american": "portrait", "american-00": "landscape"}


@dataclass(frozen=True, slots=True)
class Sitting:
    """Somebody who has bet, on his device."""

    table: TablePage
    player: Player
    had: int
    bets: Felt
    round_id: str

    def played(self) -> Said:
        (played,) = [one for one in self.player.rounds() if one["round"]["round_id"] == self.round_id]
        return played


@pytest.mark.rule(*(f"807/2015:{rule}" for rule in (*SAME, "9", "16", "18", "19", "26")))
@pytest.mark.rule(*(f"804/2015:{rule}" for rule in (*SAME, "8", "14", "16", "17", "24")))
@pytest.mark.rule("903-B/2015:6.1.2", "903-B/2015:6.2.1", "903-B/2015:6.2.3")
def test_a_round_of_many(new_context: NewContext, log_in: LogIn, screenshot: Screenshot, platform: Platform) -> None:
    sitting, office = [], BackOffice(platform)
    for variant, device in TABLES.items():
        words = (f"Mesa para todos ({variant})", f"A table for all ({variant})")
        listed_id = office.table(f"{variant}-for-all", variant, words, **TIMES)
        context = new_context(device)
        witness.call_witness(context)
        name = new_name("nuno")
        log_in(context, name)
        sitting.append(_bets(TablePage(context.new_page(), listed_id).open(), Player.known_as(platform, name)))
        screenshot(sitting[-1].table.page, f"many-{listed_id}-{device}-1-bets")
    for seat in sitting:
        seat.table.phase.page.bring_to_front()
        seat.table.stage_is("rolling", "marked", "collected", "paid")
        screenshot(seat.table.page, f"many-{seat.table.listed_id}-2-rolling")
    for seat in sitting:
        _next_round_opens(seat)
        _was_shown_as_it_was(seat)
        screenshot(seat.table.page, f"many-{seat.table.listed_id}-3-next-round")
        round_shown.last_round_tells(seat.table, seat.played())
        seat.player.leave()


def _bets(table: TablePage, player: Player) -> Sitting:
    had = player.balance("MODE_REAL")[0]
    bets = round_shown.hedged(table.listed_id)
    table.window_of(WINDOW_S - 6)
    for place, cents in bets.items():
        table.put(place, cents // 100)
    table.chips_count(bets)
    assert player.on_felt(table.listed_id) == bets
    expect(table.balance).to_have_attribute("data-cents", str(had - sum(bets.values())))
    return Sitting(table, player, had, bets, player.table(table.listed_id)["table"]["round"]["round_id"])


def _next_round_opens(seat: Sitting) -> None:
    """Nothing of the round that he bet in is to be seen any more, but among the last numbers."""
    expect(seat.table.page.locator("[data-own]")).to_have_count(0, timeout=ROUND_MS)
    seat.table.bets_are_taken()
    expect(seat.table.part("marker")).to_be_hidden()


def _was_shown_as_it_was(seat: Sitting) -> None:
    table, played = seat.table, seat.played()
    story = witness.story(table.page)
    _clock_ran_down(story.until("betting_closed", seat.round_id))
    round_shown.nothing_was_told_early(story, played)
    this_round = story.since("betting_closed", seat.round_id)
    next_id = next(
        one["round"]["round_id"]
        for one in this_round.heard("round_opened")
        if one["round"]["round_id"] != seat.round_id
    )
    # All of it was over, and what he got was there to be read, before bets were taken again.
    shown = story.until("round_opened", next_id)
    round_shown.told_in_order(shown, played)
    round_shown.called_truly(shown, played)
    assert {look["called"] for look in shown.since_seen("paid").seen if look["stage"] == "paid"} != {""}
    after = story.since("round_opened", next_id).seen
    assert all(look["own"] == [] and look["marked"] is None for look in after[-1:])
    assert seat.player.balance("MODE_REAL") == (seat.had - sum(seat.bets.values()) + int(played["payout_cents"]), 0)
    round_shown.ball_lies_in(table, table.last_numbers()[0])
    assert round_shown.number_of(played) in table.last_numbers()


def _clock_ran_down(window: witness.Story) -> None:
    """While bets are taken the time left is shown, and it only grows less; then one is told that it is over."""
    looks = [look for look in window.seen if look["phase"] == "bets"]
    assert {look["headline"] for look in looks} == {"Façam as vossas apostas"}
    seconds = [int(look["seconds"]) for look in looks if look["seconds"]]
    this_window = seconds[len(seconds) - _falling_from_end(seconds) :]
    assert len(set(this_window)) >= 5
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
    """They bet against each other; the ball knows nothing of it."""
    name = ("Roleta francesa a dois (demonstração)", "French roulette for two (demonstration)")
    listed = BackOffice(platform).table("two-demo", "french-demo", name, **TIMES)
    one, other = (TablePage(new_context().new_page(), listed).open() for _ in range(2))
    one.window_of(WINDOW_S - 6)
    one.put("red", 2)
    one.put("17")
    other.put("black")
    other.put("17")
    one.chips_count({"red": 200, "17": 100})
    other.chips_count({"black": 100, "17": 100})
    expect(one.page.locator("[data-other]")).to_have_count(2)
    expect(one.page.locator('[data-other="black"]')).to_have_attribute("data-players", "1")
    expect(other.page.locator("[data-other]")).to_have_count(2)
    expect(other.page.locator('[data-other="red"]')).to_have_attribute("data-players", "1")
    one.page.mouse.move(*one.where()["black"])
    expect(one.part("pointed")).to_contain_text("1 outro jogador: 1 crédito")
    screenshot(one.page, "two-players-bets")

    motions = []
    for table in (one, other):
        table.stage_is("rolling")
        motions.append(_motion_of_the_ball(table.page))
    # Each wheel comes from where it stood; from before the first hop on it is the same for both, and so is the ball.
    (times_of_one, seen_by_one), (times_of_other, seen_by_other) = motions
    assert times_of_one == pytest.approx(times_of_other, abs=1e-3)
    assert len(seen_by_one) > 30
    for mine, yours in zip(seen_by_one, seen_by_other, strict=True):
        assert math.dist(mine, yours) < 1.0
    for table in (one, other):
        table.stage_is("paid")
    screenshot(one.page, "two-players-paid")
    number = one.part("marker").get_attribute("data-number")
    assert other.part("marker").get_attribute("data-number") == number
    for table, there in ((one, "black"), (other, "red")):
        player = Player.guest_of(platform, table.page)
        won = number in player.numbers(listed, there)
        assert table.page.locator(f'[data-other="{there}"].lost').count() == (0 if won else 1)
        player.leave()


_KEYFRAMES = """
(ball) => {
  const motion = ball.getAnimations().find((one) => one.effect.getKeyframes().some((frame) => frame.transform));
  const frames = motion.effect.getKeyframes().map(({ computedOffset, transform }) => {
    const { e, f } = new DOMMatrix(transform);
    return [computedOffset, e, f];
  });
  // The spin is the first third of the motion; the wheel is the same for all after the first four fifths of it.
  return frames.filter(([offset]) => offset > 0.8 / 3 && offset <= 1 / 3);
}
"""


def _motion_of_the_ball(page: Page) -> tuple[list[float], list[tuple[float, float]]]:
    """When, and where it is then: the last part of a spin."""
    frames = page.get_by_test_id("ball").evaluate(_KEYFRAMES)
    return [offset for offset, _, _ in frames], [(x, y) for _, x, y in frames]
