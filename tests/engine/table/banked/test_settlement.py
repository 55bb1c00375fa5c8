"""A round is settled with what the wallet has paid: where that is not what the rules say, nothing is journalled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.table.banked.settlement import Decided, LedgerMismatch, Settlement
from services.kit.table.journal.entries import Drawn, DrawTrigger, Ended, JournalStake

AT = datetime(2026, 1, 2, 12, tzinfo=UTC)
ROUND_ID, EPOCH = "t.1", 3
# What each stake is paid by the rules of these tests.
DUE = {"s1": 1_000, "s2": 0}


class Journal:
    """Keeps the end of a round."""

    def __init__(self) -> None:
        self.ended: list[Ended] = []

    async def write_ended(self, epoch: int, entry: Ended) -> None:
        assert epoch == EPOCH
        self.ended.append(entry)


class Wallet:
    """A wallet that answers what a test chooses."""

    def __init__(self, paid: Mapping[str, int], ledger: wallet_pb2.Round | None = None) -> None:
        """`paid`: what each account got back, as the wallet says."""
        self.asked: list[Mapping[str, int]] = []
        self._paid = paid
        self._ledger = ledger

    async def settle_round(
        self, round_id: str, payouts: Mapping[str, int], _outcome: bytes, _present: Sequence[str]
    ) -> wallet_pb2.SettleRoundResponse:
        assert round_id == ROUND_ID
        self.asked.append(dict(payouts))
        return wallet_pb2.SettleRoundResponse(
            results=[_result(account, cents) for account, cents in self._paid.items()]
        )

    async def get_round(self, _round_id: str) -> wallet_pb2.Round:
        assert self._ledger is not None
        return self._ledger


class Rules:
    """Pays each bet what is due for the stake of its name."""

    def read_outcome(self, outcome: bytes) -> bytes:
        return outcome

    def read_bets(self, bets: bytes) -> str:
        return bets.decode()

    def payout_cents(self, _outcome: bytes, bets: str) -> int:
        return DUE[bets]


def _result(account_id: str, cents: int) -> wallet_pb2.AccountResult:
    return wallet_pb2.AccountResult(
        account_id=account_id, payout_cents=cents, balance=types_pb2.Balance(free_cents=5_000 + cents)
    )


def drawn() -> Drawn:
    stakes = tuple(
        JournalStake(
            stake_id=f"s{seat}", request_id=f"r{seat}", player_id=f"p{seat}", account_id=f"a{seat}",
            session_id=f"x{seat}", seat=seat, amount_cents=500, bets=f"s{seat}".encode(), placed_at=AT,
        )
        for seat in (1, 2)
    )  # fmt: skip
    return Drawn(ROUND_ID, AT, AT, b"entropy", b"red", stakes, ("x1", "x2"), DrawTrigger.CLOCK, ())


async def settle(wallet: Wallet, journal: Journal, decided: Decided | None = None) -> None:
    settlement: Settlement[Any, Any] = Settlement(cast("Any", wallet), cast("Any", journal), EPOCH)
    await settlement.settle(drawn(), cast("Any", Rules()), decided)


@pytest.mark.guarantee("G10")
async def test_g10_what_each_player_was_paid_and_has_now_is_journalled() -> None:
    wallet, journal = Wallet({"a1": 1_000, "a2": 0}), Journal()
    await settle(wallet, journal)
    assert wallet.asked == [DUE]
    (ended,) = journal.ended
    assert dict(ended.payouts) == DUE
    assert [
        (each.player_id, each.staked_cents, each.payout_cents, each.balance_before_cents, each.balance_after_cents)
        for each in ended.player_results
    ] == [("p1", 500, 1_000, 5_500, 6_000), ("p2", 500, 0, 5_500, 5_000)]


@pytest.mark.guarantee("G10")
async def test_g10_a_stake_that_was_paid_before_is_not_paid_again() -> None:
    wallet, journal = Wallet({"a1": 1_000, "a2": 0}), Journal()
    await settle(wallet, journal, Decided((), {"s1": 1_000}))
    assert wallet.asked == [{"s2": 0}]
    assert dict(journal.ended[0].payouts) == DUE


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("early", [{"s1": 999}, {"s3": 1}], ids=["other amount", "other stake"])
async def test_g12_a_round_is_not_ended_where_a_stake_was_paid_other_than_its_payout(early: dict[str, int]) -> None:
    wallet, journal = Wallet({"a1": 1_000, "a2": 0}), Journal()
    with pytest.raises(LedgerMismatch, match="and not its payout"):
        await settle(wallet, journal, Decided((), early))
    assert (wallet.asked, journal.ended) == ([], [])


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("paid", "sentence"),
    [({"a1": 1_001, "a2": 0}, "has paid other than 1000 cents"), ({"a1": 1_000}, "without the stakes of a2")],
    ids=["other sum", "a player is missing"],
)
async def test_g12_what_the_wallet_has_paid_otherwise_is_not_journalled(paid: dict[str, int], sentence: str) -> None:
    journal = Journal()
    with pytest.raises(LedgerMismatch, match=sentence):
        await settle(Wallet(paid), journal)
    assert journal.ended == []


@pytest.mark.guarantee("G12")
async def test_g12_a_round_that_the_ledger_has_settled_is_not_journalled_as_void() -> None:
    """Neither has its outcome: whatever happened there, the journal must not tell another story."""
    settled = wallet_pb2.Round(round_id=ROUND_ID, state=types_pb2.ROUND_STATE_SETTLED)
    journal = Journal()
    settlement: Settlement[Any, Any] = Settlement(cast("Any", Wallet({}, settled)), cast("Any", journal), EPOCH)
    with pytest.raises(LedgerMismatch, match="settled in the ledger, and there is no outcome in the journal"):
        await settlement.journal_void(ROUND_ID, "the wheel was touched", None, drawn().stakes, ())
    assert journal.ended == []
