"""What players have left a table with: the newest departures, as many as a table keeps, one of each player."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from services.kit.table.caves import departures
from services.kit.table.caves.departures import Departures
from services.kit.table.caves.waiting import WaitingList

AT = datetime(2026, 11, 2, 20, 0, tzinfo=UTC)
BEFORE = AT - timedelta(seconds=1)


def kept(left: Departures) -> dict[str, int]:
    return {each.player_id: each.cave_cents for each in left.messages()}


@pytest.mark.guarantee("G11")
def test_g11_the_oldest_departure_is_forgotten_for_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(departures, "DEPARTURES_LIMIT", 2)
    left = Departures()
    for number, player_id in enumerate(("ana", "rui", "ana", "eva"), start=1):
        left.note(player_id, 100 * number, AT + timedelta(seconds=number))
    # Ana has left again after rui: hers is the newer one.
    assert kept(left) == {"ana": 300, "eva": 400}
    assert left.cents_of("rui", BEFORE) == 0
    assert left.cents_of("ana", BEFORE) == 300


def test_what_was_left_with_long_ago_binds_nobody_and_is_kept_over_a_takeover() -> None:
    left = Departures()
    left.note("ana", 500, AT)
    assert Departures(left.messages()).cents_of("ana", BEFORE) == 500
    assert left.cents_of("ana", AT) == 0
    left.forget_before(AT)
    assert kept(left) == {}


def test_a_player_waits_until_they_leave_the_list() -> None:
    waiting = WaitingList("t1")
    waiting.join("ana")
    assert ("ana" in waiting, "rui" in waiting) == (True, False)
    waiting.leave("ana")
    assert "ana" not in waiting
