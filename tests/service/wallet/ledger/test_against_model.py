"""The real wallet, two replicas on a real PostgreSQL, driven at random by many callers at once, against a model."""

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
    CancelStake,
    CashOut,
    Command,
    Deposit,
    EndSession,
    IdempotentCommand,
    LedgerState,
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

# FELTRO_TEST_EFFORT=10 looks ten times as long.
EFFORT = int(os.environ.get("FELTRO_TEST_EFFORT", "1"))
EXAMPLES, STEPS, AT_ONCE = 30 * EFFORT, 14, 5

SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    # Callers at the same moment do not do the same twice: a smaller example need not fail.
    phases=[Phase.generate],
    database=None,
    suppress_health_check=list(HealthCheck),
)

ResultT = TypeVar("ResultT")


class Stand:
    """What all examples share: two replicas, an auditor, and the event loop they are spoken to in."""

    def __init__(self, runner: asyncio.Runner, replicas: list[Replica], auditor: Auditor) -> None:
        self._runner = runner
        self._turn = itertools.cycle(replicas)
        self._auditor = auditor
        self.names = itertools.count(1)
        self.bytes_told: dict[tuple[str, IdempotentCommand], bytes] = {}
        # The first thing that was wrong. Hypothesis runs an example that failed again, and callers at the same moment
        # need not fail twice: what it would report then is that the test is flaky.
        self.wrong = ""

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        return self._runner.run(work)

    def insist(self, holds: object, sentence: Callable[[], str]) -> None:
        """Fails the test unless it holds, once and for all."""
        if not holds:
            self.wrong = self.wrong or sentence()
            raise AssertionError(self.wrong)

    @property
    def replica(self) -> Replica:
        """Now this one, now the other."""
        return next(self._turn)

    async def send(self, commands: list[Command], together: list[PlaceStake]) -> list[AnsweredCommand]:
        """Everything at once; the orders of `together` in one call."""
        many = [self.replica.send_many(together)] if together else []
        alone = [self.replica.send(command) for command in commands]
        answers, *of_many = await asyncio.gather(asyncio.gather(*alone), *many)
        told: list[AnsweredCommand] = []
        for command, (answer, said) in zip([*commands, *together], itertools.chain(answers, *of_many), strict=True):
            self._remember(command, answer, said)
            told.append((command, answer))
        return told

    def _remember(self, command: Command, answer: Answer, said: bytes) -> None:
        if isinstance(command, IdempotentCommand) and answer.refused not in {
            "STALE_EPOCH",
            "REQUEST_REUSED",
            "INVALID",
        }:
            first = self.bytes_told.setdefault((command.request_id, command.content), said)
            self.insist(first == said, lambda: f"G3: {command} was not answered with the bytes of the first time")

    async def violations(self) -> list[str]:
        found: list[str] = []
        await self._auditor.run(lambda check, sentence: found.append(f"{check.name}: {sentence}"))
        return found


@dataclass(frozen=True)
class Place:
    """A table of this example."""

    table: str
    mode: types_pb2.Mode.ValueType
    play: types_pb2.Play.ValueType


