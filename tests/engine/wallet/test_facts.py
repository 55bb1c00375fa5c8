"""The facts of a transaction: messages of transfers are limited in size, and a balance keeps the trace of its call."""

from __future__ import annotations

import pytest

from feltro.wallet.v1 import events_pb2
from services.wallet.outbox.facts import TRANSFERS_SUBJECT, player_subject
from services.wallet.store import ledger_facts
from services.wallet.store.ledger_facts import facts_of_book
from tests.engine.wallet.test_paid_stakes import Ledger


@pytest.mark.guarantee("G11")
def test_g11_transfers_that_fit_in_no_single_message_leave_in_several_and_none_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger = Ledger()
    for player in (0, 1, 2):
        ledger.place(player, 100 + player)
    (whole,) = [fact for fact in facts_of_book(ledger.book) if fact.subject == TRANSFERS_SUBJECT]
    expected = events_pb2.TransfersMade.FromString(whole.payload).transactions
    limit = len(whole.payload) // 2
    monkeypatch.setattr(ledger_facts, "TRANSFERS_MESSAGE_BYTES_LIMIT", limit)
    parts = [fact.payload for fact in facts_of_book(ledger.book) if fact.subject == TRANSFERS_SUBJECT]
    assert len(parts) > 1
    assert max(map(len, parts)) <= limit
    found = [each for part in parts for each in events_pb2.TransfersMade.FromString(part).transactions]
    assert found == list(expected)


def test_a_balance_goes_on_in_the_trace_of_the_last_command_that_changed_it() -> None:
    ledger = Ledger()
    stakes = {player: [ledger.place(player, 100) for _ in range(2)] for player in (0, 1)}
    ledger.book.traces = {stake_id: f"trace of {stake_id}" for of_player in stakes.values() for stake_id in of_player}
    traces = {fact.subject: fact.traceparent for fact in facts_of_book(ledger.book)}
    assert [traces[player_subject(f"player-1{player}")] for player in (0, 1)] == [
        f"trace of {of_player[-1]}" for of_player in stakes.values()
    ]
    # The message of transfers is of many calls: it is in the trace of none.
    assert traces[TRANSFERS_SUBJECT] == ""
