"""Two players who share all that they are told, over every channel: no card of the third is in it.

They ask for everything that a player can ask for, before, during and after the hand; what they must not do is tried as
well, for what refusals say. A program that knows all cards reads everything: answers, streams, exports, metrics, logs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import tomllib
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from stack.data_folder import DataFolder
from tests.system.client import Refused, RestClient
from tests.system.platform import ANSWER_TIMEOUT_S, TIMEOUT_S, Platform

pytestmark = pytest.mark.slow

CARD = re.compile(r'"([2-9TJQKA][shdc])"')
NAMED_IN_HISTORY = re.compile(r"[2-9TJQKA][shdc]")
CENTS, CAVE_CENTS = 100_000, 5_000
LIMITS = {"806/2015": "LIMIT_NO_LIMIT", "811/2015": "LIMIT_POT"}
PERSONAL_CARDS = {"806/2015": 2, "811/2015": 4}


@dataclass(slots=True)
class Colluder:
    """A player who keeps all that ever reaches them."""

    name: str
    token: str
    session: aiohttp.ClientSession
    url: str
    heard: list[str] = field(default_factory=list)
    listening: list[asyncio.Task[None]] = field(default_factory=list)

    async def ask(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Calls as often as the gateway's rate limit lets it, and returns the answer, or what a refusal says."""
        headers = {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            headers["Idempotency-Key"] = str(uuid4())
        method = "GET" if body is None else "POST"
        while True:
            async with self.session.request(method, self.url + path, json=body, headers=headers) as answer:
                self.heard.append(await answer.text())
            found: dict[str, Any] = json.loads(self.heard[-1])
            if found.get("reason") != "RATE_LIMITED":
                return found
            await asyncio.sleep(int(found["facts"]["retry_after_ms"]) / 1000)

    async def listen(self, table: str) -> None:
        """Listens to the table over a WebSocket and over server-sent events, until the test ends."""
        ready = [asyncio.Event(), asyncio.Event()]
        self.listening = [
            asyncio.create_task(self._socket(table, ready[0])),
            asyncio.create_task(self._stream(table, ready[1])),
        ]
        await asyncio.gather(*(each.wait() for each in ready))

    async def _socket(self, table: str, ready: asyncio.Event) -> None:
        async with self.session.ws_connect(f"{self.url}/v1/ws") as socket:
            authenticate = {"jsonrpc": "2.0", "id": 1, "method": "authenticate", "params": {"token": self.token}}
            await socket.send_json(authenticate)
            await socket.send_json({"jsonrpc": "2.0", "id": 2, "method": "subscribe", "params": {"table_id": table}})
            async for message in socket:
                self.heard.append(str(message.data))
                if json.loads(message.data).get("id") == 2:
                    ready.set()

    async def _stream(self, table: str, ready: asyncio.Event) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        no_end = aiohttp.ClientTimeout(total=None)
        address = f"{self.url}/v1/tables/{table}/events"
        async with self.session.get(address, headers=headers, timeout=no_end) as answer:
            async for line in answer.content:
                self.heard.append(line.decode())
                if line.startswith(b"data:"):
                    ready.set()

    def cards(self) -> set[str]:
        """All cards that were ever named to this player."""
        return {card for text in self.heard for card in CARD.findall(text)}


@asynccontextmanager
async def players_at(platform: Platform, table: str, session: aiohttp.ClientSession) -> AsyncIterator[list[Colluder]]:
    """Three players with caves, who listen from before the first hand, which begins with the third of them."""
    operator = RestClient(platform, session, "operator", "back-office")
    players: list[Colluder] = []
    try:
        for seat in (1, 2, 3):
            name = f"player-{uuid4().hex[:12]}"
            opened = await operator.call("/v1/accounts", {"player_id": name, "mode": "MODE_REAL"})
            account = opened["balance"]["account_id"]
            await operator.call(f"/v1/accounts/{account}/deposits", {"amount_cents": CENTS})
            player = Colluder(name, platform.token("player", name), session, platform.url)
            players.append(player)
            assert "own_seat" in await player.ask(f"/v1/tables/{table}:enter", {"seat": seat})
            await player.listen(table)
        for player in players:
            assert "balance" in await player.ask(f"/v1/poker/tables/{table}:buyIn", {"amount_cents": CAVE_CENTS})
        yield players
    finally:
        for player in players:
            for task in player.listening:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task


async def new_table(platform: Platform, session: aiohttp.ClientSession, regulation: str) -> str:
    """A table of three whose clock ends nothing during the test."""
    table = f"table-{uuid4().hex[:12]}"
    configuration = {
        "game": "poker",
        "regulation": regulation,
        "mode": "MODE_REAL",
        "play": "PLAY_POKER",
        "name": {"pt": "Mesa", "en": "Table"},
        "seats": 3,
        "decision_ms": 120_000,
        "result_shown_ms": 60_000,
        "rules": {
            "@type": "type.googleapis.com/feltro.poker.v1.SpecificRules",
            "big_blind_cents": "100",
            "cave_min_cents": "4000",
            "cave_max_cents": "10000",
            "limit": LIMITS[regulation],
            "min_players": 3,
        },
    }
    operator = RestClient(platform, session, "operator", "back-office")
    body = {"approval_reference": "a test", "configuration": configuration}
    await operator.call(f"/v1/tables/{table}/configurations", body)
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            try:
                await operator.call(f"/v1/tables/{table}")
            except Refused:
                # No event says that a process has taken a new table.
                await asyncio.sleep(0.05)
            else:
                return table


async def pry(player: Colluder, table: str, round_id: str, turn: int) -> None:
    """Asks for all that there is, and for what there is not."""
    act = f"/v1/tables/{table}/rounds/{round_id}:act"
    for action, to_cents in (("ACTION_RAISE", 1), ("ACTION_RAISE", 10**9), ("ACTION_CHECK", 0), ("ACTION_CHECK", 5)):
        move = {"@type": "type.googleapis.com/feltro.poker.v1.Move", "action": action, "to_cents": f"{to_cents}"}
        await player.ask(act, {"turn": turn + (action == "ACTION_CHECK"), "move": move})
    for path in (
        f"/v1/tables/{table}",
        f"/v1/tables/{table}/rounds",
        f"/v1/tables/{table}/rules",
        f"/v1/tables/{table}/configurations",
        f"/v1/poker/tables/{table}/layout",
        f"/v1/games/poker/players/{player.name}/rounds",
        f"/v1/games/poker/rounds/{round_id}:replay",
        f"/v1/poker/tables/{table}/hands/{round_id}:export",
    ):
        await player.ask(path)


async def play_hand(players: list[Colluder], table: str) -> tuple[str, dict[str, set[str]]]:
    """Has the first who may act fold and the other two call; returns the hand, and everybody's cards."""
    hidden: Colluder | None = None
    cards: dict[str, set[str]] = {}
    round_id = ""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            shown = {player.name: await player.ask(f"/v1/tables/{table}") for player in players}
            table_now = shown[players[0].name]["table"]
            if round_id and "next_round_opens_at" in table_now:
                return round_id, cards
            lying = table_now.get("round", {})
            turn = lying.get("turn")
            if turn is None:
                await asyncio.sleep(0.02)
                continue
            round_id = lying["round_id"]
            owns = {name: each["own_seat"]["own_view"] for name, each in shown.items()}
            cards = {name: set(own["cards"]) for name, own in owns.items()}
            actor = next(player for player in players if "legal" in owns[player.name])
            hidden = hidden or actor
            for player in players:
                if player is not hidden:
                    await pry(player, table, round_id, turn["turn"])
            call = "ACTION_CALL" if int(owns[actor.name]["legal"].get("to_call_cents", 0)) else "ACTION_CHECK"
            action = "ACTION_FOLD" if actor is hidden else call
            move = {"@type": "type.googleapis.com/feltro.poker.v1.Move", "action": action}
            path = f"/v1/tables/{table}/rounds/{round_id}:act"
            assert "position" in await actor.ask(path, {"turn": turn["turn"], "move": move})


def metrics(platform: Platform) -> str:
    """What all processes count."""
    found = []
    for name, port in platform.settings.items():
        if name.endswith("_METRICS_PORT"):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=ANSWER_TIMEOUT_S) as answer:
                found.append(answer.read().decode())
    return "\n".join(found)


