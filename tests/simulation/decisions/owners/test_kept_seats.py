"""Seats that players have chosen are theirs at every owner: a seat is a place."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from feltro.table.v1 import types_pb2
from services.kit.refusal import Refused
from services.kit.table.journal.seats import KeptSeat
from services.kit.table.live.seat_record import FIRST_PAUSE_S, SeatRecord, SeatStore
from services.kit.table.seat import Seat
from tests.simulation.decisions.players import STAND, DecidingPlayer
from tests.simulation.decisions.scenario import BlackjackScenario, acted
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.virtual_time import VirtualTimeLoop
from tests.simulation.scenario import TABLE_ID, refusal_reason

HANDS = "Ts 9s 9h 6d 9d 8c"


def recorded(scenario: BlackjackScenario) -> dict[int, str]:
    """Returns who has which seat on record."""
    return {number: seat.player_id for (_, number), seat in scenario.world.journal.seats.items()}


def taken(snapshot: types_pb2.TableSnapshot) -> list[int]:
    """Returns the seats that everybody sees taken, of the five that the table has."""
    assert [seat.seat for seat in snapshot.seats] == [1, 2, 3, 4, 5]
    return [seat.seat for seat in snapshot.seats if seat.taken]


async def taken_now(player: DecidingPlayer) -> list[int]:
    """Returns the seats that a reader of the table sees taken."""
    answer = await player.get_table()
    assert answer is not None
    return taken(answer.table)


def taken_by_events(scenario: BlackjackScenario) -> dict[int, list[int]]:
    """Returns the seats that are taken after each event on the bus, by its number."""
    seats: set[int] = set()
    after: dict[int, list[int]] = {}
    for published in scenario.world.events.published()[TABLE_ID]:
        event = published.event
        if event.HasField("snapshot_published"):
            seats = set(taken(event.snapshot_published.snapshot))
        elif event.HasField("seat_taken"):
            seats.add(event.seat_taken.seat)
        elif event.HasField("seat_left"):
            seats.remove(event.seat_left.seat)
        after[event.seq] = sorted(seats)
    return after


async def play_after_moving(scenario: BlackjackScenario, ana: DecidingPlayer, rui: DecidingPlayer) -> None:
    """Has Rui leave seat 2 and come back on 3, and plays a round."""
    rui.leave()
    await asyncio.sleep(0.5)
    assert await rui.enter(3)
    round_id = await scenario.bet_all(ana, rui)
    for player in (rui, ana):
        acted(await player.decide(STAND))
    await scenario.wait_for_end(round_id)


@pytest.mark.guarantee("G4", "G8", "G9")
@pytest.mark.rule("805/2015:4.a")
@pytest.mark.parametrize("change", ["killed", "handed over", "superseded"])
def test_players_keep_the_seats_that_they_chose_between_rounds(change: str) -> None:
    """The wallet knows who sits at the table, and the record where: handovers at every round, and nobody moves."""

    async def script(scenario: BlackjackScenario) -> None:
        players = ana, rui = await scenario.seat_players("ana", "rui", seats=(4, 2))
        for _ in range(3):
            round_id = await scenario.bet_all(*players)
            for player in (rui, ana):
                acted(await player.decide(STAND))
            await scenario.wait_for_end(round_id)
            former = scenario.world.current_owners[TABLE_ID]
            if change == "killed":
                former.process.kill()
            elif change == "superseded":
                scenario.world.start_owner(TABLE_ID)
            else:
                former.hand_over.set()
            await scenario.wait_for_next_owner(former)
            await ana.wait_for_open_round()
            assert [await ana.place(), await rui.place()] == ["4", "2"]
        assert recorded(scenario) == {4: "ana", 2: "rui"}

    BlackjackScenario(HANDS).run(script)


@pytest.mark.guarantee("G9")
def test_a_seat_that_was_left_is_free_at_the_next_owner() -> None:
    """Left at the former owner, or while there was none."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva", seats=(4, 2, 5))
        await asyncio.sleep(1.0)
        rui.leave()
        await scenario.wait_until(lambda: recorded(scenario) == {4: "ana", 5: "eva"}, within_s=1.0)
        scenario.world.current_owners[TABLE_ID].process.kill()
        eva.leave()
        await asyncio.sleep(5.0)
        await ana.wait_for_open_round()
        assert recorded(scenario) == {4: "ana"}
        assert await rui.enter(5)
        assert await rui.place() == "5"
        assert not await eva.enter(4)
        assert refusal_reason(next(c for c in reversed(scenario.world.commands) if c.kind == "enter").answers[-1]) == (
            "SEAT_TAKEN"
        )

    BlackjackScenario(HANDS).run(script)


