"""One live table: a single task that opens rounds, closes betting, draws, and has every round end.

The whole state of the table changes here, on one event loop (single writer). Nothing is acknowledged or published
before it is durable (G5): stakes when the wallet has them, outcomes when the journal has them, ends when the wallet has
paid.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import re
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, cast

from google.protobuf.message import Message
from prometheus_client import Counter, Gauge

from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit import background
from services.kit.randomness.source import SourceFailed
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand, PlayerCommands
from services.kit.table.banked.round import Deal, FinishedRound, Round
from services.kit.table.banked.settlement import Decided, RoundResult, Settlement
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.events import messages
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, DealtRound, Outcome, StakeOnTable
from services.kit.table.journal.entries import Drawn, DrawTrigger, JournalStake, Moved, Opened
from services.kit.table.journal.seats import KeptSeat
from services.kit.table.live.closing import NO_BETS_LEFT, BettingClose
from services.kit.table.live.dependencies import TableDependencies
from services.kit.table.live.seat_record import SeatRecord
from services.kit.table.live.seating import Seating
from services.kit.table.live.shoe import OpenShoe, TableShoe
from services.kit.table.refusals import TableRefused
from services.kit.table.seat import Seat
from services.kit.table.turns.extra_time import ExtraTime, HandVoid
from services.kit.table.turns.hand import Hand, cards_dealt_first, is_decided_at_once
from services.kit.table.turns.own_views import OwnViews
from services.kit.table.turns.resuming import ResumedRound
from services.kit.table.turns.turn_clock import FIRST_TURN, Pace
from services.kit.table.wallet.client import WalletFailed, WalletUnanswered
from services.kit.wire_format import timestamp

# Past outcomes that a table shows (`804/2015:6.e` leaves the number open).
PAST_OUTCOMES_SHOWN = 20
# How soon the bus is checked again while too many events wait for it to open a round.
BUS_CHECK_EVERY_S = 0.1
# How soon a round is opened again for which the wallet gave no answer.
WALLET_RETRY_S = 1.0
# How long a call waits for a round that is just about to open.
NEXT_ROUND_TIMEOUT_S = 1.0

RANDOMNESS_FAILED = "the source of randomness failed its health test"
PLATFORM_FAULT = "a fault of the platform"

# As round ids end: a few digits more than any table reaches.
_ROUND_NUMBER = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_log = logging.getLogger(__name__)
_LIVE = Gauge("feltro_tables_live", "Tables that this process runs")
_ENDED = Counter("feltro_table_rounds", "Rounds and hands that have ended here, by how: settled or void", ["end"])
_SETTLED, _VOIDED = _ENDED.labels("settled"), _ENDED.labels("void")


class LiveTable(Generic[Bets, Outcome]):
    """Runs one table under one lease."""

    def __init__(
        self,
        table_id: str,
        placement_id: str,
        epoch: int,
        dependencies: TableDependencies[Bets, Outcome],
        *,
        last_round_number: int,
        past_outcomes: list[types_pb2.PastOutcome],
        resumed: ResumedRound[Bets, Outcome] | None = None,
        seat_record: SeatRecord | None = None,
        settlement: Settlement[Bets, Outcome] | None = None,
        shoe: OpenShoe | None = None,
    ) -> None:
        """`resumed` is a dealt round of a former owner, which goes on here; `shoe` is one that goes on.

        `seat_record` keeps who sits where, at tables whose players choose their seats; `settlement` ends rounds where
        that is not by stakes in the wallet.
        """
        self.table_id = table_id
        self.placement_id = placement_id
        self._epoch = epoch
        self._host = dependencies.host
        self._wallet = dependencies.wallet
        self._journal = dependencies.journal
        self._randomness = dependencies.randomness
        self._clock = dependencies.clock
        self._publisher = dependencies.publisher
        self._own_view_publisher = dependencies.own_views
        self._has_cards = dependencies.has_cards
        self._settlement = settlement or Settlement(self._wallet, self._journal, epoch)
        self._number = last_round_number
        self._shoe: TableShoe[Bets, Outcome] = TableShoe(shoe)
        self._past = deque(past_outcomes, maxlen=PAST_OUTCOMES_SHOWN)
        self._seat_record = seat_record
        self._seating = Seating(self._publish_seat, self._record_seats)
        # The first snapshot tells who was seated before it.
        self._snapshot_published = False
        self._phase: types_pb2.Phase.ValueType = types_pb2.PHASE_IDLE
        self._round: Round[Bets, Outcome] | None = None
        self._configured = self._host.rules_in_force()
        self._announce_next = False
        # The round that was announced to players and does not take bets yet.
        self._opening = ""
        # While a result is shown.
        self._next_round_opens_at: datetime | None = None
        # The version of the specific rules that the wallet knows.
        self._applied_version = 0
        self._handing_over = False
        self._changed = asyncio.Event()
        self._betting = asyncio.Event()
        self.last_round: FinishedRound[Bets, Outcome] | None = None
        # The round whose commands were remembered last, and they: the current one, or the one before.
        self._commands: tuple[str, PlayerCommands] | None = None
        # The cards and turns of the round under way, while players decide.
        self._hand: Hand[Bets, Outcome] | None = None
        self._own_views: OwnViews[Bets, Outcome] | None = None
        self._resumed = resumed
        # The dealt round of a former owner, which alone remembers the bets that were placed in it.
        self._taken_up_round_id = "" if resumed is None else resumed.opened.round_id
        if resumed is not None:
            self._take_up(resumed)

    # -- what others see ---------------------------------------------------------------------------------------------

    @property
    def individual(self) -> bool:
        return self._configured.configuration.play == wallet_types.PLAY_INDIVIDUAL

    @property
    def is_empty(self) -> bool:
        """Whether nobody sits here and nothing lies on the felt."""
        return not self._seating and (self._round is None or self._round.felt.is_empty)

    @property
    def seated_count(self) -> int:
        return len(self._seating)

    @property
    def current_rules(self) -> VersionedRules[Bets, Outcome]:
        """The rules of the round under way, or of the next one."""
        return self._configured

    @property
    def refuses_shared_devices(self) -> bool:
        """Whether a second account from a device at which one plays here is refused (`903-B/2015:6.6.1`)."""
        return False

    def snapshot(self) -> types_pb2.TableSnapshot:
        return messages.snapshot(
            self.table_id,
            self._publisher.seq,
            self._clock.now(),
            self._phase,
            self._configured.version,
            self._round,
            self._past,
            len(self._seating),
            self._host.closed_reason() or "",
            self._next_round_opens_at,
            self._shoe_message(),
            self._seats_to_choose(),
        )

    def _seats_to_choose(self) -> list[types_pb2.TableSeat]:
        """Builds every seat, taken or free; none where players do not choose theirs."""
        if self._seat_record is None:
            return []
        return messages.table_seats(
            self._configured.configuration.seats, {seat.number for seat in self._seating.seats()}
        )

    def _shoe_message(self) -> types_pb2.Shoe | None:
        return self._shoe.message(self._configured.version.version, self._configured.rules)

    def seat_of(self, player_id: str) -> Seat | None:
        return self._seating.seat_of(player_id)

    @property
    def next_round_id(self) -> str:
        """The round that takes bets, or the one that will next."""
        if self._round is not None and self._is_open(self._round):
            return self._round.round_id
        return round_id_of(self.table_id, self._number + 1)

    @property
    def round(self) -> Round[Bets, Outcome] | None:
        """The round under way."""
        return self._round

    @property
    def hand(self) -> Hand[Bets, Outcome] | None:
        """The cards and turns of the round under way, while players decide."""
        return self._hand

    # -- sessions and seats ------------------------------------------------------------------------------------------

    def apply_session(self, session: session_pb2.Session) -> None:
        """Seats or frees the player of a session that has started, moved on or ended."""
        if session.state == session_pb2.SESSION_STATE_ENDED:
            self._end_session(session.player_id, session.session_id)
        else:
            self._seating.seat_session(session)
        if session.state in {session_pb2.SESSION_STATE_INVITED, session_pb2.SESSION_STATE_WARNED}:
            self._announce_next = not self.individual
        self.wake()

    def _end_session(self, player_id: str, session_id: str) -> None:
        if self._awaits_result(player_id):
            self._seating.keep_until_result(session_id)
        else:
            self._seating.free_seats([session_id])

    def _awaits_result(self, player_id: str) -> bool:
        """Whether the player has a stake in a round that is closed and whose result is not published yet."""
        decided = self._phase in {types_pb2.PHASE_CLOSED, types_pb2.PHASE_PLAYING, types_pb2.PHASE_DRAWN}
        return decided and self._round is not None and bool(self._round.felt.accepted_stakes_of(player_id))

    def seated_session_ids(self) -> frozenset[str]:
        """Returns the sessions of the players who sit here."""
        return frozenset(self._seating.session_ids())

    def want_seat(self, player_id: str, number: int) -> None:
        """Notes which seat a player asks for who is about to sit down; refused if it is another player's."""
        if not number or self.individual:
            return
        if number > self._configured.configuration.seats:
            raise refusals.invalid("seat", f"has to be from 1 to {self._configured.configuration.seats}, or 0 for any.")
        if not self._seating.is_free_for(player_id, number):
            raise refusals.seat_taken(self.table_id, number)
        self._seating.want_seat(player_id, number)

    def seat_again(self, kept: Sequence[KeptSeat], sessions: Collection[session_pb2.Session]) -> None:
        """Seats the players of sessions where they sat at a former owner, and others anywhere else."""
        running = {session.session_id for session in sessions}
        seats = self._configured.configuration.seats
        returning = [seat for seat in kept if seat.session_id in running and seat.seat <= seats]
        for seat in returning:
            self._seating.want_seat(seat.player_id, seat.seat)
        for session in sessions:
            self.apply_session(session)
        # The seats of those who take part in a dealt round stay theirs until it ends.
        taking_part = () if self._hand is None else self._hand.player_ids()
        for seat in returning:
            if seat.player_id not in taking_part:
                self._seating.forget_wanted(seat.player_id)

    def _record_seats(self) -> None:
        if self._seat_record is not None:
            self._seat_record.note(self._seating.seats())

    def forget_wanted_seat(self, player_id: str) -> None:
        """Forgets the seat that a player has asked for."""
        self._seating.forget_wanted(player_id)

    def reconcile_seats(self, asked_about: Collection[str], running: Iterable[session_pb2.Session]) -> None:
        """Makes up for missed reports of sessions that ended, began or will end, even while others have bets down.

        `running` are the sessions that the wallet has here. Those of `asked_about` had their seats before it was asked:
        if it does not name them, they have ended.
        """
        sessions = {session.session_id: session for session in running}
        for seat in self._seating.seats():
            if seat.session_id in asked_about and seat.session_id not in sessions:
                self._end_session(seat.player_id, seat.session_id)
        seated = self.seated_session_ids()
        for session in sessions.values():
            if session.session_id not in seated or session.state == session_pb2.SESSION_STATE_ENDING:
                self._seating.seat_session(session)
        self.wake()

    # -- what players do ---------------------------------------------------------------------------------------------

    def commands_of(self, round_id: str) -> PlayerCommands | None:
        """Returns all commands of a round; None if this table does not remember all of them.

        It does not if the round is neither the current one nor the one before (G11), or began at a former owner.
        """
        if round_id == self._taken_up_round_id:
            return None
        if self._round is not None and self._round.round_id == round_id:
            return self._round.commands
        if self._commands is not None and self._commands[0] == round_id:
            return self._commands[1]
        return None

    def open_round_and_seat(self, round_id: str, player_id: str) -> tuple[Round[Bets, Outcome], Seat]:
        """Returns the round and the player's seat; refused without a seat, or if the round takes no bets."""
        seat = self._seating.seat_of(player_id)
        if seat is None:
            # First of all: only players who sit here are told which round is under way.
            raise refusals.not_seated(self.table_id)
        round_ = self._round
        if round_ is None or round_.round_id != round_id or not self._is_open(round_):
            raise self._betting_closed(round_id)
        if self._publisher.full:
            raise refusals.overloaded("events that wait for the bus")
        return round_, seat

    def _betting_closed(self, round_id: str) -> TableRefused:
        if self._round is not None:
            return self._round.betting_closed_refusal(round_id)
        return refusals.betting_closed(round_id, "", "", self._next_round_opens_at)

    @property
    def takes_bets(self) -> bool:
        """Whether a round is open and a bet that arrives now is in time."""
        return self._round is not None and self._is_open(self._round)

    def _is_open(self, round_: Round[Bets, Outcome]) -> bool:
        """Whether a bet that arrives now is in time (`804/2015:14`)."""
        if self._phase != types_pb2.PHASE_BETTING or round_.draw_trigger or round_.void_reason:
            return False
        return round_.closes_at is None or self._clock.now() < round_.closes_at

    async def trigger_draw(self, player_id: str, round_id: str) -> FinishedRound[Bets, Outcome]:
        """Starts the draw for the player (`804/2015:15`), or returns the result of the last round."""
        round_ = self._own_round(round_id)
        if round_ is None:
            return self._last_round_of(player_id, round_id)
        await self._trigger(round_, player_id)
        finished = await background.shared_result(round_.finished)
        # The answer names the next round, so that round should take bets. A result that is shown for a while is not
        # held back for it.
        if not self._configured.configuration.result_shown_ms:
            await self.wait_for_open_round()
        return finished

    async def trigger_deal(self, player_id: str, round_id: str) -> Deal:
        """Starts the deal for the player (`805/2015:13`), or returns what came of it before."""
        round_ = self._own_round(round_id)
        if round_ is None:
            return self._last_round_of(player_id, round_id).deal
        await self._trigger(round_, player_id)
        return await background.shared_result(round_.dealt)

    def _own_round(self, round_id: str) -> Round[Bets, Outcome] | None:
        """Returns the round under way at an individual table if it is this one; refused at any other table."""
        if not self.individual:
            raise TableRefused(
                "WRONG_PLAY",
                "Here the round closes by the clock.",
                table_id=self.table_id,
                play="PLAY_MULTI_PLAYER",
            )
        return self._round if self._round is not None and self._round.round_id == round_id else None

    async def _trigger(self, round_: Round[Bets, Outcome], player_id: str) -> None:
        """Closes the betting of an individual round for its player.

        What the player has clicked before comes first: without a bet that counts there is nothing to draw for.
        """
        round_id = round_.round_id
        if self._is_open(round_):
            self.open_round_and_seat(round_id, player_id)
            await round_.commands.wait_until_answered(player_id)
        if self._is_open(round_):
            if not round_.felt.has_accepted_stakes:
                raise TableRefused("NOTHING_STAKED", "Place a bet first.", round_id=round_id)
            round_.draw_trigger = DrawTrigger.PLAYER
            self.wake()
        elif self._seating.seat_of(player_id) is None and not round_.felt.accepted_stakes_of(player_id):
            raise refusals.not_seated(self.table_id)

    async def act(self, player_id: str, command: BetCommand, round_id: str, turn: int, move: bytes) -> Moved:
        """Decides for a player in the round under way; refused if no such round waits for decisions."""
        hand = self._hand
        if hand is None or hand.round_id != round_id:
            if self._seating.seat_of(player_id) is None:
                raise refusals.not_seated(self.table_id)
            raise refusals.turn_over(round_id, turn, 0, (), None)
        if self._seating.seat_of(player_id) is None and player_id not in hand.player_ids():
            raise refusals.not_seated(self.table_id)
        if self._publisher.full:
            raise refusals.overloaded("events that wait for the bus")
        return await hand.act(player_id, command, turn, move)

    async def own_view(self, player_id: str) -> Message | None:
        """Returns what a player alone may see and decide in the round under way."""
        return None if self._own_views is None else await self._own_views.of_player(player_id)

    def own_cave(self, player_id: str) -> table_pb2.OwnCave | None:  # noqa: ARG002 - tables with caves have them
        """Returns what a player alone has to know of their cave; None at a table without caves."""
        return None

    def verify_admitted(self, player_id: str) -> None:
        """Refuses a player whom the table's own rules keep from sitting down now."""

    def own_chips(self, player_id: str) -> table_pb2.OwnChips | None:  # noqa: ARG002 - tables of chips have them
        """Returns what a player alone has to know at a table that is played for chips; None at any other."""
        return None

    def players_with_kept_seats(self) -> frozenset[str]:
        """Returns the players for whom free seats are kept: nobody else may take those."""
        return frozenset()

    async def wait_if_opening(self, round_id: str) -> None:
        """Waits a moment if this round is just about to open.

        A player who is warned that they have to bet in it (`804/2015:29`) learns so from the wallet, perhaps before it
        is open here: their bet is early and not late.
        """
        if round_id == self._opening:
            await self.wait_for_open_round()

    async def wait_for_open_round(self) -> None:
        """Waits a moment for a round that takes bets."""
        await background.wait_for_event(self._betting, NEXT_ROUND_TIMEOUT_S)

    def _last_round_of(self, player_id: str, round_id: str) -> FinishedRound[Bets, Outcome]:
        """Returns the last round if it is this one; refused if the player neither sits here nor took part in it."""
        last = self.last_round if self.last_round is not None and self.last_round.round_id == round_id else None
        took_part = last is not None and any(stake.player_id == player_id for stake in last.stakes)
        if self._seating.seat_of(player_id) is None and not took_part:
            raise refusals.not_seated(self.table_id)
        if last is None:
            raise self._betting_closed(round_id)
        return last

    async def void_open_round(self, round_id: str, reason: str) -> None:
        """Makes the open round void for a malfunction; refused once it is decided (`804/2015:20`)."""
        round_ = self._round
        if round_ is None or round_.round_id != round_id:
            if not self._has_opened(round_id):
                raise TableRefused("ROUND_UNKNOWN", "This table has had no such round.", round_id=round_id)
            round_ = None
        if round_ is None or self._phase != types_pb2.PHASE_BETTING:
            raise refusals.round_decided(round_id)
        round_.void_reason = reason
        self.wake()
        if round_.opening_journalled:
            await background.shared_result(round_.finished)

    def _has_opened(self, round_id: str) -> bool:
        """Whether a round of this table was opened and journalled: rounds are numbered without a gap."""
        table_id, _, number = round_id.rpartition(".")
        return table_id == self.table_id and _ROUND_NUMBER.fullmatch(number) is not None and int(number) <= self._number

    # -- the life of the table ---------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Has the table look at its rules, switches, seats and bets again."""
        self._changed.set()

    def hand_over(self) -> None:
        """Lets the round under way finish and opens no other."""
        self._handing_over = True
        self.wake()

    async def run(self) -> None:
        """Plays rounds until the table is handed over; raises `StaleOwner` when another process has taken it."""
        self._publisher.on_overflow = self._snapshot_event
        self._publish(self._snapshot_event())
        self._snapshot_published = True
        if self._seat_record is not None:
            self._seat_record.start()
        _LIVE.inc()
        try:
            if self._resumed is not None:
                await self._go_on(self._resumed)
            while await self._wait_for_next_round():
                await self._play()
        except StaleOwner:
            _log.warning("the table has another owner", extra={"table_id": self.table_id, "epoch": self._epoch})
            raise
        finally:
            _LIVE.dec()
            moved = refusals.unavailable("The table has just moved to another process")
            if self._hand is not None:
                self._hand.abandon(moved)
            if self._round is not None:
                self._round.abandon(moved)
            if self._seat_record is not None:
                await self._seat_record.close()

    async def _wait_for_next_round(self) -> bool:
        """Waits until a round may open; false when the table is handed over."""
        while not self._handing_over:
            closed_reason = self._host.closed_reason()
            self._publish_idle_phase(closed_reason)
            if closed_reason is None and self._seating and not self._publisher.full:
                return True
            await self._wait(None if not self._publisher.full else BUS_CHECK_EVERY_S)
        return False

    def _publish_idle_phase(self, closed_reason: str | None) -> None:
        """Publishes that no round can open now, where that is new: the table is switched off, or nobody sits here."""
        if closed_reason is not None:
            if self._phase != types_pb2.PHASE_DISABLED:
                self._phase = types_pb2.PHASE_DISABLED
                self._next_round_opens_at = None
                self._publish_switched(enabled=False, reason=closed_reason)
        elif self._phase == types_pb2.PHASE_DISABLED:
            self._phase = types_pb2.PHASE_IDLE
            self._publish_switched(enabled=True, reason="")
        elif not self._seating and self._phase != types_pb2.PHASE_IDLE:
            self._phase = types_pb2.PHASE_IDLE
            self._next_round_opens_at = None
            self._publish(events_pb2.TableEvent(table_emptied=events_pb2.TableEmptied()))

    def _publish_switched(self, *, enabled: bool, reason: str) -> None:
        self._publish(events_pb2.TableEvent(table_switched=events_pb2.TableSwitched(enabled=enabled, reason=reason)))

    async def _play(self) -> None:
        """Plays one round, from its opening until the next may open."""
        self._configured = self._host.rules_in_force()
        try:
            round_ = await self._open_round()
        except (WalletFailed, WalletUnanswered) as failed:
            # No round has begun: rules, switches and a handover that have come meanwhile count before the next attempt.
            _log.warning("no round can open", extra={"table_id": self.table_id, "error": str(failed)})
            await self._wait(WALLET_RETRY_S)
            return
        try:
            must_end = await self._take_bets(round_)
            round_.close()
            self._betting.clear()
            if not must_end:
                round_.abandon(refusals.unavailable("The round came to nothing"))
                self._round = None
                if self._handing_over or self._seating:
                    # Another round or another owner is published next; only where nobody sits is the rest published.
                    self._phase = types_pb2.PHASE_IDLE
                return
            self._phase = types_pb2.PHASE_CLOSED
            self._publish(messages.betting_closed(round_.round_id, cards_follow=self._has_cards))
            await round_.wait_until_answered()
            if self.individual and not round_.felt.has_accepted_stakes:
                # The wallet has refused or given back what lay there: nobody has a bet to draw for.
                round_.void_reason = round_.void_reason or NO_BETS_LEFT
            dealt = self._deal(round_, round_.journal_stakes()) if not round_.void_reason else None
        except (StaleOwner, WalletFailed):
            # Only the ledger knows what counts: the next owner, or the recovery, reads it there and ends the round.
            raise
        except Exception:  # noqa: BLE001 - whatever it was, the stakes must go back
            self._fail(round_)
            dealt = None
        await self._end_round(round_, dealt)

    def _fail(self, round_: Round[Bets, Outcome]) -> None:
        """Makes a round void that has failed before it was drawn or dealt; for an `except` block.

        A fault of the platform harms no player (G9): nothing was drawn, so every stake goes back (GLI-19 A.6.4).
        """
        _log.exception("a round failed", extra={"round_id": round_.round_id})
        round_.closed = True
        round_.void_reason = round_.void_reason or PLATFORM_FAULT
        self._host.switch_off(PLATFORM_FAULT, whole_game=False)

    async def _end_round(
        self, round_: Round[Bets, Outcome], dealt: tuple[Drawn, DealtRound[Bets, Outcome]] | None
    ) -> None:
        """Journals what was drawn or dealt, plays it and pays it; without it the round is void."""
        if dealt is None:
            await self._void(round_)
            await self._finish(round_)
            return
        drawn, dealt_round = dealt
        await self._journal.write_drawn(self._epoch, drawn)
        if drawn.outcome is None:
            await self._play_hand(round_, drawn, self._new_hand(round_, drawn, dealt_round))
        else:
            await self._pay(round_, drawn, dealt_round, self._shown_from(dealt_round.cards_shown))

    async def _finish(self, round_: Round[Bets, Outcome]) -> None:
        self._round = None
        await self._show_result(round_)

    def _shown_from(self, cards: int) -> datetime:
        """Returns when so many cards lie on the table that are dealt from now on."""
        return self._clock.now() + self._dealing * cards

    @property
    def _dealing(self) -> timedelta:
        return timedelta(milliseconds=self._configured.configuration.dealing_ms)

    # -- rounds in which players decide ------------------------------------------------------------------------------

    def _new_hand(
        self,
        round_: Round[Bets, Outcome],
        drawn: Drawn,
        dealt: DealtRound[Bets, Outcome],
        resumed: ResumedRound[Bets, Outcome] | None = None,
    ) -> Hand[Bets, Outcome]:
        configuration = self._configured.configuration
        individual = configuration.play == wallet_types.PLAY_INDIVIDUAL
        return Hand(
            round_.round_id,
            self._epoch,
            round_.rules,
            dealt,
            stakes=drawn.stakes if resumed is None else resumed.stakes,
            moves=() if resumed is None else resumed.moves,
            paid={} if resumed is None else resumed.paid,
            given_back=frozenset() if resumed is None else resumed.given_back,
            turn_number=FIRST_TURN if resumed is None else resumed.turn_number,
            shown_at=self._shown_from(cards_dealt_first(dealt)) if resumed is None else resumed.shown_at,
            pace=Pace(
                self._dealing,
                None if individual else timedelta(milliseconds=configuration.decision_ms),
                drawn.drawn_at + timedelta(hours=configuration.open_hand_hours) if individual else None,
            ),
            table=_TableForTurns(self),
            wallet=self._wallet,
            journal=self._journal,
            clock=self._clock,
            commands=round_.commands,
            publish=self._publish,
            on_stake=round_.count_stake,
            on_changed=self._after_decision,
        )

    async def _play_hand(self, round_: Round[Bets, Outcome], drawn: Drawn, hand: Hand[Bets, Outcome]) -> None:
        """Lets players decide about a round that is dealt, and pays it; the next owner goes on if the table moves."""
        self._hand = round_.hand = hand
        self._phase = types_pb2.PHASE_PLAYING
        round_.tell_dealt(drawn.stakes)
        if self._resumed is None:
            self._publish(hand.dealt_event(drawn.draw_trigger))
        own_views = self._own_views = OwnViews(self.table_id, hand, self._free_cents, self._own_view_publisher)
        own_views.tell()
        try:
            if not await hand.play():
                return
        except HandVoid as void:
            await self._void_dealt(round_, drawn, str(void))
            return
        finally:
            self._own_views = None
            await own_views.close()
        outcome = round_.rules.outcome_message(hand.dealt.outcome).SerializeToString()
        decided = dataclasses.replace(drawn, outcome=outcome, stakes=tuple(hand.stakes))
        await self._pay(round_, decided, hand.dealt, hand.shown_at, hand)

    async def _void_dealt(self, round_: Round[Bets, Outcome], drawn: Drawn, reason: str) -> None:
        """Makes a hand void that cannot be finished because the platform has failed (`806/2015:72`)."""
        _log.error("a dealt round is void", extra={"round_id": round_.round_id, "reason": reason})
        if self._hand is not None:
            self._hand.abandon(refusals.unavailable("The hand is void"))
        round_.hand = self._hand = None
        round_.void_reason = reason
        result = await self._settlement.void(round_.round_id, reason, drawn.stakes)
        opens_at = self._next_round_opens_at = self._shown_until()
        _VOIDED.inc()
        self._publish(messages.round_voided(round_.round_id, reason, opens_at))
        self._end(round_, result, drawn.stakes)
        await self._finish(round_)

    def _take_up(self, resumed: ResumedRound[Bets, Outcome]) -> None:
        """Makes a former owner's dealt round the round under way."""
        self._configured = resumed.rules
        self._shoe.take_up(resumed)
        opened, drawn = resumed.opened, resumed.drawn
        round_ = self._round = self._new_round(opened, list(drawn.session_ids), resumed.rules)
        round_.opening_journalled = round_.closed = True
        round_.closes_at, round_.closed_at = opened.closes_at, drawn.closed_at
        round_.draw_trigger = drawn.draw_trigger
        round_.cancelled_stakes.extend(drawn.cancelled_stakes)
        for stake in resumed.stakes:
            self._lay_again(round_, stake)
            # The wallet knows who sits here, but not where: the hand of a player lies at their seat.
            self._seating.want_seat(stake.player_id, stake.seat)
        self._number = max(self._number, opened.number)
        self._hand = round_.hand = self._new_hand(round_, drawn, resumed.dealt, resumed)
        self._phase = types_pb2.PHASE_PLAYING

    def _lay_again(self, round_: Round[Bets, Outcome], stake: JournalStake) -> None:
        """Puts a stake of a former owner's round on the felt."""
        round_.count_stake(stake)

    async def _go_on(self, resumed: ResumedRound[Bets, Outcome]) -> None:
        """Goes on with a former owner's round: the very cards, and fresh time to decide."""
        if self._round is not None and self._hand is not None:
            await self._play_hand(self._round, resumed.drawn, self._hand)
        self._resumed = None

    def _is_away(self, player_id: str) -> bool:
        """Whether nobody waits for a player's decisions: they have left a table that others share."""
        if self.individual:
            return False
        return self._seating.seat_of(player_id) is None or self._seating.is_ending(player_id)

    def _extra_time(self) -> ExtraTime | None:
        """What players have beside the time for a decision; None where they have nothing."""
        return None

    def _after_decision(self) -> None:
        """Tells players what they alone see of a round after one more decision."""
        if self._own_views is not None:
            self._own_views.tell()

    async def _free_cents(self, player_id: str) -> int:
        return await self._wallet.free_cents(player_id, self._configured.configuration.mode)

    async def _open_round(self) -> Round[Bets, Outcome]:
        round_ = await self._begin_round(None if self.individual else self._window())
        if not self.individual:
            await round_.ensure_opened()
        now = self._clock.now()
        if not self.individual:
            # The window begins when players can see the round: it is never shorter than announced (`903-B/2015:6.1.4`).
            round_.closes_at = now + self._window()
        self._round = round_
        self._phase = types_pb2.PHASE_BETTING
        self._opening = ""
        self._next_round_opens_at = None
        self._betting.set()
        self._publish(messages.round_opened(round_, self._shoe_message()), at=now)
        return round_

    async def _begin_round(self, window: timedelta | None) -> Round[Bets, Outcome]:
        """Prepares the next round, and tells the wallet of it as far as it has to know; nothing is journalled yet."""
        configured, now = self._configured, self._clock.now()
        number = self._number + 1
        round_id = round_id_of(self.table_id, number)
        opened = Opened(
            round_id,
            self.table_id,
            self.placement_id,
            number,
            configured.version.version,
            now,
            None if window is None else now + window,
        )

        async def journal_opened() -> None:
            await self._journal.write_opened(self._epoch, opened)
            self._number = number

        round_ = self._new_round(opened, self._seating.session_ids(), configured, journal_opened)
        await self._tell_wallet(configured, round_id)
        return round_

    async def _tell_wallet(self, configured: VersionedRules[Bets, Outcome], round_id: str) -> None:
        """Tells the wallet of the table's rules if they are new, and of the round if a player is warned about it."""
        if self._applied_version != configured.version.version:
            await self._wallet.apply_specific_rules(configured.version.version, inactivity_policy(configured))
            self._applied_version = configured.version.version
        if self._announce_next:
            self._opening = round_id
            await self._wallet.announce_round(round_id)
            self._announce_next = False

    def _new_round(
        self,
        opened: Opened,
        session_ids: list[str],
        configured: VersionedRules[Bets, Outcome],
        journal_opened: Callable[[], Awaitable[None]] | None = None,
    ) -> Round[Bets, Outcome]:
        individual = configured.configuration.play == wallet_types.PLAY_INDIVIDUAL
        return Round(
            opened.round_id,
            configured.rules,
            self._wallet,
            session_ids,
            seats=1 if individual else configured.configuration.seats,
            opened_at=opened.opened_at,
            configuration_version=configured.version.version,
            journal_opened=journal_opened or _opened_before,
            now=self._clock.now,
            publish=self._publish,
            on_change=self.wake,
            holder_of_seat=self._seating.holder_of,
        )

    def _shown_until(self, shown_from: datetime | None = None) -> datetime:
        """Returns until when a result is shown that lies on the table from a moment on, or from now."""
        begun = self._clock.now() if shown_from is None else max(shown_from, self._clock.now())
        return begun + timedelta(milliseconds=self._configured.configuration.result_shown_ms)

    def _window(self) -> timedelta:
        return timedelta(milliseconds=self._configured.configuration.betting_window_ms)

    async def _take_bets(self, round_: Round[Bets, Outcome]) -> bool:
        """Returns when betting closes; false for an individual round without any bet, which leaves no record."""
        closing = BettingClose(round_, self._seating, self._host, self._clock)
        while not closing.is_due(handing_over=self._handing_over):
            await self._wait(closing.next_check_s())
        return closing.must_end

    def _deal(
        self, round_: Round[Bets, Outcome], journal_stakes: list[JournalStake]
    ) -> tuple[Drawn, DealtRound[Bets, Outcome]] | None:
        """Draws or deals; returns None if that fails, which makes the round void (`804/2015:20`)."""
        # Equal bets are read once: they are never changed.
        bets = {encoded: round_.rules.read_bets(encoded) for encoded in {stake.bets for stake in journal_stakes}}
        stakes = [StakeOnTable(stake.stake_id, stake.seat, bets[stake.bets]) for stake in journal_stakes]
        try:
            deal = self._shoe.deal(
                self._randomness, round_.round_id, round_.configuration_version, round_.rules, stakes
            )
        except SourceFailed as failed:
            _log.error(RANDOMNESS_FAILED, extra={"error": str(failed)})
            round_.void_reason = RANDOMNESS_FAILED
            self._host.switch_off(f"{RANDOMNESS_FAILED}: {failed}", whole_game=True)
            return None
        now, dealt = self._clock.now(), deal.round
        drawn = Drawn(
            round_.round_id,
            round_.closed_at or now,
            now,
            deal.entropy,
            round_.rules.outcome_message(dealt.outcome).SerializeToString() if is_decided_at_once(dealt) else None,
            journal_stakes,
            round_.session_ids,
            round_.draw_trigger,
            tuple(round_.cancelled_stakes),
            hides_cards=round_.rules.hides_cards or deal.shoe is not None,
            shoe=deal.shoe,
        )
        return drawn, dealt

    async def _pay(
        self,
        round_: Round[Bets, Outcome],
        drawn: Drawn,
        dealt: DealtRound[Bets, Outcome],
        shown_at: datetime,
        hand: Hand[Bets, Outcome] | None = None,
    ) -> None:
        """Publishes the outcome of a round, which is durable and which nobody has seen before, and pays the round."""
        outcome = round_.outcome = dealt.outcome
        shoe = self._shoe.leave(drawn, round_.configuration_version, round_.rules, dealt)
        round_.hand = self._hand = None
        self._phase = types_pb2.PHASE_DRAWN
        message = round_.rules.outcome_message(outcome)
        event = messages.outcome_drawn(round_.round_id, message, drawn.draw_trigger, shown_at, shoe)
        self._publish(event)
        self._past.appendleft(messages.past_outcome(round_.round_id, drawn.drawn_at, event.outcome_drawn.outcome))
        await self._settle(round_, drawn, shown_at, hand)
        await self._finish(round_)

    async def _settle(
        self,
        round_: Round[Bets, Outcome],
        drawn: Drawn,
        shown_at: datetime,
        hand: Hand[Bets, Outcome] | None,
    ) -> None:
        decided = None if hand is None else Decided(hand.moves, hand.paid)
        result = await self._settlement.settle(drawn, round_.rules, decided)
        opens_at = self._next_round_opens_at = self._shown_until(shown_at)
        seats = {stake.player_id: stake.seat for stake in drawn.stakes}
        _SETTLED.inc()
        self._publish(messages.round_settled(round_.round_id, seats, result.entry, opens_at))
        self._end(round_, result, drawn.stakes)

    async def _void(self, round_: Round[Bets, Outcome]) -> None:
        if round_.opening_journalled:
            stakes = round_.journal_stakes()
            result = await self._settlement.void(
                round_.round_id, round_.void_reason, stakes, tuple(round_.cancelled_stakes), round_.closed_at
            )
            opens_at = self._next_round_opens_at = self._shown_until()
            _VOIDED.inc()
            self._publish(messages.round_voided(round_.round_id, round_.void_reason, opens_at))
            self._end(round_, result, stakes)
        else:
            round_.abandon(refusals.unavailable("The round came to nothing"))

    def _end(self, round_: Round[Bets, Outcome], result: RoundResult, stakes: Sequence[JournalStake]) -> None:
        self._phase = types_pb2.PHASE_RESULT_SHOWN
        self.last_round = FinishedRound(
            round_.round_id,
            self._number,
            round_.rules,
            round_.outcome,
            result.entry,
            tuple(stakes),
            round_.tell_dealt(stakes, result.entry.void_reason),
            result.balances,
            self._next_round_opens_at,
        )
        self._commands = round_.round_id, round_.commands
        round_.finish(self.last_round)
        self._announce_next = result.sessions.announce_next_round
        self._seating.free_kept_seats()
        if round_.round_id == self._taken_up_round_id:
            for stake in stakes:
                self._seating.forget_wanted(stake.player_id)
        self._seating.free_seats(result.sessions.ended_session_ids)

    async def _show_result(self, round_: Round[Bets, Outcome]) -> None:
        """Shows the result for a while (`903-B/2015:6.2.3`), and refills demonstration accounts that are spent."""
        until = self._next_round_opens_at or self._shown_until()
        await self._refill(round_)
        while not self._handing_over and (remaining_s := (until - self._clock.now()).total_seconds()) > 0:
            await self._wait(remaining_s)

    async def _refill(self, round_: Round[Bets, Outcome]) -> None:
        if self._configured.configuration.mode != wallet_types.MODE_DEMO or self.last_round is None:
            return
        players = {stake.account_id: stake.player_id for stake in self.last_round.stakes}
        for account_id, balance in self.last_round.balances.items():
            if balance.free_cents < round_.rules.minimum_cents and account_id in players:
                await self._host.refill_demo_account(players[account_id], f"{round_.round_id}:refill:{account_id}")

    # -- small parts -------------------------------------------------------------------------------------------------

    def _snapshot_event(self) -> events_pb2.TableEvent:
        event = events_pb2.TableEvent(snapshot_published=events_pb2.SnapshotPublished(snapshot=self.snapshot()))
        # The snapshot includes the event that brings it.
        event.snapshot_published.snapshot.seq += 1
        event.at.FromDatetime(self._clock.now())
        return event

    def _publish_seat(self, event: events_pb2.TableEvent) -> None:
        if self._snapshot_published:
            self._publish(event)

    def _publish(self, *events: events_pb2.TableEvent, at: datetime | None = None) -> None:
        """Publishes what has happened at a moment: now, unless the event is of a moment that was read before."""
        moment = timestamp(self._clock.now() if at is None else at)
        for event in events:
            event.at.CopyFrom(moment)
        self._publisher.publish(*events)

    async def _wait(self, seconds: float | None) -> None:
        """Waits until something changes, but no longer than this."""
        self._changed.clear()
        await background.wait_for_event(self._changed, seconds)


