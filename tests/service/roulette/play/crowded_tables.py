"""Plays eight rounds at two full tables with bots, and records everything that anybody could see.

The rounds are played once; many tests look at the record. The clock of the tables ends every window and every result
on show, so nothing here depends on how quick the machine is.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any
from uuid import uuid4

import grpc

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from tests.engine.roulette import reference
from tests.service.game_driver import TIMEOUT_S, SeatedPlayer
from tests.service.refusals import refusal_of
from tests.service.roulette.platform import (
    WHEEL_BY_REGULATION,
    RouletteDriver,
    RoulettePlatform,
    amounts_by_place,
    unpack_outcome,
)
from tests.service.roulette.table_watcher import TableWatcher

BOTS = {"804": 12, "807": 50}
WHEELS = {"804": "AMERICAN_38", "807": "FRENCH"}
STARTING_CENTS = 1_000_000
# Six rounds without a bet, the round of the warning, and one more.
ROUNDS = 8
ROUNDS_BEFORE_INVITATION = 6
# The longest there is: what is noted while a result is on show is noted before the next round opens.
RESULT_SHOWN_MS = 60_000

WARNING = wallet_events.SESSION_NOTICE_KIND_WARNING


@dataclass
class BotPlayer:
    """A bot, and what it has on the felt of each round by its own count."""

    seated: SeatedPlayer
    dice: random.Random
    bets: dict[str, dict[str, int]] = field(default_factory=dict)
    """Amounts by round and place, without what it cancelled."""

    def staked(self, round_id: str) -> int:
        return sum(self.bets.get(round_id, {}).values())


@dataclass
class CrowdedTable:
    """One table, its players, and all that could be seen of it."""

    regulation: str
    table_id: str
    watcher: TableWatcher
    bots: list[BotPlayer]
    never_bets: SeatedPlayer
    """Stays, and never bets."""
    bets_when_warned: SeatedPlayer
    """Bets for the first time in the round of the warning."""
    bets_in_sixth_round: SeatedPlayer
    """Bets in the sixth round, just before an invitation would be due."""
    disconnected: SeatedPlayer
    """Loses the connection after a bet in the first round."""
    rounds: list[str] = field(default_factory=list)
    snapshots: list[types_pb2.TableSnapshot] = field(default_factory=list)
    late_bets: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Bets after the end of the window: the round, and the refusal's reason and facts."""
    balances: dict[str, tuple[int, int]] = field(default_factory=dict)
    history: dict[str, list[table_pb2.PlayerRound]] = field(default_factory=dict)
    private_facts: dict[str, list[wallet_events.PlayerFact]] = field(default_factory=dict)
    sessions: dict[str, session_pb2.Session] = field(default_factory=dict)
    idle_sessions: list[session_pb2.Session] = field(default_factory=list)
    """The session of the player who never bets after each round, while its result is on show."""

    def drawn_numbers(self) -> dict[str, str]:
        """The number of each round, as everybody sees it."""
        drawn = [event.outcome_drawn for event in self.watcher.events_of("outcome_drawn")]
        return {each.round_id: unpack_outcome(each.outcome).number for each in drawn}

    def inactivity_cases(self) -> list[SeatedPlayer]:
        """The players whose inactivity is tested."""
        return [self.never_bets, self.bets_when_warned, self.bets_in_sixth_round]


_COLOURS = {"red": roulette_pb2.COLOUR_RED, "black": roulette_pb2.COLOUR_BLACK}


def colour_of(number: str) -> roulette_pb2.Colour.ValueType:
    """The colour of a number, by arithmetic."""
    wins = [colour for name, colour in _COLOURS.items() if reference.wins(name, number)]
    return wins[0] if wins else roulette_pb2.COLOUR_GREEN


async def play_rounds(platform: RoulettePlatform) -> dict[str, CrowdedTable]:
    """Plays all rounds at both tables; the tables by regulation."""
    async with platform.driver() as driver:
        tables = await asyncio.gather(*(_fill_table(driver, regulation) for regulation in WHEEL_BY_REGULATION))
        await _begin_together(driver, tables)
        for number in range(1, ROUNDS + 1):
            await asyncio.gather(*(_bet_in_round(driver, table, number) for table in tables))
            await driver.end_betting()
            await asyncio.gather(*(_finish_round(driver, table) for table in tables))
            await driver.advance_tables(RESULT_SHOWN_MS / 1000)
        for table in tables:
            await _record_end(driver, table)
        return {table.regulation: table for table in tables}


async def _fill_table(driver: RouletteDriver, regulation: str) -> CrowdedTable:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], result_shown_ms=RESULT_SHOWN_MS)
    watcher = await driver.watch(table_id)
    never_bets, when_warned, sixth_round, disconnected = await driver.seat_new_players(table_id, 4, STARTING_CENTS)
    seated = await driver.seat_new_players(table_id, BOTS[regulation], STARTING_CENTS)
    bots = [BotPlayer(player, random.Random(f"{regulation}{n}")) for n, player in enumerate(seated)]
    return CrowdedTable(regulation, table_id, watcher, bots, never_bets, when_warned, sixth_round, disconnected)


