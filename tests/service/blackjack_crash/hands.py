"""Hands that are brought to a certain decision, which is then sent and may have no answer; and what became of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg
import grpc

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import table_pb2
from services.kit.table.journal.entries import ActedBy
from tests.service.blackjack.platform import EVERY_PLACE, BlackjackDriver, Playing
from tests.service.game_driver import TIMEOUT_S, SeatedPlayer, unpacked

TABLE = "alone"
# After so many cards a shoe of that table has its last round.
CUT_CARD = 260
# Two places bring most situations within a few rounds; what needs more has more.
PLACES: Mapping[str, tuple[str, ...]] = {"EVEN_MONEY": EVERY_PLACE, "INSURE": EVERY_PLACE, "LAST": ("1",)}
BET_CENTS = 1_000
# Decisions that stake, and those after which something is paid at once.
STAKING = ("DOUBLE", "SPLIT", "INSURE")
_MOVES = (
    "SELECT position, acted_by, request_id, moves.stake_id FROM moves JOIN rounds USING (round_no)"
    " WHERE round_id = $1 ORDER BY position"
)
_SHOE = "SELECT shoe_round_id, cards_taken FROM draws JOIN rounds USING (round_no) WHERE round_id = $1"
_PAID = "SELECT count(*) FROM paid JOIN rounds USING (round_no) WHERE round_id = $1 AND position = $2"

Database: TypeAlias = "asyncpg.Pool[asyncpg.Record]"


@dataclass
class Hand:
    """A player's hand at the moment of a decision."""

    player: SeatedPlayer
    playing: Playing
    decision: str
    place: int
    insurance_cents: int
    moves: int
    """How many decisions are on record."""
    balance: tuple[int, int]
    answer: asyncio.Task[table_pb2.ActResponse] | None = None

    @property
    def round_id(self) -> str:
        return self.playing.round_id

    @property
    def request_id(self) -> str:
        return f"{self.round_id}-{self.moves}"

    @property
    def stakes(self) -> bool:
        return self.decision in STAKING

    def send(self, driver: BlackjackDriver) -> None:
        """Sends the decision; the answer may never come."""
        self.answer = asyncio.create_task(self.decide(driver))

    async def decide(self, driver: BlackjackDriver) -> table_pb2.ActResponse:
        return await driver.act(
            self.player, self.playing, self.decision, self.place, self.insurance_cents, self.request_id
        )

    async def first_answer(self) -> table_pb2.ActResponse | None:
        """What the player was answered, if anything."""
        assert self.answer is not None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self.answer
        except grpc.aio.AioRpcError:
            return None


async def bring_to(driver: BlackjackDriver, journal: Database, kind: str, table_id: str = TABLE) -> Hand:
    """Plays a new player's rounds until this decision is possible."""
    player = await driver.seat_new_player(table_id)
    decision = "STAND" if kind == "LAST" else kind
    bets = dict.fromkeys(PLACES.get(kind, ("1", "2")), BET_CENTS)

    def wanted(playing: Playing) -> object:
        # What is given up is paid while another place decides; a last stand decides the round.
        costs = playing.costs(decision)
        return costs and (kind == "LAST" or any(_is_played_after(hand, costs[0][0]) for hand in playing.view.hands))

    playing = await driver.deal_until(player, wanted, bets)
    place, cost_cents = playing.costs(decision)[0]
    return Hand(
        player,
        playing,
        decision,
        place,
        cost_cents if decision == "INSURE" else 0,
        len(await moves_of(journal, playing.round_id)),
        await driver.balance(player),
    )


def _is_played_after(hand: blackjack_pb2.Hand, place: int) -> bool:
    return hand.state == blackjack_pb2.HAND_STATE_IN_PLAY and hand.place > place


async def deal_until_paid(driver: BlackjackDriver) -> tuple[SeatedPlayer, Playing]:
    """Deals to a new player until a blackjack is paid at once while other places decide (`805/2015:20.a`)."""
    player = await driver.seat_new_player(TABLE)

    def is_paid(playing: Playing) -> bool:
        return any(hand.state == blackjack_pb2.HAND_STATE_PAID for hand in playing.view.hands)

    return player, await driver.deal_until(player, is_paid, dict.fromkeys(EVERY_PLACE, BET_CENTS))


