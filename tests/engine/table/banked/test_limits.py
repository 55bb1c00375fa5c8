"""How often may be bet in a round, by all and by one: each limit, and what it leaves to others."""

from __future__ import annotations

import pytest

from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.kit.table.banked import limits
from services.kit.table.banked.limits import RoundLimits
from services.kit.table.refusals import TableRefused

KIB = 1024


def place(limits: RoundLimits, player_id: str, detail_bytes: int = 1) -> tuple[str, str]:
    """The reason of a refusal and its limit; two empty words for a stake that counts."""
    try:
        limits.verify_room(player_id, detail_bytes)
    except TableRefused as refused:
        return refused.reason, refused.facts["limit"]
    limits.count_stake(player_id, detail_bytes)
    return "", ""


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize(
    ("seats", "stakes", "kib"),
    [(1, 1_000, 256), (20, 1_000, 204.8), (50, 400, 81.92), (100, 200, 40.96), (1_000, 200, 32)],
)
def test_g11_a_players_limit_is_a_seats_share_within_bounds(seats: int, stakes: int, kib: float) -> None:
    share = RoundLimits("r", seats)
    assert (share.stakes_per_player, share.detail_bytes_per_player) == (stakes, int(kib * KIB))


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("seats", [1, 20, 100, 1_000])
def test_g11_many_players_are_needed_to_fill_a_round(seats: int) -> None:
    share = RoundLimits("r", seats)
    crowd = min(seats, 100)
    assert share.stakes_per_player * crowd <= STAKES_LIMIT
    assert share.detail_bytes_per_player * crowd <= DETAIL_BYTES_LIMIT


def test_a_player_at_the_limit_stops_no_other_player() -> None:
    share = RoundLimits("r", 1_000)
    assert {place(share, "ana") for _ in range(200)} == {("", "")}
    assert place(share, "ana") == ("TOO_MANY_BETS", "200")
    assert place(share, "rui") == ("", "")


def test_detail_bytes_are_limited_as_stakes_are() -> None:
    share = RoundLimits("r", 1_000)
    assert place(share, "ana", 32 * KIB - 10) == ("", "")
    assert place(share, "ana", 11) == ("TOO_MANY_BETS", str(32 * KIB))
    assert place(share, "ana", 10) == ("", "")
    assert place(share, "rui", 32 * KIB + 1) == ("TOO_MANY_BETS", str(32 * KIB))


def test_a_full_round_is_full_for_every_player() -> None:
    share = RoundLimits("r", 1_000)
    for player in range(STAKES_LIMIT // 200):
        assert {place(share, f"p{player}") for _ in range(200)} == {("", "")}
    assert place(share, "late") == ("ROUND_FULL", str(STAKES_LIMIT))
    share = RoundLimits("r", 1_000)
    for player in range(DETAIL_BYTES_LIMIT // (32 * KIB)):
        assert place(share, f"p{player}", 32 * KIB) == ("", "")
    assert place(share, "late", 1) == ("ROUND_FULL", str(DETAIL_BYTES_LIMIT))
    assert place(share, "late", 0) == ("", "")


def test_players_who_come_and_go_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PLAYERS_LIMIT", 3)
    share = RoundLimits("r", 2)
    assert [place(share, name) for name in ("ana", "rui", "eva")] == [("", "")] * 3
    assert place(share, "late") == ("ROUND_FULL", "3")
    assert place(share, "ana") == ("", "")


def test_endless_take_backs_are_refused() -> None:
    share = RoundLimits("r", 1_000)
    for _ in range(200):
        share.count_cancellation("ana")
    with pytest.raises(TableRefused) as refused:
        share.count_cancellation("ana")
    assert (refused.value.reason, refused.value.facts) == ("TOO_MANY_BETS", {"round_id": "r", "limit": "200"})
    share.count_cancellation("rui")
    # He may still place what he has not placed.
    assert place(share, "ana") == ("", "")
