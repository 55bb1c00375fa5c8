"""The real wallet, two replicas on a real PostgreSQL, driven at random by many callers at once, against a model."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit import database
from services.wallet.audit import Auditor
from tests.service.wallet.ledger_model import (
    OPEN,
    Answer,
    AtTable,
    BuyIn,
    CancelStake,
    CashOut,
    Command,
    Deposit,
    EndSession,
    Felt,
    InHand,
    Kept,
    PlaceStake,
    Purse,
    SetBlocked,
    SettleRound,
    StartSession,
    Told,
    TransferHand,
    VoidRound,
    Withdraw,
    World,
    explain,
)
from tests.service.wallet.model_over_grpc import Replica
from tests.wallet_under_test import DEMO, REAL, WalletProcess

if TYPE_CHECKING:
    from tests.conftest import WalletDatabase

    Draw = Callable[[st.SearchStrategy[Any]], Any]

# FELTRO_TEST_EFFORT=10 looks ten times as long.
EFFORT = int(os.environ.get("FELTRO_TEST_EFFORT", "1"))
EXAMPLES, STEPS, AT_ONCE = 12 * EFFORT, 14, 5

ResultT = TypeVar("ResultT")


class Stand:
    """What all examples share: two replicas, an auditor, and the event loop they are spoken to in."""

    def __init__(self, runner: asyncio.Runner, replicas: list[Replica], auditor: Auditor) -> None:
        self._runner = runner
        self._turn = itertools.cycle(replicas)
        self._auditor = auditor
        self.names = itertools.count(1)
        self.bytes_told: dict[tuple[str, Kept], bytes] = {}

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        return self._runner.run(work)

    @property
    def replica(self) -> Replica:
        """Now this one, now the other."""
        return next(self._turn)

    async def send(self, commands: list[Command], together: list[PlaceStake]) -> list[Told]:
        """Everything at once; the orders of `together` in one call."""
        many = [self.replica.send_many(together)] if together else []
        alone = [self.replica.send(command) for command in commands]
        answers, *of_many = await asyncio.gather(asyncio.gather(*alone), *many)
        told: list[Told] = []
        for command, (answer, said) in zip([*commands, *together], itertools.chain(answers, *of_many), strict=True):
            self._remember(command, answer, said)
            told.append((command, answer))
        return told

    def _remember(self, command: Command, answer: Answer, said: bytes) -> None:
        if isinstance(command, Kept) and answer.refused not in {"STALE_EPOCH", "REQUEST_REUSED", "INVALID"}:
            first = self.bytes_told.setdefault((command.request_id, command.content), said)
            assert first == said, f"G3: {command} was answered with other bytes than the first time"

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
        self.worlds: list[World] = []
        self.sent: list[Command] = []
        self.name = f"x{next(self.stand.names)}"
        self._numbers = itertools.count(1)

    @property
    def world(self) -> World:
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
        real = [account for account, purse in self.world.purses.items() if not purse.demo]
        self._at_once([Deposit(self._request_id(), account, 1_000) for account in self.world.purses], [])
        self._at_once(
            [
                StartSession(self._request_id(), account, place.table)
                for place in places
                for account in self.world.purses
                if self.world.purses[account].demo == (place.mode == DEMO)
            ],
            [],
        )
        poker = places[-1].table
        sessions = [(account, self.world.running(account, poker)) for account in real]
        self._at_once(
            [BuyIn(self._request_id(), poker, 1, account, session, 300, 3) for account, session in sessions if session],
            [],
        )

    async def _furnish(self, places: list[Place]) -> World:
        world = World()
        client = self.stand.replica.client
        for place in places:
            await client.open_table(place.table, mode=place.mode, play=place.play)
            world.felts[place.table] = Felt(demo=place.mode == DEMO, poker=place.play == types_pb2.PLAY_POKER)
        for player, mode in (("ana", REAL), ("rui", REAL), ("eva", REAL), ("ana", DEMO)):
            name = f"{self.name}-{player}"
            world.purses[await client.open_account(name, mode=mode)] = Purse(name, demo=mode == DEMO)
        return world

    @rule(data=st.data())
    def callers_at_once(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(1, AT_ONCE), "commands")
        commands = [self._command(data.draw) for _ in range(count)]
        together = self._orders(data.draw) if data.draw(st.integers(0, 4)) == 0 else []
        if data.draw(st.integers(0, 3)) == 0:
            # The same thing twice at the same moment: an impatient caller, or a retry that overtakes.
            commands.append(commands[0])
        self._at_once(commands, together)

    def _at_once(self, commands: list[Command], together: list[PlaceStake]) -> None:
        told = self.stand.run(self.stand.send(commands, together))
        for command, answer in told:
            note(f"{command} -> {answer.refused or 'done'} {dict(answer.facts)}")
        after = explain(self.worlds, told)
        assert after, "no order of these commands explains their answers:\n" + "\n".join(map(str, told))
        self.worlds = after
        self.sent += [command for command, _ in told]

    # -- what is always true ------------------------------------------------------------------------------------------

    @invariant()
    def the_audit_holds(self) -> None:
        assert self.stand.run(self.stand.violations()) == []

    @invariant()
    def the_wallet_shows_what_the_model_has(self) -> None:
        shown = self.stand.run(self._show()) if self.worlds else {}
        self.worlds = [world for world in self.worlds if _shows(world) == shown]
        assert self.worlds or not shown, f"the wallet shows {shown}"

    async def _show(self) -> dict[str, object]:
        client = self.stand.replica.client
        requests = [wallet_pb2.GetBalanceRequest(account_id=account) for account in self.world.purses]
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
        for round_id, game in world.games.items():
            request = wallet_pb2.GetRoundRequest(round_id=round_id)
            shown = (await client.wallet.GetRound(request, metadata=client.operator)).round
            assert types_pb2.RoundState.Name(shown.state) == f"ROUND_STATE_{game.state}"
            left = {
                stake.stake_id: stake.placed_cents - stake.cancelled_cents
                for stake in shown.stakes
                if stake.state == types_pb2.STAKE_STATE_OPEN
            }
            assert left == {stake: bet.open_cents for stake, bet in world.open_bets(round_id).items()}

    # -- drawing commands ---------------------------------------------------------------------------------------------

    def _request_id(self) -> str:
        return f"{self.name}-{next(self._numbers)}"

    def _command(self, draw: Draw) -> Command:
        kinds: dict[str, tuple[int, Callable[[Draw], Command]]] = {
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
            "end": (1, self._end),
            "repeat": (3, self._repeat),
            "reuse": (2, self._reuse),
        }
        weighted = [kind for kind, (weight, _) in kinds.items() for _ in range(weight)]
        return kinds[draw(st.sampled_from(weighted))][1](draw)

    def _table(self, draw: Draw, *, poker: bool) -> tuple[str, int]:
        """A table, nearly always of the right kind, and the epoch of its owner, a past one or the next one."""
        right = [table for table, felt in self.world.felts.items() if felt.poker == poker]
        table = draw(st.sampled_from(right * 5 + list(self.world.felts)))
        step = draw(st.sampled_from([0] * 12 + [-1, 1]))
        return table, max(1, self.world.felts[table].epoch + step)

    def _round(self, draw: Draw, table: str) -> str:
        """An open round of the table, its next one, an ended one, or another table's."""
        games = self.world.games
        here = [round_id for round_id, game in games.items() if game.table == table]
        opened = [round_id for round_id in here if games[round_id].state == OPEN]
        elsewhere = [round_id for round_id, game in games.items() if game.table != table]
        # Callers at the same moment mean the same next round.
        fresh = [f"{table}-round-{len(here)}"]
        return str(draw(st.sampled_from(opened * 4 + fresh * 2 + here[-1:] + elsewhere[-1:])))

    def _seat(self, draw: Draw, table: str) -> tuple[str, str]:
        """An account and a session: mostly its running one at the table, else any."""
        at_table = [
            (sitting.account, session)
            for session, sitting in self.world.sittings.items()
            if sitting.table == table and self.world.running(sitting.account, table) == session
        ]
        anybody = (
            draw(st.sampled_from(list(self.world.purses))),
            draw(st.sampled_from(list(self.world.sittings))),
        )
        seat: tuple[str, str] = draw(st.sampled_from(at_table * 6 + [anybody]))
        return seat

    def _cents(self, draw: Draw, held: int) -> int:
        """Mostly within what is held, so that a few of them together are not."""
        return int(draw(st.integers(1, max(1, held)) if draw(st.integers(0, 9)) else st.just(held + 1)))

    def _stake(self, draw: Draw) -> PlaceStake:
        table, epoch = self._table(draw, poker=False)
        account, session = self._seat(draw, table)
        cents = self._cents(draw, self.world.purses[account].free)
        return PlaceStake(self._request_id(), table, epoch, self._round(draw, table), account, session, cents)

    def _orders(self, draw: Draw) -> list[PlaceStake]:
        first = self._stake(draw)
        orders = [first]
        for _ in range(draw(st.integers(1, 3))):
            account, session = self._seat(draw, first.table)
            cents = self._cents(draw, self.world.purses[account].free)
            orders.append(replace(first, request_id=self._request_id(), account=account, session=session, cents=cents))
        return orders

    def _cancel(self, draw: Draw) -> Command:
        placed = list(self.world.bets.items())
        if not placed:
            return self._stake(draw)
        in_play = [stake for stake in placed if stake[1].open_cents]
        stake, bet = draw(st.sampled_from(in_play * 5 + placed[-2:]))
        table = self.world.games[bet.round_id].table
        _, epoch = self._table(draw, poker=False)
        round_id = bet.round_id if draw(st.integers(0, 9)) else self._round(draw, table)
        cents = draw(st.sampled_from([0, self._cents(draw, bet.open_cents)]))
        return CancelStake(self._request_id(), table, epoch, round_id, stake, cents)

    def _settle(self, draw: Draw) -> SettleRound:
        table, epoch = self._table(draw, poker=False)
        round_id = self._round(draw, table)
        bets = self.world.open_bets(round_id)
        payouts = [(stake, bet.open_cents * draw(st.sampled_from([0, 0, 1, 2, 36]))) for stake, bet in bets.items()]
        wrong = draw(st.sampled_from([None] * 8 + ["missing", "unexpected"]))
        if wrong == "missing":
            payouts = payouts[1:]
        elif wrong == "unexpected":
            payouts.append(("no-such-stake", 5))
        return SettleRound(self._request_id(), table, epoch, round_id, tuple(payouts))

    def _void(self, draw: Draw) -> VoidRound:
        table, epoch = self._table(draw, poker=draw(st.integers(0, 3)) == 0)
        return VoidRound(self._request_id(), table, epoch, self._round(draw, table))

    def _buy_in(self, draw: Draw) -> BuyIn:
        table, epoch = self._table(draw, poker=True)
        account, session = self._seat(draw, table)
        cents = self._cents(draw, self.world.purses[account].free)
        return BuyIn(self._request_id(), table, epoch, account, session, cents, draw(st.integers(0, 3)))

    def _cash_out(self, draw: Draw) -> CashOut:
        table, epoch = self._table(draw, poker=True)
        account, session = self._seat(draw, table)
        held = self.world.caves.get((account, table), 0)
        cents = draw(st.sampled_from([0, self._cents(draw, held)]))
        return CashOut(self._request_id(), table, epoch, account, session, cents)

    def _hand(self, draw: Draw) -> TransferHand:
        table, epoch = self._table(draw, poker=True)
        seats: dict[str, InHand] = {}
        for _ in range(draw(st.integers(1, 3))):
            account, session = self._seat(draw, table)
            held = self.world.caves.get((account, table), 0)
            # A cave above what it holds is tried now and then; a seat that put nothing in as well.
            seats[account] = InHand(account, session, draw(st.integers(0, held + draw(st.integers(0, 1)))), 0)
        pot = sum(seat.staked for seat in seats.values())
        commission = draw(st.integers(0, min(pot, 5)))
        winner = draw(st.sampled_from(list(seats)))
        shared = draw(st.integers(0, pot - commission)) if len(seats) > 1 else 0
        other = next((account for account in seats if account != winner), winner)
        seats[winner] = replace(seats[winner], won=pot - commission - shared)
        seats[other] = replace(seats[other], won=seats[other].won + shared)
        balanced = draw(st.integers(0, 9)) > 0
        round_id = self._round(draw, table)
        taken = commission if balanced else commission + 1
        return TransferHand(self._request_id(), table, epoch, round_id, tuple(seats.values()), taken)

    def _cash(self, draw: Draw) -> Command:
        account = draw(st.sampled_from(list(self.world.purses)))
        cents = self._cents(draw, self.world.purses[account].free)
        kind = draw(st.sampled_from([Deposit, Withdraw]))
        command: Command = kind(self._request_id(), account, cents)
        return command

    def _block(self, draw: Draw) -> Command:
        """Blocks somebody, or lifts a block: a house of blocked players shows nothing."""
        blocked = [account for account, purse in self.world.purses.items() if purse.blocked]
        if blocked:
            return SetBlocked(draw(st.sampled_from(blocked)), blocked=False)
        return SetBlocked(draw(st.sampled_from(list(self.world.purses))), blocked=True)

    def _start(self, draw: Draw) -> StartSession:
        account = draw(st.sampled_from(list(self.world.purses)))
        table = draw(st.sampled_from(list(self.world.felts)))
        return StartSession(self._request_id(), account, table)

    def _end(self, draw: Draw) -> EndSession:
        return EndSession(draw(st.sampled_from(list(self.world.sittings))))

    def _repeat(self, draw: Draw) -> Command:
        """Something that was sent before, perhaps by the table's next owner."""
        again = draw(st.sampled_from(self.sent[-20:]))
        if isinstance(again, AtTable) and draw(st.integers(0, 3)) == 0:
            return replace(again, epoch=self.world.felts[again.table].epoch)
        assert isinstance(again, Command)
        return again

    def _reuse(self, draw: Draw) -> Command:
        """Something new under a request id that was used before."""
        used = [command.request_id for command in self.sent[-20:] if isinstance(command, Kept)]
        fresh = draw(st.sampled_from([self._stake, self._cash, self._void, self._start]))(draw)
        assert isinstance(fresh, Kept)
        return replace(fresh, request_id=draw(st.sampled_from(used)))


def _shows(world: World) -> dict[str, object]:
    return {
        account: (
            (purse.free, purse.locked, purse.version, purse.blocked),
            {table: cents for (owner, table), cents in world.caves.items() if owner == account and cents},
        )
        for account, purse in world.purses.items()
    }


@contextmanager
def _stand(processes: list[WalletProcess], database_url: str) -> Iterator[Stand]:
    for process in processes:
        process.start()
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        engine = database.connect(database_url, "test", connections=1)

        async def open_all() -> list[Replica]:
            for process in processes:
                await process.ready()
            return [await stack.enter_async_context(Replica.of(process)) for process in processes]

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
            run_state_machine_as_test(
                Machine,
                settings=settings(
                    max_examples=EXAMPLES,
                    stateful_step_count=STEPS,
                    deadline=None,
                    # What callers at the same moment do differs from run to run: a smaller example need not fail.
                    phases=[Phase.generate],
                    database=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
    finally:
        other.kill()