async def moves_of(journal: Database, round_id: str) -> list[asyncpg.Record]:
    """The decisions of a round on record, in their order."""
    rows: list[asyncpg.Record] = await journal.fetch(_MOVES, round_id)
    return rows


async def paid_after(journal: Database, round_id: str, position: int) -> int:
    """How many stakes were paid at once after so many decisions, as far as that is on record."""
    return int(await journal.fetchval(_PAID, round_id, position))


async def shoe_of(journal: Database, round_id: str) -> tuple[str, int] | None:
    """The round for which the shoe of a round was shuffled, and how many cards were taken before; None if undrawn."""
    row = await journal.fetchrow(_SHOE, round_id)
    return None if row is None else (row["shoe_round_id"], row["cards_taken"])


def cards_of(settled: table_pb2.PlayerRound) -> int:
    """How many cards have left the shoe in a round, the bank's second one included."""
    outcome = unpacked(settled.round.outcome, blackjack_pb2.Outcome())
    return sum(len(hand.cards) for hand in outcome.hands) + len(outcome.bank.cards)


async def wait_until_staked(driver: BlackjackDriver, hand: Hand) -> None:
    """Waits until the ledger has the stake of a hand's decision."""
    async with asyncio.timeout(TIMEOUT_S):
        while (await driver.balance(hand.player))[1] <= hand.balance[1]:
            await asyncio.sleep(0.01)


async def verify_and_finish(driver: BlackjackDriver, journal: Database, hand: Hand, *, on_record: bool) -> None:
    """Sends the decision again, and plays the hand to its end; fails if it counts twice, or is another hand (G3, G6).

    `on_record`: whether the decision has to be on record before it is sent again.
    """
    moves = await moves_of(journal, hand.round_id)
    assert len(moves) == hand.moves + on_record, hand
    before = await driver.playing(hand.player, hand.round_id)
    if not on_record:
        assert before is not None
        assert before.view == hand.playing.view, hand
        assert (before.turn, before.seats, before.options) == (
            hand.playing.turn,
            hand.playing.seats,
            hand.playing.options,
        )
        assert await driver.balance(hand.player) == hand.balance

    answer = await hand.decide(driver)
    first = None if hand.answer is None else await hand.first_answer()
    assert first is None or first == answer
    assert answer.position == hand.moves + 1
    assert await hand.decide(driver) == answer

    moves = await moves_of(journal, hand.round_id)
    assert len(moves) == hand.moves + 1, hand
    assert moves[-1]["acted_by"] == ActedBy.PLAYER
    assert bool(moves[-1]["stake_id"]) == hand.stakes
    if on_record and before is not None:
        after = await driver.playing(hand.player, hand.round_id)
        assert after is not None
        assert after.view == before.view
    await finish(driver, hand.player, hand.round_id, hand.playing.view)


async def finish(driver: BlackjackDriver, player: SeatedPlayer, round_id: str, seen: blackjack_pb2.View) -> None:
    """Plays a hand to its end, and verifies it."""
    await driver.finish(player, round_id)
    await verify_settled(driver, player, round_id, seen)


async def verify_settled(
    driver: BlackjackDriver, player: SeatedPlayer, round_id: str, seen: blackjack_pb2.View
) -> None:
    """Waits for the end: the cards that were seen still lie there, every stake is paid, nothing is locked."""
    settled = await driver.ended(player, round_id)
    assert not settled.round.void_reason
    outcome = unpacked(settled.round.outcome, blackjack_pb2.Outcome())
    verify_cards(seen, outcome)
    assert settled.payout_cents == sum(result.payout_cents for result in outcome.results)
    assert await driver.balance(player) == (settled.balance_after_cents, 0)


def verify_cards(seen: blackjack_pb2.View, outcome: blackjack_pb2.Outcome) -> None:
    """Cards may be added to those that were seen; none is exchanged. A split takes the second card of a hand away."""
    hands: dict[tuple[int, int], Any] = {(hand.place, hand.number): hand for hand in outcome.hands}
    for hand in seen.hands:
        now = hands[hand.place, hand.number]
        kept = 1 if now.split and not hand.split else len(hand.cards)
        assert list(now.cards)[:kept] == list(hand.cards)[:kept]
    assert outcome.bank.cards[0] == seen.bank.cards[0]
