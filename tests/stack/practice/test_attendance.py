"""Bots sit where people do, as many as are needed, and leave room for more people."""

from __future__ import annotations

from stack.practice.attendance import BOTS_LIMIT, PATIENCE_S, Attendance, least_lonely_seat, wanted_bots


def test_an_empty_table_stays_empty_and_a_full_one_gets_no_bots() -> None:
    assert [wanted_bots(6, people) for people in range(7)] == [0, BOTS_LIMIT, 3, 2, 1, 0, 0]
    assert wanted_bots(2, 1) == 0, "the last seat is for a person"


def caves(**standings: str) -> dict[str, object]:
    return {"caves": [{"seat": int(seat[1:]), "standing": f"CAVE_STANDING_{word}"} for seat, word in standings.items()]}


def table(*taken: int, **standings: str) -> Attendance:
    """A table for six as it is when it is first seen."""
    seen = Attendance()
    seats = [{"seat": seat, "taken": seat in taken} for seat in range(1, 7)]
    assert seen.receive("snapshot", {"seats": seats, **caves(**standings)}, (), now=0.0)
    return seen


def test_who_sits_is_known_from_what_the_table_tells_everybody() -> None:
    seen = table(2)
    assert seen.people((), now=1.0) == 1
    assert seen.receive("seat_taken", {"seat": 5}, {5}, now=1.0)
    assert seen.people({5}, now=1.0) == 1
    assert not seen.receive("move_made", {"seat": 2}, {5}, now=1.0)
    assert seen.free_seats() == [1, 3, 4, 6]
    assert seen.receive("seat_left", {"seat": 2}, {5}, now=1.0)
    assert seen.people({5}, now=1.0) == 0


def test_nobody_keeps_a_person_company_for_long_who_does_not_play() -> None:
    seen, bots = table(2, s2="SHORT"), {5}
    assert seen.people(bots, PATIENCE_S - 1) == 1, "the cave is being filled"
    assert seen.receive("caves_changed", caves(s2="AWAY", s5="PLAYING"), bots, PATIENCE_S)
    assert seen.people(bots, PATIENCE_S) == 0
    assert seen.receive("caves_changed", caves(s2="WAITING", s5="PLAYING"), bots, 2 * PATIENCE_S)
    assert seen.people(bots, 2 * PATIENCE_S) == 1, "back again"
    assert seen.receive("caves_changed", caves(s2="AWAY", s5="PLAYING"), bots, 2 * PATIENCE_S)
    assert seen.receive("seat_taken", {"seat": 3}, bots, 4 * PATIENCE_S)
    assert seen.people(bots, 4 * PATIENCE_S) == 2, "for who has just come"


def test_a_few_players_sit_around_the_table() -> None:
    taken: set[int] = {1}
    for expected in (4, 2, 3):
        seat = least_lonely_seat([each for each in range(1, 7) if each not in taken], taken, 6)
        assert seat == expected
        taken.add(seat)
