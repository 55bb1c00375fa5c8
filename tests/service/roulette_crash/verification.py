"""When it is all over: what players were told, the journal, the ledger and the stream have to tell the same story."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import asyncpg
import nats
from nats.js.api import AckPolicy, ConsumerConfig

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2
from services.kit.bus.subjects import EVENTS_STREAM
from services.kit.database import postgresql
from services.wallet.audit.auditor import Auditor
from tests.service.roulette_crash.bots import BetLog, BetRecord
from tests.service.roulette_crash.processes import Processes

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

SETTLED, VOID = 2, 3
CANCELLED, RETURNED = 2, 4
REAL, DEMO = 1, 2
PLAYER, BANK = 1, 3
READ_WITHIN_S = 60.0


@dataclass(frozen=True)
class Ended:
    """How the journal says that a round ended."""

    ending: int
    outcome: str
    """The number; empty for none."""
    taken_over: bool
    """Ended by a later owner than the one that had opened it."""


@dataclass
class Totals:
    """Of the whole story, what fits into a line."""

    settled: int = 0
    void: int = 0
    settled_by_another_owner: int = 0
    stakes: int = 0
    stakes_of_disconnected: int = 0
    """Stakes that counted although their players had gone before they could hear it."""
    events: int = 0

    def __str__(self) -> str:
        return (
            f"{self.settled} rounds settled ({self.settled_by_another_owner} by another owner), {self.void} void,"
            f" {self.stakes} stakes acknowledged, {self.stakes_of_disconnected} of absent players, {self.events} events"
        )


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        yield connection
    finally:
        await connection.close()


async def verify(processes: Processes, bet_log: BetLog, starting_cents: Mapping[str, int]) -> Totals:
    """Fails with the first thing that does not agree. Nothing may be played any more, and all rounds are over.

    `purses` are the players of real money with what they brought along.
    """
    account = Totals()
    async with connected(processes.journal_url) as journal, connected(processes.ledger_url) as ledger:
        ended = await _rounds(journal, ledger, account)
        await _slips(journal, ledger, bet_log.bets, ended, account)
        await _balances(journal, ledger, bet_log.bets, starting_cents)
        await _modes(ledger, starting_cents)
    for round_id, spun in bet_log.spin_responses.items():
        _compare_spun(round_id, spun, ended[round_id])
    events = await read_stream(processes.bus_url)
    account.events = sum(map(len, events.values()))
    account.stakes = bet_log.acknowledged
    _stream(events, ended)
    await _audit(processes.ledger_url)
    await _replay(processes, account)
    return account


async def _rounds(journal: Connection, ledger: Connection, account: Totals) -> dict[str, Ended]:
    """Every round has ended, once, and equally here and there (G4); drawn is settled, not drawn is void (G6)."""
    rows = await journal.fetch(
        "SELECT rounds.round_id, endings.ending, draws.outcome, endings.epoch > rounds.epoch AS taken_over"
        " FROM rounds LEFT JOIN endings USING (round_no) LEFT JOIN draws USING (round_no)"
    )
    assert not [row["round_id"] for row in rows if row["ending"] is None], "rounds without an end"
    assert await journal.fetchval("SELECT count(*) FROM open_rounds") == 0
    kept = await ledger.fetch("SELECT round_id, state FROM rounds")
    assert {row["round_id"]: row["state"] for row in kept} == {row["round_id"]: row["ending"] for row in rows}
    ended: dict[str, Ended] = {}
    for row in rows:
        outcome = "" if row["outcome"] is None else roulette_pb2.Outcome.FromString(row["outcome"]).number
        assert (row["ending"] == SETTLED) == bool(outcome), dict(row)
        ended[row["round_id"]] = Ended(row["ending"], outcome, row["taken_over"])
        account.settled += row["ending"] == SETTLED
        account.void += row["ending"] == VOID
        account.settled_by_another_owner += row["ending"] == SETTLED and row["taken_over"]
    return ended


async def _slips(
    journal: Connection, ledger: Connection, slips: Sequence[BetRecord], ended: Mapping[str, Ended], account: Totals
) -> None:
    """Every bet that was acknowledged counted once; none that was refused did (G3, G5)."""
    rows = await ledger.fetch("SELECT stake_id, state, placed_cents, cancelled_cents FROM stakes")
    in_ledger = {row["stake_id"]: row for row in rows}
    assert len(in_ledger) == len(rows)
    acknowledged = [slip for slip in slips if slip.stake_id]
    assert max(Counter(slip.stake_id for slip in acknowledged).values(), default=1) == 1
    for slip in acknowledged:
        stake, ending = in_ledger[slip.stake_id], ended[slip.round_id].ending
        assert stake["placed_cents"] == slip.cents, slip
        if slip.cancelled is None:
            assert stake["state"] in {CANCELLED, 3 if ending == SETTLED else RETURNED}, slip
        elif slip.cancelled:
            assert stake["state"] == CANCELLED, slip
        else:
            assert stake["state"] == (3 if ending == SETTLED else RETURNED), slip
    counted = await journal.fetch(
        "SELECT stakes.player_id, stakes.request_id, stakes.stake_id FROM stakes JOIN endings USING (round_no)"
        " WHERE endings.ending = 2"
    )
    told = {(slip.player_id, slip.request_id): slip.stake_id for slip in acknowledged}
    lost = {(slip.player_id, slip.request_id) for slip in slips if slip.disconnected}
    for row in counted:
        said = (row["player_id"], row["request_id"])
        if said in lost:
            account.stakes_of_disconnected += 1
        else:
            assert told.get(said) == row["stake_id"], f"{row} counts, and its player was told something else"
    assert len(counted) == len({(row["player_id"], row["request_id"]) for row in counted})


async def _balances(
    journal: Connection, ledger: Connection, slips: Sequence[BetRecord], purses: Mapping[str, int]
) -> None:
    """Everybody has what he brought, less what he staked, and what the journal says that he won (G1, G9)."""
    rows = await journal.fetch(
        "SELECT stakes.player_id, stakes.request_id, payouts.payout_cents FROM payouts"
        " JOIN endings USING (round_no) JOIN stakes USING (stake_id) WHERE endings.ending = 2"
    )
    paid = {(row["player_id"], row["request_id"]): row["payout_cents"] for row in rows}
    expected = dict(purses)
    for slip in slips:
        said = (slip.player_id, slip.request_id)
        if slip.player_id in expected and said in paid:
            expected[slip.player_id] += paid[said] - slip.cents
    accounts = await ledger.fetch(
        "SELECT player_id, free_cents, locked_cents FROM accounts WHERE kind = $1 AND mode = $2", PLAYER, REAL
    )
    assert {row["player_id"]: row["free_cents"] for row in accounts} == expected
    assert not [row["player_id"] for row in accounts if row["locked_cents"]], "money is still on a table"


async def _modes(ledger: Connection, purses: Mapping[str, int]) -> None:
    """Real money stays in the house, and credits of the demonstration among themselves."""
    held = await ledger.fetchval(
        "SELECT sum(free_cents + locked_cents) FROM accounts WHERE mode = $1 AND kind IN ($2, $3)", REAL, PLAYER, BANK
    )
    assert held == sum(purses.values())
    mixed = await ledger.fetchval(
        "SELECT count(*) FROM entries JOIN transfers USING (transfer_no) JOIN accounts USING (account_no)"
        " WHERE transfers.mode <> accounts.mode"
    )
    astray = await ledger.fetchval(
        "SELECT count(*) FROM stakes JOIN accounts USING (account_no) JOIN rounds USING (round_no)"
        " JOIN tables ON tables.table_no = rounds.table_no WHERE tables.mode <> accounts.mode"
    )
    assert (mixed, astray) == (0, 0)
    for mode in (REAL, DEMO):
        assert await ledger.fetchval("SELECT count(*) FROM transfers WHERE mode = $1 AND round_no IS NOT NULL", mode)


def _compare_spun(round_id: str, spun: roulette_pb2.SpinResponse, ended: Ended) -> None:
    """What a player has seen is what stands (G6)."""
    assert spun.round_id == round_id
    assert spun.outcome.number == ended.outcome, (round_id, spun, ended)
    assert bool(spun.void_reason) == (ended.ending == VOID), (round_id, spun, ended)


# -- the stream --------------------------------------------------------------------------------------------------------


async def read_stream(url: str) -> dict[str, list[events_pb2.TableEvent]]:
    """All that the stream has kept, by table, in its order."""
    events: defaultdict[str, list[events_pb2.TableEvent]] = defaultdict(list)
    bus = await nats.connect(url)
    try:
        jetstream = bus.jetstream(timeout=READ_WITHIN_S)
        left = (await jetstream.stream_info(EVENTS_STREAM)).state.messages
        # Without acknowledgements: of those, only a thousand may be owed.
        reader = await jetstream.pull_subscribe(
            "", stream=EVENTS_STREAM, config=ConsumerConfig(ack_policy=AckPolicy.NONE)
        )
        async with asyncio.timeout(READ_WITHIN_S):
            while left > 0:
                for message in await reader.fetch(min(left, 500), timeout=READ_WITHIN_S):
                    left -= 1
                    for event in events_pb2.TableEvents.FromString(message.data).events:
                        events[event.table_id].append(event)
    finally:
        await bus.close()
    return dict(events)


@dataclass
class _Told:
    """What the stream tells of a round."""

    outcomes: list[str] = field(default_factory=list)
    endings: list[int] = field(default_factory=list)


def _stream(events: Mapping[str, Sequence[events_pb2.TableEvent]], ended: Mapping[str, Ended]) -> None:
    """Numbered without a gap, over every change of owner; nothing is said that the journal does not have (G5)."""
    for table_id, told in events.items():
        numbers = [event.seq for event in told]
        gaps = [(before, after) for before, after in itertools.pairwise(numbers) if after != before + 1]
        assert not gaps, f"{table_id}: {gaps}"
    for round_id, told_of in _told(event for table in events.values() for event in table).items():
        # Whoever takes a table over cannot know whether the outcome was heard, and says it again.
        assert set(told_of.outcomes) <= {ended[round_id].outcome} - {""}, (round_id, told_of, ended[round_id])
        assert told_of.endings in ([], [ended[round_id].ending]), (round_id, told_of, ended[round_id])


def _told(events: Iterable[events_pb2.TableEvent]) -> dict[str, _Told]:
    told: defaultdict[str, _Told] = defaultdict(_Told)
    for event in events:
        if event.HasField("outcome_drawn"):
            outcome = roulette_pb2.Outcome()
            assert event.outcome_drawn.outcome.Unpack(outcome)
            told[event.outcome_drawn.round_id].outcomes.append(outcome.number)
        elif event.HasField("round_settled"):
            told[event.round_settled.round_id].endings.append(SETTLED)
        elif event.HasField("round_void"):
            told[event.round_void.round_id].endings.append(VOID)
    return told


# -- by the platform's own means ---------------------------------------------------------------------------------------


async def _audit(url: str) -> None:
    engine = postgresql.connect(url, "test", connections=1)
    violations: list[str] = []
    await Auditor(engine).run(lambda check, sentence: violations.append(f"{check.name}: {sentence}"))
    await engine.dispose()
    assert violations == []


async def _replay(machines: Processes, account: Totals) -> None:
    """`feltro replay --all`, while no roulette is running."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.kit.command",
        "replay",
        "--all",
        env={**os.environ, **machines.replicas[0].variables(), "FELTRO_ROULETTE_DATABASE_URL": machines.journal_url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complained = (words.decode() for words in await process.communicate())
    assert process.returncode == 0, said + complained
    summary = f"{account.settled + account.void} rounds replayed: {account.settled} settled, {account.void} void"
    assert summary in said, said
