"""Everything is killed while players bet, and started again: each bet counts once, and is paid or returned."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest

from tests.system.client import Refused, RestClient
from tests.system.platform import TIMEOUT_S, Platform

pytestmark = pytest.mark.slow

DEPOSIT_CENTS, BET_CENTS = 1_000_000, 100
# A multi-player table whose window outlasts the test, and an individual one, whose rounds follow at once.
MANY = {"play": "PLAY_MULTI_PLAYER", "betting_window_ms": 600_000, "seats": 10}
SOLO = {"play": "PLAY_INDIVIDUAL"}
# Among many a crowd bets repeatedly; alone, one player leaves a bet and another spins repeatedly.
CROWD, WAITING, SPINNING = ("crowd-1", "crowd-2", "crowd-3"), "waiting", "spinning"
PLAYERS = (*CROWD, WAITING, SPINNING)
PAID, RETURNED = "ROUND_STATE_SETTLED", "ROUND_STATE_VOID"
ENDED = {PAID, RETURNED}


class BettingPlayer(RestClient):
    """A player that remembers which bets were sent and which were acknowledged."""

    def __init__(self, platform: Platform, session: aiohttp.ClientSession, name: str, scope: str = "player") -> None:
        super().__init__(platform, session, scope, name)
        self.name = name
        self.account = self.table = ""
        # Cents by round.
        self.sent: Counter[str] = Counter()
        self.acknowledged: Counter[str] = Counter()

    async def persist(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        """The answer, once there is one: a table takes a moment to be opened, or to be taken over."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                return await self.call(path, body)
            except Refused:
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.05)

    async def sit_down(self, table: str) -> None:
        self.table = (await self.persist(f"/v1/tables/{table}:enter", {}))["table"]["table_id"]

    async def bet(self) -> str:
        """Bets once in the open round; the round's id."""
        async with asyncio.timeout(TIMEOUT_S):
            while (shown := (await self.call(f"/v1/tables/{self.table}"))["table"])["phase"] != "PHASE_BETTING":
                await asyncio.sleep(0.02)
        round_id: str = shown["round"]["round_id"]
        bets = [{"place": "red", "amount_cents": BET_CENTS}]
        self.sent[round_id] += BET_CENTS
        await self.call(f"/v1/roulette/tables/{self.table}/bets", {"round_id": round_id, "bets": bets})
        self.acknowledged[round_id] += BET_CENTS
        return round_id

    async def spin(self, round_id: str) -> None:
        await self.call(f"/v1/roulette/tables/{self.table}:spin", {"round_id": round_id})

    async def play_until_no_answer(self, *, spinning: bool) -> None:
        with contextlib.suppress(aiohttp.ClientError):
            while True:
                try:
                    round_id = await self.bet()
                    if spinning:
                        await self.spin(round_id)
                except Refused:
                    # Not acknowledged: a platform that is being killed refuses while it can.
                    await asyncio.sleep(0.02)

    async def balance(self) -> dict[str, int]:
        balance = (await self.persist(f"/v1/accounts/{self.account}/balance"))["balance"]
        return {name: int(balance[name]) for name in ("free_cents", "locked_cents")}

    async def rounds(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        page = ""
        while True:
            query = urlencode({"include_taking_bets": "true", "page_size": 500, "page_token": page})
            answer = await self.persist(f"/v1/games/roulette/players/{self.name}/rounds?{query}")
            found += answer["rounds"]
            if not (page := answer["next_page_token"]):
                return found


async def _prepare(operator: BettingPlayer, players: Mapping[str, BettingPlayer]) -> None:
    """Configures both tables, and seats every player with money."""
    rules = {"@type": "type.googleapis.com/feltro.roulette.v1.SpecificRules", "wheel": "WHEEL_FRENCH"}
    for table, chosen in (("many", MANY), ("solo", SOLO)):
        configuration = {
            "game": "roulette",
            "regulation": "807/2015",
            "mode": "MODE_REAL",
            "name": {"pt": table, "en": table},
            "rules": {**rules, "minimum_cents": str(BET_CENTS)},
            **chosen,
        }
        entered = {"configuration": configuration, "approval_reference": "SRIJ/test"}
        await operator.call(f"/v1/tables/{table}/configurations", entered)
    for player in players.values():
        opened = await operator.call("/v1/accounts", {"player_id": player.name, "mode": "MODE_REAL"})
        player.account = opened["balance"]["account_id"]
        await operator.call(f"/v1/accounts/{player.account}/deposits", {"amount_cents": DEPOSIT_CENTS})
        await player.sit_down("many" if player.name in CROWD else "solo")


async def _kill_amid_bets(platform: Platform, players: Mapping[str, BettingPlayer]) -> None:
    """Kills everything while some players bet, one has a bet on the felt, and one spins."""
    await players[WAITING].bet()
    playing = [
        asyncio.create_task(players[name].play_until_no_answer(spinning=name == SPINNING))
        for name in (*CROWD, SPINNING)
    ]
    async with asyncio.timeout(TIMEOUT_S):
        while not all(sum(players[name].acknowledged.values()) > 2 * BET_CENTS for name in (*CROWD, SPINNING)):
            await asyncio.sleep(0.01)
    await asyncio.to_thread(platform.kill_all)
    await asyncio.gather(*playing)


async def _ended_rounds(player: BettingPlayer) -> list[dict[str, Any]]:
    """Waits until all rounds have ended and nothing is locked: money returns before the record is written."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        locked, rounds = (await player.balance())["locked_cents"], await player.rounds()
        ended = {entry["round"]["round_id"] for entry in rounds if entry["round"]["state"] in ENDED}
        if not locked and len(ended) == len(rounds) and player.acknowledged.keys() <= ended:
            return rounds
        assert time.monotonic() < deadline, (player.name, locked, rounds)
        await asyncio.sleep(0.05)


async def _account_for(player: BettingPlayer) -> Counter[str]:
    """Checks that the balance follows from the rounds; counts how the rounds ended."""
    rounds = await _ended_rounds(player)
    staked = {entry["round"]["round_id"]: int(entry["staked_cents"]) for entry in rounds}
    assert staked.keys() <= player.sent.keys(), player.name
    # An acknowledged bet counts; one without an answer may.
    for round_id, sent in player.sent.items():
        assert player.acknowledged[round_id] <= staked.get(round_id, 0) <= sent, (player.name, round_id)
    paid = sum(int(entry["payout_cents"]) for entry in rounds)
    free = DEPOSIT_CENTS - sum(staked.values()) + paid
    assert await player.balance() == {"free_cents": free, "locked_cents": 0}, player.name
    return Counter(entry["round"]["state"] for entry in rounds)


def _audit(platform: Platform) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stack.commands.audit"],
        env=platform.environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G5")
async def test_g5_after_killing_everything_each_bet_is_paid_or_returned_once(platform: Platform) -> None:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session:
        players = {name: BettingPlayer(platform, session, name) for name in PLAYERS}
        await _prepare(BettingPlayer(platform, session, "maria", "operator"), players)
        await _kill_amid_bets(platform, players)
        await asyncio.to_thread(platform.start)
        ended = {name: await _account_for(player) for name, player in players.items()}
        # Nothing is drawn while bets are open: these bets were returned. A paid bet stays paid.
        for name in (*CROWD, WAITING):
            assert ended[name] == {RETURNED: 1}
        assert ended[SPINNING].keys() <= ENDED
        assert ended[SPINNING][PAID] > 0
        audited = _audit(platform)
        assert audited.returncode == 0, audited.stdout + audited.stderr
        # Play goes on.
        for player in (players[WAITING], players[SPINNING]):
            await player.sit_down("solo")
            await player.spin(await player.bet())
            assert (await _account_for(player))[PAID] > ended[player.name][PAID]
    assert await asyncio.to_thread(platform.stop, signal.SIGHUP) == 0
