"""Everything at once: bets, rounds, leave-takings and sweeps of two replicas that cross each other at random."""

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

# What a player may be told about one session, and in which order: a warning only after an invitation, the end by
# inactivity only after both. (The first letters; E is the end, x the end by inactivity.)
LAWFUL = re.compile(r"s(iw?d)*(iw?|E|iw?E|iwx)?")
LETTERS = {"started": "s", "invitation": "i", "warning": "w", "withdrawn": "d", "ended": "E"}
# Refusals that a caller meets who is a moment too late.
LATE = {"SESSION_ENDED", "SESSION_RUNNING", "STAKES_MISMATCH", "ROUND_ENDED", "INSUFFICIENT_FUNDS", "STAKE_UNKNOWN"}

_WRONG = text(
    """
    SELECT (SELECT count(*) FROM stakes JOIN sessions USING (session_no) WHERE stakes.state = 1 AND sessions.state = 5)
         + (SELECT count(*) FROM sessions WHERE state = 5 AND next_step_at IS NOT NULL)
    """
)
_BY_INACTIVITY = text("SELECT session_id::text FROM sessions WHERE end_cause = 2")


class Evening:
    """A few players at an individual table each and at one wheel together, for some rounds."""

    def __init__(self, desks: Sequence[InProcessWallet], chance: random.Random) -> None:
        self.desks = desks
        self.chance = chance
        self.seats: list[Seat] = []
        self.stakes: dict[str, dict[str, int]] = {}

    @property
    def desk(self) -> InProcessWallet:
        return self.chance.choice(self.desks)

    async def open(self, players: int) -> None:
        desk = self.desks[0]
        await desk.open_table("wheel", MULTI_PLAYER)
        for number in range(players):
            table_id = await desk.open_table(f"table-{number}", INDIVIDUAL)
            self.seats.append(await desk.sit_down(f"p{number}", table_id))
            self.seats.append(await desk.sit_down(f"p{number}", "wheel"))

    async def round(self, number: int) -> None:
        """Some bet, some leave, some do nothing; then the rounds end, while both replicas sweep."""
        open_rounds = {seat.table_id: f"{seat.table_id}/{number}" for seat in self.seats}
        self.stakes = {round_id: {} for round_id in open_rounds.values()}
        await self.desk.announce("wheel", open_rounds["wheel"])
        doings: list[Coroutine[Any, Any, Any]] = [desk.watch.sweep() for desk in self.desks]
        for place, seat in enumerate(self.seats):
            doing = self.chance.random()
            if doing < 0.25:
                doings.append(self._bet(seat, open_rounds[seat.table_id]))
            elif doing < 0.28:
                doings.append(self.desk.end_session(seat))
            elif doing < 0.45:
                doings.append(self._come_back(place))
        self.chance.shuffle(doings)
        await self._all(doings)
        doings = [self._finish(table_id, round_id) for table_id, round_id in open_rounds.items()]
        await self._all([*doings, *(desk.watch.sweep() for desk in self.desks)])
        self.desks[0].clock.advance(self.chance.choice([5, 30, 61, 181]))

    async def _bet(self, seat: Seat, round_id: str) -> None:
        stake = await self.desk.place(seat, round_id, 10)
        self.stakes[round_id][stake] = self.chance.choice([0, 20])
        if self.chance.random() < 0.2:
            await self.desk.cancel(seat, round_id, stake)
            del self.stakes[round_id][stake]

    async def _come_back(self, place: int) -> None:
        """Refused to whoever is still there."""
        seat = self.seats[place]
        started = await self.desk.start_session(seat.account_id, seat.table_id)
        self.seats[place] = replace(seat, session_id=started.session.session_id)

    async def _finish(self, table_id: str, round_id: str) -> None:
        present = [seat.session_in_round() for seat in self.seats if seat.table_id == table_id]
        if self.chance.random() < 0.2:
            await self.desk.void(table_id, round_id)
        else:
            await self.desk.settle(table_id, round_id, self.stakes[round_id], present)

    async def _all(self, doings: Sequence[Coroutine[Any, Any, Any]]) -> None:
        for answer in await asyncio.gather(*doings, return_exceptions=True):
            if isinstance(answer, Refused):
                assert answer.reason in LATE
            elif isinstance(answer, BaseException):
                raise answer


@pytest.mark.rule("804/2015:29")
@pytest.mark.rule("805/2015:35")
@pytest.mark.parametrize("seed", range(4))
async def test_whatever_crosses_every_player_is_told_lawfully_and_once(
    wallet_database: WalletDatabase, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock()
    async with open_wallet(wallet_database.url, clock) as one, open_wallet(wallet_database.url, clock) as other:
        evening = Evening([one, other], random.Random(seed))
        await evening.open(players=4)
        for number in range(24):
            await evening.round(number)
            async with one.engine.connect() as connection:
                assert (await connection.execute(_WRONG)).scalar_one() == 0

        async with one.engine.connect() as connection:
            by_inactivity = set((await connection.execute(_BY_INACTIVITY)).scalars())
        told: defaultdict[str, str] = defaultdict(str)
        for player_id in {seat.player_id for seat in evening.seats}:
            for session_id, letter in await letters(one, player_id):
                told[session_id] += letter
        for session_id, word in told.items():
            ended = word.replace("E", "x") if session_id in by_inactivity else word
            assert LAWFUL.fullmatch(ended), word
        # Nothing waited for another in a circle, and no group had to be tried again for a lock.
        assert not caplog.messages
        # The evening was long enough to say something.
        assert by_inactivity
        assert any("d" in word for word in told.values())


async def letters(desk: InProcessWallet, player_id: str) -> list[tuple[str, str]]:
    """Session and letter of everything a player is told."""
    facts, words = await desk.player_facts(player_id), await desk.fact_names(player_id)
    return [(_session_of(fact), LETTERS[word]) for fact, word in zip(facts, words, strict=True)]


def _session_of(fact: events_pb2.PlayerFact) -> str:
    ids = fact.session_started.session.session_id, fact.session_notice.session_id, fact.session_ended.session.session_id
    return "".join(ids)