def logs(platform: Platform) -> str:
    """What all processes have logged."""
    files = sorted(DataFolder(platform.data).logs.rglob("*.log"))
    return "\n".join([platform.output, *(file.read_text(errors="replace") for file in files)])


@pytest.mark.guarantee("G7")
@pytest.mark.rule("806/2015:2.d", "806/2015:11.d", "806/2015:34.a", "806/2015:65")
@pytest.mark.rule("811/2015:2.d", "811/2015:11.d", "811/2015:34.a", "811/2015:65")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_g7_two_players_who_share_everything_learn_no_card_of_the_third(
    platform: Platform, regulation: str
) -> None:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session:
        table = await new_table(platform, session, regulation)
        async with players_at(platform, table, session) as players:
            round_id, cards = await play_hand(players, table)
            exports: dict[str, str] = {}
            async with asyncio.timeout(TIMEOUT_S):
                for player in players:
                    # The hand is on record a moment after its last decision.
                    while "phh" not in (found := await player.ask(f"/v1/poker/tables/{table}/hands/{round_id}:export")):
                        await asyncio.sleep(0.02)
                    exports[player.name] = found["phh"]
            for player in players:
                await pry(player, table, round_id, 1)
                # Both ways of listening have told the end of the hand.
                async with asyncio.timeout(TIMEOUT_S):
                    while sum('"round_settled"' in text and round_id in text for text in player.heard) < 2:
                        await asyncio.sleep(0.02)
            (outcome,) = (
                each["outcome"]
                for each in (await players[0].ask(f"/v1/tables/{table}/rounds"))["rounds"]
                if each["round_id"] == round_id
            )

    board = set(outcome["view"]["board"])
    shown = {card for seat in outcome["view"]["seats"] for card in seat.get("cards", [])}
    everybodys = {card for own in cards.values() for card in own}
    assert len(everybodys | board) == 3 * PERSONAL_CARDS[regulation] + 5
    # One has folded, and the others have turned their cards up.
    folded = [name for name, own in cards.items() if not own & shown]
    assert len(folded) == 1
    assert shown == everybodys - cards[folded[0]]
    for player in players:
        own = cards[player.name]
        assert player.cards() == own | shown | board
        history = tomllib.loads(exports[player.name])["actions"]
        told = {card for action in history for card in NAMED_IN_HISTORY.findall(action)}
        assert told == own | shown | board
    for told_to_nobody in (metrics(platform), logs(platform)):
        assert table in told_to_nobody or "feltro_table_decisions_total" in told_to_nobody
        assert not everybodys & set(CARD.findall(told_to_nobody))
