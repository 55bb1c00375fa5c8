"""Compares what players were answered, the journal, the ledger and the stream after a run: all have to agree."""

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

from feltro.table.v1 import events_pb2
from services.kit.bus.subjects import EVENTS_STREAM
from services.kit.table.banked.commands import BetCommand
from tests.processes import ledger_audit
from tests.processes.databases import connect_asyncpg
from tests.service.roulette_crash.bots import BetLog, BetRecord, DecisionRecord
from tests.service.roulette_crash.games import Launched
from tests.service.roulette_crash.processes import Processes

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

SETTLED, VOID = 2, 3
CANCELLED, RETURNED = 2, 4
# At the end, or before it: what is decided for good while others decide is paid at once.
PAID = {3, 5}
BY_PLAYER = 1
REAL, DEMO = 1, 2
PLAYER, BANK = 1, 3
READ_WITHIN_S = 240.0


@dataclass(frozen=True)
class Ended:
    """The end of a round, from the journal."""

    ending: int
    outcome: str
    """As the journal has it, in hexadecimal digits; empty without one."""
    taken_over: bool
    """Ended by a later owner than the owner that opened it."""


@dataclass
class Totals:
    """The counts of a whole run."""

    settled: int = 0
    void: int = 0
    settled_by_another_owner: int = 0
    stakes: int = 0
    stakes_of_disconnected: int = 0
    """Stakes of settled rounds whose players never got the answer."""
    decisions: int = 0
    """Made by players; the clock made others."""
    decided_by_another_owner: int = 0
    """Made by anybody, in rounds that another owner had dealt."""
    events: int = 0

    def __str__(self) -> str:
        return (
            f"{self.settled} rounds settled ({self.settled_by_another_owner} by another owner), {self.void} void,"
            f" {self.stakes} answers, {self.stakes_of_disconnected} stakes without an answer,"
            f" {self.decisions} decisions of players, {self.decided_by_another_owner} after another owner's deal,"
            f" {self.events} events"
        )


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    connection = await connect_asyncpg(url)
    try:
        yield connection
    finally:
        await connection.close()


async def verify(processes: Processes, bet_log: BetLog, starting_cents: Mapping[str, int]) -> Totals:
    """Fails with the first difference. All rounds have to be over.

    `starting_cents`: the money of each player of real money at the beginning.
    """
    totals = Totals()
    async with connected(processes.journal_url) as journal, connected(processes.ledger_url) as ledger:
        ended = await _rounds(journal, ledger, totals)
        await _stakes(journal, ledger, bet_log.bets, ended, totals)
        await _decisions(journal, bet_log.decisions, totals)
        await _balances(journal, ledger, bet_log.bets, starting_cents)
        await _modes(ledger, starting_cents)
        await _bets(journal, processes)
    for round_id, launched in bet_log.launched.items():
        _compare_launched(round_id, launched, ended[round_id])
    events = await read_stream(processes.bus_url)
    totals.events = sum(map(len, events.values()))
    totals.stakes = bet_log.acknowledged
    verify_stream(events, ended)
    assert await ledger_audit.violations_at(processes.ledger_url) == []
    await _replay(processes, totals)
    return totals


async def _rounds(journal: Connection, ledger: Connection, totals: Totals) -> dict[str, Ended]:
    """Every round has ended once, the same in both databases (G4); it is settled if it was drawn, else void (G6)."""
    rows = await journal.fetch(
        "SELECT rounds.round_id, endings.ending, COALESCE(endings.outcome, draws.outcome) AS outcome,"
        " draws.round_no IS NOT NULL AS drawn, endings.epoch > rounds.epoch AS taken_over"
        " FROM rounds LEFT JOIN endings USING (round_no) LEFT JOIN draws USING (round_no)"
    )
    assert not [row["round_id"] for row in rows if row["ending"] is None], "rounds without an end"
    assert await journal.fetchval("SELECT count(*) FROM open_rounds") == 0
    in_ledger = await ledger.fetch("SELECT round_id, state FROM rounds")
    assert {row["round_id"]: row["state"] for row in in_ledger} == {row["round_id"]: row["ending"] for row in rows}
    ended: dict[str, Ended] = {}
    for row in rows:
        outcome = "" if row["outcome"] is None else row["outcome"].hex()
        assert (row["ending"] == SETTLED) == bool(outcome) == row["drawn"], dict(row)
        ended[row["round_id"]] = Ended(row["ending"], outcome, row["taken_over"])
        totals.settled += row["ending"] == SETTLED
        totals.void += row["ending"] == VOID
        totals.settled_by_another_owner += row["ending"] == SETTLED and row["taken_over"]
    return ended


