"""An evening at the casino: two full tables at once, played by bots, and everything noted that anybody could see.

Windows last three seconds by law, so an evening is played once and many tests look at what was noted.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import grpc

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from services.kit import background
from tests.engine.roulette import reference
from tests.service.roulette.platform import (
    WHEEL_BY_REGULATION,
    RouletteDriver,
    RoulettePlatform,
    SeatedPlayer,
    amounts_by_place,
    refusal_of,
    unpack_outcome,
)
from tests.service.roulette.table_watcher import TableWatcher

BOTS = {"804": 12, "807": 50}
WHEELS = {"804": "AMERICAN_38", "807": "FRENCH"}
CENTS = 1_000_000
# Six rounds without a bet, the one that the warning is about, and one more.
ROUNDS = 8
ROUNDS_BEFORE_INVITATION = 6
# Long enough for sixty bots on a machine that has other things to do, too; then long enough on any.
WINDOWS_MS = 5_000, 20_000
# Bots bet until so long before the end of the window; what is meant to come late is sent by the late one alone.
STOP_BETTING_BEFORE_END_S = 2.2

WARNING = wallet_events.SESSION_NOTICE_KIND_WARNING


class BetMissed(Exception):
    """Somebody of whom it was wanted did not bet in time: such an evening says nothing."""


@dataclass
class BotPlayer:
    """What one bot did, by its own account."""

    seated: SeatedPlayer
    dice: random.Random
    bets: dict[str, dict[str, int]] = field(default_factory=dict)
    """What he left on the felt, by round and place."""
    stakes: int = 0
    """How many bets he placed and did not take back whole."""

    def staked(self, round_id: str) -> int:
        return sum(self.bets.get(round_id, {}).values())


@dataclass
class CrowdedTable:
    """What was to be seen of one table."""

    regulation: str
    table_id: str
    watcher: TableWatcher
    players: list[BotPlayer]
    never_bets: SeatedPlayer
    """He never bets, and stays."""
    bets_when_warned: SeatedPlayer
    """He bets for the first time when he is warned."""
    bets_in_sixth_round: SeatedPlayer
    """He bets in the sixth round, before he could be invited."""
    rounds: list[str] = field(default_factory=list)
    snapshots: list[types_pb2.TableSnapshot] = field(default_factory=list)
    late_bets: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Bets that came after the end: the round, and how they were refused."""
    balances: dict[str, tuple[int, int]] = field(default_factory=dict)
    history: dict[str, list[table_pb2.PlayerRound]] = field(default_factory=dict)
    private_facts: dict[str, list[wallet_events.PlayerFact]] = field(default_factory=dict)
    sessions: dict[str, session_pb2.Session] = field(default_factory=dict)
    disconnected: SeatedPlayer | None = None
    """His connection broke after his first bet."""

    def drawn_numbers(self) -> dict[str, str]:
        """What was drawn, as everybody was told."""
        drawn = [event.outcome_drawn for event in self.watcher.events_of("outcome_drawn")]
        return {each.round_id: unpack_outcome(each.outcome).number for each in drawn}

    def inactivity_cases(self) -> list[SeatedPlayer]:
        """Those about whose inactivity something was expected."""
        return [self.never_bets, self.bets_when_warned, self.bets_in_sixth_round]


_COLOURS = {"red": roulette_pb2.COLOUR_RED, "black": roulette_pb2.COLOUR_BLACK}


def colour_of(number: str) -> roulette_pb2.Colour.ValueType:
    """The colour of a number, by arithmetic."""
    wins = [colour for name, colour in _COLOURS.items() if reference.wins(name, number)]
    return wins[0] if wins else roulette_pb2.COLOUR_GREEN


async def play_rounds(casino: RoulettePlatform, window_ms: int) -> dict[str, CrowdedTable]:
    """The evening, by regulation."""
    async with casino.driver() as room:
        # The first round opens for the first who sits down: by then everybody has to be at the door.
        at_the_door = [await _come(room, regulation, window_ms) for regulation in WHEEL_BY_REGULATION]
        tables = await asyncio.gather(*(_sit_down(room, *those) for those in at_the_door))
        await asyncio.gather(*(_play_at(room, table) for table in tables))
        for table in tables:
            await _note_end(room, table)
        return {table.regulation: table for table in tables}


async def _come(room: RouletteDriver, regulation: str, window_ms: int) -> tuple[str, str, list[str]]:
    """The table's id, and those who want to sit there; three of them are no bots."""
    table_id = await room.new_table(wheel=WHEEL_BY_REGULATION[regulation], window_ms=window_ms)
    return regulation, table_id, await asyncio.gather(*(room.new_player(CENTS) for _ in range(3 + BOTS[regulation])))


async def _sit_down(room: RouletteDriver, regulation: str, table_id: str, player_ids: list[str]) -> CrowdedTable:
    watch = await room.watch(table_id)
    # The first to sit down are there from the first round on.
    idle, warned, hesitant = [await room.seat(player_id, table_id) for player_id in player_ids[:3]]
    guests = await asyncio.gather(*(room.seat(player_id, table_id) for player_id in player_ids[3:]))
    players = [BotPlayer(guest, random.Random(f"{regulation}{n}")) for n, guest in enumerate(guests)]
    return CrowdedTable(regulation, table_id, watch, players, idle, warned, hesitant)


