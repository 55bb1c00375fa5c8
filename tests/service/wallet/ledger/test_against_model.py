"""Two real replicas of the wallet, driven at random by many callers at once, give the answers of a simple model."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.database import postgresql
from services.wallet.audit.auditor import Auditor
from tests.processes.wallet import DEMO, REAL, WalletProcess
from tests.service.wallet.ledger.ledger_model import (
    OPEN,
    Account,
    Answer,
    AnsweredCommand,
    BuyIn,
    CancelStakes,
    CashOut,
    Command,
    Deposit,
    EndSession,
    IdempotentCommand,
    LedgerState,
    PayStakes,
    PlaceStake,
    SeatResult,
    SetBlocked,
    SettleRound,
    StartSession,
    Table,
    TableCommand,
    TransferHand,
    VoidRound,
    Withdraw,
    states_that_explain,
)
from tests.service.wallet.ledger.model_over_grpc import Replica

if TYPE_CHECKING:
    from tests.processes.databases import WalletDatabase

# FELTRO_TEST_EFFORT=10 runs ten times as many examples.
EFFORT = int(os.environ.get("FELTRO_TEST_EFFORT", "1"))
EXAMPLES, STEPS, AT_ONCE = 30 * EFFORT, 14, 5
# It takes longer than all commands of a step.
AUDITED_EVERY = 5

SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    # Concurrent callers do not repeat themselves: a smaller example need not fail.
    phases=[Phase.generate],
    database=None,
    suppress_health_check=list(HealthCheck),
)

ResultT = TypeVar("ResultT")


class ReplicaPair:
    """The two replicas that all examples share, an auditor, and the event loop of their clients."""

    def __init__(self, runner: asyncio.Runner, replicas: list[Replica], auditor: Auditor) -> None:
        self._runner = runner
        self._replicas_in_turn = itertools.cycle(replicas)
        self._auditor = auditor
        self.names = itertools.count(1)
        self.answer_bytes: dict[tuple[str, IdempotentCommand], bytes] = {}
        # The first failure. Hypothesis repeats a failed example, and concurrent callers need not fail twice: it would
        # only report a flaky test.
        self.failure = ""

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        return self._runner.run(work)

    def check(self, holds: object, sentence: Callable[[], str]) -> None:
        """Fails the test for good unless the condition holds."""
        if not holds:
            self.failure = self.failure or sentence()
            raise AssertionError(self.failure)

    @property
    def replica(self) -> Replica:
        """The two replicas in turn."""
        return next(self._replicas_in_turn)

    async def send(self, commands: list[Command], together: list[PlaceStake]) -> list[AnsweredCommand]:
        """Sends all commands at once, and the orders of `together` in one call."""
        many = [self.replica.send_many(together)] if together else []
        alone = [self.replica.send(command) for command in commands]
        answers, *of_many = await asyncio.gather(asyncio.gather(*alone), *many)
        answered: list[AnsweredCommand] = []
        for command, (answer, answer_bytes) in zip(
            [*commands, *together], itertools.chain(answers, *of_many), strict=True
        ):
            self._verify_repeated(command, answer, answer_bytes)
            answered.append((command, answer))
        return answered

    def _verify_repeated(self, command: Command, answer: Answer, answer_bytes: bytes) -> None:
        if isinstance(command, IdempotentCommand) and answer.refused not in {
            "STALE_EPOCH",
            "REQUEST_REUSED",
            "INVALID",
        }:
            first = self.answer_bytes.setdefault((command.request_id, command.content), answer_bytes)
            self.check(
                first == answer_bytes, lambda: f"G3: {command} was not answered with the bytes of the first time"
            )

    async def violations(self) -> list[str]:
        found: list[str] = []
        await self._auditor.run(lambda check, sentence: found.append(f"{check.name}: {sentence}"))
        return found


@dataclass(frozen=True)
class TableKind:
    """A table of one example."""

    table: str
    mode: types_pb2.Mode.ValueType
    play: types_pb2.Play.ValueType


class LedgerMachine(RuleBasedStateMachine):
    """Sends a few commands at once in each step, and searches an order of them that explains all answers."""

    replicas: ReplicaPair

    def __init__(self) -> None:
        super().__init__()
        # All states that the answers so far allow: nearly always one.
        self.ledgers: list[LedgerState] = []
        self.sent: list[Command] = []
        self.history: list[list[AnsweredCommand]] = []
        self.name = f"x{next(self.replicas.names)}"
        self._numbers = itertools.count(1)

    @property
    def ledger(self) -> LedgerState:
        return self.ledgers[0]

    @initialize()
    def open_tables_and_sessions(self) -> None:
        places = [
            TableKind(f"{self.name}-roulette", REAL, types_pb2.PLAY_MULTI_PLAYER),
            TableKind(f"{self.name}-baccarat", REAL, types_pb2.PLAY_INDIVIDUAL),
            TableKind(f"{self.name}-practice", DEMO, types_pb2.PLAY_MULTI_PLAYER),
            TableKind(f"{self.name}-poker", REAL, types_pb2.PLAY_POKER),
        ]
        self.ledgers = [self.replicas.run(self._open(places))]
        real = [account for account, account_row in self.ledger.accounts.items() if not account_row.demo]
        self._send_at_once([Deposit(self._request_id(), account, 1_000) for account in self.ledger.accounts], [])
        self._send_at_once(
            [
                StartSession(self._request_id(), account, place.table)
                for place in places
                for account in self.ledger.accounts
                if self.ledger.accounts[account].demo == (place.mode == DEMO)
            ],
            [],
        )
        poker = places[-1].table
        sessions = [(account, self.ledger.running(account, poker)) for account in real]
        self._send_at_once(
            [BuyIn(self._request_id(), poker, 1, account, session, 300, 3) for account, session in sessions if session],
            [],
        )

    async def _open(self, places: list[TableKind]) -> LedgerState:
        ledger = LedgerState()
        client = self.replicas.replica.client
        for place in places:
            await client.open_table(place.table, mode=place.mode, play=place.play)
            ledger.tables[place.table] = Table(demo=place.mode == DEMO, poker=place.play == types_pb2.PLAY_POKER)
        for player, mode in (("ana", REAL), ("rui", REAL), ("eva", REAL), ("ana", DEMO)):
            name = f"{self.name}-{player}"
            ledger.accounts[await client.open_account(name, mode=mode)] = Account(name, demo=mode == DEMO)
        return ledger

    @rule(seed=st.integers(0, 2**64 - 1))
    def send_commands_at_once(self, seed: int) -> None:
        # One draw for each step: the choices depend on which caller was faster, and Hypothesis requires determinism.
        dice = Random(seed)
        commands = [self._command(dice) for _ in range(dice.randint(1, AT_ONCE))]
        together = self._orders(dice) if dice.randint(0, 4) == 0 else []
        if dice.randint(0, 3) == 0:
            # The same command twice at once: an impatient caller, or a retry that overtakes.
            commands.append(commands[0])
        self._send_at_once(commands, together)

    def _send_at_once(self, commands: list[Command], together: list[PlaceStake]) -> None:
        answered = self.replicas.run(self.replicas.send(commands, together))
        self.history += [answered]
        after = states_that_explain(self.ledgers, answered)
        self.replicas.check(after, lambda: f"no order of the last commands explains their answers:\n{self._report()}")
        self.ledgers = after
        self.sent += [command for command, _ in answered]

    def _report(self) -> str:
        """Returns all commands and answers, step by step, and the state before the last step."""
        steps = ["\n".join(f"  {command} -> {answer}" for command, answer in answered) for answered in self.history]
        return "\n--\n".join(steps) + f"\n== {self.ledger}"

    # -- invariants ---------------------------------------------------------------------------------------------------

    @invariant()
    def the_audit_holds(self) -> None:
        """Of the whole ledger, which only grows: what is wrong after one step is wrong at the end, too."""
        if len(self.history) % AUDITED_EVERY == 0:
            self._audit()

    def _audit(self) -> None:
        violations = self.replicas.run(self.replicas.violations())
        self.replicas.check(not violations, lambda: f"the audit found {violations} after:\n{self._report()}")

    @invariant()
    def the_wallet_has_the_balances_of_the_model(self) -> None:
        if not self.ledgers:
            return
        shown = self.replicas.run(self._read_wallet())
        possible = [ledger for ledger in self.ledgers if _balances(ledger) == shown]
        self.replicas.check(possible, lambda: f"the wallet has {shown} after:\n{self._report()}")
        self.ledgers = possible

    async def _read_wallet(self) -> dict[str, object]:
        client = self.replicas.replica.client
        requests = [wallet_pb2.GetBalanceRequest(account_id=account) for account in self.ledger.accounts]
        found = await asyncio.gather(*(client.wallet.GetBalance(r, metadata=client.operator) for r in requests))
        return {
            one.balance.account_id: (
                (one.balance.free_cents, one.balance.locked_cents, one.balance.version, one.blocked),
                {cave.table_id: cave.cave_cents for cave in one.caves},
            )
            for one in found
        }

    def teardown(self) -> None:
        if self.ledgers:
            self._audit()
            self.replicas.run(self._compare_rounds())

    async def _compare_rounds(self) -> None:
        client, ledger = self.replicas.replica.client, self.ledger
        for round_id, round_row in ledger.rounds.items():
            request = wallet_pb2.GetRoundRequest(round_id=round_id)
            shown = (await client.wallet.GetRound(request, metadata=client.operator)).round
            state = types_pb2.RoundState.Name(shown.state).removeprefix("ROUND_STATE_")
            left = {
                stake.stake_id: stake.placed_cents - stake.cancelled_cents
                for stake in shown.stakes
                if stake.state == types_pb2.STAKE_STATE_OPEN
            }
            expected = {stake: bet.open_cents for stake, bet in ledger.open_stakes(round_id).items()}
            paid = {
                stake.stake_id: (stake.account_id, stake.placed_cents - stake.cancelled_cents, stake.payout_cents)
                for stake in shown.stakes
                if stake.state == types_pb2.STAKE_STATE_PAID
            }
            self.replicas.check(
                (state, left, paid) == (round_row.state, expected, ledger.paid_stakes(round_id)),
                lambda: f"round {round_id} is {state} with {left} in play and {paid} paid",  # noqa: B023
            )

    # -- random commands ----------------------------------------------------------------------------------------------

    def _request_id(self) -> str:
        return f"{self.name}-{next(self._numbers)}"

    def _command(self, dice: Random) -> Command:
        kinds: dict[str, tuple[int, Callable[[Random], Command]]] = {
            "stake": (6, self._stake),
            "cancel": (3, self._cancel),
            "pay": (3, self._pay),
            "settle": (3, self._settle),
            "void": (2, self._void),
            "buy in": (2, self._buy_in),
            "cash out": (2, self._cash_out),
            "hand": (3, self._hand),
            "cash": (2, self._cash),
            "block": (1, self._block),
            "start": (2, self._start),
            "end": (2, self._end),
            "repeat": (3, self._repeat),
            "reuse": (2, self._reuse),
        }
        weighted = [kind for kind, (weight, _) in kinds.items() for _ in range(weight)]
        return kinds[dice.choice(weighted)][1](dice)

    def _table(self, dice: Random, *, poker: bool) -> tuple[str, int]:
        """Returns a table, nearly always of the right kind, and an epoch, nearly always the owner's."""
        right = [table for table, table_row in self.ledger.tables.items() if table_row.poker == poker]
        table = dice.choice(right * 5 + list(self.ledger.tables))
        return table, self._epoch(dice, table)

    def _epoch(self, dice: Random, table: str) -> int:
        step = dice.choice([0] * 12 + [-1, 1])
        return max(1, self.ledger.tables[table].epoch + step)

    def _round(self, dice: Random, table: str) -> str:
        """Returns an open round of the table, its next one, an ended one, or another table's."""
        rounds = self.ledger.rounds
        of_table = [round_id for round_id, round_row in rounds.items() if round_row.table == table]
        opened = [round_id for round_id in of_table if rounds[round_id].state == OPEN]
        elsewhere = [round_id for round_id, round_row in rounds.items() if round_row.table != table]
        # Concurrent callers mean the same next round.
        fresh = [f"{table}-round-{len(of_table)}"]
        return str(dice.choice(opened * 4 + fresh * 2 + of_table[-1:] + elsewhere[-1:]))

    def _seat(self, dice: Random, table: str) -> tuple[str, str]:
        """Returns an account and a session: mostly its running one at the table, otherwise any."""
        at_table = [
            (session_row.account, session)
            for session, session_row in self.ledger.sessions.items()
            if session_row.table == table and self.ledger.running(session_row.account, table) == session
        ]
        anybody = dice.choice(list(self.ledger.accounts)), dice.choice(list(self.ledger.sessions))
        return dice.choice(at_table * 6 + [anybody])

    def _cents(self, dice: Random, held: int) -> int:
        """Returns an amount mostly within what is held, so that a few of them together are not."""
        return dice.randint(1, max(1, held)) if dice.randint(0, 9) else held + 1

    def _stake(self, dice: Random) -> PlaceStake:
        table, epoch = self._table(dice, poker=False)
        account, session = self._seat(dice, table)
        cents = self._cents(dice, self.ledger.accounts[account].free)
        return PlaceStake(self._request_id(), table, epoch, self._round(dice, table), account, session, cents)

    def _orders(self, dice: Random) -> list[PlaceStake]:
        first = self._stake(dice)
        orders = [first]
        for _ in range(dice.randint(1, 3)):
            account, session = self._seat(dice, first.table)
            cents = self._cents(dice, self.ledger.accounts[account].free)
            orders.append(replace(first, request_id=self._request_id(), account=account, session=session, cents=cents))
        return orders

    def _cancel(self, dice: Random) -> Command:
        placed = list(self.ledger.stakes.items())
        if not placed:
            return self._stake(dice)
        in_play = [stake for stake in placed if stake[1].open_cents]
        stake, bet = dice.choice(in_play * 5 + placed[-2:])
        table = self.ledger.rounds[bet.round_id].table
        epoch = self._epoch(dice, table)
        round_id = bet.round_id if dice.randint(0, 9) else self._round(dice, table)
        # Other stakes, too: of the same player, or now and then of another one, which refuses all.
        others = [
            (other, each)
            for other, each in in_play
            if other != stake
            and each.round_id == bet.round_id
            and (each.account == bet.account or not dice.randint(0, 9))
        ]
        chosen = [(stake, bet), *dice.sample(others, dice.randint(0, min(2, len(others))))]
        parts = tuple((each, dice.choice([0, self._cents(dice, one.open_cents)])) for each, one in chosen)
        return CancelStakes(self._request_id(), table, epoch, round_id, bet.account, parts)

    def _pay(self, dice: Random) -> PayStakes:
        """Pays some open stakes of a round, now and then with one that is not open there, or none at all."""
        table, epoch = self._table(dice, poker=False)
        round_id = self._round(dice, table)
        bets = self.ledger.open_stakes(round_id)
        chosen = dice.sample(list(bets), dice.randint(min(1, len(bets)), len(bets)))
        if dice.randint(0, 9) == 0:
            others = [stake for stake in self.ledger.stakes if stake not in chosen]
            chosen.append(dice.choice([*others[-3:], "no-such-stake"]))
        payouts = tuple((stake, dice.choice([0, 1, 50, 2_000])) for stake in chosen)
        return PayStakes(self._request_id(), table, epoch, round_id, payouts)

    def _settle(self, dice: Random) -> SettleRound:
        table, epoch = self._table(dice, poker=False)
        round_id = self._round(dice, table)
        bets = self.ledger.open_stakes(round_id)
        payouts = [(stake, bet.open_cents * dice.choice([0, 0, 1, 2, 36])) for stake, bet in bets.items()]
        mistake = dice.choice([None] * 8 + ["missing", "unexpected"])
        if mistake == "missing":
            payouts = payouts[1:]
        elif mistake == "unexpected":
            payouts.append(("no-such-stake", 5))
        return SettleRound(self._request_id(), table, epoch, round_id, tuple(payouts))

    def _void(self, dice: Random) -> VoidRound:
        table, epoch = self._table(dice, poker=dice.randint(0, 3) == 0)
        return VoidRound(self._request_id(), table, epoch, self._round(dice, table))

    def _buy_in(self, dice: Random) -> BuyIn:
        table, epoch = self._table(dice, poker=True)
        account, session = self._seat(dice, table)
        cents = self._cents(dice, self.ledger.accounts[account].free)
        return BuyIn(self._request_id(), table, epoch, account, session, cents, dice.randint(0, 3))

    def _cash_out(self, dice: Random) -> CashOut:
        table, epoch = self._table(dice, poker=True)
        account, session = self._seat(dice, table)
        held = self.ledger.caves.get((account, table), 0)
        cents = dice.choice([0, self._cents(dice, held)])
        return CashOut(self._request_id(), table, epoch, account, session, cents)

    def _hand(self, dice: Random) -> TransferHand:
        table, epoch = self._table(dice, poker=True)
        seats: dict[str, SeatResult] = {}
        for _ in range(dice.randint(1, 3)):
            account, session = self._seat(dice, table)
            held = self.ledger.caves.get((account, table), 0)
            # Sometimes more than the cave holds, sometimes nothing.
            seats[account] = SeatResult(account, session, dice.randint(0, held + dice.randint(0, 1)), 0)
        pot = sum(seat.staked for seat in seats.values())
        commission = dice.randint(0, min(pot, 5))
        winner = dice.choice(list(seats))
        shared = dice.randint(0, pot - commission) if len(seats) > 1 else 0
        other = next((account for account in seats if account != winner), winner)
        seats[winner] = replace(seats[winner], won=pot - commission - shared)
        seats[other] = replace(seats[other], won=seats[other].won + shared)
        balanced = dice.randint(0, 9) > 0
        round_id = self._round(dice, table)
        taken = commission if balanced else commission + 1
        return TransferHand(self._request_id(), table, epoch, round_id, tuple(seats.values()), taken)

    def _cash(self, dice: Random) -> Command:
        account = dice.choice(list(self.ledger.accounts))
        cents = self._cents(dice, self.ledger.accounts[account].free)
        kind = dice.choice([Deposit, Withdraw])
        command: Command = kind(self._request_id(), account, cents)
        return command

    def _block(self, dice: Random) -> Command:
        """Blocks an account, or unblocks the blocked one: if all were blocked nothing would be tested."""
        blocked = [account for account, account_row in self.ledger.accounts.items() if account_row.blocked]
        if blocked:
            return SetBlocked(dice.choice(blocked), blocked=False)
        return SetBlocked(dice.choice(list(self.ledger.accounts)), blocked=True)

    def _start(self, dice: Random) -> StartSession:
        account = dice.choice(list(self.ledger.accounts))
        table = dice.choice(list(self.ledger.tables))
        return StartSession(self._request_id(), account, table)

    def _end(self, dice: Random) -> EndSession:
        return EndSession(dice.choice(list(self.ledger.sessions)))

    def _repeat(self, dice: Random) -> Command:
        """Returns a command that was sent before, perhaps with the epoch of the table's next owner."""
        again = dice.choice(self.sent[-20:])
        if isinstance(again, TableCommand) and dice.randint(0, 3) == 0:
            return replace(again, epoch=self.ledger.tables[again.table].epoch)
        assert isinstance(again, Command)
        return again

    def _reuse(self, dice: Random) -> Command:
        """Returns a new command under a request id that was used before."""
        used = [command.request_id for command in self.sent[-20:] if isinstance(command, IdempotentCommand)]
        fresh = dice.choice([self._stake, self._cash, self._void, self._start])(dice)
        assert isinstance(fresh, IdempotentCommand)
        return replace(fresh, request_id=dice.choice(used))