async def _stakes(
    journal: Connection, ledger: Connection, bets: Sequence[BetRecord], ended: Mapping[str, Ended], totals: Totals
) -> None:
    """Every acknowledged bet counted once; no refused one did (G3, G5)."""
    rows = await ledger.fetch("SELECT stake_id, state, placed_cents, cancelled_cents FROM stakes")
    in_ledger = {row["stake_id"]: row for row in rows}
    assert len(in_ledger) == len(rows)
    acknowledged = [bet for bet in bets if bet.stake_id]
    assert max(Counter(bet.stake_id for bet in acknowledged).values(), default=1) == 1
    for bet in acknowledged:
        stake, ending = in_ledger[bet.stake_id], ended[bet.round_id].ending
        assert stake["placed_cents"] == bet.cents, bet
        if bet.cancelled is None:
            assert stake["state"] in {CANCELLED, *(PAID if ending == SETTLED else {RETURNED})}, bet
        elif bet.cancelled:
            assert stake["state"] == CANCELLED, bet
        else:
            assert stake["state"] in (PAID if ending == SETTLED else {RETURNED}), bet
    counted = await journal.fetch(
        "SELECT stakes.player_id, stakes.account_id, stakes.stake_id FROM stakes JOIN endings USING (round_no)"
        " WHERE endings.ending = 2"
    )
    acknowledged_stakes = {bet.stake_id for bet in acknowledged}
    unanswered = _unanswered_stakes(counted, bets)
    for row in counted:
        if row["stake_id"] in unanswered:
            totals.stakes_of_disconnected += 1
        else:
            assert row["stake_id"] in acknowledged_stakes, f"{row} counts, and its player got another answer"
    assert len(counted) == len({row["stake_id"] for row in counted})


def _unanswered_stakes(rows: Sequence[asyncpg.Record], bets: Iterable[BetRecord]) -> set[str]:
    """The stakes that commands may have placed whose answers never arrived; the rows name the players' accounts."""
    accounts = {row["player_id"]: row["account_id"] for row in rows}
    return {_stake_id(bet, accounts[bet.player_id]) for bet in bets if bet.disconnected and bet.player_id in accounts}


def _stake_id(bet: BetRecord, account_id: str) -> str:
    """The id of a command, and of its stake: the stake of one that a later owner found has no request id on record."""
    return BetCommand(bet.request_id, b"").wallet_request_id(account_id)


async def _decisions(journal: Connection, decisions: Sequence[DecisionRecord], totals: Totals) -> None:
    """Every acknowledged decision was made once, as it was answered, and none of a player who did not ask for it."""
    rows = await journal.fetch(
        "SELECT rounds.round_id, moves.position, moves.move, moves.acted_by, moves.stake_id,"
        " moves.request_id AS command_id,"
        " moves.epoch > draws.epoch AS taken_over"
        " FROM moves JOIN rounds USING (round_no) JOIN draws USING (round_no)"
    )
    made = {(row["round_id"], row["position"]): row for row in rows}
    acknowledged = {(each.bet.round_id, each.position): each for each in decisions if each.position}
    assert len(acknowledged) == len([each for each in decisions if each.position])
    for key, decision in acknowledged.items():
        expected = (decision.move, BY_PLAYER, decision.bet.stake_id)
        assert (made[key]["move"], made[key]["acted_by"], made[key]["stake_id"]) == expected, (decision, made[key])
    of_stakes = await journal.fetch("SELECT DISTINCT player_id, account_id FROM stakes")
    accounts: dict[str, str] = {row["player_id"]: row["account_id"] for row in of_stakes}
    asked = {_stake_id(each.bet, accounts[each.bet.player_id]): each for each in decisions}
    of_players = [row for row in rows if row["acted_by"] == BY_PLAYER]
    assert len({row["command_id"] for row in of_players}) == len(of_players)
    for row in of_players:
        decision = asked[row["command_id"]]
        position = 0 if decision.bet.disconnected else row["position"]
        assert (decision.bet.round_id, decision.position) == (row["round_id"], position), (decision, row)
    totals.decisions = sum(row["acted_by"] == BY_PLAYER for row in rows)
    totals.decided_by_another_owner = sum(row["taken_over"] for row in rows)


async def settled_requests(journal: Connection) -> set[tuple[str, str]]:
    """The player and request of each bet in a settled round, but for stakes that a later owner found in the ledger."""
    rows = await journal.fetch(
        "SELECT stakes.player_id, stakes.request_id FROM stakes JOIN endings USING (round_no) WHERE endings.ending = 2"
    )
    return {(row["player_id"], row["request_id"]) for row in rows}


async def _balances(
    journal: Connection, ledger: Connection, bets: Sequence[BetRecord], starting_cents: Mapping[str, int]
) -> None:
    """Every balance is the starting money, less the stakes, plus the payouts of the journal (G1, G9)."""
    rows = await journal.fetch(
        "SELECT stakes.player_id, stakes.account_id, stakes.stake_id, payouts.payout_cents FROM payouts"
        " JOIN endings USING (round_no) JOIN stakes USING (stake_id) WHERE endings.ending = 2"
    )
    account_ids = {row["player_id"]: row["account_id"] for row in rows}
    paid = {row["stake_id"]: row["payout_cents"] for row in rows}
    expected = dict(starting_cents)
    for bet in bets:
        if bet.player_id in expected and bet.player_id in account_ids:
            stake_id = _stake_id(bet, account_ids[bet.player_id])
            if stake_id in paid:
                expected[bet.player_id] += paid[stake_id] - bet.cents
    accounts = await ledger.fetch(
        "SELECT player_id, free_cents, locked_cents FROM accounts WHERE kind = $1 AND mode = $2", PLAYER, REAL
    )
    assert {row["player_id"]: row["free_cents"] for row in accounts} == expected
    assert not [row["player_id"] for row in accounts if row["locked_cents"]], "money is still on a table"