async def _play_at(room: RouletteDriver, table: CrowdedTable) -> None:
    photographs = asyncio.create_task(_photograph(room, table))
    warned = asyncio.create_task(_bet_when_warned(room, table))
    lost = asyncio.create_task(_lose_connection(room.platform, table))
    seq = 0
    for number in range(1, ROUNDS + 1):
        opened = await table.watcher.wait_for("round_opened", after=seq)
        seq, round_id = opened.seq, opened.round_opened.round.round_id
        closes_at = opened.round_opened.round.closes_at.ToDatetime(UTC)
        table.rounds.append(round_id)
        doing: list[Coroutine[Any, Any, None]] = [
            _bet(room, player, table, round_id, closes_at) for player in table.players
        ]
        doing.append(_come_late(room, table, round_id, closes_at))
        if number == ROUNDS_BEFORE_INVITATION:
            doing.append(_bet_once(room, table.bets_in_sixth_round, round_id))
        if number == ROUNDS:
            # However long it takes to look at what has become of everybody: no round comes after it.
            doing.append(_close(room, table))
        await asyncio.gather(*doing)
        await table.watcher.wait_for("round_settled", round_id)
    await lost
    if not warned.done():
        raise BetMissed("he was not warned before the last round was over")
    await warned
    await background.cancel_and_wait([photographs])


async def _bet(
    room: RouletteDriver, player: BotPlayer, table: CrowdedTable, round_id: str, closes_at: datetime
) -> None:
    """A few bets on anything that is legal; some of them are taken back. A bot that is held up comes too late."""
    try:
        await _bet_in_time(room, player, table, round_id)
    except grpc.aio.AioRpcError as refused:
        if refusal_of(refused).reason != "BETTING_CLOSED" or datetime.now(UTC) < closes_at:
            raise


async def _bet_in_time(room: RouletteDriver, player: BotPlayer, table: CrowdedTable, round_id: str) -> None:
    dice, guest = player.dice, player.seated
    places = list(reference.legal_places(WHEELS[table.regulation]))
    for _ in range(dice.choice([0, 1, 1, 2, 3])):
        await asyncio.sleep(dice.uniform(0, STOP_BETTING_BEFORE_END_S / 4))
        chosen = {place: dice.randrange(100, 900, 2) for place in dice.sample(places, dice.randint(1, 6))}
        mine = player.bets.setdefault(round_id, {})
        answer = await room.bet(guest, round_id, chosen)
        for place, cents in chosen.items():
            mine[place] = mine.get(place, 0) + cents
        assert amounts_by_place(answer.on_felt) == mine
        player.stakes += 1
        if dice.random() < 0.15:
            taken = await room.cancel_bets(guest, round_id)
            assert taken.cancelled_cents == sum(mine.values())
            mine.clear()


async def _bet_once(room: RouletteDriver, guest: SeatedPlayer, round_id: str) -> None:
    try:
        await room.bet(guest, round_id, {"red": 100})
    except grpc.aio.AioRpcError as refused:
        if refusal_of(refused).reason != "BETTING_CLOSED":
            raise
        raise BetMissed(f"{round_id} was over before he had bet") from None


async def _close(room: RouletteDriver, table: CrowdedTable) -> None:
    """The round under way is finished."""
    request = table_pb2.SetSwitchRequest(
        request_id=str(uuid4()),
        game="roulette",
        scope=types_pb2.SWITCH_SCOPE_TABLE,
        table_id=table.table_id,
        reason="the evening is over",
    )
    await room.roulette.tables.SetSwitch(request, metadata=room.roulette.operator)


async def _come_late(room: RouletteDriver, table: CrowdedTable, round_id: str, closes_at: datetime) -> None:
    """Somebody bets when nothing goes any more."""
    closed = await table.watcher.wait_for("betting_closed", round_id)
    try:
        await room.bet(table.never_bets, round_id, {"17": 100})
    except grpc.aio.AioRpcError as refused:
        said = refusal_of(refused)
        table.late_bets.append((round_id, said.reason, said.facts))
    assert closed.at.ToDatetime(UTC) >= closes_at


async def _bet_when_warned(room: RouletteDriver, table: CrowdedTable) -> None:
    facts = await room.private_facts(table.bets_when_warned)
    while True:
        notice = (await facts.get()).session_notice
        if notice.kind == WARNING:
            await _bet_once(room, table.bets_when_warned, notice.round_id)
            return


async def _lose_connection(casino: RoulettePlatform, table: CrowdedTable) -> None:
    """A player bets, and is heard of no more."""
    async with casino.driver() as room:
        guest = await room.seat_new_player(table.table_id, CENTS)
        await room.bet_in_open_round(guest, {"red": 1000, "17": 100})
        table.disconnected = guest
        # Leaving the room would end his session; only the connection is to break.
        room.keep_seated(guest)


async def _photograph(room: RouletteDriver, table: CrowdedTable) -> None:
    while True:
        request = table_pb2.GetTableRequest(table_id=table.table_id)
        answer = await room.roulette.tables.GetTable(request, metadata=room.roulette.operator)
        table.snapshots.append(answer.table)
        await asyncio.sleep(0.037)


async def _note_end(room: RouletteDriver, table: CrowdedTable) -> None:
    guests = [player.seated for player in table.players] + table.inactivity_cases()
    guests += [] if table.disconnected is None else [table.disconnected]
    for guest in guests:
        table.history[guest.player_id] = await room.rounds(guest)
        table.balances[guest.player_id] = await room.balance(guest)
        table.sessions[guest.player_id] = (await room.session(guest)).session
    for guest in table.inactivity_cases():
        table.private_facts[guest.player_id] = await room.stored_private_facts(guest)
    await table.watcher.wait_for_seq(max(snapshot.seq for snapshot in table.snapshots))
