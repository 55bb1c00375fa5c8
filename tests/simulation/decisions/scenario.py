"""A table of blackjack with players, for tests that script what happens there."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict, Unpack

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import table_pb2
from services.kit.table.journal.entries import ActedBy, Ending, Moved
from tests.simulation.decisions.game import blackjack, configuration
from tests.simulation.decisions.players import DecidingPlayer
from tests.simulation.environment.journal import JournalBackup
from tests.simulation.environment.world import World
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario

# Against a bank of 17: 11 to double, and the ten that makes it 21.
DOUBLE_ON_ELEVEN = "6s 9h 5d 8c Td"
# Against a bank of 17: a pair of eights, and a card for each hand.
PAIR_OF_EIGHTS = "8s 9h 8d 8c 2h Td 3h 9d"
# Against an ace with a nine below: twelve, to be insured or not.
BANK_SHOWS_AN_ACE = "Ts Ah 2d 9c 5h"
# The first player has a blackjack against a nine, the second eleven.
BLACKJACK_AND_ELEVEN = "As 6s 9h Kd 5d 8c Td"


class TableOptions(TypedDict, total=False):
    """What a test may configure of the table."""

    individual: bool
    window_ms: int
    result_shown_ms: int
    dealing_ms: int
    decision_ms: int
    open_hand_hours: int
    places_per_player: int
    insurance: bool
    cut_card: int


class BlackjackScenario(Scenario):
    """One configured table of blackjack, every shoe of which begins with the same cards."""

    def __init__(self, first_cards: str = "", **options: Unpack[TableOptions]) -> None:
        self.world = World(0, blackjack(first_cards))
        self.configuration = configuration(**options)

    async def seat_players(
        self, *names: str, cents: int = STARTING_CENTS, seats: tuple[int, ...] = ()
    ) -> list[DecidingPlayer]:
        """Starts the table's owner and seats these players, each with as much money, from seat 1 on or where said."""
        owner = self.world.open_tables(TABLE_ID, self.configuration)
        await owner.owned_tables.ready.wait()
        players = [DecidingPlayer(self.world, name, TABLE_ID) for name in names]
        for player, seat in zip(players, seats or range(1, len(players) + 1), strict=True):
            self.world.deposit(player.player_id, cents)
            assert await player.enter(seat)
        return players

    async def seat_one(self, cents: int = STARTING_CENTS) -> DecidingPlayer:
        (ana,) = await self.seat_players("ana", cents=cents)
        return ana

    async def bet_all(self, *players: DecidingPlayer, cents: int = 1_000) -> str:
        """Has every player bet as much on their own place, waits until the cards are dealt, and returns the round."""
        round_id = await players[0].wait_for_open_round()
        for player in players:
            answer = await player.bet(round_id, {await player.place(): cents})
            assert isinstance(answer, blackjack_pb2.PlaceBetsResponse), answer
        await self.wait_until(lambda: self.round_entries(round_id).drawn is not None)
        return round_id

    # -- faults ------------------------------------------------------------------------------------------------------

    async def restore(self, backup: JournalBackup) -> None:
        """Kills the owner, and replaces the journal by a backup of it before the next one takes over."""
        self.world.current_owners[TABLE_ID].process.kill()
        self.world.restore_journal(backup)
        await asyncio.sleep(5.0)

    # -- results -----------------------------------------------------------------------------------------------------

    def moves(self, round_id: str) -> list[tuple[int, str, ActedBy]]:
        """Returns the journalled decisions: the seat, what was decided, and on whose word."""
        return [(moved.seat, decision_of(moved), moved.acted_by) for moved in self.round_entries(round_id).moves]

    def decision_cents(self, round_id: str) -> list[int]:
        """Returns what each decision has staked."""
        moves = self.round_entries(round_id).moves
        return [0 if moved.stake is None else moved.stake.amount_cents for moved in moves]

    def is_settled(self, round_id: str) -> bool:
        ended = self.round_entries(round_id).ended
        return ended is not None and ended.ending is Ending.SETTLED

    def table_of(self, player: DecidingPlayer) -> Any:  # noqa: ANN401 - of whatever game
        """Returns the live table of a player at the present owner."""
        return self.world.current_owners[TABLE_ID].owned_tables.tables()[player.table_id]


def decision_of(moved: Moved) -> str:
    """Returns the word of a decision, such as `draw`."""
    decision = blackjack_pb2.Move.FromString(moved.move).decision
    return blackjack_pb2.Decision.Name(decision).removeprefix("DECISION_").lower()


def acted(answer: object) -> table_pb2.ActResponse:
    assert isinstance(answer, table_pb2.ActResponse), answer
    return answer
