"""Hands of a tournament that go as a vector says: who sits where is drawn, so the script names players by position."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from feltro.poker.v1 import poker_pb2, tournament_pb2, tournament_rules_pb2
from feltro.table.v1 import table_pb2
from tests.engine.poker.tables import deck_of
from tests.service.poker_tournament.platform import TIMEOUT_S, TournamentDriver

# Nobody's board: the best of two unequal pairs in the hand wins, then the best card.
BOARD = "2c 7d 9h Js 3s"
# Pairs from the best down, then hands that lose to every pair and to each other from the left.
ACES, KINGS, QUEENS = "AsAh", "KsKh", "QsQh"
NOTHING = ("Ac8s", "Kc8h", "Qc8d", "Kd6s", "Qd6h", "Ad5c", "8c5h", "Td4h", "Tc4s", "Th5d")
_ACTIONS = {"f": poker_pb2.ACTION_FOLD, "c": poker_pb2.ACTION_CALL, "x": poker_pb2.ACTION_CHECK}


@dataclass
class ScriptedTable:
    """The one table of a tournament, and who sits there."""

    driver: TournamentDriver
    tournament: str
    # By seat.
    players: Mapping[int, str]

    @property
    def id(self) -> str:
        return f"{self.tournament}-t1"

    async def seen(self) -> table_pb2.GetTableResponse:
        return await self.driver.again(lambda: self.driver.poker.table(self.players[min(self.players)], self.id))

    async def order(self) -> list[str]:
        """Returns who is dealt into the hand under way, from the left of the button to the button."""
        return [self.players[each.seat] for each in _view(await self.under_way()).seats]

    def stack(self, number: int, *holes: str) -> None:
        """Stacks the deck of the table's n-th hand: personal cards by position, from the left of the button."""
        stack_deck(self.driver, self.tournament, number, holes)

    async def play(self, actions: Sequence[tuple[str, str]]) -> None:
        """Plays the hand under way: each action is that of the player in turn, who has to be the one it names."""
        round_id = (await self.under_way()).table.round.round_id
        waiting = list(actions)
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                seen = await self.seen()
                round_ = seen.table.round
                if round_.round_id != round_id or round_.HasField("outcome"):
                    assert not waiting, f"the hand is over before {waiting}"
                    return
                if not round_.HasField("turn"):
                    # Streets are dealt in their time.
                    await self.driver.poker.advance_tables(1)
                    continue
                player = self.players[round_.turn.seats[0]]
                assert waiting, f"{player} is asked, and the script is at its end"
                named, word = waiting.pop(0)
                assert player == named, f"{player} is asked, and not {named}"
                await self._act(player, seen, word)

    async def _act(self, player: str, seen: table_pb2.GetTableResponse, word: str) -> None:
        round_ = seen.table.round
        move = poker_pb2.Move(action=_ACTIONS.get(word, poker_pb2.ACTION_RAISE))
        if word not in _ACTIONS:
            legal = _view(seen).legal
            move.to_cents = legal.max_to_cents if word == "all in" else int(word)
        if word == "c" and not _view(seen).legal.to_call_cents:
            move.action = poker_pb2.ACTION_CHECK
        request_id = str(uuid4())
        await self.driver.again(
            lambda: self.driver.poker.act(player, self.id, round_.round_id, round_.turn.turn, move, request_id)
        )

    async def under_way(self) -> table_pb2.GetTableResponse:
        """Waits for a hand whose end is still to come."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                seen = await self.seen()
                if seen.table.round.HasField("turn"):
                    return seen
                await self.driver.poker.advance_tables(1)

    async def asked_to_rebuy(self, player: str) -> tournament_pb2.OwnTournament:
        """Waits until a player who has lost all chips is asked to rebuy."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                own = (await self.driver.tournament(self.tournament, player)).own
                if own.entry.standing == tournament_pb2.ENTRY_STANDING_ASKED_TO_REBUY:
                    return own
                await asyncio.sleep(0.02)

    async def until_chips(self, expected: Mapping[str, int]) -> None:
        """Waits until the players in play have these chips, without a hand under way; fails if they never have."""
        found: dict[str, int] = {}
        try:
            async with asyncio.timeout(TIMEOUT_S):
                while found != expected:
                    shown = await self.driver.players(self.tournament)
                    found = {each.player_id: each.chips for each in shown if each.chips}
        except TimeoutError:
            assert found == expected
            raise


def stack_deck(driver: TournamentDriver, tournament: str, number: int, holes: Sequence[str]) -> None:
    driver.platform.poker.stack(f"{tournament}-t1.{number}", deck_of(" ".join(holes), BOARD))


def _view(seen: table_pb2.GetTableResponse) -> poker_pb2.View:
    view = poker_pb2.View()
    assert seen.table.round.view.Unpack(view)
    return view


async def begin(
    driver: TournamentDriver,
    made: tournament_rules_pb2.TournamentRules,
    players: Sequence[str],
    decks: Mapping[int, Sequence[str]],
) -> ScriptedTable:
    """Begins a sit & go with players who are there; `decks` are the personal cards of its first hands by position.

    The process learns of lines from the bus: if a hand began before it has, the tournament is cancelled, and another
    one begun.
    """
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            tournament = await driver.create(made)
            for number, holes in decks.items():
                stack_deck(driver, tournament, number, holes)
            for player in players:
                await driver.connect(player)
                await driver.register(tournament, player)
            seats = {each.seat: each.player_id for each in await driver.players(tournament)}
            table = ScriptedTable(driver, tournament, seats)
            first = await table.under_way()
            if not any(each.away for each in first.table.chips.seats):
                return table
            await driver.cancel(tournament, "somebody was not there")
