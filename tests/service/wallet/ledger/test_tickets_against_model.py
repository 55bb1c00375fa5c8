"""Random awards, uses, refunds and settlements of tickets, right and wrong ones, end as a plain model says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest

from feltro.wallet.v1 import ticket_pb2, tournament_pb2, wallet_pb2
from services.kit.refusal import Refused
from tests.processes import ledger_audit
from tests.service.wallet.in_process_wallet import OPERATOR, InProcessWallet, reason_of

STEPS = 120
TOURNAMENTS = "abcd"
PRICE, FEE = 1_100, 100
PRIZE, REFUND = tournament_pb2.AWARD_REASON_PRIZE, tournament_pb2.AWARD_REASON_REFUND
RETURN, CASH, REPLACE = (
    tournament_pb2.TICKET_REFUND_RETURN,
    tournament_pb2.TICKET_REFUND_CASH,
    tournament_pb2.TICKET_REFUND_REPLACE,
)
LAPSE, REIMBURSE, EXCHANGE = (
    tournament_pb2.TICKET_SETTLEMENT_EXPIRE,
    tournament_pb2.TICKET_SETTLEMENT_REIMBURSE,
    tournament_pb2.TICKET_SETTLEMENT_REPLACE,
)


@dataclass
class Won:
    """A ticket of the model; its state is the word after `TICKET_STATE_`."""

    account: str
    target: str
    freeroll: bool
    state: str = "ISSUED"

    @property
    def is_open(self) -> bool:
        return self.state in {"ISSUED", "RETURNED"}


@dataclass
class Model:
    """What everybody has: cash by account, money by tournament, and what became of every ticket."""

    free: Counter[str] = field(default_factory=Counter)
    pools: Counter[str] = field(default_factory=Counter)
    banks: Counter[str] = field(default_factory=Counter)
    closed: set[str] = field(default_factory=set)
    tickets: dict[str, Won] = field(default_factory=dict)
    # The ticket of each entry that was not given back, by its request.
    entries: dict[str, str] = field(default_factory=dict)

    def award(self, account: str, satellite: str, target: str, *, freeroll: bool) -> tuple[str, Won | None]:
        """Returns the reason of the refusal, or the ticket; the bank of the satellite pays for it."""
        if satellite in self.closed:
            return "TOURNAMENT_CLOSED", None
        won = Won(account, target, freeroll)
        self.banks[satellite] -= PRICE
        has_won = any(
            (each.account, each.target) == (account, target) and each.state != "EXPIRED"
            for each in self.tickets.values()
        )
        self._place(won)
        if not freeroll and target not in self.closed and has_won:
            won.state = "CONVERTED"
            self.free[account] += PRICE
        return "", won

    def enter(self, request_id: str, ticket_id: str, account: str, tournament: str) -> str:
        won = self.tickets[ticket_id]
        if tournament in self.closed:
            return "TOURNAMENT_CLOSED"
        if won.account != account:
            return "TICKET_NOT_TRANSFERABLE"
        if won.target != tournament or not won.is_open:
            return "TICKET_UNUSABLE"
        won.state = "USED"
        self.pools[tournament] += PRICE - FEE
        self.banks[tournament] += FEE
        self.entries[request_id] = ticket_id
        return ""

    def give_back(self, request_id: str, how: int, replacement: str) -> tuple[str, Won | None]:
        won = self.tickets[self.entries[request_id]]
        if won.target in self.closed:
            return "TOURNAMENT_CLOSED", None
        if not how or (how == REPLACE and not won.freeroll):
            return "TICKET_REFUND_MISMATCH", None
        self.pools[won.target] -= PRICE - FEE
        self.banks[won.target] -= FEE
        del self.entries[request_id]
        if how == RETURN:
            won.state = "RETURNED"
            return "", won
        if how == CASH:
            won.state = "REIMBURSED"
            self.free[won.account] += PRICE
            return "", won
        won.state = "REPLACED"
        new = Won(won.account, replacement, freeroll=True)
        self._place(new)
        return "", new

    def settle(self, tournament: str, settlement: int, of_freerolls: int, replacement: str) -> tuple[str, list[Won]]:
        """Returns the reason of the refusal and the new tickets, in the order of those that they replace."""
        if tournament in self.closed:
            return "TOURNAMENT_CLOSED", []
        new = []
        for won in [each for each in self.tickets.values() if each.target == tournament and each.is_open]:
            becomes = of_freerolls if won.freeroll else settlement
            if becomes == LAPSE:
                won.state = "EXPIRED"
                self.banks[tournament] += PRICE
            elif becomes == REIMBURSE:
                won.state = "REIMBURSED"
                self.free[won.account] += PRICE
            else:
                won.state = "REPLACED"
                new.append(Won(won.account, replacement, freeroll=True))
                self._place(new[-1])
        return "", new

    def close(self, tournament: str) -> str:
        if tournament in self.closed:
            return "TOURNAMENT_CLOSED"
        if self.pools[tournament]:
            return "POOL_NOT_EMPTY"
        if self.open_cents(tournament):
            return "TICKETS_OPEN"
        self.closed.add(tournament)
        return ""

    def open_cents(self, tournament: str) -> int:
        return PRICE * sum(each.target == tournament and each.is_open for each in self.tickets.values())

    def _place(self, won: Won) -> None:
        if won.target not in self.closed:
            return
        if won.freeroll:
            won.state = "EXPIRED"
            self.banks[won.target] += PRICE
        else:
            won.state = "REIMBURSED"
            self.free[won.account] += PRICE


class Driver:
    """Does the same to the wallet and to the model."""

    def __init__(self, wallet: InProcessWallet, dice: Random) -> None:
        self.wallet, self.dice, self.model = wallet, dice, Model()
        self.reasons: Counter[str] = Counter()
        self._steps = 0

    async def open(self) -> None:
        for number in range(4):
            self.model.free[await self.wallet.open_account(f"p{number}")] = 0
        for tournament in TOURNAMENTS:
            await self.wallet.open_tournament(tournament)

    async def step(self) -> None:
        self._steps += 1
        steps = [self._award, self._enter, self._give_back, self._settle, self._close]
        await self.dice.choices(steps, [6, 6, 4, 1, 1])[0](f"step-{self._steps}")

    async def _award(self, request_id: str) -> None:
        satellite, target = self.dice.sample(TOURNAMENTS, 2)
        prize = tournament_pb2.Award(
            account_id=self.dice.choice(list(self.model.free)), reason=PRIZE, amount_cents=PRICE
        )
        prize.ticket.tournament_id, prize.ticket.from_freeroll = target, self.dice.random() < 0.4
        freeroll = prize.ticket.from_freeroll
        expected, won = self.model.award(prize.account_id, satellite, target, freeroll=freeroll)
        answer = await self._pay_out(expected, satellite, prize, PRICE, request_id)
        if answer is not None and won is not None:
            self.model.tickets[answer.tickets[0].ticket_id] = won
            assert answer.tickets[0].state == ticket_pb2.TicketState.Value(f"TICKET_STATE_{won.state}")

    async def _enter(self, request_id: str) -> None:
        if not self.model.tickets:
            return
        ticket_id, won = self.dice.choice(list(self.model.tickets.items()))
        account, tournament = won.account, won.target
        if self.dice.random() < 0.1:
            account = self.dice.choice(list(self.model.free))
        if self.dice.random() < 0.1:
            tournament = self.dice.choice(TOURNAMENTS)
        expected = self.model.enter(request_id, ticket_id, account, tournament)
        # The second time is a repetition, with the same answer.
        for _ in range(2):
            call = self.wallet.pay_in(tournament, account, PRICE - FEE, FEE, ticket_id=ticket_id, request_id=request_id)
            assert await reason_of(call) == expected
        self.reasons[expected] += 1

    async def _give_back(self, request_id: str) -> None:
        if not self.model.entries:
            return
        entry, ticket_id = self.dice.choice(list(self.model.entries.items()))
        won = self.model.tickets[ticket_id]
        how = self.dice.choice([0, RETURN, RETURN, CASH, REPLACE, REPLACE])
        replacement = ""
        if how == REPLACE:
            replacement = self.dice.choice([each for each in TOURNAMENTS if each != won.target])
        refund = tournament_pb2.Award(
            account_id=won.account, reason=REFUND, amount_cents=PRICE, refunded_request_id=entry,
            ticket_refund=tournament_pb2.TicketRefund.ValueType(how), replacement_tournament_id=replacement,
        )  # fmt: skip
        expected, became = self.model.give_back(entry, how, replacement)
        answer = await self._pay_out(expected, won.target, refund, 0, request_id)
        if answer is not None and became is not None:
            self.model.tickets[answer.tickets[0].ticket_id] = became

    async def _pay_out(
        self, expected: str, tournament: str, award: tournament_pb2.Award, overlay: int, request_id: str
    ) -> tournament_pb2.PayOutResponse | None:
        answers: list[tournament_pb2.PayOutResponse | None] = []
        for _ in range(2):
            try:
                answers.append(await self.wallet.pay_out(tournament, [award], overlay, request_id=request_id))
                reason = ""
            except Refused as refused:
                answers.append(None)
                reason = refused.reason
            assert reason == expected
        assert answers[0] == answers[1]
        self.reasons[expected] += 1
        return answers[0]

    async def _settle(self, request_id: str, tournament: str = "") -> None:
        tournament = tournament or self.dice.choice(TOURNAMENTS)
        settlement, of_freerolls = self.dice.choice(
            [(LAPSE, LAPSE), (REIMBURSE, LAPSE), (REIMBURSE, REIMBURSE), (REIMBURSE, EXCHANGE)]
        )
        replacement = ""
        if of_freerolls == EXCHANGE:
            replacement = self.dice.choice([each for each in TOURNAMENTS if each != tournament])
        expected, new = self.model.settle(tournament, settlement, of_freerolls, replacement)
        for _ in range(2):
            try:
                answer = await self.wallet.settle_tickets(
                    tournament, settlement, of_freerolls, replacement, request_id=request_id
                )
                reason = ""
                assert not answer.more
            except Refused as refused:
                reason = refused.reason
            assert reason == expected
        if new:
            known = self.model.tickets.keys()
            found = [each for each in await self.wallet.tickets(replacement) if each.ticket_id not in known]
            self.model.tickets |= {each.ticket_id: won for each, won in zip(found, new, strict=True)}
        self.reasons[expected] += 1

    async def _close(self, request_id: str, tournament: str = "") -> None:
        # Seldom, so that there is something to do for a while.
        if not tournament and self._steps < STEPS / 2:
            return
        tournament = tournament or self.dice.choice("ab")
        expected = self.model.close(tournament)
        assert await reason_of(self.wallet.close_tournament(tournament, request_id)) == expected
        self.reasons[expected] += 1

    async def finish(self) -> None:
        """Pays out what is left, settles and closes every tournament."""
        for round_ in range(len(TOURNAMENTS)):
            for tournament in TOURNAMENTS:
                if tournament not in self.model.closed:
                    await self._settle(f"{tournament}:tickets:{round_}", tournament)
        for tournament in TOURNAMENTS:
            if rest := self.model.pools.pop(tournament, 0):
                account = self.dice.choice(list(self.model.free))
                prize = tournament_pb2.Award(account_id=account, reason=PRIZE, amount_cents=rest)
                await self.wallet.pay_out(tournament, [prize])
                self.model.free[account] += rest
            if tournament not in self.model.closed:
                self.model.settle(tournament, LAPSE, LAPSE, "")
                await self.wallet.settle_tickets(tournament)
                await self._close(f"{tournament}:close", tournament)
            assert tournament in self.model.closed

    async def compare(self) -> None:
        for account, cents in self.model.free.items():
            request = wallet_pb2.GetBalanceRequest(account_id=account)
            assert (await self.wallet.wallet_service.get_balance(request, OPERATOR)).balance.free_cents == cents
        for tournament in TOURNAMENTS:
            accounts = [
                await self.wallet.count(
                    f"SELECT free_cents FROM accounts JOIN tables USING (table_no)"  # noqa: S608
                    f" WHERE table_id = '{tournament}' AND kind = {kind}"
                )
                for kind in (5, 3, 6)
            ]
            model = self.model
            assert accounts == [model.pools[tournament], model.banks[tournament], model.open_cents(tournament)]
            found = await self.wallet.tickets(tournament)
            assert {each.ticket_id: ticket_pb2.TicketState.Name(each.state)[13:] for each in found} == {
                ticket_id: won.state for ticket_id, won in model.tickets.items() if won.target == tournament
            }


@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G2")
@pytest.mark.guarantee("G3")
@pytest.mark.rule("810/2015:28")
@pytest.mark.rule("810/2015:29")
@pytest.mark.rule("810/2015:30")
@pytest.mark.parametrize("seed", range(3))
async def test_g1_random_tickets_end_as_a_plain_model_says(wallet: InProcessWallet, seed: int) -> None:
    driver = Driver(wallet, Random(seed))
    await driver.open()
    for step in range(STEPS):
        await driver.step()
        if step % 20 == 0:
            await driver.compare()
    await driver.compare()
    await driver.finish()
    await driver.compare()
    model = driver.model
    assert model.free.total() + model.banks.total() == 0
    assert driver.reasons[""] > STEPS / 3
    assert {"TICKET_UNUSABLE", "TICKET_REFUND_MISMATCH"} <= driver.reasons.keys()
    assert {won.state for won in model.tickets.values()} >= {"USED", "CONVERTED", "REIMBURSED", "REPLACED"}
    assert await ledger_audit.violations(wallet.engine, of_any_age=True) == []
