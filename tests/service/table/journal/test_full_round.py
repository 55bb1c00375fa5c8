"""Full rounds in the journal: they are read back as they were written, and listed in pages that can be sent."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.table.v1 import table_pb2
from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.kit.table.banked import limits
from services.kit.table.journal import history as journal_history
from services.kit.table.journal.entries import (
    CancelledStake,
    Drawn,
    DrawTrigger,
    Ended,
    Ending,
    JournalStake,
    PlayerResult,
)
from services.kit.table.journal.history import RoundHistory
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.replay import pages as replay_pages
from services.kit.table.paging import page_request
from services.kit.table.refusals import TableRefused
from tests.service.table.entries import AT, opened, settled

BETS_BYTES = DETAIL_BYTES_LIMIT // STAKES_LIMIT


@pytest.fixture
def history(engine: AsyncEngine) -> RoundHistory:
    return RoundHistory(engine)


def stake(round_id: str, number: int, player_id: str, bets: bytes) -> JournalStake:
    """Builds a stake with ids as long as the tables give them."""
    return JournalStake(
        f"{round_id}:{number}",
        f"{number:0128}",
        player_id,
        f"{player_id:->36}",
        f"{player_id:+>36}",
        number % 1_000 + 1,
        100,
        bets,
        AT,
    )


def full_round(round_id: str, *, cancelled: int) -> Drawn:
    """Builds a round with as many stakes as one may hold, by as few players as that takes."""
    players = STAKES_LIMIT // limits.STAKES_PER_PLAYER_MIN
    stakes = [stake(round_id, n, f"player-{n % players}", bytes([n % 251]) * BETS_BYTES) for n in range(STAKES_LIMIT)]
    return Drawn(
        round_id,
        AT,
        AT,
        b"entropy",
        b"17",
        stakes[cancelled:],
        sorted({each.session_id for each in stakes}),
        DrawTrigger.CLOCK,
        tuple(CancelledStake(each, AT + timedelta(seconds=1)) for each in stakes[:cancelled]),
    )


@pytest.mark.guarantee("G10")
@pytest.mark.guarantee("G11")
async def test_g10_a_full_round_is_read_as_it_was_written(journal: PostgresJournal, history: RoundHistory) -> None:
    await journal.take_ownership("t1")
    paid, emptied = full_round("t1.1", cancelled=0), full_round("t1.2", cancelled=STAKES_LIMIT)
    for number, drawn in ((1, paid), (2, emptied)):
        await journal.write_opened(1, opened("t1", number))
        await journal.write_drawn(1, drawn)
        (left,) = await journal.unfinished_rounds("t1")
        assert left.drawn == drawn
        await journal.write_ended(1, settled(drawn))
    for drawn in (paid, emptied):
        record = await history.round_for_replay(drawn.round_id)
        assert record is not None
        assert record.drawn == drawn
        assert record.ended is not None
        assert dict(record.ended.payouts) == dict(settled(drawn).payouts)
    # A void round holds returned and cancelled stakes.
    await journal.write_opened(1, opened("t1", 3))
    half = STAKES_LIMIT // 2
    undrawn = full_round("t1.3", cancelled=half)
    payouts = [(each.stake_id, each.amount_cents) for each in undrawn.stakes]
    results = [PlayerResult("player-0", "s", 1, 1, 9, 9)]
    void = Ended("t1.3", Ending.VOID, AT, "a fault", payouts, results, undrawn.stakes, undrawn.cancelled_stakes, AT)
    await journal.write_ended(1, void)
    record = await history.round_for_replay("t1.3")
    assert record is not None
    assert (list(record.stakes), tuple(record.cancelled_stakes)) == (
        list(undrawn.stakes),
        tuple(undrawn.cancelled_stakes),
    )

    # A player sees their own stakes. A round in which they cancelled all of them is in their transactions only.
    page = await history.list_player_rounds("player-7", page_request(0, ""))
    own = limits.STAKES_PER_PLAYER_MIN
    seen = [(found.round.round_id, len(found.stakes), len(found.cancelled_stakes)) for found in page.items]
    assert seen[1:] == [("t1.1", own, 0)]
    assert seen[0][0] == "t1.3"
    assert sum(seen[0][1:]) == own


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("cancelled", [False, True], ids=["kept", "cancelled"])
async def test_g11_pages_of_player_rounds_have_a_size_limit(
    journal: PostgresJournal,
    history: RoundHistory,
    monkeypatch: pytest.MonkeyPatch,
    cancelled: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """All stakes are the player's own."""
    await journal.take_ownership("t1")
    for number in range(1, 6):
        entry = opened("t1", number)
        own = [stake(entry.round_id, n, "ana", b"x" * 100) for n in range(20)]
        # One bet counts: a player's rounds are found by the stakes that do.
        drawn = Drawn(
            entry.round_id, AT, AT, b"e", b"17", own[-1:] if cancelled else own, ["s"], DrawTrigger.PLAYER,
            tuple(CancelledStake(each, AT) for each in own[:-1]) if cancelled else (),
        )  # fmt: skip
        await journal.write_opened(1, entry)
        await journal.write_drawn(1, drawn)
        await journal.write_ended(1, settled(drawn))

    async def all_pages() -> list[list[str]]:
        pages, token = [], ""
        while True:
            page = await history.list_player_rounds("ana", page_request(3, token))
            pages.append([found.round.round_id for found in page.items])
            token = page.next_page_token
            if not token:
                return pages

    assert await all_pages() == [["t1.5", "t1.4", "t1.3"], ["t1.2", "t1.1"]]
    # Two rounds fit.
    monkeypatch.setattr(journal_history, "ANSWER_BYTES_LIMIT", 30_000)
    assert await all_pages() == [["t1.5", "t1.4"], ["t1.3", "t1.2"], ["t1.1"]]
    # No round fits: each comes alone.
    monkeypatch.setattr(journal_history, "ANSWER_BYTES_LIMIT", 1)
    alone = [[f"t1.{number}"] for number in (5, 4, 3, 2, 1)]
    assert await all_pages() == alone
    monkeypatch.undo()
    monkeypatch.setattr(journal_history, "READ_BYTES_LIMIT", 1)
    assert await all_pages() == (alone if cancelled else [["t1.5", "t1.4", "t1.3"], ["t1.2", "t1.1"]])


