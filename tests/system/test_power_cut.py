"""Everything is killed while players bet, and started again: each bet is there once, and paid or returned."""

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
from uuid import uuid4

import aiohttp
import pytest

from tests.system.platform import TIMEOUT_S, Platform

pytestmark = pytest.mark.slow

DEPOSIT_CENTS, BET_CENTS = 1_000_000, 100
# One for many, whose round takes bets for as long as the test may take, and one for each, whose rounds follow at once.
MANY = {"play": "PLAY_MULTI_PLAYER", "betting_window_ms": 600_000, "seats": 10}
SOLO = {"play": "PLAY_INDIVIDUAL"}
# Who bets on and on at the first; who leaves a bet on his own; who launches the ball again and again on his own.
CROWD, WAITING, SPINNING = ("ana", "bea", "cai"), "dan", "eva"
PLAYERS = (*CROWD, WAITING, SPINNING)
PAID, RETURNED = "ROUND_STATE_SETTLED", "ROUND_STATE_VOID"
ENDED = {PAID, RETURNED}


class Refused(Exception):
    """The platform answered, and not with what was asked for."""


class Person:
    """Somebody at the edge."""

    def __init__(self, platform: Platform, session: aiohttp.ClientSession, name: str, scope: str = "player") -> None:
        command = [sys.executable, "-m", "services.kit.command", "token", "--scope", scope, "--subject", name]
        ran = subprocess.run(command, env=platform.environment, capture_output=True, text=True, check=True)
        self.name = name
        self.account = self.table = ""
        # By its round: what he asked for, and what he was told that counts.
        self.tried: Counter[str] = Counter()
        self.acknowledged: Counter[str] = Counter()
        self._headers = {"Authorization": f"Bearer {ran.stdout.strip()}"}
        self._url = platform.url
        self._session = session

    async def call(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        """An answer; `Refused`, or what aiohttp raises when there is none."""
        method, headers = ("GET", {}) if body is None else ("POST", {"Idempotency-Key": str(uuid4())})
        async with self._session.request(
            method, self._url + path, json=body, headers={**self._headers, **headers}
        ) as answer:
            said: dict[str, Any] = await answer.json(content_type=None)
            if not answer.ok:
                raise Refused(said)
            return said

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
        """One bet in the round that is open, and its round."""
        async with asyncio.timeout(TIMEOUT_S):
            while (seen := (await self.call(f"/v1/tables/{self.table}"))["table"])["phase"] != "PHASE_BETTING":
                await asyncio.sleep(0.02)
        round_id: str = seen["round"]["round_id"]
        bets = [{"place": "red", "amount_cents": BET_CENTS}]
        self.tried[round_id] += BET_CENTS
        await self.call(f"/v1/roulette/tables/{self.table}/bets", {"round_id": round_id, "bets": bets})
        self.acknowledged[round_id] += BET_CENTS
        return round_id

    async def spin(self, round_id: str) -> None:
        await self.call(f"/v1/roulette/tables/{self.table}:spin", {"round_id": round_id})

    async def play_until_nobody_answers(self, *, spinning: bool) -> None:
        with contextlib.suppress(aiohttp.ClientError):
            while True:
                try:
                    round_id = await self.bet()
                    if spinning:
                        await self.spin(round_id)
                except Refused:
                    # Nothing that was acknowledged: what a platform that is being killed says while it can.
                    await asyncio.sleep(0.02)

    async def balance(self) -> dict[str, int]:
        said = (await self.persist(f"/v1/accounts/{self.account}/balance"))["balance"]
        return {name: int(said[name]) for name in ("free_cents", "locked_cents")}

    async def rounds(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        page = ""
        while True:
            asked = urlencode({"include_open": "true", "page_size": 500, "page_token": page})
            said = await self.persist(f"/v1/games/roulette/players/{self.name}/rounds?{asked}")
            found += said["rounds"]
            if not (page := said["next_page_token"]):
                return found


async def _prepare(operator: Person, players: Mapping[str, Person]) -> None:
    """Two tables, and everybody at his with money."""
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


async def _cut_amid_bets(platform: Platform, players: Mapping[str, Person]) -> None:
    """Kill everything while some bet on, one has left a bet on the felt, and one's balls are rolling."""
    await players[WAITING].bet()
    playing = [
        asyncio.create_task(players[name].play_until_nobody_answers(spinning=name == SPINNING))
        for name in (*CROWD, SPINNING)
    ]
    async with asyncio.timeout(TIMEOUT_S):
        while not all(sum(players[name].acknowledged.values()) > 2 * BET_CENTS for name in (*CROWD, SPINNING)):
            await asyncio.sleep(0.01)
    await asyncio.to_thread(platform.kill_all)
    await asyncio.gather(*playing)


async def _ended_rounds(player: Person) -> list[dict[str, Any]]:
    """Waits until each round of his has ended and nothing is locked: money goes back before a round is written up."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        locked, rounds = (await player.balance())["locked_cents"], await player.rounds()
        ended = {entry["round"]["round_id"] for entry in rounds if entry["round"]["state"] in ENDED}
        if not locked and len(ended) == len(rounds) and player.acknowledged.keys() <= ended:
            return rounds
        assert time.monotonic() < deadline, (player.name, locked, rounds)
        await asyncio.sleep(0.05)


async def _account_for(player: Person) -> Counter[str]:
    """Every cent is where his rounds say. How many ended in which way."""
    rounds = await _ended_rounds(player)
    staked = {entry["round"]["round_id"]: int(entry["staked_cents"]) for entry in rounds}
    assert staked.keys() <= player.tried.keys(), player.name
    # What he was told counts does; what he was not answered may.
    for round_id, tried in player.tried.items():
        assert player.acknowledged[round_id] <= staked.get(round_id, 0) <= tried, (player.name, round_id)
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
async def test_everything_killed_amid_bets_and_started_again(platform: Platform) -> None:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session:
        players = {name: Person(platform, session, name) for name in PLAYERS}
        await _prepare(Person(platform, session, "maria", "operator"), players)
        await _cut_amid_bets(platform, players)
        await asyncio.to_thread(platform.start)
        ended = {name: await _account_for(player) for name, player in players.items()}
        # Nothing was drawn while one could bet: all of it went back. What was paid stays paid.
        for name in (*CROWD, WAITING):
            assert ended[name] == {RETURNED: 1}
        assert ended[SPINNING].keys() <= ENDED
        assert ended[SPINNING][PAID] > 0
        audited = _audit(platform)
        assert audited.returncode == 0, audited.stdout + audited.stderr
        # And play goes on.
        for player in (players[WAITING], players[SPINNING]):
            await player.sit_down("solo")
            await player.spin(await player.bet())
            assert (await _account_for(player))[PAID] > ended[player.name][PAID]
    assert await asyncio.to_thread(platform.stop, signal.SIGHUP) == 0
