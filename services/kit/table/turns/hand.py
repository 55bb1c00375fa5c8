"""A dealt round while players decide: one decision after the other, each staked, journalled, applied and then told.

The order of a decision is: judged; its stake accepted by the wallet; journalled with that stake; applied; told (G5).
What is decided for good is paid before the next decision (`805/2015:20.a`). A refused decision changes nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, Protocol

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from prometheus_client import Counter

from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit import background
from services.kit.bus.connections import Line
from services.kit.clock import Clock
from services.kit.refusal import Refused
from services.kit.rpc.status import refused_from
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand, PlayerCommands
from services.kit.table.banked.round import PublishEvents
from services.kit.table.encoding import packed
from services.kit.table.events import messages
from services.kit.table.game import Bets, DealtRound, Outcome, Rules, RunsOut, Street, Turn, Wanted
from services.kit.table.journal.entries import ActedBy, CommandUsed, Journal, JournalStake, Moved, Paid
from services.kit.table.refusals import TableRefused
from services.kit.table.turns.extra_time import LINE_CHECK_EVERY_S, ExtraTime, HandVoid, PlayerCutOff
from services.kit.table.turns.turn_clock import NO_TIME, Pace, TurnClock
from services.kit.table.wallet.table_wallet import TableWallet, paying_request_id
from services.kit.telemetry import trace

# Decisions of all players that may wait for their turn to be judged (G11): clicks of people, one table's.
WAITING_LIMIT = 100

# Turns of the event loop until an entry is on its way to the database.
TURNS_TO_JOURNAL = 2

_DECISIONS = Counter("feltro_table_decisions", "Decisions in dealt rounds, by whose word they are", ["by"])


class TableForTurns(Protocol):
    """What a hand asks of its table."""

    def is_away(self, player_id: str) -> bool:
        """Whether a player has left, so that nobody waits for their decisions."""

    @property
    def extra_time(self) -> ExtraTime | None:
        """What players have beside the time for a decision; None where they have nothing."""

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
    traceparent: str
    """The trace of the call that asked for it."""


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
        # Why an operator has declared it void.
        self._declared_void = ""
        self._extra_time = table.extra_time
        # The seats that were given more time in this hand because their player's line was lost.
        self._helped: set[int] = set()
        # What follows the last decision, street by street, and what of it lies on the table.
        self._streets: Sequence[Street] = ()
        self._shown: Message | None = None
        if run_out := _streets_without_decisions(dealt) if not self._moves else ():
            self._shown, self._streets = run_out[0].view, run_out[1:]
        self._turn_clock = TurnClock(pace, dealt.turn, turn_number, shown_at, clock.now(), self._bank_of)

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
        return self.dealt.view() if self._shown is None else self._shown

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
            raise refusals.not_your_turn("", self._seats_to_act(), self._turn_clock.decide_by)
        if self._left is not None:
            raise self._left
        self._verify_turn(turn)
        if len(self._asked) >= WAITING_LIMIT:
            raise refusals.overloaded(WAITING_LIMIT)
        answer: asyncio.Future[Moved] = asyncio.get_running_loop().create_future()
        command_id = command.wallet_request_id(stakes[0].account_id)
        self._asked.append(
            _Asked(player_id, stakes[0].seat, turn, move, command, command_id, answer, trace.traceparent())
        )
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
        """Takes decisions until the round is decided; false if the table is to be handed over before that.

        Raises `HandVoid` if the round becomes void.
        """
        await self._pay_due()
        while (turn := self.dealt.turn) is not None:
            if self._declared_void:
                raise HandVoid(self._declared_void)
            if self._table.is_leaving:
                return False
            if self._asked:
                asked = self._asked.popleft()
                with trace.continued(asked.traceparent):
                    await self._decide(asked)
            elif (default := self._default_due(turn)) is not None:
                await self._apply(*default)
            else:
                await self._table.wait(self._seconds_left())
        await self._run_out()
        while self._asked:
            asked = self._asked.popleft()
            self._commands.forget(asked.player_id, asked.command)
            _fail(asked.answer, self._turn_over(asked.turn))
        return True

    def declare_void(self, reason: str) -> None:
        """Has the round end void before its next decision."""
        self._declared_void = reason
        self._table.wake()

    def abandon(self, refusal: Refused) -> None:
        """Fails every decision that waits, and those that still come: they were not made."""
        self._left = refusal
        while self._asked:
            _fail(self._asked.popleft().answer, refusal)

    async def _decide(self, asked: _Asked) -> None:
        """Carries out what a player has asked for, or refuses it."""
        try:
            self._verify_still(asked)
            wanted = self._judge(asked)
            stake = None
            if wanted is not None:
                # Of a decision without a stake the journal verifies that as it writes it.
                await self._verify_unused(asked)
                stake = await self._stake(asked, wanted)
        except Refused as refused:
            self._refuse(asked, refused)
            return
        except BaseException:
            _fail(asked.answer, refusals.unavailable("It is not known whether the decision counts"))
            raise
        try:
            moved = await self._apply(asked.seat, asked.move, ActedBy.PLAYER, asked, stake)
        except CommandUsed:
            self._refuse(asked, refusals.request_reused(asked.command.request_id))
            return
        except BaseException:
            _fail(asked.answer, refusals.unavailable("It is not known whether the decision counts"))
            raise
        asked.answer.set_result(moved)

    def _refuse(self, asked: _Asked, refused: Refused) -> None:
        # The same command may be sent again, and be possible then.
        self._commands.forget(asked.player_id, asked.command)
        _fail(asked.answer, refused)

    def _verify_still(self, asked: _Asked) -> None:
        """Refuses a decision whose turn has ended while it waited: it was in time, but another one came before it."""
        if asked.turn != self._turn_clock.number:
            raise self._turn_over(asked.turn)

    def _judge(self, asked: _Asked) -> Wanted[Bets] | None:
        """Has the game judge a decision; its refusals also say until when the turn under way lasts."""
        try:
            return self.dealt.judge(asked.seat, asked.move)
        except TableRefused as refused:
            decide_by = refusals.time_fact(self._turn_clock.decide_by)
            raise TableRefused(refused.reason, refused.sentence, **refused.facts, decide_by=decide_by) from None

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
            traceparent=asked.traceparent,
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
        self._follow_line(turn)
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
        left_s = None if due_at is None else (due_at - self._clock.now()).total_seconds()
        if self._extra_time is None:
            return left_s
        if left_s is None or self._turn_clock.paused_since is not None:
            return LINE_CHECK_EVERY_S
        return min(left_s, LINE_CHECK_EVERY_S)

    # -- extra time --------------------------------------------------------------------------------------------------

    def _bank_of(self, turn: Turn) -> timedelta:
        """Returns the time bank of the player in turn; a question to several seats has none."""
        return NO_TIME if self._extra_time is None or turn.at_once else self._extra_time.bank_of(turn.seats[0])

    def _follow_line(self, turn: Turn) -> None:
        """Stops the clock while the platform cannot reach the player in turn, and helps one whose own line is lost.

        Raises `PlayerCutOff` when that takes too long (`806/2015:72`).
        """
        extra, clock, now, seat = self._extra_time, self._turn_clock, self._clock.now(), turn.seats[0]
        if extra is None or turn.at_once or self._table.is_away(self._player_of(seat)):
            return
        line = extra.line_of(seat)
        if line is Line.UNKNOWN:
            if clock.paused_since is not None:
                if now - clock.paused_since >= extra.gateway_pause:
                    raise PlayerCutOff("the platform's line to a player has failed")
                return
            if clock.is_up(now):
                return
            clock.pause(now)
        elif clock.paused_since is not None:
            clock.resume(now)
        elif line is Line.AWAY and seat not in self._helped and extra.lost_line_extra and clock.is_up(now):
            self._helped.add(seat)
            clock.add(extra.lost_line_extra, now)
        else:
            return
        self._publish(messages.turn_changed(self.round_id, self.turn_message()))

    async def _run_out(self) -> None:
        """Deals what is left when nobody decides any more, one street after the other."""
        for street in self._streets:
            self._turn_clock.deal(street.cards, self._clock.now())
            self._shown = street.view
            self._publish(messages.cards_shown(self.round_id, street.view, self.shown_at))
            while not self._table.is_leaving:
                left_s = (self.shown_at - self._clock.now()).total_seconds()
                if left_s <= 0:
                    break
                await self._table.wait(left_s)
        self._streets = ()

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
        before = self.dealt
        self.dealt, view = await self._journalled(moved)
        self._moves.append(moved)
        _DECISIONS.labels(acted_by.name.lower()).inc()
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
        cards_dealt, now = self.dealt.cards_shown - before.cards_shown, self._clock.now()
        if self.dealt.turn is None and isinstance(self.dealt, RunsOut):
            run_out = self.dealt.run_out(before.cards_shown)
            if run_out:
                (self._shown, cards_dealt), self._streets = run_out[0], run_out[1:]
                view = packed(self._shown)
        if self._extra_time is not None:
            spent = self._turn_clock.spent(now)
            if spent:
                self._extra_time.spend(seat, spent)
        self._turn_clock.go_on(self.dealt.turn, self.position, cards_dealt, now)
        told.append(self._moved_event(moved, view))
        self._publish(*told)
        await self._pay_due()
        self._on_changed()
        return moved

    async def _journalled(self, moved: Moved) -> tuple[DealtRound[Bets, Outcome], AnyMessage]:
        """Returns the round after a decision and its view, once the decision is durable (G5).

        They are computed while the database commits, and nobody sees them before.
        """
        writing = asyncio.create_task(self._journal.write_moved(self._epoch, moved))
        try:
            for _ in range(TURNS_TO_JOURNAL):
                await asyncio.sleep(0)
            after = self.dealt.after(moved.seat, moved.move, "" if moved.stake is None else moved.stake.stake_id)
            view = packed(after.view())
            await writing
        finally:
            if not writing.done():
                await background.cancel_and_wait([writing])
        return after, view

    def _moved_event(self, moved: Moved, view: AnyMessage) -> events_pb2.TableEvent:
        move_type = self._rules.move_type
        assert move_type is not None  # noqa: S101 - a game whose players decide has one
        move = move_type.FromString(moved.move)
        return messages.move_made(
            self.round_id,
            moved.position,
            moved.seat,
            move,
            moved.acted_by,
            view,
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


def is_decided_at_once(dealt: DealtRound[Bets, Outcome]) -> bool:
    """Whether a round is decided by its deal, and nothing of it is shown later."""
    return dealt.turn is None and not isinstance(dealt, RunsOut)


def cards_dealt_first(dealt: DealtRound[Bets, Outcome]) -> int:
    """Returns how many cards are dealt before anybody decides, or before the streets of a hand without decisions."""
    return dealt.cards_shown - sum(street.cards for street in _streets_without_decisions(dealt))


def _streets_without_decisions(dealt: DealtRound[Bets, Outcome]) -> Sequence[Street]:
    """Returns the streets of a hand that nobody decides in: all who play have bet everything with the blinds."""
    return dealt.run_out(0) if dealt.turn is None and isinstance(dealt, RunsOut) else ()


def _fail(answer: asyncio.Future[Moved], error: Exception) -> None:
    """Gives a caller an error, and nobody a warning if the caller has left."""
    if not answer.done():
        answer.set_exception(error)
        answer.exception()