class _TableForTurns:
    """What a hand sees of its table."""

    def __init__(self, table: LiveTable[Any, Any]) -> None:
        self._table = table

    def is_away(self, player_id: str) -> bool:
        return self._table._is_away(player_id)  # noqa: SLF001 - a part of the table

    @property
    def extra_time(self) -> ExtraTime | None:
        return self._table._extra_time()  # noqa: SLF001 - a part of the table

    @property
    def is_leaving(self) -> bool:
        return self._table._handing_over  # noqa: SLF001 - a part of the table

    async def wait(self, seconds: float | None) -> None:
        await self._table._wait(seconds)  # noqa: SLF001 - a part of the table

    def wake(self) -> None:
        self._table.wake()


async def _opened_before() -> None:
    """The opening of a round that goes on was journalled by a former owner."""


def round_id_of(table_id: str, number: int) -> str:
    """Returns the id of a table's round; the rounds of a table are numbered from 1."""
    return f"{table_id}.{number}"


def inactivity_policy(configured: VersionedRules[Any, Any]) -> session_pb2.InactivityPolicy:
    """Returns the table's own treatment of inactivity, or the regulation's numbers."""
    configuration = configured.configuration
    own = getattr(configured.rules, "inactivity_policy", None)
    if own is not None:
        # A game's own specific rules say it (`806/2015:70`).
        return cast("session_pb2.InactivityPolicy", own)
    if configuration.HasField("inactivity"):
        return configuration.inactivity
    return session_pb2.InactivityPolicy(invite=True)
