"""A whole hand of Hold'em of two players on a running platform, from choosing a seat to leaving with the cave."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.navigation import new_player_page, open_leave_dialog, open_panel
from tests.browser.driver.player import Player
from tests.browser.driver.rest import Json, call
from tests.system.platform import Platform

TABLE = "holdem-two"
MODE = "MODE_REAL"
START_CENTS = 10_000
HAND_MS = 120_000
DEALT, COMMON = 2, 5
# The player to the left of the button is first in turn in every betting round.
FIRST, SECOND = "first", "second"
# The raise, the bet on the flop and their calls; and then nobody bets any more.
HAND = [
    (FIRST, "raise"),
    (SECOND, "call"),
    (FIRST, "raise"),
    (SECOND, "call"),
    (FIRST, "check"),
    (SECOND, "check"),
    (FIRST, "check"),
    (SECOND, "check"),
]
# Notes what the page shows of each result: a slow machine looks when the next hand has begun.
_NOTE_RESULTS = """
() => {
  const noted = (window.results = []);
  let stage = "";
  const look = () => {
    const before = stage;
    stage = document.querySelector("[data-testid=poker]")?.dataset.stage ?? "";
    if (stage !== "result") return;
    if (before !== "result") noted.push({ paid: false });
    const part = (name) => document.querySelector(`[data-testid=${name}]`);
    const seats = [...document.querySelectorAll("li.poker-seat")];
    const prizes = [...document.querySelectorAll("[data-testid=result] li[data-seat]")];
    const shown = noted[noted.length - 1];
    shown.board = part("board")?.dataset.cards;
    shown.cards = Object.fromEntries(seats.map(({ dataset }) => [dataset.testid, dataset.cards]));
    shown.won = seats.filter(({ classList }) => classList.contains("won")).map(({ dataset }) => dataset.testid);
    shown.prizes = prizes.map(({ dataset }) => [Number(dataset.seat), Number(dataset.cents)]);
    shown.marked = Math.max(shown.marked ?? 0, document.querySelectorAll(".poker-card.marked").length);
    if (part("pot-0") || part("total")) return;
    shown.paid = true;
    shown.caves = Object.fromEntries(seats.map(({ dataset }) => [dataset.testid, Number(dataset.cents)]));
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
}
"""


@dataclass(slots=True)
class Seated:
    """One player: their page, what its connection has received, and where they sit."""

    page: Page
    player: Player
    seat: int
    cave_cents: int
    received: list[str] = field(default_factory=list)
    cards: tuple[str, ...] = ()

    def part(self, test_id: str) -> Locator:
        return self.page.get_by_test_id(test_id)

    def listen(self) -> None:
        """Keeps everything that the page's connections receive."""

        def connected(socket: WebSocket) -> None:
            socket.on("framereceived", lambda frame: self.received.append(str(frame)))

        self.page.on("websocket", connected)

    def decide(self, action: str) -> None:
        """Decides in the player's turn, and waits until the decision counts."""
        self.page.bring_to_front()
        question = self.part("asked")
        expect(question).to_be_visible(timeout=HAND_MS)
        key = question.get_attribute("data-key")
        self.part(f"act-{action}").click()
        expect(self.page.locator(f'[data-key="{key}"]')).to_have_count(0)

    def rounds(self) -> list[Json]:
        """The player's hands by the platform's record, the first one first."""
        address = f"{self.player.url}/v1/games/poker/players/{self.player.name}/rounds"
        found: list[Json] = call(address, self.player.token)["rounds"]
        return found[::-1]

    def may_not_know(self, cards: tuple[str, ...]) -> None:
        """No card of these is on the page, or has ever come to it."""
        shown = set(self.page.locator("[data-card]").evaluate_all("all => all.map(({dataset}) => dataset.card)"))
        assert shown.isdisjoint(cards)
        content = self.page.content()
        for card in cards:
            assert f'"{card}"' not in content
            assert not [frame for frame in self.received if f'"{card}"' in frame]


@pytest.mark.rule("806/2015:8", "806/2015:34", "806/2015:59", "806/2015:61", "806/2015:65", "806/2015:68")
def test_a_hand_of_two_players(
    new_context: NewContext, log_in: LogIn, screenshot: Screenshot, platform: Platform
) -> None:
    seated = {}
    for device, seat, cave_cents in (("desktop", 1, 6_000), ("portrait", 2, 4_000)):
        page, name = new_player_page(new_context(device), log_in, f"poker-{device}")
        seated[device] = one = Seated(page, Player.with_account(platform, name), seat, cave_cents)
        one.listen()
        page.goto(f"/#/table/{TABLE}")
        expect(one.part("seat-picker")).to_be_visible()
        screenshot(page, f"poker-live-{device}-1-seats")
        one.part(f"seat-{seat}").click()
        expect(one.part("buy-in")).to_be_visible()
        page.evaluate(_NOTE_RESULTS)
        one.part("amount-field").fill(str(cave_cents // 100))
        expect(one.part("buy-in-charge")).to_have_attribute("data-debit", str(cave_cents))
        screenshot(page, f"poker-live-{device}-2-buy-in")
        one.part("buy-in-confirm").click()
        expect(one.part("buy-in")).to_have_count(0)
        # The first hand may have been dealt by then: one of them has the small blind, the other one the big.
        bought = _any_of(*(str(cave_cents - blind) for blind in (0, 50, 100)))
        expect(one.part("own-cave")).to_have_attribute("data-cents", bought)
    wide, phone = seated["desktop"], seated["portrait"]
    _play(seated, screenshot)
    for device, one in seated.items():
        one.page.wait_for_function("() => window.results[0]?.paid", timeout=HAND_MS)
        screenshot(one.page, f"poker-live-{device}-5-paid")
        _verify_hand(one, wide, phone)
    _sit_out_and_come_back(wide)
    _step_through(phone, screenshot)
    _leave(seated, screenshot)


def _play(seated: dict[str, Seated], screenshot: Screenshot) -> None:
    """Plays the hand; until its end neither knows the other's cards."""
    for one in seated.values():
        own = one.part(f"seat-{one.seat}")
        expect(own).to_have_attribute("data-cards", _cards(DEALT), timeout=HAND_MS)
        one.cards = tuple((own.get_attribute("data-cards") or "").split())
    deciding = seated["desktop"].page.locator("li.poker-seat.deciding")
    expect(deciding).to_have_count(1)
    first = next(one for one in seated.values() if deciding.get_attribute("data-testid") == f"seat-{one.seat}")
    second = next(one for one in seated.values() if one is not first)
    pictures = {0: "3-turn", 3: "4-flop-bet"}
    for number, (who, action) in enumerate(HAND):
        one, other = (first, second) if who == FIRST else (second, first)
        if number in pictures:
            one.page.bring_to_front()
            expect(one.part("asked")).to_be_visible(timeout=HAND_MS)
            for device, each in seated.items():
                screenshot(each.page, f"poker-live-{device}-{pictures[number]}")
        if number == len(HAND) - 1:
            expect(one.part("asked")).to_be_visible(timeout=HAND_MS)
            one.may_not_know(other.cards)
            other.may_not_know(one.cards)
        one.decide(action)


def _verify_hand(one: Seated, wide: Seated, phone: Seated) -> None:
    """What the page has shown of the result is what the platform has on record."""
    shown = one.page.evaluate("() => window.results[0]")
    played = one.rounds()[0]
    outcome = played["round"]["outcome"]
    assert shown["board"].split() == outcome["view"]["board"]
    assert len(outcome["view"]["board"]) == COMMON
    assert shown["cards"] == {f"seat-{each.seat}": " ".join(each.cards) for each in (wide, phone)}
    paid = [
        (payment["seat"], int(payment["gross_cents"]) - int(payment["commission_cents"]))
        for payment in outcome["payments"]
    ]
    assert [tuple(prize) for prize in shown["prizes"]] == paid
    assert sorted(shown["won"]) == sorted({f"seat-{seat}" for seat, _ in paid})
    assert shown["marked"] == COMMON
    results = {result["seat"]: int(result["won_cents"]) - int(result["staked_cents"]) for result in outcome["results"]}
    assert shown["caves"] == {f"seat-{each.seat}": each.cave_cents + results[each.seat] for each in (wide, phone)}


def _sit_out_and_come_back(one: Seated) -> None:
    one.page.bring_to_front()
    bar = one.part("cave-bar")
    one.part("sit-out").click()
    expect(bar).to_have_attribute("data-standing", "CAVE_STANDING_AWAY")
    one.part("come-back").click()
    expect(bar).to_have_attribute("data-standing", _any_of("CAVE_STANDING_PLAYING", "CAVE_STANDING_WAITING"))


def _step_through(one: Seated, screenshot: Screenshot) -> None:
    """Goes through the last hand, which may be a later one, from the blinds to the payment."""
    one.page.bring_to_front()
    open_panel(one.page, "last")
    stepper = one.part("hand-stepper")
    expect(one.part("download-hand")).to_have_attribute("aria-disabled", "false")
    expect(stepper).to_have_attribute("data-kind", "blinds")
    for _ in range(int(stepper.get_attribute("data-steps") or 0) - 1):
        one.part("step-next").click()
    expect(stepper).to_have_attribute("data-kind", "paid")
    screenshot(one.page, "poker-live-portrait-6-stepping")
    one.page.keyboard.press("Escape")
    expect(stepper).to_have_count(0)


def _leave(seated: dict[str, Seated], screenshot: Screenshot) -> None:
    """Everybody leaves with their cave; a hand under way ends before."""
    for one in seated.values():
        one.page.bring_to_front()
        open_leave_dialog(one.page)
        one.part("end-session").click()
    for device, one in seated.items():
        one.page.bring_to_front()
        expect(one.part("session-over")).to_be_visible(timeout=HAND_MS)
        screenshot(one.page, f"poker-live-{device}-7-left")
        won_cents = sum(int(played["payout_cents"]) - int(played["staked_cents"]) for played in one.rounds())
        assert one.player.balance(MODE) == (START_CENTS + won_cents, 0)


def _cards(count: int) -> re.Pattern[str]:
    return re.compile(rf"^(\S\S ?){{{count}}}$")


def _any_of(*texts: str) -> re.Pattern[str]:
    return re.compile("^(" + "|".join(texts) + ")$")
