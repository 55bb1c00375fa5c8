"""A dealt round while players decide: one decision after the other, each staked, journalled, applied and then told.

The order of a decision is: judged; its stake accepted by the wallet; journalled with that stake; applied; told (G5).
What is decided for good is paid before the next decision (`805/2015:20.a`). A refused decision changes nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, Protocol

from google.protobuf.message import Message

from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit import background
from services.kit.clock import Clock
from services.kit.refusal import Refused
from services.kit.rpc.status import refused_from
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand, PlayerCommands
from services.kit.table.banked.round import PublishEvents
from services.kit.table.events import messages
from services.kit.table.game import Bets, DealtRound, Outcome, Rules, Turn, Wanted
from services.kit.table.journal.entries import ActedBy, Journal, JournalStake, Moved, Paid
from services.kit.table.refusals import TableRefused
from services.kit.table.turns.turn_clock import Pace, TurnClock
from services.kit.table.wallet.table_wallet import TableWallet, paying_request_id

# Decisions of all players that may wait for their turn to be judged (G11): clicks of people, one table's.
WAITING_LIMIT = 100


class TableForTurns(Protocol):
    """What a hand asks of its table."""

    def is_away(self, player_id: str) -> bool:
        """Whether a player has left, so that nobody waits for their decisions."""

    @property
    def is_leaving(self) -> bool:
        """Whether the table is to be handed over: the next owner goes on with the same cards."""

    async def wait(self, seconds: float | None) -> None:
        """Waits until something changes, but no longer than this."""

    def wake(self) -> None:
        """Ends the wait."""


@dataclass(slots=True)
class _Asked:
    """A decision that a player has asked for."""

    player_id: str
    seat: int
    turn: int
    move: bytes
    command: BetCommand
    command_id: str
    """The id under which the wallet would carry the command out."""
    answer: asyncio.Future[Moved]


class Hand(Generic[Bets, Outcome]):
    """The decisions of one dealt round."""

    def __init__(
        self,
        round_id: str,
        epoch: int,
        rules: Rules[Bets, Outcome],
        dealt: DealtRound[Bets, Outcome],
        *,
        stakes: Iterable[JournalStake],
        moves: Iterable[Moved],
        paid: Mapping[str, int],
        given_back: frozenset[str],
        turn_number: int,
        shown_at: datetime,
        pace: Pace,
        table: TableForTurns,
        wallet: TableWallet,
        journal: Journal,
        clock: Clock,
        commands: PlayerCommands,
        publish: PublishEvents,
        on_stake: Callable[[JournalStake], None],
        on_changed: Callable[[], None],
    ) -> None:
        """`moves` are those that `dealt` has seen; its cards lie at `shown_at`.

        Calls `on_changed` when anybody's own view may have changed.
        """
        self.round_id = round_id
        self.dealt = dealt
        self.stakes = list(stakes)
        self.paid = dict(paid)
        self._epoch = epoch
        self._rules = rules
        self._moves = list(moves)
        self._given_back = given_back
        self._table = table
        self._wallet = wallet
        self._journal = journal
        self._clock = clock
        self._commands = commands
        self._publish = publish
        self._on_stake = on_stake
        self._on_changed = on_changed
        self._asked: deque[_Asked] = deque()
        # Why no decision is taken here any more.
        self._left: Refused | None = None
        self._turn_clock = TurnClock(pace, dealt.turn, turn_number, shown_at, clock.now())

    # -- what others see ---------------------------------------------------------------------------------------------

    @property
    def moves(self) -> Sequence[Moved]:
        """The decisions that have been made, in their order."""
        return self._moves

    @property
    def position(self) -> int:
        """How many decisions have been made."""
        return len(self._moves)

    @property
    def shown_at(self) -> datetime:
        """When the cards that were dealt last lie on the table."""
        return self._turn_clock.shown_at

    def turn_message(self) -> types_pb2.Turn | None:
        return self._turn_clock.message()

    def view(self) -> Message:
        return self.dealt.view()

    def stakes_of(self, player_id: str) -> list[JournalStake]:
        return [stake for stake in self.stakes if stake.player_id == player_id]

    def player_ids(self) -> list[str]:
        """Returns the players who take part."""
        return list(dict.fromkeys(stake.player_id for stake in self.stakes))

    def own_view(self, player_id: str, free_cents: int) -> Message | None:
        """Returns what a player alone may see and decide, with this much money."""
        stakes = self.stakes_of(player_id)
        return self.dealt.own_view(stakes[0].seat, free_cents) if stakes else None

    def dealt_event(self, draw_trigger: int) -> events_pb2.TableEvent:
        return messages.round_dealt(self.round_id, self.view(), self.turn_message(), self.shown_at, draw_trigger)

    # -- what players do ---------------------------------------------------------------------------------------------

    async def act(self, player_id: str, command: BetCommand, turn: int, move: bytes) -> Moved:
        """Decides for a player; the decision counts when this returns, and acts once (G3)."""
        earlier = self._earlier(player_id, command)
        if earlier is not None:
            return earlier
        return await background.shared_result(
            self._commands.once(player_id, command, lambda: self._ask(player_id, command, turn, move))
        )

    def _earlier(self, player_id: str, command: BetCommand) -> Moved | None:
        """Returns the decision that this command has made, at a former owner too."""
        stakes = self.stakes_of(player_id)
        if not stakes:
            return None
        command_id = command.wallet_request_id(stakes[0].account_id)
        for moved in self._moves:
            if moved.command_id == command_id:
                if moved.command_digest and moved.command_digest != command.digest:
                    raise refusals.request_reused(command.request_id)
                return moved
        return None

    def _ask(self, player_id: str, command: BetCommand, turn: int, move: bytes) -> asyncio.Future[Moved]:
        stakes = self.stakes_of(player_id)
        if not stakes:
            raise refusals.not_your_turn("", self._seats_to_act())
        if self._left is not None:
            raise self._left
        self._verify_turn(turn)
        if len(self._asked) >= WAITING_LIMIT:
            raise refusals.overloaded(WAITING_LIMIT)
        answer: asyncio.Future[Moved] = asyncio.get_running_loop().create_future()
        command_id = command.wallet_request_id(stakes[0].account_id)
        self._asked.append(_Asked(player_id, stakes[0].seat, turn, move, command, command_id, answer))
        self._table.wake()
        return answer

    def _verify_turn(self, turn: int) -> None:
        """Refuses a decision that is late, or meant for another turn."""
        clock = self._turn_clock
        if turn != clock.number or clock.is_up(self._clock.now()):
            raise self._turn_over(turn)

    def _turn_over(self, turn: int) -> TableRefused:
        clock = self._turn_clock
        return refusals.turn_over(self.round_id, turn, clock.number, self._seats_to_act(), clock.decide_by)

    def _seats_to_act(self) -> tuple[int, ...]:
        turn = self.dealt.turn
        return () if turn is None else turn.seats

    # -- its life ----------------------------------------------------------------------------------------------------

    async def play(self) -> bool:
        """Takes decisions until the round is decided; false if the table is to be handed over before that."""
        await self._pay_due()
        while (turn := self.dealt.turn) is not None:
            if self._table.is_leaving:
                return False
            if self._asked:
                await self._decide(self._asked.popleft())
            elif (default := self._default_due(turn)) is not None:
                await self._apply(*default)
            else:
                await self._table.wait(self._seconds_left())
        while self._asked:
            asked = self._asked.popleft()
            self._commands.forget(asked.player_id, asked.command)
            _fail(asked.answer, self._turn_over(asked.turn))
        return True

    def abandon(self, refusal: Refused) -> None:
        """Fails every decision that waits, and those that still come: they were not made."""
        self._left = refusal
        while self._asked:
            _fail(self._asked.popleft().answer, refusal)

    async def _decide(self, asked: _Asked) -> None:
        """Carries out what a player has asked for, or refuses it."""
        try:
            self._verify_still(asked)
            wanted = self.dealt.judge(asked.seat, asked.move)
            await self._verify_unused(asked)
            stake = None if wanted is None else await self._stake(asked, wanted)
        except Refused as refused:
            # The same command may be sent again, and be possible then.
            self._commands.forget(asked.player_id, asked.command)
            _fail(asked.answer, refused)
            return
        except BaseException:
            _fail(asked.answer, refusals.unavailable("It is not known whether the decision counts"))
            raise
        try:
            moved = await self._apply(asked.seat, asked.move, ActedBy.PLAYER, asked, stake)
        except BaseException:
            _fail(asked.answer, refusals.unavailable("It is not known whether the decision counts"))
            raise
        asked.answer.set_result(moved)

    def _verify_still(self, asked: _Asked) -> None:
        """Refuses a decision whose turn has ended while it waited: it was in time, but another one came before it."""
        if asked.turn != self._turn_clock.number:
            raise self._turn_over(asked.turn)

    async def _verify_unused(self, asked: _Asked) -> None:
        """Refuses the request id of an earlier round: the wallet knows those of stakes alone (G3)."""
        if await self._journal.has_command(asked.command_id):
            raise refusals.request_reused(asked.command.request_id)

    async def _stake(self, asked: _Asked, wanted: Wanted[Bets]) -> JournalStake:
        """Has the wallet stake what a decision costs; the clock stands still meanwhile."""
        own = self.stakes_of(asked.player_id)[0]
        stake_id = asked.command_id
        if stake_id in self._given_back:
            # The ledger would only repeat that it was accepted.
            raise refusals.stake_given_back(asked.command.request_id)
        bets = self._rules.bets_message(wanted.bets).SerializeToString()
        order = wallet_pb2.StakeOrder(
            request_id=stake_id,
            account_id=own.account_id,
            session_id=own.session_id,
            amount_cents=wanted.cents,
            detail=bets,
            command_digest=asked.command.digest,
            largest_payout_cents=self._rules.largest_payout_cents(wanted.bets),
        )
        with self._turn_clock.standing_still(self._clock.now):
            (answer,) = await self._wallet.place_stakes(self.round_id, [order])
        if not answer.HasField("placed"):
            raise refused_from(answer.refused)
        return JournalStake(
            stake_id,
            asked.command.request_id,
            own.player_id,
            own.account_id,
            own.session_id,
            own.seat,
            wanted.cents,
            bets,
            answer.placed.placed_at.ToDatetime(UTC),
        )

    def _default_due(self, turn: Turn) -> tuple[int, bytes, ActedBy] | None:
        """Returns the default that is to be taken now, and on whose word; None if there is time left."""
        time_is_up = self._turn_clock.is_up(self._clock.now())
        for default in turn.defaults:
            if time_is_up:
                return default.seat, default.move, ActedBy.CLOCK
            if self._table.is_away(self._player_of(default.seat)):
                move = default.move if default.move_if_away is None else default.move_if_away
                return default.seat, move, ActedBy.AWAY
        return None

    def _player_of(self, seat: int) -> str:
        return next(stake.player_id for stake in self.stakes if stake.seat == seat)

    def _seconds_left(self) -> float | None:
        due_at = self._turn_clock.decide_by
        return None if due_at is None else (due_at - self._clock.now()).total_seconds()

    async def _apply(
        self,
        seat: int,
        move: bytes,
        acted_by: ActedBy,
        asked: _Asked | None = None,
        stake: JournalStake | None = None,
    ) -> Moved:
        """Journals a decision that was judged, and then applies and tells it."""
        moved = Moved(
            self.round_id,
            self.position + 1,
            seat,
            move,
            acted_by,
            self._clock.now(),
            "" if asked is None else asked.command_id,
            b"" if asked is None else asked.command.digest,
            stake,
        )
        await self._journal.write_moved(self._epoch, moved)
        before = self.dealt
        self.dealt = before.after(seat, move, "" if stake is None else stake.stake_id)
        self._moves.append(moved)
        told: list[events_pb2.TableEvent] = []
        if stake is not None:
            self.stakes.append(stake)
            self._on_stake(stake)
            bets = self._rules.bets_message(self._rules.read_bets(stake.bets))
            told.append(
                messages.bets_placed(
                    self.round_id, stake.stake_id, seat, stake.amount_cents, stake.bets, bets.DESCRIPTOR.full_name
                )
            )
        cards_dealt = self.dealt.cards_shown - before.cards_shown
        self._turn_clock.go_on(self.dealt.turn, self.position, cards_dealt, self._clock.now())
        told.append(self._moved_event(moved))
        self._publish(*told)
        await self._pay_due()
        self._on_changed()
        return moved

    def _moved_event(self, moved: Moved) -> events_pb2.TableEvent:
        move_type = self._rules.move_type
        assert move_type is not None  # noqa: S101 - a game whose players decide has one
        move = move_type.FromString(moved.move)
        return messages.move_made(
            self.round_id,
            moved.position,
            moved.seat,
            move,
            moved.acted_by,
            self.view(),
            self.turn_message(),
            self.shown_at,
        )

    async def _pay_due(self) -> None:
        """Pays what is decided for good while others still decide; what is left is paid when the round ends."""
        if self.dealt.turn is None:
            return
        due = {stake_id: cents for stake_id, cents in self.dealt.due_cents().items() if stake_id not in self.paid}
        if not due:
            return
        request_id = paying_request_id(self.round_id, self.position)
        with self._turn_clock.standing_still(self._clock.now):
            await self._wallet.pay_stakes(self.round_id, due, request_id=request_id)
        entry = Paid(self.round_id, self.position, tuple(due.items()), self._clock.now())
        await self._journal.write_paid(self._epoch, entry)
        self.paid |= due
        by_seat: dict[int, list[int]] = {}
        for stake in self.stakes:
            if stake.stake_id in due:
                sums = by_seat.setdefault(stake.seat, [0, 0])
                sums[0] += stake.amount_cents
                sums[1] += due[stake.stake_id]
        self._publish(messages.stakes_paid(self.round_id, by_seat))


def _fail(answer: asyncio.Future[Moved], error: Exception) -> None:
    """Gives a caller an error, and nobody a warning if the caller has left."""
    if not answer.done():
        answer.set_exception(error)
        answer.exception()