def test_g11_a_replayed_round_comes_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_pages, "PAGE_BYTES_LIMIT", 100)
    monkeypatch.setattr(replay_pages, "DIFFERENCES_LIMIT", 2)
    whole = table_pb2.ReplayRoundResponse(entropy=b"e", differences=["one", "two", "three", "four"])
    for number in range(7):
        whole.stakes.add(stake_id=f"stake-{number}", player_id="x" * 30)
    for number in range(7, 10):
        whole.cancelled_stakes.add(stake_id=f"stake-{number}", player_id="x" * 30)
    seen: list[str] = []
    pages = [replay_pages.page(whole, "")]
    while pages[-1].next_page_token:
        pages.append(replay_pages.page(whole, pages[-1].next_page_token))
    for page in pages:
        assert page.entropy == b"e"
        seen += [each.stake_id for each in page.stakes] + [each.stake_id for each in page.cancelled_stakes]
    assert seen == [f"stake-{number}" for number in range(10)]
    assert [len(page.stakes) + len(page.cancelled_stakes) for page in pages] == [2] * 5
    assert list(pages[0].differences) == ["one", "two", "2 more: `feltro replay` tells all of them"]
    assert not any(page.differences for page in pages[1:])
    # A stake that is too large by itself comes alone.
    monkeypatch.setattr(replay_pages, "PAGE_BYTES_LIMIT", 1)
    assert len(replay_pages.page(whole, "").stakes) == 1
    with pytest.raises(TableRefused):
        replay_pages.page(whole, "nonsense")