async def _begin_together(driver: RouletteDriver, tables: list[CrowdedTable]) -> None:
    """Voids the round that opened for the first players: it is not everybody's, and a void round is not missed."""
    for table in tables:
        await driver.void(table.table_id, await table.watcher.next_round())
        await table.watcher.wait_for("round_voided")
    await driver.advance_tables(RESULT_SHOWN_MS / 1000)


async def _bet_in_round(driver: RouletteDriver, table: CrowdedTable, number: int) -> None:
    ended = table.watcher.events_of("round_settled" if table.rounds else "round_voided")
    round_id = await table.watcher.next_round(after=max(event.seq for event in ended))
    table.rounds.append(round_id)
    bets: list[Coroutine[Any, Any, object]] = [_bet_as_bot(driver, bot, table, round_id) for bot in table.bots]
    if number == 1:
        bets.append(_bet_and_lose_connection(driver, table.disconnected, round_id))
    if number == ROUNDS_BEFORE_INVITATION:
        bets.append(driver.bet(table.bets_in_sixth_round, round_id, {"red": 100}))
    if number == ROUNDS_BEFORE_INVITATION + 1:
        bets.append(_bet_when_warned(driver, table))
    if number == ROUNDS:
        bets.append(_switch_off(driver, table))
    await asyncio.gather(*bets)


async def _bet_as_bot(driver: RouletteDriver, bot: BotPlayer, table: CrowdedTable, round_id: str) -> None:
    """Places a few legal bets, cancels some of them, and looks at the table."""
    dice = bot.dice
    places = list(reference.legal_places(WHEELS[table.regulation]))
    for _ in range(dice.choice([0, 1, 1, 2, 3])):
        chosen = {place: dice.randrange(100, 900, 2) for place in dice.sample(places, dice.randint(1, 6))}
        on_felt = bot.bets.setdefault(round_id, {})
        answer = await driver.bet(bot.seated, round_id, chosen)
        for place, cents in chosen.items():
            on_felt[place] = on_felt.get(place, 0) + cents
        assert amounts_by_place(answer.on_felt) == on_felt
        if dice.random() < 0.15:
            cancelled = await driver.cancel_bets(bot.seated, round_id)
            assert cancelled.cancelled_cents == sum(on_felt.values())
            on_felt.clear()
    await _take_snapshot(driver, table)


async def _bet_and_lose_connection(driver: RouletteDriver, player: SeatedPlayer, round_id: str) -> None:
    async with driver.platform.roulette.client() as device:
        await device.bet(player.player_id, player.table_id, round_id, {"red": 1000, "17": 100})


async def _bet_when_warned(driver: RouletteDriver, table: CrowdedTable) -> None:
    facts = await driver.private_facts(table.bets_when_warned)
    async with asyncio.timeout(TIMEOUT_S):
        while (notice := (await facts.get()).session_notice).kind != WARNING:
            pass
    await driver.bet(table.bets_when_warned, notice.round_id, {"red": 100})


async def _switch_off(driver: RouletteDriver, table: CrowdedTable) -> None:
    """Lets the round under way be the last."""
    request = table_pb2.SetSwitchRequest(
        request_id=str(uuid4()),
        game="roulette",
        scope=types_pb2.SWITCH_SCOPE_TABLE,
        table_id=table.table_id,
        enabled=False,
        reason="all rounds are played",
    )
    await driver.roulette.tables.SetSwitch(request, metadata=driver.roulette.operator)


async def _finish_round(driver: RouletteDriver, table: CrowdedTable) -> None:
    """Bets too late, waits for the result, and records the session of the player who never bets."""
    round_id = table.rounds[-1]
    opened = next(table.watcher.events_of("round_opened", round_id)).round_opened
    closed = await table.watcher.wait_for("betting_closed", round_id)
    assert closed.at.ToDatetime(UTC) >= opened.round.closes_at.ToDatetime(UTC)
    try:
        await driver.bet(table.never_bets, round_id, {"17": 100})
    except grpc.aio.AioRpcError as refused:
        late = refusal_of(refused)
        table.late_bets.append((round_id, late.reason, late.facts))
    await table.watcher.wait_for("round_settled", round_id)
    table.idle_sessions.append((await driver.session(table.never_bets)).session)
    await _take_snapshot(driver, table)


async def _take_snapshot(driver: RouletteDriver, table: CrowdedTable) -> None:
    request = table_pb2.GetTableRequest(table_id=table.table_id)
    answer = await driver.roulette.tables.GetTable(request, metadata=driver.roulette.operator)
    table.snapshots.append(answer.table)


async def _record_end(driver: RouletteDriver, table: CrowdedTable) -> None:
    for player in [*(bot.seated for bot in table.bots), *table.inactivity_cases(), table.disconnected]:
        table.history[player.player_id] = await driver.rounds(player)
        table.balances[player.player_id] = await driver.balance(player)
        table.sessions[player.player_id] = (await driver.session(player)).session
    for player in table.inactivity_cases():
        table.private_facts[player.player_id] = await driver.stored_private_facts(player)
    await table.watcher.wait_for_seq(max(snapshot.seq for snapshot in table.snapshots))
