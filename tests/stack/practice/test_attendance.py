"""Bots sit where people do, as many as are needed, and leave room for more people."""

from __future__ import annotations

from stack.practice.attendance import BOTS_LIMIT, Attendance, least_lonely_seat, wanted_bots


def test_an_empty_table_stays_empty_and_a_full_one_gets_no_bots() -> None:
    assert [wanted_bots(6, people) for people in range(7)] == [0, BOTS_LIMIT, 3, 2, 1, 0, 0]
    assert wanted_bots(2, 1) == 0, "the last seat is for a person"


def test_who_sits_is_known_from_what_the_table_tells_everybody() -> None:
    seen = Attendance()
    seats = [{"seat": seat, "taken": seat == 2} for seat in range(1, 7)]
    assert seen.receive("snapshot", {"seats": seats, "caves": [{"seat": 2, "standing": "CAVE_STANDING_SHORT"}]})
    assert seen.people({}) == {2}
    assert not seen.playing(seen.people({})), "without a cave nobody is dealt in"
    assert seen.receive("seat_taken", {"seat": 5})
    assert seen.people({5: "a bot"}) == {2}
    standings = [{"seat": 2, "standing": "CAVE_STANDING_WAITING"}, {"seat": 5, "standing": "CAVE_STANDING_PLAYING"}]
    assert seen.receive("caves_changed", {"caves": standings})
    assert seen.playing(seen.people({5: "a bot"}))
    assert not seen.receive("move_made", {"seat": 2})
    assert seen.receive("seat_left", {"seat": 2})
    assert seen.people({5: "a bot"}) == frozenset()
    assert seen.free_seats() == [1, 2, 3, 4, 6]


def test_a_few_players_sit_around_the_table() -> None:
    taken: set[int] = {1}
    for expected in (4, 2, 3):
        seat = least_lonely_seat([each for each in range(1, 7) if each not in taken], taken, 6)
        assert seat == expected
        taken.add(seat)
