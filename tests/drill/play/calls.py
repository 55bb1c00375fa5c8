"""Calls a platform over REST as one client, over either gateway; commands are sent again until they are answered."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from random import Random
from typing import Any

import aiohttp

from tests.drill.checks.feed import Json
from tests.drill.recorder import ABANDONED, ANSWERED, UNANSWERED, Command, Recorder
from tests.processes.gateway import IDEMPOTENCY_KEY_HEADER

# An attempt without an answer for so long is given up, and the next one goes to the other gateway.
ATTEMPT_S = 5.0
PAUSE_S = 0.2
# Longer than any fault; a command that is not answered within it is a finding.
ANSWERED_WITHIN_S = 150.0
# Refusals that say nothing about the command: it is sent again.
_AGAIN = frozenset({"TABLE_ELSEWHERE", "UNAVAILABLE", "OVERLOADED", "RATE_LIMITED"})


class Refused(Exception):
    """The platform refused a command; the message is why."""

    def __init__(self, reason: str, problem: Json) -> None:
        super().__init__(f"{reason}: {problem.get('detail', '')}")
        self.reason = reason


class Unanswered(Exception):
    """A command was not answered for too long; the message says which."""


class Calls:
    """The calls of one client; what it calls is recorded."""

    def __init__(
        self, name: str, token: str, gateways: Sequence[str], session: aiohttp.ClientSession, recorder: Recorder
    ) -> None:
        self.name = name
        self.headers = {"Authorization": f"Bearer {token}"}
        self.session = session
        self._gateways = gateways
        self._recorder = recorder
        self._turn = sum(name.encode())
        self._requests = 0

    def gateway(self) -> str:
        """The gateway that is called now."""
        return self._gateways[self._turn % len(self._gateways)]

    def other_gateway(self) -> None:
        """Turns to another gateway, for this one did not answer."""
        self._turn += 1

    def new_request_id(self) -> str:
        self._requests += 1
        return f"{self.name}-{self._requests}"

    def command(self, kind: str, account_id: str = "", cents: int = 0) -> Command:
        """A new command that is about no table."""
        return Command(kind, self.name, self.new_request_id(), account_id, cents=cents)

    async def run(self, command: Command, path: str, body: Json | None = None) -> Json:
        """Sends a command until it is answered; raises `Refused`, or `Unanswered` after very long."""
        command.invoked = time.time()
        try:
            while time.time() - command.invoked < ANSWERED_WITHIN_S:
                answer = await self._attempt(command, path, body)
                if answer is None:
                    self.other_gateway()
                    await asyncio.sleep(PAUSE_S)
                    continue
                command.responded = time.time()
                return self._read(command, answer)
            command.outcome = UNANSWERED
            raise Unanswered(f"{command.kind} of {command.actor}: {command.last_failure}")
        finally:
            self._recorder.command(command)

    async def abandon(self, command: Command, path: str, body: Json, dice: Random) -> None:
        """Sends a command once, and loses the connection: perhaps before it has arrived, perhaps before its answer."""
        command.invoked = time.time()
        try:
            async with asyncio.timeout(dice.choice((dice.uniform(0, 0.03), 1.0))):
                await self._attempt(command, path, body)
        except TimeoutError:
            pass
        finally:
            command.outcome, command.responded = ABANDONED, math.inf
            self._recorder.command(command)

    async def _attempt(self, command: Command, path: str, body: Json | None) -> tuple[int, Json] | None:
        command.attempts += 1
        headers = {**self.headers, IDEMPOTENCY_KEY_HEADER: command.request_id} if body is not None else self.headers
        method = "GET" if body is None else "POST"
        try:
            async with (
                asyncio.timeout(ATTEMPT_S),
                self.session.request(method, self.gateway() + path, json=body, headers=headers) as answer,
            ):
                content: Any = await answer.json(content_type=None)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as failed:
            command.last_failure = f"{type(failed).__name__}: {failed}"
            return None
        if not isinstance(content, dict):
            return None
        reason = content.get("reason", "")
        if answer.status >= 500 or reason in _AGAIN:
            command.last_failure = f"{answer.status} {reason}: {content.get('detail', '')}"
            return None
        return answer.status, content

    def _read(self, command: Command, answer: tuple[int, Json]) -> Json:
        status, content = answer
        if status >= 400:
            command.outcome = str(content.get("reason") or status)
            raise Refused(command.outcome, content)
        command.outcome = ANSWERED
        stake = content.get("stake") or {}
        command.stake_id = stake.get("stake_id") or content.get("stake_id") or ""
        balance = stake.get("balance") or content.get("balance")
        if command.kind == "cancel":
            command.cents = int(content.get("cancelled_cents") or 0)
        if balance and command.kind != "launch":
            # The result of a round may be told again long after it: its balance is as of then.
            command.balance = (
                int(balance.get("free_cents") or 0),
                int(balance.get("locked_cents") or 0),
                int(balance.get("version") or 0),
            )
        return content
