"""A bot takes as long as a person, and always less than it has."""

from __future__ import annotations

from random import Random

import pytest

from services.poker.hand.state import CALL, FOLD, Kind, Move
from stack.practice.pace import HURRY, Pace, thinking_s

HARD = (CALL, Move(Kind.RAISE, 100))


def test_it_thinks_as_long_as_people_do_and_longer_about_hard_decisions() -> None:
    chance = Random(1)
    easy = [thinking_s(FOLD, 20.0, chance) for _ in range(1000)]
    hard = [thinking_s(move, 20.0, chance) for move in HARD for _ in range(500)]
    assert min(easy + hard) >= 1.0
    assert max(easy) <= 2.5 < max(hard) <= 4.0
    assert sum(easy) < sum(hard)


@pytest.mark.parametrize("time_s", [-1.0, 0.0, 1.0, 2.5, 3.0, 5.0, 20.0])
def test_it_never_thinks_until_its_time_is_over(time_s: float) -> None:
    chance = Random(2)
    longest = max(thinking_s(move, time_s, chance) for move in HARD for _ in range(500))
    assert longest <= max(0.0, time_s - 1.0)


async def test_it_begins_to_think_when_the_cards_lie_on_the_table() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    pace = Pace(Random(3), sleep=sleep)
    await pace.think(FOLD, 2.0, 20.0, hurried=False)
    await Pace(Random(3), sleep=sleep).think(FOLD, 2.0, 20.0, hurried=True)
    await Pace(Random(3), speed=10, sleep=sleep).think(FOLD, 2.0, 20.0, hurried=False)
    usual, hurried, quick = slept
    assert 2.0 + 1.0 <= usual <= 2.0 + 2.5
    assert hurried == pytest.approx(2.0 + (usual - 2.0) / HURRY)
    assert quick == pytest.approx(usual / 10)
