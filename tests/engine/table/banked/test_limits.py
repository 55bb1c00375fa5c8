"""The limits of a round, for all players and for one of them, and what each leaves to the others."""

from __future__ import annotations

import pytest

from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.kit.table.banked import limits
from services.kit.table.banked.limits import RoundLimits
from services.kit.table.refusals import TableRefused

KIB = 1024


def place(round_limits: RoundLimits, player_id: str, detail_bytes: int = 1) -> tuple[str, str]:
    """Returns the reason and the limit of a refusal; two empty strings for a stake that counts."""
    try:
        round_limits.verify_room(player_id, detail_bytes)
    except TableRefused as refused:
        return refused.reason, refused.facts["limit"]
    round_limits.count_stakes(player_id, detail_bytes)
    return "", ""


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize(
    ("seats", "stakes", "kib"),
    [(1, 1_000, 256), (20, 1_000, 204.8), (50, 400, 81.92), (100, 200, 40.96), (1_000, 200, 32)],
)
def test_g11_a_players_limit_is_a_seats_share_within_bounds(seats: int, stakes: int, kib: float) -> None:
    round_limits = RoundLimits("r", seats)
    assert (round_limits.stakes_per_player, round_limits.detail_bytes_per_player) == (stakes, int(kib * KIB))


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("seats", [1, 20, 100, 1_000])
def test_g11_many_players_are_needed_to_fill_a_round(seats: int) -> None:
    round_limits = RoundLimits("r", seats)
    crowd = min(seats, 100)
    assert round_limits.stakes_per_player * crowd <= STAKES_LIMIT
    assert round_limits.detail_bytes_per_player * crowd <= DETAIL_BYTES_LIMIT


def test_a_player_at_the_limit_stops_no_other_player() -> None:
    round_limits = RoundLimits("r", 1_000)
    assert {place(round_limits, "ana") for _ in range(200)} == {("", "")}
    assert place(round_limits, "ana") == ("TOO_MANY_BETS", "200")
    assert place(round_limits, "rui") == ("", "")


def test_detail_bytes_are_limited_as_stakes_are() -> None:
    round_limits = RoundLimits("r", 1_000)
    assert place(round_limits, "ana", 32 * KIB - 10) == ("", "")
    assert place(round_limits, "ana", 11) == ("TOO_MANY_BETS", str(32 * KIB))
    assert place(round_limits, "ana", 10) == ("", "")
    assert place(round_limits, "rui", 32 * KIB + 1) == ("TOO_MANY_BETS", str(32 * KIB))


def test_a_full_round_is_full_for_every_player() -> None:
    round_limits = RoundLimits("r", 1_000)
    for player in range(STAKES_LIMIT // 200):
        assert {place(round_limits, f"p{player}") for _ in range(200)} == {("", "")}
    assert place(round_limits, "late") == ("ROUND_FULL", str(STAKES_LIMIT))
    round_limits = RoundLimits("r", 1_000)
    for player in range(DETAIL_BYTES_LIMIT // (32 * KIB)):
        assert place(round_limits, f"p{player}", 32 * KIB) == ("", "")
    assert place(round_limits, "late", 1) == ("ROUND_FULL", str(DETAIL_BYTES_LIMIT))
    assert place(round_limits, "late", 0) == ("", "")


def test_players_who_come_and_go_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PLAYERS_LIMIT", 3)
    round_limits = RoundLimits("r", 2)
    assert [place(round_limits, name) for name in ("ana", "rui", "eva")] == [("", "")] * 3
    assert place(round_limits, "late") == ("ROUND_FULL", "3")
    assert place(round_limits, "ana") == ("", "")


def test_endless_cancellations_are_refused() -> None:
    round_limits = RoundLimits("r", 1_000)
    for _ in range(200):
        round_limits.count_cancellation("ana")
    with pytest.raises(TableRefused) as refused:
        round_limits.count_cancellation("ana")
    assert (refused.value.reason, refused.value.facts) == ("TOO_MANY_BETS", {"round_id": "r", "limit": "200"})
    round_limits.count_cancellation("rui")
    # The player may still place stakes.
    assert place(round_limits, "ana") == ("", "")
