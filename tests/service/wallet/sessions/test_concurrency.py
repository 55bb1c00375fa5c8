"""Bets, rounds, ended sessions and sweeps of two replicas, interleaved at random."""

from __future__ import annotations

import asyncio
import random
import re
from collections import defaultdict
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from feltro.wallet.v1 import events_pb2
from services.kit.refusal import Refused
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    INDIVIDUAL,
    MULTI_PLAYER,
    InProcessWallet,
    ManualClock,
    Seat,
    open_wallet,
)

# The order in which a player may receive the facts of one session: a warning only after an invitation, the end by
# inactivity only after both. (First letters; d is a withdrawal, E the end, x the end by inactivity.)
LAWFUL_ORDER = re.compile(r"s(iw?d)*(iw?|E|iw?E|iwx)?")
LETTERS = {"started": "s", "invitation": "i", "warning": "w", "withdrawn": "d", "ended": "E"}
# Refusals of a call that comes a moment too late.
REFUSALS_OF_LATE_CALLS = {
    "SESSION_ENDED",
    "SESSION_RUNNING",
    "STAKES_MISMATCH",
    "ROUND_ENDED",
    "INSUFFICIENT_FUNDS",
    "STAKE_UNKNOWN",
}

_COUNT_VIOLATIONS = text(
    """
    SELECT (SELECT count(*) FROM stakes JOIN sessions USING (session_no) WHERE stakes.state = 1 AND sessions.state = 5)
         + (SELECT count(*) FROM sessions WHERE state = 5 AND next_step_at IS NOT NULL)
    """
)
_ENDED_BY_INACTIVITY = text("SELECT session_id::text FROM sessions WHERE end_cause = 2")


class RandomRounds:
    """A few players, each at an individual table and at one wheel for all, for some rounds."""

    def __init__(self, wallets: Sequence[InProcessWallet], generator: random.Random) -> None:
        self.wallets = wallets
        self.generator = generator
        self.seats: list[Seat] = []
        self.stakes: dict[str, dict[str, int]] = {}

    @property
    def wallet(self) -> InProcessWallet:
        return self.generator.choice(self.wallets)

    async def open(self, players: int) -> None:
        wallet = self.wallets[0]
        await wallet.open_table("wheel", MULTI_PLAYER)
        for number in range(players):
            table_id = await wallet.open_table(f"table-{number}", INDIVIDUAL)
            self.seats.append(await wallet.sit_down(f"p{number}", table_id))
            self.seats.append(await wallet.sit_down(f"p{number}", "wheel"))

    async def play(self, number: int) -> None:
        """Some players bet, some leave, some do nothing; then the rounds end, while both replicas sweep."""
        open_rounds = {seat.table_id: f"{seat.table_id}/{number}" for seat in self.seats}
        self.stakes = {round_id: {} for round_id in open_rounds.values()}
        await self.wallet.announce("wheel", open_rounds["wheel"])
        calls: list[Coroutine[Any, Any, Any]] = [wallet.inactivity_watch.sweep() for wallet in self.wallets]
        for place, seat in enumerate(self.seats):
            choice = self.generator.random()
            if choice < 0.25:
                calls.append(self._bet(seat, open_rounds[seat.table_id]))
            elif choice < 0.28:
                calls.append(self.wallet.end_session(seat))
            elif choice < 0.45:
                calls.append(self._come_back(place))
        self.generator.shuffle(calls)
        await self._all(calls)
        calls = [self._finish(table_id, round_id) for table_id, round_id in open_rounds.items()]
        await self._all([*calls, *(wallet.inactivity_watch.sweep() for wallet in self.wallets)])
        self.wallets[0].clock.advance(self.generator.choice([5, 30, 61, 181]))

    async def _bet(self, seat: Seat, round_id: str) -> None:
        stake = await self.wallet.place(seat, round_id, 10)
        self.stakes[round_id][stake] = self.generator.choice([0, 20])
        if self.generator.random() < 0.2:
            await self.wallet.cancel(seat, round_id, stake)
            del self.stakes[round_id][stake]

    async def _come_back(self, place: int) -> None:
        """Starts a new session; refused while the player's session runs."""
        seat = self.seats[place]
        started = await self.wallet.start_session(seat.account_id, seat.table_id)
        self.seats[place] = replace(seat, session_id=started.session.session_id)

    async def _finish(self, table_id: str, round_id: str) -> None:
        present = [seat.session_in_round() for seat in self.seats if seat.table_id == table_id]
        if self.generator.random() < 0.2:
            await self.wallet.void(table_id, round_id)
        else:
            await self.wallet.settle(table_id, round_id, self.stakes[round_id], present)

    async def _all(self, calls: Sequence[Coroutine[Any, Any, Any]]) -> None:
        for answer in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(answer, Refused):
                assert answer.reason in REFUSALS_OF_LATE_CALLS
            elif isinstance(answer, BaseException):
                raise answer


@pytest.mark.rule("804/2015:29")
@pytest.mark.rule("805/2015:35")
@pytest.mark.parametrize("seed", range(4))
async def test_players_receive_facts_in_lawful_order_whatever_runs_concurrently(
    wallet_database: WalletDatabase, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock()
    async with open_wallet(wallet_database.url, clock) as first, open_wallet(wallet_database.url, clock) as second:
        rounds = RandomRounds([first, second], random.Random(seed))
        await rounds.open(players=4)
        for number in range(24):
            await rounds.play(number)
            async with first.engine.connect() as connection:
                assert (await connection.execute(_COUNT_VIOLATIONS)).scalar_one() == 0

        async with first.engine.connect() as connection:
            by_inactivity = set((await connection.execute(_ENDED_BY_INACTIVITY)).scalars())
        histories: defaultdict[str, str] = defaultdict(str)
        for player_id in {seat.player_id for seat in rounds.seats}:
            for session_id, letter in await fact_letters(first, player_id):
                histories[session_id] += letter
        for session_id, letters in histories.items():
            marked = letters.replace("E", "x") if session_id in by_inactivity else letters
            assert LAWFUL_ORDER.fullmatch(marked), letters
        # No deadlock, and no group was retried for a lock.
        assert not caplog.messages
        # There were enough rounds for both to happen.
        assert by_inactivity
        assert any("d" in letters for letters in histories.values())


async def fact_letters(wallet: InProcessWallet, player_id: str) -> list[tuple[str, str]]:
    """The session and the letter of every fact that a player receives."""
    facts, names = await wallet.player_facts(player_id), await wallet.fact_names(player_id)
    return [(_session_of(fact), LETTERS[name]) for fact, name in zip(facts, names, strict=True)]


def _session_of(fact: events_pb2.PlayerFact) -> str:
    ids = fact.session_started.session.session_id, fact.session_notice.session_id, fact.session_ended.session.session_id
    return "".join(ids)
