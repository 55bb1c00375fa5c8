"""Hands that are played for chips, in the journal on a real PostgreSQL: no cent is on record for them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.paging import PageRequest
from services.kit.table.journal.entries import Drawn, Ended, Ending, PlayerResult
from services.kit.table.journal.history import RoundHistory
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.rows.entry_rows import JournalContradiction
from tests.service.table.entries import AT, dealt, moved, opened

pytestmark = pytest.mark.usefixtures("cached_or_read")

TOURNAMENT, TABLE = "serao", "serao-t3"
ROUND = f"{TABLE}.1"
OUTCOME = b"the outcome"


def dealt_for_chips() -> Drawn:
    drawn = dealt(ROUND)
    stakes = [stake._replace(amount_cents=0, session_id=f"serao.{stake.seat}") for stake in drawn.stakes]
    return replace(drawn, stakes=stakes, cancelled_stakes=())


def ended_for_chips() -> Ended:
    stakes = dealt_for_chips().stakes
    return Ended(
        ROUND,
        Ending.SETTLED,
        AT,
        "",
        tuple((stake.stake_id, 0) for stake in stakes),
        [PlayerResult(stake.player_id, stake.session_id, 0, 0, 0, 0) for stake in stakes],
        outcome=OUTCOME,
    )


@pytest.mark.guarantee("G3", "G10")
async def test_a_hand_for_chips_is_read_back_without_money(journal: PostgresJournal, engine: AsyncEngine) -> None:
    epoch = await journal.take_ownership(TOURNAMENT)
    await journal.write_opened(epoch, opened(TABLE, 1, placement_id=TOURNAMENT))
    await journal.write_drawn(epoch, dealt_for_chips())
    (unfinished,) = await journal.unfinished_rounds(TOURNAMENT)
    assert unfinished.opened.table_id == TABLE
    assert unfinished.drawn is not None
    assert [stake.amount_cents for stake in unfinished.drawn.stakes] == [0, 0]
    await journal.write_moved(epoch, moved(ROUND, 1))
    # Written again by a next owner, the end changes nothing.
    for _ in range(2):
        await journal.write_ended(epoch, ended_for_chips())
    latest = await journal.latest_deal(TABLE)
    assert latest is not None
    assert (latest.ending, latest.outcome) == (Ending.SETTLED, OUTCOME)
    assert latest.drawn.entropy == dealt_for_chips().entropy
    history = RoundHistory(engine)
    for table_id in (None, TABLE):
        (played,) = (await history.list_player_rounds("ana", PageRequest(), table_id=table_id)).items
        assert [(each.stake.amount_cents, each.payout_cents) for each in played.stakes] == [(0, 0)]
        assert played.result == PlayerResult("ana", "serao.1", 0, 0, 0, 0)


@pytest.mark.guarantee("G12")
async def test_no_stake_is_negative(journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership(TOURNAMENT)
    await journal.write_opened(epoch, opened(TABLE, 1, placement_id=TOURNAMENT))
    drawn = dealt_for_chips()
    wrong = replace(drawn, stakes=[stake._replace(amount_cents=-1) for stake in drawn.stakes])
    with pytest.raises(JournalContradiction):
        await journal.write_drawn(epoch, wrong)
