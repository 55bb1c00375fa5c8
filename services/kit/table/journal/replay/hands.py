"""What a hand between players has moved in the ledger, and how that differs from its record.

A hand has no stakes there: what its players have brought stays in their caves, and one transfer at its end moves what
was won and lost, with the commission to the house.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass

from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.table.journal.entries import Ending
from services.kit.table.journal.history import RoundRecord
from services.kit.table.wallet.client import pages


@dataclass(frozen=True, slots=True)
class MovedInLedger:
    """What the transfers of one hand have changed."""

    by_account: Mapping[str, int]
    """Cents of the caves of its players."""
    others_cents: int = 0
    """Cents of everybody else: the commission, which is the house's."""


async def read_moved(
    list_page: Callable[[wallet_pb2.ListTransactionsRequest], Awaitable[wallet_pb2.ListTransactionsResponse]],
    round_id: str,
) -> MovedInLedger:
    """Reads all transactions of a hand."""
    by_account: defaultdict[str, int] = defaultdict(int)
    others_cents = 0
    async for page in pages(list_page, wallet_pb2.ListTransactionsRequest(round_id=round_id, page_size=500)):
        for transaction in page.transactions:
            cents = sum(entry.amount_cents for entry in transaction.entries)
            if transaction.cave_table_id:
                by_account[transaction.account_id] += cents
            else:
                others_cents += cents
    return MovedInLedger(by_account, others_cents)


def differences(record: RoundRecord, moved: MovedInLedger, computed: Mapping[str, int]) -> Iterator[str]:
    """Compares what a hand has moved with what its stakes pay; `computed` is by stake id, as the rules give it."""
    if record.ended is None:
        # Its transfer may just be on its way.
        return
    expected = {
        stake.account_id: computed[stake.stake_id] - stake.amount_cents
        for stake in record.stakes
        if record.ended.ending is Ending.SETTLED
    }
    computed_others = -sum(expected.values())
    for account_id in sorted(expected.keys() | moved.by_account.keys()):
        in_ledger, by_rules = moved.by_account.get(account_id, 0), expected.get(account_id, 0)
        if in_ledger != by_rules:
            yield f"the cave of {account_id}: {by_rules} computed, {in_ledger} moved in the ledger"
    if moved.others_cents != computed_others:
        yield f"commission: {computed_others} computed, {moved.others_cents} moved in the ledger"


def is_hand(play: wallet_types.Play.ValueType) -> bool:
    """Whether rounds of tables of this kind are hands, in which players bring caves and place no stakes."""
    return play == wallet_types.PLAY_POKER


def is_for_chips(play: wallet_types.Play.ValueType) -> bool:
    """Whether rounds of tables of this kind are played for chips without money value: the ledger knows none."""
    return play == wallet_types.PLAY_TOURNAMENT


NOTHING_MOVED = MovedInLedger({})
"""What a hand for chips has moved there."""
