"""How often may be bet in a round, by all and by one: each limit, and what it leaves to others."""

from __future__ import annotations

import pytest

from services.kit.full_round import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.kit.table import fair_share
from services.kit.table.fair_share import FairShare
from services.kit.table.refusals import TableRefused

KIB = 1024


def place(share: FairShare, player_id: str, detail_bytes: int = 1) -> tuple[str, str]:
    """The reason of a refusal and its limit; two empty words for a stake that counts."""
    try:
        share.verify_room(player_id, detail_bytes)
    except TableRefused as refused:
        return refused.reason, refused.facts["limit"]
    share.count(player_id, detail_bytes)
    return "", ""


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize(
    ("seats", "stakes", "kib"),
    [(1, 1_000, 256), (20, 1_000, 204.8), (50, 400, 81.92), (100, 200, 40.96), (1_000, 200, 32)],
)
def test_g11_a_share_is_that_of_a_seat_within_bounds(seats: int, stakes: int, kib: float) -> None:
    share = FairShare("r", seats)
    assert (share.stakes_each, share.detail_bytes_each) == (stakes, int(kib * KIB))


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("seats", [1, 20, 100, 1_000])
def test_g11_it_takes_a_crowd_to_fill_a_round_of_many(seats: int) -> None:
    share = FairShare("r", seats)
    crowd = min(seats, 100)
    assert share.stakes_each * crowd <= STAKES_LIMIT
    assert share.detail_bytes_each * crowd <= DETAIL_BYTES_LIMIT


def test_one_player_stops_at_his_share_and_others_go_on() -> None:
    share = FairShare("r", 1_000)
    assert {place(share, "ana") for _ in range(200)} == {("", "")}
    assert place(share, "ana") == ("TOO_MANY_BETS", "200")
    assert place(share, "rui") == ("", "")


def test_words_count_as_stakes_do() -> None:
    share = FairShare("r", 1_000)
    assert place(share, "ana", 32 * KIB - 10) == ("", "")
    assert place(share, "ana", 11) == ("TOO_MANY_BETS", str(32 * KIB))
    assert place(share, "ana", 10) == ("", "")
    assert place(share, "rui", 32 * KIB + 1) == ("TOO_MANY_BETS", str(32 * KIB))


def test_a_round_is_full_for_all() -> None:
    share = FairShare("r", 1_000)
    for player in range(STAKES_LIMIT // 200):
        assert {place(share, f"p{player}") for _ in range(200)} == {("", "")}
    assert place(share, "late") == ("ROUND_FULL", str(STAKES_LIMIT))
    share = FairShare("r", 1_000)
    for player in range(DETAIL_BYTES_LIMIT // (32 * KIB)):
        assert place(share, f"p{player}", 32 * KIB) == ("", "")
    assert place(share, "late", 1) == ("ROUND_FULL", str(DETAIL_BYTES_LIMIT))
    assert place(share, "late", 0) == ("", "")


def test_players_who_come_and_go_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_share, "PLAYERS_LIMIT", 3)
    share = FairShare("r", 2)
    assert [place(share, name) for name in ("ana", "rui", "eva")] == [("", "")] * 3
    assert place(share, "late") == ("ROUND_FULL", "3")
    assert place(share, "ana") == ("", "")


def test_who_asks_for_his_bets_back_without_end_is_stopped_too() -> None:
    share = FairShare("r", 1_000)
    for _ in range(200):
        share.count_take_back("ana")
    with pytest.raises(TableRefused) as refused:
        share.count_take_back("ana")
    assert (refused.value.reason, refused.value.facts) == ("TOO_MANY_BETS", {"round_id": "r", "limit": "200"})
    share.count_take_back("rui")
    # He may still place what he has not placed.
    assert place(share, "ana") == ("", "")