@pytest.mark.guarantee("G9", "G11")
def test_no_player_waits_for_the_record() -> None:
    """While the database is slow players come, play and go; afterwards the record is as they sit."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui", seats=(4, 2))
        scenario.set_deliveries(take_seat=Delivery(request_delay_s=6.0), leave_seat=Delivery(request_delay_s=6.0))
        await play_after_moving(scenario, ana, rui)
        assert recorded(scenario) == {4: "ana", 2: "rui"}
        scenario.restore_network()
        await scenario.wait_until(lambda: recorded(scenario) == {4: "ana", 3: "rui"}, within_s=8.0)

    BlackjackScenario(HANDS).run(script)


@pytest.mark.guarantee("G9", "G11")
@pytest.mark.parametrize("fault", [Delivery(refused_at_once=True), Delivery(duplicate_after_s=0.5)], ids=str)
def test_g9_seats_are_on_record_when_the_database_is_back(fault: Delivery) -> None:
    """Neither the table nor its players wait for it; what became of a write that failed is read first."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui", seats=(4, 2))
        scenario.set_deliveries(take_seat=fault, leave_seat=fault, seats=fault)
        await play_after_moving(scenario, ana, rui)
        assert (recorded(scenario) == {4: "ana", 2: "rui"}) == fault.refused_at_once
        scenario.restore_network()
        await scenario.wait_until(lambda: recorded(scenario) == {4: "ana", 3: "rui"}, within_s=8.0)
        await scenario.kill_owner()
        await ana.wait_for_open_round()
        assert [await ana.place(), await rui.place()] == ["4", "3"]

    BlackjackScenario(HANDS).run(script)


class RefusingStore:
    """Keeps seats, but for the first one that it is given."""

    def __init__(self) -> None:
        self.refused = 0
        self.taken: list[KeptSeat] = []

    async def take(self, _placement_id: str, _table_id: str, _epoch: int, seat: KeptSeat) -> None:
        if not self.refused:
            self.refused += 1
            raise ConnectionError("the database is away")
        self.taken.append(seat)

    async def of_table(self, _table_id: str) -> list[KeptSeat]:
        return self.taken


@pytest.mark.guarantee("G11")
def test_g11_a_seat_that_could_not_be_written_is_written_without_another_change() -> None:
    loop, store = VirtualTimeLoop(), RefusingStore()

    async def keep() -> None:
        record = SeatRecord(cast("SeatStore", store), TABLE_ID, TABLE_ID, 1, loop)
        record.note([Seat(2, "rui", "account", "session")])
        record.start()
        await asyncio.sleep(2 * FIRST_PAUSE_S)
        await record.close()

    loop.run_until_complete(keep())
    loop.close()
    assert store.refused == 1
    assert [(seat.seat, seat.player_id) for seat in store.taken] == [(2, "rui")]


@pytest.mark.guarantee("G8", "G9")
@pytest.mark.parametrize("change", ["killed", "handed over"])
def test_everybody_sees_which_seats_are_taken(change: str) -> None:
    """Snapshot by snapshot and event by event: when players come and go, and when the owner changes."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui", seats=(4, 2))
        snapshots = []

        async def see() -> list[int]:
            snapshot = await ana.get_snapshot()
            assert snapshot is not None
            snapshots.append(snapshot)
            return taken(snapshot)

        assert await see() == [2, 4]
        rui.leave()
        await asyncio.sleep(0.5)
        assert await see() == [4]
        assert await rui.enter(5)
        assert await see() == [4, 5]
        await asyncio.sleep(0.5)
        former = scenario.world.current_owners[TABLE_ID]
        if change == "killed":
            former.process.kill()
        else:
            former.hand_over.set()
        await scenario.wait_for_next_owner(former)
        await ana.wait_for_open_round()
        assert await see() == [4, 5]
        ana.leave()
        await asyncio.sleep(0.5)
        assert await see() == [5]
        await asyncio.sleep(0.5)
        by_events = taken_by_events(scenario)
        assert [by_events[snapshot.seq] for snapshot in snapshots] == [taken(snapshot) for snapshot in snapshots]

    BlackjackScenario(HANDS).run(script)


@pytest.mark.guarantee("G9")
def test_of_two_players_who_want_the_same_seat_at_once_one_is_refused() -> None:
    """While the first is still sitting down, too; who does not get to sit down holds no seat."""

    async def script(scenario: BlackjackScenario) -> None:
        (ana,) = await scenario.seat_players("ana")
        rui, eva, ivo = [DecidingPlayer(scenario.world, name, TABLE_ID) for name in ("rui", "eva", "ivo")]
        for player in (rui, eva):
            scenario.world.deposit(player.player_id, 10_000)
        scenario.set_deliveries(StartSession=Delivery(request_delay_s=1.0))
        answers = await asyncio.gather(rui.send_enter(3), eva.send_enter(3))
        refused = [answer for answer in answers if isinstance(answer, Refused)]
        assert [(refusal.reason, refusal.facts) for refusal in refused] == [
            ("SEAT_TAKEN", {"table_id": TABLE_ID, "seat": "3"})
        ]
        assert await taken_now(ana) == [1, 3]
        # Without an account nobody sits down.
        assert refusal_reason(await ivo.send_enter(5)) == "ACCOUNT_UNKNOWN"
        seated = rui if answers[1] in refused else eva
        other = eva if seated is rui else rui
        assert await other.enter(5)
        assert [await seated.place(), await other.place()] == ["3", "5"]

    BlackjackScenario(HANDS).run(script)
