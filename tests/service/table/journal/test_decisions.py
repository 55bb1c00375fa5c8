"""Rounds in which players decide, in the journal on a real PostgreSQL: written once, in order, and read back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.paging import PageRequest
from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.entries import ActedBy, CommandUsed, Ended, UnfinishedRound
from services.kit.table.journal.history import PlayerRound, RoundHistory, RoundRecord
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.rows.entry_rows import JournalContradiction
from tests.service.table.conftest import ENTROPY_KEYS
from tests.service.table.entries import dealt, drawn, moved, opened, paid, settled, stakes, void, write_round
from tests.service.table.journal.test_postgres import MOMENTS, assert_refused, kill_writer_once, writer_held_up

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

pytestmark = pytest.mark.usefixtures("cached_or_read")

TABLES = ("rounds", "draws", "moves", "paid", "stakes", "endings", "payouts", "player_results")
ROUND = "t1.1"
OUTCOME = b"the outcome"


async def row_counts(connection: Connection) -> dict[str, int]:
    return {table: await connection.fetchval(f"SELECT count(*) FROM {table}") for table in TABLES}  # noqa: S608


def ended(round_id: str = ROUND) -> Ended:
    return replace(settled(dealt(round_id)), outcome=OUTCOME)


async def deal(journal: PostgresJournal, round_id: str = ROUND, epoch: int = 1) -> None:
    table, _, number = round_id.rpartition(".")
    await journal.write_opened(epoch, opened(table, int(number)))
    await journal.write_drawn(epoch, dealt(round_id))


@pytest.mark.guarantee("G3")
async def test_g3_commands_are_known_by_their_decisions_and_stakes(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    """The clock's decisions have none."""
    epoch = await journal.take_ownership("t1")
    await deal(journal)
    free, staking = moved(ROUND, 1), moved(ROUND, 2, stake_id="t1.1-raise")
    by_clock = replace(moved(ROUND, 3), command_id="", command_digest=b"", acted_by=ActedBy.CLOCK)
    for entry in (free, staking, by_clock):
        await journal.write_moved(epoch, entry)
    assert staking.stake is not None
    for command_id in (free.command_id, staking.command_id, staking.stake.stake_id, dealt(ROUND).stakes[0].stake_id):
        assert await journal.has_command(command_id)
    for command_id in ("another", ""):
        assert not await journal.has_command(command_id)


