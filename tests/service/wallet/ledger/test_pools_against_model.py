"""Random payments into tournaments and out of them, right and wrong ones, end as a plain model says, cent by cent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest

from feltro.wallet.v1 import tournament_pb2, wallet_pb2
from tests.processes import ledger_audit
from tests.service.wallet.in_process_wallet import OPERATOR, InProcessWallet, reason_of

STEPS = 150
PRIZE, BOUNTY, REFUND = (
    tournament_pb2.AWARD_REASON_PRIZE,
    tournament_pb2.AWARD_REASON_BOUNTY,
    tournament_pb2.AWARD_REASON_REFUND,
)


@dataclass
class PaidIn:
    """A pay-in of the model."""

    tournament: str
    account: str
    pool: int
    fee: int
    refunded: bool = False

    @property
    def price(self) -> int:
        return self.pool + self.fee


@dataclass
class Model:
    """What everybody has, in plain numbers: no versions, no entries, no order of locks."""

    free: Counter[str] = field(default_factory=Counter)
    pools: Counter[str] = field(default_factory=Counter)
    banks: Counter[str] = field(default_factory=Counter)
    closed: set[str] = field(default_factory=set)
    pay_ins: dict[str, PaidIn] = field(default_factory=dict)

    def pay_in(self, request_id: str, tournament: str, account: str, pool: int, fee: int) -> str:
        """Returns the reason of the refusal; empty if it is paid."""
        if tournament in self.closed:
            return "TOURNAMENT_CLOSED"
        if self.free[account] < pool + fee:
            return "INSUFFICIENT_FUNDS"
        self.free[account] -= pool + fee
        self.pools[tournament] += pool
        self.banks[tournament] += fee
        self.pay_ins[request_id] = PaidIn(tournament, account, pool, fee)
        return ""

    def pay_out(self, tournament: str, awards: list[tournament_pb2.Award], from_bank: int) -> str:
        if tournament in self.closed:
            return "TOURNAMENT_CLOSED"
        given_back = [award.refunded_request_id for award in awards if award.reason == REFUND]
        for award in awards:
            if award.reason == REFUND and not self._is_refundable(tournament, award):
                return "PAY_IN_UNKNOWN"
        if len(set(given_back)) < len(given_back):
            return "PAY_IN_UNKNOWN"
        fees = sum(self.pay_ins[request_id].fee for request_id in given_back)
        from_pool = sum(award.amount_cents for award in awards) - fees - from_bank
        if from_pool > self.pools[tournament]:
            return "POOL_INSUFFICIENT"
        self.pools[tournament] -= from_pool
        self.banks[tournament] -= fees + from_bank
        for award in awards:
            self.free[award.account_id] += award.amount_cents
        for request_id in given_back:
            self.pay_ins[request_id].refunded = True
        return ""

    def close(self, tournament: str) -> str:
        if tournament in self.closed:
            return "TOURNAMENT_CLOSED"
        if self.pools[tournament]:
            return "POOL_NOT_EMPTY"
        self.closed.add(tournament)
        return ""

    def _is_refundable(self, tournament: str, award: tournament_pb2.Award) -> bool:
        paid = self.pay_ins.get(award.refunded_request_id)
        return (
            paid is not None
            and not paid.refunded
            and (paid.tournament, paid.account, paid.price) == (tournament, award.account_id, award.amount_cents)
        )


class Driver:
    """Does the same to the wallet and to the model."""

    def __init__(self, wallet: InProcessWallet, dice: Random) -> None:
        self.wallet, self.dice, self.model = wallet, dice, Model()
        self.reasons: Counter[str] = Counter()
        self._steps = 0

    async def open(self) -> None:
        for number in range(5):
            cents = self.dice.randint(1_000, 20_000)
            self.model.free[await self.wallet.open_account(f"p{number}", cents)] = cents
        for tournament in ("a", "b", "c"):
            await self.wallet.open_tournament(tournament)

    async def step(self) -> None:
        self._steps += 1
        do = self.dice.choices([self._pay_in, self._pay_out, self._close], [6, 4, 1])[0]
        await do(self.dice.choice("abc"), f"step-{self._steps}")

    async def finish(self) -> None:
        """Pays out what is left, closes every tournament, and tries to go on."""
        for tournament in "abc":
            if rest := self.model.pools[tournament]:
                award = self._award(rest)
                assert self.model.pay_out(tournament, [award], 0) == ""
                await self.wallet.pay_out(tournament, [award])
            await self._close(tournament, f"{tournament}:close")
            assert tournament in self.model.closed
            await self._pay_in(tournament, f"{tournament}:late-entry")
            await self._pay_out(tournament, f"{tournament}:late-prize")

    async def _pay_in(self, tournament: str, request_id: str) -> None:
        account, fee = self.dice.choice(list(self.model.free)), self.dice.choice([0, 100])
        prize, bounty = self.dice.choice([(1_000, 0), (600, 300), (0, 500), (5_000, 0)])
        expected = self.model.pay_in(request_id, tournament, account, prize + bounty, fee)
        # The second time is a repetition, with the same answer.
        for _ in range(2):
            call = self.wallet.pay_in(tournament, account, prize, fee, bounty, request_id=request_id)
            assert await reason_of(call) == expected
        self.reasons[expected] += 1

    async def _pay_out(self, tournament: str, request_id: str) -> None:
        awards = [self._award() for _ in range(self.dice.randint(1, 4))]
        if self.dice.random() < 0.3:
            awards = awards[:1] + self._refunds_of(tournament)
        if self.dice.random() < 0.3 and self.model.pools[tournament]:
            rest = self.model.pools[tournament]
            awards = [self._award(rest)]
        winnings = sum(award.amount_cents for award in awards if award.reason != REFUND)
        from_bank = self.dice.choice([0, 0, self.dice.randint(0, winnings)])
        overlay = self.dice.randint(0, from_bank)
        expected = self.model.pay_out(tournament, awards, from_bank)
        # Refusals that are not stored are judged again; nothing has changed meanwhile.
        for _ in range(2):
            call = self.wallet.pay_out(tournament, awards, overlay, from_bank - overlay, request_id=request_id)
            assert await reason_of(call) == expected
        self.reasons[expected] += 1

    async def _close(self, tournament: str, request_id: str) -> None:
        # Seldom, so that there is something to do for a while.
        if self._steps < STEPS / 2 and tournament != "c":
            return
        expected = self.model.close(tournament)
        for _ in range(2):
            assert await reason_of(self.wallet.close_tournament(tournament, request_id)) == expected
        self.reasons[expected] += 1

    def _award(self, cents: int = 0) -> tournament_pb2.Award:
        return tournament_pb2.Award(
            account_id=self.dice.choice(list(self.model.free)),
            reason=self.dice.choice([PRIZE, BOUNTY]),
            amount_cents=cents or self.dice.randint(1, 2_000),
        )

    def _refunds_of(self, tournament: str) -> list[tournament_pb2.Award]:
        """Returns refunds that are mostly right: sometimes of another tournament, a second time, or by a cent wrong."""
        found = []
        for request_id, paid in self.model.pay_ins.items():
            right = paid.tournament == tournament and not paid.refunded
            if self.dice.random() < (0.4 if right else 0.02):
                cents = paid.price + (self.dice.random() < 0.03)
                found.append(
                    tournament_pb2.Award(
                        account_id=paid.account, reason=REFUND, amount_cents=cents, refunded_request_id=request_id
                    )
                )
        return found

    async def compare(self) -> None:
        for account, cents in self.model.free.items():
            answer = await self.wallet.wallet_service.get_balance(
                wallet_pb2.GetBalanceRequest(account_id=account), OPERATOR
            )
            assert answer.balance.free_cents == cents
        for tournament in "abc":
            money = await self.wallet.tournament_money(tournament)
            assert money.pool_cents == self.model.pools[tournament] >= 0
            assert money.HasField("closed_at") == (tournament in self.model.closed)
            bank = sum(paid.fee_cents for paid in money.paid_in) - money.fees_returned_cents
            assert bank - money.overlay_cents - money.shortfall_cents == self.model.banks[tournament]


@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G2")
@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("seed", range(4))
async def test_g1_random_payments_end_as_a_plain_model_says(wallet: InProcessWallet, seed: int) -> None:
    driver = Driver(wallet, Random(seed))
    await driver.open()
    before = driver.model.free.total()
    for step in range(STEPS):
        await driver.step()
        if step % 10 == 0:
            await driver.compare()
    await driver.compare()
    await driver.finish()
    await driver.compare()
    model = driver.model
    assert model.pools.total() == 0
    assert model.free.total() + model.pools.total() + model.banks.total() == before
    assert driver.reasons[""] > STEPS / 5
    assert {"POOL_INSUFFICIENT", "INSUFFICIENT_FUNDS", "PAY_IN_UNKNOWN", "TOURNAMENT_CLOSED"} <= driver.reasons.keys()
    assert await ledger_audit.violations(wallet.engine, of_any_age=True) == []
