"""The check of tournaments is quiet about a right one, and tells every way in which one can be wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.drill.checks.tournaments import PlayedTournament, check_tournaments

BEGAN = 10_000
PRICES = (1_000, 100)
Json = dict[str, Any]


def player(name: str, prize_cents: int = 0, standing: str = "ENTRY_STANDING_OUT") -> Json:
    return {"player_id": name, "standing": standing, "prize_cents": str(prize_cents)}


def tournament(players: list[Json], phase: str = "FINISHED", pool_cents: int = 0) -> PlayedTournament:
    summary = {"tournament_id": "t-1", "phase": f"TOURNAMENT_PHASE_{phase}"}
    return PlayedTournament({"tournament": summary, "pool_cents": str(pool_cents)}, players)


def found(played: PlayedTournament, acknowledged: tuple[str, ...] = ("ana", "rui"), **now: int) -> list[str]:
    balances = {"ana": BEGAN + 900, "rui": BEGAN - 1_100} | now
    check = check_tournaments(
        [played], {"t-1": acknowledged}, PRICES, {name: (BEGAN, cents) for name, cents in balances.items()}
    )
    assert check.looked_at == 1
    assert check.holds == (not check.sentences)
    return check.sentences


RIGHT = [player("ana", 2_000), player("rui")]


def test_a_tournament_that_paid_what_it_took_is_right() -> None:
    assert not found(tournament(RIGHT))


def test_an_entry_that_was_taken_back_and_a_cancelled_tournament_cost_nothing() -> None:
    back = player("rui", standing="ENTRY_STANDING_WITHDRAWN")
    nobody = tournament([back], phase="REGISTERING")
    assert not found(nobody, (), ana=BEGAN, rui=BEGAN)
    assert not found(tournament([player("ana"), player("rui")], phase="CANCELLED"), ana=BEGAN, rui=BEGAN)


@pytest.mark.parametrize(
    ("played", "acknowledged", "now", "words"),
    [
        (tournament(RIGHT), ("ana",), {}, "acknowledged were ['ana']"),
        (tournament([*RIGHT, player("rui")]), ("ana", "rui"), {}, "has the entries ['ana', 'rui', 'rui']"),
        (tournament(RIGHT, phase="RUNNING"), ("ana", "rui"), {"ana": BEGAN, "rui": BEGAN}, "has not ended"),
        (tournament([player("ana", 1_999), player("rui")]), ("ana", "rui"), {"ana": BEGAN + 899}, "brought 1000 cents"),
        (tournament(RIGHT, pool_cents=1), ("ana", "rui"), {}, "keeps 1 cents"),
        (tournament(RIGHT), ("ana", "rui"), {"rui": BEGAN - 2_200}, "rui has 7800 cents"),
    ],
)
def test_what_is_wrong_is_told(
    played: PlayedTournament, acknowledged: tuple[str, ...], now: dict[str, int], words: str
) -> None:
    assert any(words in sentence for sentence in found(played, acknowledged, **now))
