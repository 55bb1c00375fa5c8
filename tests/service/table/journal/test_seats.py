"""Seats that players have chosen: kept over changes of the owner, left once, and fenced by the epoch."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.seats import KeptSeat, Seats, SeatTaken
from tests.service.table.entries import AT

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

LATER = AT + timedelta(minutes=1)


def seat(number: int, player: str) -> KeptSeat:
    return KeptSeat(number, player, f"account-{player}", f"session-{player}", AT)


@pytest.fixture
def seats(engine: AsyncEngine) -> Seats:
    return Seats(engine)


async def test_a_seat_outlives_its_owner(seats: Seats, journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("t1")
    await seats.take("t1", "t1", epoch, seat(3, "ana"))
    await seats.take("t1", "t1", epoch, seat(1, "rui"))
    epoch = await journal.take_ownership("t1")
    assert await seats.of_table("t1") == [seat(1, "rui"), seat(3, "ana")]
    assert await seats.of_table("t2") == []
    await seats.leave("t1", "t1", epoch, 3, "session-ana", LATER)
    assert await seats.of_table("t1") == [seat(1, "rui")]
    await seats.take("t1", "t1", epoch, seat(3, "eva"))
    await seats.take("t1", "t1", epoch, seat(2, "ana"))
    assert await seats.of_table("t1") == [seat(1, "rui"), seat(2, "ana"), seat(3, "eva")]


@pytest.mark.guarantee("G3")
async def test_g3_taking_and_leaving_again_changes_nothing(
    seats: Seats, journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    for _ in range(2):
        await seats.take("t1", "t1", epoch, seat(3, "ana"))
    for at in (LATER, LATER + timedelta(minutes=1)):
        await seats.leave("t1", "t1", epoch, 3, "session-ana", at)
    # The session of somebody who sat there before frees nobody else's seat.
    await seats.take("t1", "t1", epoch, seat(3, "eva"))
    await seats.leave("t1", "t1", epoch, 3, "session-ana", LATER)
    rows = await service_connection.fetch("SELECT player_id, left_at FROM seats ORDER BY seat_no")
    assert [tuple(row) for row in rows] == [("ana", LATER), ("eva", None)]


async def test_a_seat_is_one_players_and_a_player_has_one(seats: Seats, journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("t1")
    await seats.take("t1", "t1", epoch, seat(3, "ana"))
    for other in (seat(3, "rui"), seat(4, "ana")):
        with pytest.raises(SeatTaken):
            await seats.take("t1", "t1", epoch, other)
    assert await seats.of_table("t1") == [seat(3, "ana")]


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_gives_and_frees_no_seat(seats: Seats, journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("t1")
    await seats.take("t1", "t1", epoch, seat(3, "ana"))
    await journal.take_ownership("t1")
    with pytest.raises(StaleOwner):
        await seats.take("t1", "t1", epoch, seat(4, "rui"))
    with pytest.raises(StaleOwner):
        await seats.leave("t1", "t1", epoch, 3, "session-ana", LATER)
    with pytest.raises(StaleOwner):
        await seats.take("nobody's", "t9", 1, seat(4, "rui"))
    assert await seats.of_table("t1") == [seat(3, "ana")]


async def test_the_database_lets_a_seat_be_left_once(
    seats: Seats, journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await seats.take("t1", "t1", epoch, seat(3, "ana"))
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await service_connection.execute("UPDATE seats SET player_id = 'rui'")
    for statement in (
        "UPDATE seats SET player_id = 'rui'",
        "UPDATE seats SET left_at = now(), session_id = 'another'",
        "UPDATE seats SET left_at = NULL",
        "DELETE FROM seats",
        "TRUNCATE seats",
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="seats is append-only"):
            await owner_connection.execute(statement)
    await seats.leave("t1", "t1", epoch, 3, "session-ana", LATER)
    for statement in ("UPDATE seats SET left_at = now()", "UPDATE seats SET left_at = NULL"):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="seats is append-only"):
            await service_connection.execute(statement)


@pytest.mark.guarantee("G8")
async def test_g8_a_lineup_is_kept_for_the_next_owner_and_only_its_owner_may_change_it(
    seats: Seats, journal: PostgresJournal
) -> None:
    first = await journal.take_ownership("t1")
    assert await seats.lineup("t1") == b""
    await seats.keep_lineup("t1", "t1", first, b"one", AT)
    await seats.keep_lineup("t1", "t1", first, b"two", LATER)
    second = await journal.take_ownership("t1")
    assert await seats.lineup("t1") == b"two"
    with pytest.raises(StaleOwner):
        await seats.keep_lineup("t1", "t1", first, b"stale", LATER)
    await seats.keep_lineup("t1", "t1", second, b"three", LATER)
    assert (await seats.lineup("t1"), await seats.lineup("t2")) == (b"three", b"")
