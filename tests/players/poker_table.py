"""Two players at a table of poker: they bring caves, play hands, leave, and compare what game and wallet tell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import aiohttp

from tests.players.client import (
    DEPOSIT_CENTS,
    PAUSE_S,
    TIMEOUT_S,
    Account,
    Entrance,
    Json,
    Refused,
    new_account,
    wait_for_table,
)
from tests.players.own_table import HAS_ENDED

GAME = "poker"
TABLES = ("holdem", "omaha")
MOVE = "type.googleapis.com/feltro.poker.v1.Move"
# The clock was faster, and another player is in turn or another action possible.
PASSED = frozenset({"TURN_OVER", "NOT_YOUR_TURN", "DECISION_ILLEGAL"})


@dataclass
class PokerPair:
    """Two players who check and call; a player short of cave buys in before the next hand."""

    table: str
    players: tuple[Account, Account]
    rounds: list[str] = field(default_factory=list)
    """The hands in which one of the two has decided."""

    @property
    def unanswered(self) -> int:
        """How many attempts of both got no answer."""
        return sum(player.client.unanswered for player in self.players)

    async def begin_round(self) -> None:
        """Has a hand dealt, and leaves it in its middle: after a decision, with more to make."""
        for player in self.players:
            await self._sit(player)
        while True:
            shown = await self._wait_for(lambda shown: bool(_turn_seats(shown)))
            round_id: str = shown["table"]["round"]["round_id"]
            if await self._decide(shown):
                if round_id not in self.rounds:
                    self.rounds.append(round_id)
                return

    async def finish_round(self) -> None:
        """Plays the last hand to its end, and sits out until the next is wanted."""
        round_id = self.rounds[-1]
        while True:
            shown = await self._wait_for(lambda shown: _is_over(shown, round_id) or bool(_turn_seats(shown)))
            if _is_over(shown, round_id):
                break
            await self._decide(shown)
        for player in self.players:
            await player.client.call(f"/v1/poker/tables/{self.table}:setPresence", {"presence": "PRESENCE_AWAY"})

    async def assert_rounds_ended_once(self) -> set[str]:
        """Leaves the table, and compares the hands with the balances; returns how they have ended."""
        for player in self.players:
            session = await player.client.call(f"/v1/tables/{self.table}:enter", {})
            await player.client.call(f"/v1/sessions/{session['session']['session_id']}:end", {})
        endings: set[str] = set()
        for player in self.players:
            endings |= await self._assert_balance(player)
        return endings

    async def _assert_balance(self, player: Account) -> set[str]:
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                listed, balance = await player.rounds(GAME), await player.balance()
                states = {each["round"]["round_id"]: each["round"]["state"] for each in listed}
                result = sum(int(each["payout_cents"]) - int(each["staked_cents"]) for each in listed)
                # The cave comes back when the session ends, which is after the hand under way.
                if set(states.values()) <= HAS_ENDED and int(balance["free_cents"]) == DEPOSIT_CENTS + result:
                    break
                await asyncio.sleep(PAUSE_S)
        # Hands of which the clock has decided everything may be among them.
        assert set(states) >= set(self.rounds)
        assert len(listed) == len(states), "a hand is listed twice"
        assert int(balance["locked_cents"]) == 0
        return set(states.values())

    async def _sit(self, player: Account) -> None:
        """Enters, fills a cave that is too small, and takes part from the next hand on."""
        client, path = player.client, f"/v1/poker/tables/{self.table}"
        entered = await client.call(f"/v1/tables/{self.table}:enter", {})
        seat, cave = entered["own_seat"]["seat"], entered["own_seat"]["cave"]
        standing = next(each["standing"] for each in entered["table"]["caves"] if each["seat"] == seat)
        if standing == "CAVE_STANDING_SHORT":
            await client.call(f"{path}:buyIn", {"amount_cents": cave["buy_in_max_cents"]})
        await client.call(f"{path}:setPresence", {"presence": "PRESENCE_PLAYING"})

    async def _decide(self, shown: Json) -> bool:
        """Has the player in turn check or call; whether it was still their turn."""
        round_, (seat, *_) = shown["table"]["round"], _turn_seats(shown)
        player = self.players[0] if shown["own_seat"]["seat"] == seat else self.players[1]
        to_call = int((round_["view"].get("legal") or {}).get("to_call_cents") or 0)
        move = {"@type": MOVE, "action": "ACTION_CALL" if to_call else "ACTION_CHECK"}
        path = f"/v1/tables/{self.table}/rounds/{round_['round_id']}:act"
        try:
            await player.client.call(path, {"turn": round_["turn"]["turn"], "move": move})
        except Refused as refused:
            if refused.reason not in PASSED:
                raise
            return False
        return True

    async def _wait_for(self, condition: Callable[[Json], bool]) -> Json:
        return await wait_for_table(self.players[0].client, self.table, condition)


async def sit_as_pair(entrance: Entrance, session: aiohttp.ClientSession, table: str) -> PokerPair:
    """Opens two accounts with money for a table of poker; both sit down when the first hand begins."""
    return PokerPair(table, (await new_account(entrance, session), await new_account(entrance, session)))


def _turn_seats(shown: Json) -> list[int]:
    """Whose turn it is, while somebody may decide."""
    table = shown["table"]
    return list(((table.get("round") or {}).get("turn") or {}).get("seats") or []) if _is_played(table) else []


def _is_played(table: Json) -> bool:
    return bool(table["phase"] == "PHASE_PLAYING")


def _is_over(shown: Json, round_id: str) -> bool:
    round_ = shown["table"].get("round") or {}
    return round_.get("round_id") != round_id or bool(round_.get("outcome"))
