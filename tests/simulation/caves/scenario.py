"""A table of poker with players, for tests that script what happens there."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypedDict, Unpack

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit.table.caves.table import CaveTable
from services.kit.table.journal.entries import ActedBy
from tests.simulation.caves.game import CAVE_CENTS, POKER, configuration
from tests.simulation.caves.players import PokerPlayer
from tests.simulation.environment.world import World
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario


class TableOptions(TypedDict, total=False):
    """What a test may configure of the table."""

    regulation: str
    limit: poker_pb2.Limit.ValueType
    seats: int
    result_shown_ms: int
    dealing_ms: int
    decision_ms: int
    cave_min_cents: int
    cave_max_cents: int
    commission_mode: poker_pb2.CommissionMode.ValueType
    entry_mode: poker_pb2.EntryMode.ValueType
    time_bank_s: int
    time_bank_refill_s: int
    time_bank_refill_hands: int
    time_bank_cap_s: int
    disconnect_extra_s: int
    auto_sitout_after: int
    rest_period_s: int
    rest_per_hour: int
    rathole_window_min: int
    gateway_pause_s: int
    recovery_limit_s: int
    top_up_to_max_cents: int
    min_players: int
    rebuy_grace_s: int
    period: poker_pb2.Period


class PokerScenario(Scenario):
    """One configured table of poker."""

    def __init__(self, **options: Unpack[TableOptions]) -> None:
        self.world = World(0, POKER)
        self.configuration = configuration(**options)

    async def seat_players(self, *names: str, cave_cents: int = CAVE_CENTS) -> list[PokerPlayer]:
        """Starts the table's owner and seats these players from seat 1 on, each with a cave."""
        owner = self.world.open_tables(TABLE_ID, self.configuration)
        await owner.owned_tables.ready.wait()
        players = [PokerPlayer(self.world, name, TABLE_ID) for name in names]
        for seat, player in enumerate(players, 1):
            self.world.deposit(player.player_id, STARTING_CENTS)
            assert await player.enter(seat)
            answer = await player.buy_in(cave_cents)
            assert isinstance(answer, wallet_pb2.BuyInResponse), answer
        return players

    @property
    def now(self) -> datetime:
        return self.world.loop.now()

    def table(self) -> CaveTable[Any, Any]:
        """Returns the table as its current owner has it."""
        (table,) = self.world.current_owners[TABLE_ID].owned_tables.tables().values()
        assert isinstance(table, CaveTable)
        return table

    def turn(self) -> types_pb2.Turn:
        """Returns the turn under way, as everybody sees it."""
        return self.table().snapshot().round.turn

    def standing(self, seat: int) -> types_pb2.CaveStanding.ValueType:
        return next(each.standing for each in self.table().snapshot().caves if each.seat == seat)

    def own_cave(self, name: str) -> table_pb2.OwnCave:
        own = self.table().own_cave(name)
        assert own is not None
        return own

    # -- results -----------------------------------------------------------------------------------------------------

    def cave_cents(self, name: str) -> int:
        """Returns what the ledger has in a player's cave."""
        wallet = self.world.wallet
        (account,) = (each for each in wallet.accounts.values() if each.player_id == name)
        return wallet.cave_cents(account.no, wallet.tables[TABLE_ID].no)

    def outcome(self, round_id: str) -> poker_pb2.Outcome:
        ended = self.round_entries(round_id).ended
        assert ended is not None
        assert ended.outcome is not None
        return poker_pb2.Outcome.FromString(ended.outcome)

    def moves(self, round_id: str) -> list[tuple[int, str, ActedBy]]:
        """Returns the journalled decisions: the seat, what it did, and on whose word."""
        return [
            (moved.seat, poker_pb2.Action.Name(poker_pb2.Move.FromString(moved.move).action), moved.acted_by)
            for moved in self.round_entries(round_id).moves
        ]