def _balances(ledger: LedgerState) -> dict[str, object]:
    return {
        account: (
            (account_row.free, account_row.locked, account_row.version, account_row.blocked),
            {table: cents for (owner, table), cents in ledger.caves.items() if owner == account and cents},
        )
        for account, account_row in ledger.accounts.items()
    }


@contextmanager
def _replica_pair(processes: list[WalletProcess], database_url: str) -> Iterator[ReplicaPair]:
    for process in processes:
        process.start()
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        engine = postgresql.connect(database_url, "test", connections=1)

        async def open_all() -> list[Replica]:
            for process in processes:
                await process.ready()
            return [await stack.enter_async_context(Replica.connect(process)) for process in processes]

        async def close_all() -> None:
            await stack.aclose()
            await engine.dispose()

        try:
            yield ReplicaPair(runner, runner.run(open_all()), Auditor(engine))
        finally:
            runner.run(close_all())


@pytest.mark.slow
@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G2")
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G8")
def test_the_wallet_and_the_model_agree(wallet_process: WalletProcess, wallet_database: WalletDatabase) -> None:
    other = WalletProcess(wallet_process.database_url, wallet_process.nats_url, wallet_process.home)
    try:
        with _replica_pair([wallet_process, other], wallet_database.url) as replicas:

            class Machine(LedgerMachine):
                pass

            Machine.replicas = replicas
            try:
                run_state_machine_as_test(Machine, settings=SETTINGS)
            finally:
                if replicas.failure:
                    pytest.fail(replicas.failure, pytrace=False)
    finally:
        other.kill()