@pytest.mark.guarantee("G3")
async def test_g3_a_command_that_was_used_decides_nothing_more(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    """Neither that of another decision, nor that of a stake; a decision that is written again is still the same."""
    epochs = {table: await journal.take_ownership(table) for table in ("t1", "t2")}
    for table, epoch in epochs.items():
        await deal(journal, f"{table}.1", epoch)
    free, staking = moved(ROUND, 1), moved(ROUND, 2, stake_id="t1.1-raise")
    for entry in (free, staking):
        await journal.write_moved(epochs["t1"], entry)
    before = await row_counts(service_connection)
    of_stake = dealt(ROUND).stakes[0].stake_id
    for command_id in (free.command_id, staking.command_id, of_stake):
        with pytest.raises(CommandUsed):
            await journal.write_moved(epochs["t2"], replace(moved("t2.1", 1), command_id=command_id))
    await journal.write_moved(epochs["t1"], free)
    assert await row_counts(service_connection) == before

    await journal.write_moved(epochs["t2"], moved("t2.1", 1))
    with pytest.raises(StaleOwner):
        await journal.write_moved(epochs["t2"] - 1, replace(moved("t2.1", 2), command_id=free.command_id))


@pytest.mark.guarantee("G3")
async def test_g3_a_used_command_keeps_no_other_entry_from_being_written(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    await journal.take_ownership("held")
    epochs = {table: await journal.take_ownership(table) for table in ("t1", "t2")}
    for table, epoch in epochs.items():
        await deal(journal, f"{table}.1", epoch)
    used = moved(ROUND, 1)
    await journal.write_moved(epochs["t1"], used)
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        entries = [
            asyncio.create_task(journal.write_moved(epochs["t1"], moved(ROUND, 2))),
            asyncio.create_task(
                journal.write_moved(epochs["t2"], replace(moved("t2.1", 1), command_id=used.command_id))
            ),
        ]
        await asyncio.sleep(0)
    await first
    written, refused = await asyncio.gather(*entries, return_exceptions=True)
    assert written is None
    assert isinstance(refused, CommandUsed)
    assert [(await row_counts(service_connection))["moves"], len(await journal.unfinished_rounds("t2"))] == [2, 1]


@pytest.mark.guarantee("G9")
async def test_g9_whether_a_command_is_known_is_asked_until_the_database_answers(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    """The server has closed every connection of the pool meanwhile."""
    for _ in range(2):
        assert not await journal.has_command("another")
        await service_connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test'"
            " AND datname = current_database()"
        )
    assert not await journal.has_command("another")


async def test_a_round_with_decisions_is_read_back_as_it_was_written(journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("t1")
    await deal(journal)
    first = replace(moved(ROUND, 1, stake_id="t1.1-raise"), acted_by=ActedBy.INSTRUCTION)
    entries = [first, moved(ROUND, 2, move=b"stand", seat=2)]
    payments = [paid(ROUND, 0, _1=0), paid(ROUND, 2, _raise=150, _0=50)]
    await journal.write_paid(epoch, payments[0])
    for entry in entries:
        await journal.write_moved(epoch, entry)
    await journal.write_paid(epoch, payments[1])
    (found,) = await journal.unfinished_rounds("t1")
    in_order = [payments[0], replace(payments[1], payouts=sorted(payments[1].payouts))]
    assert found == UnfinishedRound(opened("t1", 1), dealt(ROUND), entries, in_order)
    assert await journal.past_outcomes("t1", 5) == []

    await journal.write_ended(epoch, replace(ended(), payouts=[("t1.1-0", 50), ("t1.1-1", 0), ("t1.1-raise", 150)]))
    assert await journal.unfinished_rounds("t1") == []
    assert [past.outcome for past in await journal.past_outcomes("t1", 5)] == [OUTCOME]
    # The bets to repeat are those of the betting window.
    assert await journal.last_bets("t1", "ana") == [b"bets 0"]


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_decision_or_payment_changes_nothing(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await deal(journal)
    entries: list[Callable[[int], Awaitable[None]]] = [
        lambda epoch: journal.write_moved(epoch, moved(ROUND, 1, stake_id="t1.1-raise")),
        lambda epoch: journal.write_moved(epoch, moved(ROUND, 2)),
        lambda epoch: journal.write_paid(epoch, paid(ROUND, 2, _raise=9, _0=3)),
        lambda epoch: journal.write_ended(epoch, replace(ended(), payouts=[("t1.1-0", 3), ("t1.1-raise", 9)])),
    ]
    for write in entries:
        await write(epoch)
    before = await row_counts(service_connection)
    assert (before["moves"], before["paid"], before["stakes"]) == (2, 2, 3)
    successor = await journal.take_ownership("t1")
    for write in entries:
        await write(successor)
    # Half of a payment.
    await journal.write_paid(successor, paid(ROUND, 2, _0=3))
    assert await row_counts(service_connection) == before


@pytest.mark.guarantee("G3")
async def test_g3_entries_of_one_round_in_one_transaction_are_written_once(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    await journal.take_ownership("held")
    epoch = await journal.take_ownership("t1")
    payouts = [("t1.1-0", 3), ("t1.1-1", 0), ("t1.1-raise", 9)]
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        rest = [
            asyncio.create_task(entry)
            for _ in range(2)
            for entry in (
                journal.write_opened(epoch, opened("t1", 1)),
                journal.write_drawn(epoch, dealt(ROUND)),
                journal.write_moved(epoch, moved(ROUND, 1, stake_id="t1.1-raise")),
                journal.write_moved(epoch, moved(ROUND, 2)),
                journal.write_paid(epoch, paid(ROUND, 2, _raise=9, _0=3)),
                journal.write_ended(epoch, replace(ended(), payouts=payouts)),
            )
        ]
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    written = {"rounds": 2, "draws": 1, "moves": 2, "paid": 2, "stakes": 3, "endings": 1}
    assert await row_counts(service_connection) == written | {"payouts": 3, "player_results": 2}
    transactions = "SELECT count(DISTINCT xmin::text) FROM (SELECT xmin FROM moves UNION ALL SELECT xmin FROM draws) _"
    assert await service_connection.fetchval(transactions) == 1


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_decides_and_pays_nothing(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await deal(journal)
    await journal.take_ownership("t1")
    await assert_refused(journal.write_moved(epoch, moved(ROUND, 1)), StaleOwner)
    await assert_refused(journal.write_paid(epoch, paid(ROUND, 0, _0=1)), StaleOwner)
    counts = await row_counts(service_connection)
    assert (counts["moves"], counts["paid"]) == (0, 0)


@pytest.mark.guarantee("G7")
@pytest.mark.guarantee("G10")
async def test_g10_the_history_of_a_round_has_its_decisions_and_its_outcome_once_it_has_ended(
    journal: PostgresJournal, engine: AsyncEngine
) -> None:
    epoch, history = await journal.take_ownership("t1"), RoundHistory(engine)
    await deal(journal)
    moves = [moved(ROUND, 1, stake_id="t1.1-raise"), moved(ROUND, 2, seat=2)]
    for entry in moves:
        await journal.write_moved(epoch, entry)
    await journal.write_paid(epoch, paid(ROUND, 2, _0=50))

    async def of_ana() -> PlayerRound:
        (found,) = (await history.list_player_rounds("ana", PageRequest())).items
        return found

    found = await of_ana()
    assert (found.round.outcome, found.round.ending, found.moves) == (None, None, moves)
    assert [(each.stake.stake_id, each.payout_cents) for each in found.stakes] == [("t1.1-0", 50), ("t1.1-raise", None)]
    record = await history.round_for_replay(ROUND)
    assert record is not None
    assert (record.outcome, record.moves, record.paid) == (None, moves, [paid(ROUND, 2, _0=50)])
    # Not even with the key.
    assert record.unsealed(ENTROPY_KEYS) == record
    assert record.hides_cards

    ending = replace(ended(), payouts=[("t1.1-0", 50), ("t1.1-1", 0), ("t1.1-raise", 150)])
    await journal.write_ended(epoch, ending)
    found = await of_ana()
    assert (found.round.outcome, found.moves) == (OUTCOME, moves)
    assert [(each.stake.stake_id, each.payout_cents) for each in found.stakes] == [("t1.1-0", 50), ("t1.1-raise", 150)]
    (of_table,) = (await history.list_table_rounds("t1", PageRequest())).items
    assert of_table.outcome == OUTCOME
    record = await history.round_for_replay(ROUND)
    assert record is not None
    assert record.unsealed(ENTROPY_KEYS) == RoundRecord(
        opened("t1", 1), dealt(ROUND), ending, moves, [paid(ROUND, 2, _0=50)]
    )
    assert record.stakes == [*dealt(ROUND).stakes, moves[0].stake]


# -- contradictions --------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G6")
@pytest.mark.guarantee("G10")
async def test_a_decision_that_contradicts_the_record_is_refused(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await journal.write_opened(epoch, opened("t1", 1))
    for entry, match in ((moved("nowhere", 1), "never opened"), (moved(ROUND, 1), "G6: .* nothing is dealt")):
        await assert_refused(journal.write_moved(epoch, entry), JournalContradiction, match)
    await journal.write_drawn(epoch, dealt(ROUND))
    await assert_refused(journal.write_moved(epoch, moved(ROUND, 2)), JournalContradiction, "G10: .* on record is 0")
    await journal.write_moved(epoch, moved(ROUND, 1, stake_id="t1.1-raise"))
    for other in (
        moved(ROUND, 1),
        moved(ROUND, 1, stake_id="t1.1-other"),
        moved(ROUND, 1, stake_id="t1.1-raise", move=b"other"),
        moved(ROUND, 1, stake_id="t1.1-raise", seat=2),
        replace(moved(ROUND, 1, stake_id="t1.1-raise"), acted_by=ActedBy.CLOCK),
        replace(moved(ROUND, 1, stake_id="t1.1-raise"), command_id="another"),
        replace(moved(ROUND, 1, stake_id="t1.1-raise"), command_digest=b"another"),
    ):
        await assert_refused(journal.write_moved(epoch, other), JournalContradiction, "G6: decision 1 .* another one")
    await assert_refused(journal.write_moved(epoch, moved(ROUND, 3)), JournalContradiction, "G10: .* on record is 1")
    # The stake of another decision, which only the database finds out.
    await assert_refused(journal.write_moved(epoch, moved(ROUND, 2, stake_id="t1.1-0")), JournalContradiction)
    await journal.write_ended(epoch, ended())
    late = moved(ROUND, 2)
    await assert_refused(journal.write_moved(epoch, late), JournalContradiction, "G4: .* has ended as SETTLED")
    # A round whose draw is its outcome.
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_drawn(epoch, drawn("t1.2"))
    decided = moved("t1.2", 1)
    await assert_refused(journal.write_moved(epoch, decided), JournalContradiction, "G6: .* the round has its outcome")
    assert (await row_counts(service_connection))["moves"] == 1


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G10")
async def test_a_payment_that_contradicts_the_record_is_refused(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await journal.write_opened(epoch, opened("t1", 1))
    early = paid(ROUND, 0, _0=1)
    await assert_refused(journal.write_paid(epoch, early), JournalContradiction, "G6: .* nothing is dealt")
    await journal.write_drawn(epoch, dealt(ROUND))
    for entry, match in (
        (paid(ROUND, 0, _0=1, _nobody=5), "G10: .* pays for t1.1-nobody, which was never placed"),
        (paid(ROUND, 1, _0=1), "G10: .* pays after decision 1, which is not there"),
        (replace(early, payouts=[("t1.1-0", 1), ("t1.1-0", 2)]), "G3: stake t1.1-0 .* otherwise"),
    ):
        await assert_refused(journal.write_paid(epoch, entry), JournalContradiction, match)
    await journal.write_paid(epoch, early)
    await journal.write_moved(epoch, moved(ROUND, 1))
    for entry in (paid(ROUND, 0, _0=2), paid(ROUND, 1, _0=1), paid(ROUND, 1, _1=1, _0=2)):
        await assert_refused(journal.write_paid(epoch, entry), JournalContradiction, "G3: stake t1.1-0 .* otherwise")
    # The payouts of the ending are those of the payment.
    other = replace(ended(), payouts=[("t1.1-0", 2), ("t1.1-1", 0)])
    await assert_refused(
        journal.write_ended(epoch, other), JournalContradiction, "G3: stake t1.1-0 .* was paid 1 cents"
    )
    await journal.write_ended(epoch, replace(ended(), payouts=[("t1.1-0", 1), ("t1.1-1", 0)]))
    late = paid(ROUND, 1, _1=1)
    await assert_refused(journal.write_paid(epoch, late), JournalContradiction, "G4: .* after it has ended as SETTLED")
    assert (await row_counts(service_connection))["paid"] == 1


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G6")
async def test_g6_a_round_is_settled_by_an_outcome_and_void_without_one(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await deal(journal)
    await assert_refused(journal.write_ended(epoch, settled(dealt(ROUND))), JournalContradiction, "G6: .* no outcome")
    with_outcome = replace(void(ROUND), outcome=OUTCOME)
    await assert_refused(journal.write_ended(epoch, with_outcome), JournalContradiction, "G6: .* cannot be void")
    await journal.write_ended(epoch, ended())
    await assert_refused(journal.write_ended(epoch, void(ROUND)), JournalContradiction, "G4: .* ended as SETTLED")
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_drawn(epoch, drawn("t1.2"))
    other = replace(settled(drawn("t1.2")), outcome=b"another")
    await assert_refused(journal.write_ended(epoch, other), JournalContradiction, "G6: t1.2 has another outcome")
    await assert_refused(journal.write_ended(epoch, void("t1.2")), JournalContradiction, "G6: .* cannot be void")
    rows = await service_connection.fetch("SELECT ending, outcome FROM endings")
    assert [tuple(row) for row in rows] == [(2, OUTCOME)]


@pytest.mark.guarantee("G4")
async def test_a_dealt_round_that_cannot_be_read_can_be_void(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    """Its stakes are on record; only one that the ledger alone knows is added."""
    epoch = await journal.take_ownership("t1")
    await deal(journal)
    await journal.write_moved(epoch, moved(ROUND, 1, stake_id="t1.1-raise"))
    await journal.write_paid(epoch, paid(ROUND, 1, _0=150))
    (unknown,) = stakes("t1.1-unknown", ["ana"])
    returned = [*dealt(ROUND).stakes, unknown]
    payouts = [("t1.1-0", 150), *((stake.stake_id, stake.amount_cents) for stake in returned[1:])]
    await journal.write_ended(epoch, replace(void(ROUND), returned_stakes=returned, payouts=payouts))
    rows = await service_connection.fetch("SELECT position, stake_id FROM stakes ORDER BY position")
    assert [tuple(row) for row in rows] == [
        (0, "t1.1-0"), (1, "t1.1-1"), (2, "t1.1-raise"), (3, "t1.1-unknown-0"),
    ]  # fmt: skip
    assert await journal.past_outcomes("t1", 5) == []


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G10")
async def test_the_end_of_a_dealt_round_brings_stakes_that_a_restored_journal_has_lost(
    journal: PostgresJournal, engine: AsyncEngine
) -> None:
    """The ledger has settled the round; the backup is older than a decision."""
    epoch = await journal.take_ownership("t1")
    await deal(journal)
    (lost,) = stakes("t1.1-lost", ["ana"])
    payouts = [("t1.1-0", 0), ("t1.1-1", 0), (lost.stake_id, 200)]
    ending = replace(ended(), payouts=payouts, returned_stakes=[lost])
    for _ in range(2):
        await journal.write_ended(epoch, ending)
    record = await RoundHistory(engine).round_for_replay(ROUND)
    assert record is not None
    assert (record.stakes, record.ended) == ([*dealt(ROUND).stakes, lost], ending)


@pytest.mark.guarantee("G6")
async def test_g6_a_contradicting_decision_harms_no_neighbour(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    for placement_id in ("held", "t1", "t2"):
        await journal.take_ownership(placement_id)
    for round_id in (ROUND, "t2.1"):
        await deal(journal, round_id)
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        entries = [
            journal.write_moved(1, moved(ROUND, 1, stake_id="t1.1-raise")),
            journal.write_moved(1, moved(ROUND, 1)),
            journal.write_paid(1, paid(ROUND, 1, _raise=1, _nobody=1)),
            journal.write_moved(1, moved("t2.1", 1)),
            # The stake is another round's, which only the database can find out.
            journal.write_moved(1, moved("t2.1", 2, stake_id="t1.1-0")),
        ]
        rest = [asyncio.create_task(entry) for entry in entries]
        await asyncio.sleep(0)
    answers = await asyncio.gather(first, *rest, return_exceptions=True)
    kinds = [None if answer is None else type(answer) for answer in answers]
    assert kinds == [None, None, JournalContradiction, JournalContradiction, None, JournalContradiction]
    counts = await row_counts(service_connection)
    assert (counts["moves"], counts["paid"], counts["stakes"]) == (2, 0, 5)


# -- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G5")
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("step", ["draw", "decision", "payment", "ending"])
async def test_g5_a_connection_killed_at_any_step_loses_nothing(
    journal: PostgresJournal,
    service_connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    step: str,
) -> None:
    epoch = await journal.take_ownership("t1")
    await journal.write_opened(epoch, opened("t1", 1))
    current = ""
    killed = kill_writer_once(monkeypatch, service_connection, moment, lambda: current == step)
    payouts = [("t1.1-0", 3), ("t1.1-1", 0), ("t1.1-raise", 9)]
    for current, write in (  # noqa: B007 - the lambda reads it
        ("draw", journal.write_drawn(epoch, dealt(ROUND))),
        ("decision", journal.write_moved(epoch, moved(ROUND, 1, stake_id="t1.1-raise"))),
        ("payment", journal.write_paid(epoch, paid(ROUND, 1, _raise=9))),
        ("ending", journal.write_ended(epoch, replace(ended(), payouts=payouts))),
    ):
        await write
    assert len(killed) == 1
    written = {"rounds": 1, "draws": 1, "moves": 1, "paid": 1, "stakes": 3, "endings": 1}
    assert await row_counts(service_connection) == written | {"payouts": 3, "player_results": 2}


# -- the database itself ---------------------------------------------------------------------------------------------

MOVE = "INSERT INTO moves SELECT round_no, $2, 1, 1, 'm', 1, '', '', $3, now() FROM rounds WHERE round_id = $1"
PAID = "INSERT INTO paid SELECT round_no, $2, 5, $3, now() FROM rounds WHERE round_id = $1"
ENDING = (
    "INSERT INTO endings (round_no, epoch, ending, ended_at, void_reason, outcome)"
    " SELECT round_no, 1, $2, now(), '', $3 FROM rounds WHERE round_id = $1"
)
STAKE = (
    "INSERT INTO stakes SELECT round_no, 9, $2, '', 'eva', 'a', 's', 1, 100, '', now() FROM rounds WHERE round_id = $1"
)


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G6")
@pytest.mark.guarantee("G10")
async def test_the_database_keeps_the_order_of_decisions(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await deal(journal, "t1.1")
    await journal.write_moved(epoch, moved("t1.1", 1))
    await deal(journal, "t1.2")
    await journal.write_ended(epoch, ended("t1.2"))
    await write_round(journal, epoch, opened("t1", 3), ["ana"])
    await journal.write_opened(epoch, opened("t1", 4))
    await journal.write_opened(epoch, opened("t1", 5))
    await journal.write_drawn(epoch, drawn("t1.5"))
    unique, refused_by_rule = asyncpg.UniqueViolationError, asyncpg.IntegrityConstraintViolationError
    for statement, values, error, match in (
        (MOVE, ["t1.1", 1, ""], unique, "moves_pkey"),
        (MOVE, ["t1.1", 3, ""], refused_by_rule, "G10: a decision of round . lacks the one before it"),
        (MOVE, ["t1.1", 2, "none"], refused_by_rule, "G10: a decision of round . comes without its stake"),
        # A stake of the draw is not the decision's.
        (MOVE, ["t1.1", 2, "t1.1-0"], refused_by_rule, "G10: a decision of round . comes without its stake"),
        (MOVE, ["t1.2", 1, ""], refused_by_rule, "G4: a decision is made in round . after it has ended"),
        (MOVE, ["t1.4", 1, ""], refused_by_rule, "G6: there is nothing to decide in round ."),
        (MOVE, ["t1.5", 1, ""], refused_by_rule, "G6: there is nothing to decide in round ."),
        (PAID, ["t1.1", "none", 0], refused_by_rule, "G10: a stake of round . is paid and was never placed"),
        (PAID, ["t1.1", "t1.2-0", 0], refused_by_rule, "G10: a stake of round . is paid and was never placed"),
        (PAID, ["t1.1", "t1.1-0", 2], refused_by_rule, "G10: a stake of round . is paid after a decision that is not"),
        (PAID, ["t1.2", "t1.2-0", 0], refused_by_rule, "G4: a stake of round . is paid after it has ended"),
        (STAKE, ["t1.1", "late"], refused_by_rule, "G10: a stake of round . comes without its draw, its move or"),
        (ENDING, ["t1.1", 2, None], refused_by_rule, "G6: round . is settled without an outcome or void with one"),
        (ENDING, ["t1.1", 3, b"x"], refused_by_rule, "endings_check"),
        (ENDING, ["t1.4", 2, b"x"], refused_by_rule, "G6: round . is settled without an outcome or void with one"),
        (ENDING, ["t1.5", 3, None], refused_by_rule, "G6: round . is settled without an outcome or void with one"),
        (ENDING, ["t1.5", 2, b"x"], refused_by_rule, "G6: round . is settled without an outcome or void with one"),
    ):
        with pytest.raises(error, match=match):
            await service_connection.execute(statement, *values)
    await service_connection.execute(ENDING, "t1.1", 3, None)


async def test_decisions_and_payments_are_only_added_to(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await deal(journal)
    await journal.write_moved(epoch, moved(ROUND, 1))
    await journal.write_paid(epoch, paid(ROUND, 1, _0=1))
    for statement in (
        "UPDATE moves SET move = 'x'", "DELETE FROM moves", "TRUNCATE moves",
        "UPDATE paid SET payout_cents = 2", "DELETE FROM paid", "TRUNCATE paid",
    ):  # fmt: skip
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service_connection.execute(statement)
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="is append-only"):
            await owner_connection.execute(statement)