class LedgerMachine(RuleBasedStateMachine):
    """Each step sends a few commands at once, and looks for an order of them that explains all answers."""

    stand: Stand

    def __init__(self) -> None:
        super().__init__()
        # All worlds that the answers so far leave possible: nearly always one.
        self.worlds: list[LedgerState] = []
        self.sent: list[Command] = []
        self.history: list[list[AnsweredCommand]] = []
        self.name = f"x{next(self.stand.names)}"
        self._numbers = itertools.count(1)

    @property
    def world(self) -> LedgerState:
        return self.worlds[0]

    @initialize()
    def open_the_house(self) -> None:
        places = [
            Place(f"{self.name}-roulette", REAL, types_pb2.PLAY_MULTI_PLAYER),
            Place(f"{self.name}-baccarat", REAL, types_pb2.PLAY_INDIVIDUAL),
            Place(f"{self.name}-practice", DEMO, types_pb2.PLAY_MULTI_PLAYER),
            Place(f"{self.name}-poker", REAL, types_pb2.PLAY_POKER),
        ]
        self.worlds = [self.stand.run(self._furnish(places))]
        real = [account for account, purse in self.world.accounts.items() if not purse.demo]
        self._at_once([Deposit(self._request_id(), account, 1_000) for account in self.world.accounts], [])
        self._at_once(
            [
                StartSession(self._request_id(), account, place.table)
                for place in places
                for account in self.world.accounts
                if self.world.accounts[account].demo == (place.mode == DEMO)
            ],
            [],
        )
        poker = places[-1].table
        sessions = [(account, self.world.running(account, poker)) for account in real]
        self._at_once(
            [BuyIn(self._request_id(), poker, 1, account, session, 300, 3) for account, session in sessions if session],
            [],
        )

    async def _furnish(self, places: list[Place]) -> LedgerState:
        world = LedgerState()
        client = self.stand.replica.client
        for place in places:
            await client.open_table(place.table, mode=place.mode, play=place.play)
            world.tables[place.table] = Table(demo=place.mode == DEMO, poker=place.play == types_pb2.PLAY_POKER)
        for player, mode in (("ana", REAL), ("rui", REAL), ("eva", REAL), ("ana", DEMO)):
            name = f"{self.name}-{player}"
            world.accounts[await client.open_account(name, mode=mode)] = Account(name, demo=mode == DEMO)
        return world

    @rule(seed=st.integers(0, 2**64 - 1))
    def callers_at_once(self, seed: int) -> None:
        # One draw a step: what there is to choose from depends on who was faster, which Hypothesis could not bear.
        dice = Random(seed)
        commands = [self._command(dice) for _ in range(dice.randint(1, AT_ONCE))]
        together = self._orders(dice) if dice.randint(0, 4) == 0 else []
        if dice.randint(0, 3) == 0:
            # The same thing twice at the same moment: an impatient caller, or a retry that overtakes.
            commands.append(commands[0])
        self._at_once(commands, together)

    def _at_once(self, commands: list[Command], together: list[PlaceStake]) -> None:
        told = self.stand.run(self.stand.send(commands, together))
        self.history += [told]
        after = states_that_explain(self.worlds, told)
        self.stand.insist(after, lambda: f"no order of the last commands explains their answers:\n{self._story()}")
        self.worlds = after
        self.sent += [command for command, _ in told]

    def _story(self) -> str:
        """All that was asked and told, step by step, and the world before the last step."""
        steps = ["\n".join(f"  {command} -> {answer}" for command, answer in told) for told in self.history]
        return "\n--\n".join(steps) + f"\n== {self.world}"

    # -- what is always true ------------------------------------------------------------------------------------------

    @invariant()
    def the_audit_holds(self) -> None:
        violations = self.stand.run(self.stand.violations())
        self.stand.insist(not violations, lambda: f"the audit found {violations} after:\n{self._story()}")

    @invariant()
    def the_wallet_shows_what_the_model_has(self) -> None:
        if not self.worlds:
            return
        shown = self.stand.run(self._show())
        possible = [world for world in self.worlds if _shows(world) == shown]
        self.stand.insist(possible, lambda: f"the wallet shows {shown} after:\n{self._story()}")
        self.worlds = possible

    async def _show(self) -> dict[str, object]:
        client = self.stand.replica.client
        requests = [wallet_pb2.GetBalanceRequest(account_id=account) for account in self.world.accounts]
        found = await asyncio.gather(*(client.wallet.GetBalance(r, metadata=client.operator) for r in requests))
        return {
            one.balance.account_id: (
                (one.balance.free_cents, one.balance.locked_cents, one.balance.version, one.blocked),
                {cave.table_id: cave.cave_cents for cave in one.caves},
            )
            for one in found
        }

    def teardown(self) -> None:
        if self.worlds:
            self.stand.run(self._compare_rounds())

    async def _compare_rounds(self) -> None:
        client, world = self.stand.replica.client, self.world
        for round_id, game in world.rounds.items():
            request = wallet_pb2.GetRoundRequest(round_id=round_id)
            shown = (await client.wallet.GetRound(request, metadata=client.operator)).round
            state = types_pb2.RoundState.Name(shown.state).removeprefix("ROUND_STATE_")
            left = {
                stake.stake_id: stake.placed_cents - stake.cancelled_cents
                for stake in shown.stakes
                if stake.state == types_pb2.STAKE_STATE_OPEN
            }
            expected = {stake: bet.open_cents for stake, bet in world.open_stakes(round_id).items()}
            self.stand.insist(
                (state, left) == (game.state, expected),
                lambda: f"round {round_id} is {state} with {left} in play",  # noqa: B023
            )

    # -- what to ask next ---------------------------------------------------------------------------------------------

    def _request_id(self) -> str:
        return f"{self.name}-{next(self._numbers)}"

    def _command(self, dice: Random) -> Command:
        kinds: dict[str, tuple[int, Callable[[Random], Command]]] = {
            "stake": (6, self._stake),
            "cancel": (3, self._cancel),
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
        """A table, nearly always of the right kind, and an epoch: nearly always its owner's."""
        right = [table for table, felt in self.world.tables.items() if felt.poker == poker]
        table = dice.choice(right * 5 + list(self.world.tables))
        return table, self._epoch(dice, table)

    def _epoch(self, dice: Random, table: str) -> int:
        step = dice.choice([0] * 12 + [-1, 1])
        return max(1, self.world.tables[table].epoch + step)

    def _round(self, dice: Random, table: str) -> str:
        """An open round of the table, its next one, an ended one, or another table's."""
        games = self.world.rounds
        here = [round_id for round_id, game in games.items() if game.table == table]
        opened = [round_id for round_id in here if games[round_id].state == OPEN]
        elsewhere = [round_id for round_id, game in games.items() if game.table != table]
        # Callers at the same moment mean the same next round.
        fresh = [f"{table}-round-{len(here)}"]
        return str(dice.choice(opened * 4 + fresh * 2 + here[-1:] + elsewhere[-1:]))

    def _seat(self, dice: Random, table: str) -> tuple[str, str]:
        """An account and a session: mostly its running one at the table, else any."""
        at_table = [
            (sitting.account, session)
            for session, sitting in self.world.sessions.items()
            if sitting.table == table and self.world.running(sitting.account, table) == session
        ]
        anybody = dice.choice(list(self.world.accounts)), dice.choice(list(self.world.sessions))
        return dice.choice(at_table * 6 + [anybody])

    def _cents(self, dice: Random, held: int) -> int:
        """Mostly within what is held, so that a few of them together are not."""
        return dice.randint(1, max(1, held)) if dice.randint(0, 9) else held + 1

    def _stake(self, dice: Random) -> PlaceStake:
        table, epoch = self._table(dice, poker=False)
        account, session = self._seat(dice, table)
        cents = self._cents(dice, self.world.accounts[account].free)
        return PlaceStake(self._request_id(), table, epoch, self._round(dice, table), account, session, cents)

    def _orders(self, dice: Random) -> list[PlaceStake]:
        first = self._stake(dice)
        orders = [first]
        for _ in range(dice.randint(1, 3)):
            account, session = self._seat(dice, first.table)
            cents = self._cents(dice, self.world.accounts[account].free)
            orders.append(replace(first, request_id=self._request_id(), account=account, session=session, cents=cents))
        return orders

    def _cancel(self, dice: Random) -> Command:
        placed = list(self.world.stakes.items())
        if not placed:
            return self._stake(dice)
        in_play = [stake for stake in placed if stake[1].open_cents]
        stake, bet = dice.choice(in_play * 5 + placed[-2:])
        table = self.world.rounds[bet.round_id].table
        epoch = self._epoch(dice, table)
        round_id = bet.round_id if dice.randint(0, 9) else self._round(dice, table)
        cents = dice.choice([0, self._cents(dice, bet.open_cents)])
        return CancelStake(self._request_id(), table, epoch, round_id, stake, cents)

    def _settle(self, dice: Random) -> SettleRound:
        table, epoch = self._table(dice, poker=False)
        round_id = self._round(dice, table)
        bets = self.world.open_stakes(round_id)
        payouts = [(stake, bet.open_cents * dice.choice([0, 0, 1, 2, 36])) for stake, bet in bets.items()]
        wrong = dice.choice([None] * 8 + ["missing", "unexpected"])
        if wrong == "missing":
            payouts = payouts[1:]
        elif wrong == "unexpected":
            payouts.append(("no-such-stake", 5))
        return SettleRound(self._request_id(), table, epoch, round_id, tuple(payouts))

    def _void(self, dice: Random) -> VoidRound:
        table, epoch = self._table(dice, poker=dice.randint(0, 3) == 0)
        return VoidRound(self._request_id(), table, epoch, self._round(dice, table))

    def _buy_in(self, dice: Random) -> BuyIn:
        table, epoch = self._table(dice, poker=True)
        account, session = self._seat(dice, table)
        cents = self._cents(dice, self.world.accounts[account].free)
        return BuyIn(self._request_id(), table, epoch, account, session, cents, dice.randint(0, 3))

    def _cash_out(self, dice: Random) -> CashOut:
        table, epoch = self._table(dice, poker=True)
        account, session = self._seat(dice, table)
        held = self.world.caves.get((account, table), 0)
        cents = dice.choice([0, self._cents(dice, held)])
        return CashOut(self._request_id(), table, epoch, account, session, cents)

    def _hand(self, dice: Random) -> TransferHand:
        table, epoch = self._table(dice, poker=True)
        seats: dict[str, SeatResult] = {}
        for _ in range(dice.randint(1, 3)):
            account, session = self._seat(dice, table)
            held = self.world.caves.get((account, table), 0)
            # A cave above what it holds is tried now and then; a seat that put nothing in as well.
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
        account = dice.choice(list(self.world.accounts))
        cents = self._cents(dice, self.world.accounts[account].free)
        kind = dice.choice([Deposit, Withdraw])
        command: Command = kind(self._request_id(), account, cents)
        return command

    def _block(self, dice: Random) -> Command:
        """Blocks somebody, or lifts a block: a house of blocked players shows nothing."""
        blocked = [account for account, purse in self.world.accounts.items() if purse.blocked]
        if blocked:
            return SetBlocked(dice.choice(blocked), blocked=False)
        return SetBlocked(dice.choice(list(self.world.accounts)), blocked=True)

    def _start(self, dice: Random) -> StartSession:
        account = dice.choice(list(self.world.accounts))
        table = dice.choice(list(self.world.tables))
        return StartSession(self._request_id(), account, table)

    def _end(self, dice: Random) -> EndSession:
        return EndSession(dice.choice(list(self.world.sessions)))

    def _repeat(self, dice: Random) -> Command:
        """Something that was sent before, perhaps by the table's next owner."""
        again = dice.choice(self.sent[-20:])
        if isinstance(again, TableCommand) and dice.randint(0, 3) == 0:
            return replace(again, epoch=self.world.tables[again.table].epoch)
        assert isinstance(again, Command)
        return again

    def _reuse(self, dice: Random) -> Command:
        """Something new under a request id that was used before."""
        used = [command.request_id for command in self.sent[-20:] if isinstance(command, IdempotentCommand)]
        fresh = dice.choice([self._stake, self._cash, self._void, self._start])(dice)
        assert isinstance(fresh, IdempotentCommand)
        return replace(fresh, request_id=dice.choice(used))


def _shows(world: LedgerState) -> dict[str, object]:
    return {
        account: (
            (purse.free, purse.locked, purse.version, purse.blocked),
            {table: cents for (owner, table), cents in world.caves.items() if owner == account and cents},
        )
        for account, purse in world.accounts.items()
    }


@contextmanager
def _stand(processes: list[WalletProcess], database_url: str) -> Iterator[Stand]:
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
            yield Stand(runner, runner.run(open_all()), Auditor(engine))
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
        with _stand([wallet_process, other], wallet_database.url) as stand:

            class Machine(LedgerMachine):
                pass

            Machine.stand = stand
            try:
                run_state_machine_as_test(Machine, settings=SETTINGS)
            finally:
                if stand.wrong:
                    pytest.fail(stand.wrong, pytrace=False)
    finally:
        other.kill()