async def _modes(ledger: Connection, starting_cents: Mapping[str, int]) -> None:
    """Real money stays between players and operator, and never mixes with credits of the demonstration."""
    held = await ledger.fetchval(
        "SELECT sum(free_cents + locked_cents) FROM accounts WHERE mode = $1 AND kind IN ($2, $3)", REAL, PLAYER, BANK
    )
    assert held == sum(starting_cents.values())
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


async def _bets(journal: Connection, processes: Processes) -> None:
    """The bets that counted when betting closed keep the game's rules about several of them."""
    rows = await journal.fetch(
        "SELECT rounds.round_id, rounds.placement_id, stakes.player_id, stakes.bets FROM stakes"
        " JOIN rounds USING (round_no) JOIN endings USING (round_no) WHERE endings.ending = 2"
    )
    by_round: defaultdict[tuple[str, str], defaultdict[str, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_round[row["placement_id"], row["round_id"]][row["player_id"]].append(row["bets"])
    for (placement_id, _), bets in by_round.items():
        processes.game.verify_bets(processes.tables[placement_id], bets)


def _compare_launched(round_id: str, launched: Launched, ended: Ended) -> None:
    """The result that a player was shown is the result on record (G6)."""
    assert launched.round_id == round_id
    assert launched.outcome.SerializeToString().hex() == ended.outcome, (round_id, launched, ended)
    assert bool(launched.void_reason) == (ended.ending == VOID), (round_id, launched, ended)


# -- the stream --------------------------------------------------------------------------------------------------------


async def read_stream(url: str) -> dict[str, list[events_pb2.TableEvent]]:
    """All events in the stream, by table, in order."""
    events: defaultdict[str, list[events_pb2.TableEvent]] = defaultdict(list)
    bus = await nats.connect(url)
    try:
        jetstream = bus.jetstream(timeout=READ_WITHIN_S)
        left = (await jetstream.stream_info(EVENTS_STREAM)).state.messages
        # Without acknowledgements: at most a thousand may be outstanding.
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
class _PublishedRound:
    """The events of a round in the stream."""

    outcomes: list[str] = field(default_factory=list)
    endings: list[int] = field(default_factory=list)


def verify_stream(events: Mapping[str, Sequence[events_pb2.TableEvent]], ended: Mapping[str, Ended]) -> None:
    """Events are numbered without a gap across owners, and say nothing that the journal does not have (G5)."""
    for table_id, of_table in events.items():
        numbers = [event.seq for event in of_table]
        gaps = [(before, after) for before, after in itertools.pairwise(numbers) if after != before + 1]
        assert not gaps, f"{table_id}: {gaps}"
    for round_id, published in _published_rounds(event for of_table in events.values() for event in of_table).items():
        # A new owner cannot know whether the outcome was published, and publishes it again.
        assert set(published.outcomes) <= {ended[round_id].outcome} - {""}, (round_id, published, ended[round_id])
        assert published.endings in ([], [ended[round_id].ending]), (round_id, published, ended[round_id])


def _published_rounds(events: Iterable[events_pb2.TableEvent]) -> dict[str, _PublishedRound]:
    rounds: defaultdict[str, _PublishedRound] = defaultdict(_PublishedRound)
    for event in events:
        if event.HasField("outcome_drawn"):
            rounds[event.outcome_drawn.round_id].outcomes.append(event.outcome_drawn.outcome.value.hex())
        elif event.HasField("round_settled"):
            rounds[event.round_settled.round_id].endings.append(SETTLED)
        elif event.HasField("round_voided"):
            rounds[event.round_voided.round_id].endings.append(VOID)
    return rounds


# -- the platform's own checks -----------------------------------------------------------------------------------------


async def _replay(processes: Processes, totals: Totals) -> None:
    """`feltro replay --all`, while no replica is running."""
    environment = {
        **processes.replicas[0].variables(),
        "FELTRO_ENVIRONMENT": "development",
        f"FELTRO_{processes.game.name.upper()}_DATABASE_URL": processes.journal_url,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.kit.command",
        "replay",
        "--all",
        "--game",
        processes.game.name,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = (stream.decode() for stream in await process.communicate())
    assert process.returncode == 0, output + errors
    summary = f"{totals.settled + totals.void} rounds replayed: {totals.settled} settled, {totals.void} void"
    assert summary in output, output
