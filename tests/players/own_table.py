"""A player at a table for one: bets, closes the betting, decides, and compares what the game and the wallet tell."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.players.client import DEPOSIT_CENTS, PAUSE_S, TIMEOUT_S, Account, Entrance, Json, Refused, new_account
from tests.players.client import wait_for_table as wait_for

STAKE_CENTS = 500
# As the table decides when the time runs out: offers are declined, and up to 11 points nobody may stand.
DECISIONS = ("DECISION_DECLINE", "DECISION_STAND", "DECISION_DRAW")
MOVE = "type.googleapis.com/feltro.blackjack.v1.Move"
HAS_ENDED = {"ROUND_STATE_SETTLED", "ROUND_STATE_VOID"}


@dataclass(frozen=True, slots=True)
class Game:
    """How a game is played at a table for one."""

    name: str
    entry_table: str
    place: str
    act: str
    """The player's command that closes the betting."""
    decides: bool = False
    """Whether the player decides after the deal."""


GAMES = (
    Game("roulette", "french-solo", "red", "spin"),
    Game("baccarat", "baccarat-solo", "ponto", "deal"),
    Game("blackjack", "blackjack-solo", "1", "deal", decides=True),
)


@dataclass
class SoloPlayer:
    """A player of one game, at their own table."""

    game: Game
    account: Account
    table: str
    rounds: list[str] = field(default_factory=list)
    """The rounds in which the player has bet."""

    @property
    def unanswered(self) -> int:
        """How many attempts of the player got no answer."""
        return self.account.client.unanswered

    async def begin_round(self) -> None:
        """Bets, and leaves the round in its middle: before the spin or deal, or with a decision to make."""
        while True:
            round_id = await self._bet()
            if not self.game.decides:
                return
            if await self._close_betting(round_id) and await self._question(round_id) is not None:
                return
            # A blackjack has ended the round with nothing to decide, or the table was taken over before the deal.

    async def finish_round(self) -> None:
        """Plays the last round to its end; one whose table was taken over while it took bets is void already."""
        round_id = self.rounds[-1]
        if not self.game.decides:
            await self._close_betting(round_id)
            return
        while (question := await self._question(round_id)) is not None:
            turn, own_view = question
            places = {option["decision"]: option["place"] for option in own_view["options"]}
            decision = next(each for each in DECISIONS if each in places)
            move = {"@type": MOVE, "place": places[decision], "decision": decision}
            act = f"/v1/tables/{self.table}/rounds/{round_id}:act"
            await self.account.client.call(act, {"turn": turn, "move": move})

    async def assert_rounds_ended_once(self) -> set[str]:
        """Compares the rounds with the balance; returns how they have ended."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                listed, balance = await self.account.rounds(self.game.name), await self.account.balance()
                states = {each["round"]["round_id"]: each["round"]["state"] for each in listed}
                if set(states) >= set(self.rounds) and set(states.values()) <= HAS_ENDED:
                    break
                await asyncio.sleep(PAUSE_S)
        assert sorted(states) == sorted(self.rounds)
        assert len(listed) == len(states), "a round is listed twice"
        result = sum(int(each["payout_cents"]) - int(each["staked_cents"]) for each in listed)
        assert int(balance["locked_cents"]) == 0
        assert int(balance["free_cents"]) == DEPOSIT_CENTS + result
        return set(states.values())

    async def _state(self) -> Json:
        return await self.account.client.call(f"/v1/tables/{self.table}")

    async def _bet(self) -> str:
        bets = [{"place": self.game.place, "amount_cents": STAKE_CENTS}]
        path = f"/v1/{self.game.name}/tables/{self.table}/bets"
        while True:
            client = self.account.client
            shown = await wait_for(client, self.table, lambda shown: bool(shown["table"]["phase"] == "PHASE_BETTING"))
            round_id: str = shown["table"]["round"]["round_id"]
            try:
                await client.call(path, {"round_id": round_id, "bets": bets})
            except Refused as refused:
                if refused.reason == "NOT_SEATED":
                    # A player who could not play for minutes has left the table, and sits down there again.
                    await client.call(f"/v1/tables/{self.game.entry_table}:enter", {})
                # The table was taken over in the meantime, and its next owner has opened another round.
                elif refused.reason != "BETTING_CLOSED":
                    raise
            else:
                self.rounds.append(round_id)
                return round_id

    async def _close_betting(self, round_id: str) -> bool:
        """Has the round begin; False where its table was taken over while it took bets, which has made it void."""
        path = f"/v1/{self.game.name}/tables/{self.table}:{self.game.act}"
        try:
            await self.account.client.call(path, {"round_id": round_id})
        except Refused:
            if not _has_moved_on(await self._state(), round_id):
                raise
            return False
        return True

    async def _question(self, round_id: str) -> tuple[int, Json] | None:
        """Returns the turn and what the player may decide in it; None once the round is over."""

        def is_asked_or_over(shown: Json) -> bool:
            return _has_moved_on(shown, round_id) or bool(own_view_of(shown))

        shown = await wait_for(self.account.client, self.table, is_asked_or_over)
        if _has_moved_on(shown, round_id):
            return None
        return shown["table"]["round"]["turn"]["turn"], own_view_of(shown)


async def sit_alone(entrance: Entrance, session: aiohttp.ClientSession, game: Game) -> SoloPlayer:
    """Opens an account with money, and sits down at a table for one."""
    account = await new_account(entrance, session)
    entered = await account.client.call(f"/v1/tables/{game.entry_table}:enter", {})
    return SoloPlayer(game, account, entered["table"]["table_id"])


def own_view_of(shown: Mapping[str, Any]) -> Json:
    """What a player alone may see of the round."""
    found: Json = (shown.get("own_seat") or {}).get("own_view") or {}
    return found


def _has_moved_on(shown: Mapping[str, Any], round_id: str) -> bool:
    """Whether the table is at another round, or shows the result of this one."""
    round_ = shown["table"].get("round") or {}
    return round_.get("round_id") != round_id or bool(round_.get("outcome"))
