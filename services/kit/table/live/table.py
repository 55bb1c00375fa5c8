"""One live table: a single task that opens rounds, closes them, draws, and sees to it that they end.

All that changes at the table changes here, on one event loop (single writer). Nothing is acknowledged or said before it
is durable (G5): stakes when the wallet has them, outcomes when the journal has them, ends when the wallet has paid.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from typing import Generic

from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit import background
from services.kit.randomness.source import SourceFailed, draw
from services.kit.table import refusals
from services.kit.table.banked.felt import Seat
from services.kit.table.banked.round import FinishedRound, Round
from services.kit.table.banked.settlement import RoundResult, Settlement
from services.kit.table.events import messages as appearance
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.entries import Drawn, DrawTrigger, JournalStake, Opened, StaleOwner
from services.kit.table.live.closing import BettingClose
from services.kit.table.live.dependencies import TableDependencies, VersionedRules
from services.kit.table.live.seating import Seating
from services.kit.table.refusals import TableRefused
from services.kit.table.wallet.table_wallet import WalletFailed, WalletUnanswered

# How many outcomes a table shows (`804/2015:6.e` leaves the number open).
PAST_OUTCOMES_SHOWN = 20
# While so much waits for the bus that no round is opened: how soon to look again.
BUS_CHECK_EVERY_S = 0.1
# How soon a round is opened again for which the wallet gave no answer.
WALLET_RETRY_S = 1.0
# How long an answer waits for a round to take bets that is just about to open.
NEXT_ROUND_TIMEOUT_S = 1.0

RANDOMNESS_FAILED = "the source of randomness failed its health test"
PLATFORM_FAULT = "a fault of the platform"

_log = logging.getLogger(__name__)


class LiveTable(Generic[Bets, Outcome]):
    """A table under one lease."""

    def __init__(
        self,
        table_id: str,
        placement_id: str,
        epoch: int,
        dependencies: TableDependencies[Bets, Outcome],
        *,
        last_round_number: int,
        past_outcomes: list[types_pb2.PastOutcome],
    ) -> None:
        self.table_id = table_id
        self.placement_id = placement_id
        self._epoch = epoch
        self._premises = dependencies.host
        self._bank = dependencies.wallet
        self._journal = dependencies.journal
        self._randomness = dependencies.randomness
        self._clock = dependencies.clock
        self._voice = dependencies.publisher
        self._settlement: Settlement[Bets, Outcome] = Settlement(self._bank, self._journal, epoch)
        self._number = last_round_number
        self._past = deque(past_outcomes, maxlen=PAST_OUTCOMES_SHOWN)
        self._seating = Seating(self._say)
        self._phase: types_pb2.Phase.ValueType = types_pb2.PHASE_IDLE
        self._round: Round[Bets, Outcome] | None = None
        self._configured = self._premises.rules_in_force()
        self._announce_next = False
        # A round that players may have been told of and that takes no bets yet.
        self._opening = ""
        # The version that the wallet has been told.
        self._applied_version = 0
        self._leaving = False
        self._changed = asyncio.Event()
        self._betting = asyncio.Event()
        self.last_round: FinishedRound[Outcome] | None = None

    # -- what others see ---------------------------------------------------------------------------------------------

    @property
    def individual(self) -> bool:
        return self._configured.configuration.play == wallet_types.PLAY_INDIVIDUAL

    @property
    def is_empty(self) -> bool:
        """Nobody sits here and nothing lies on the felt."""
        return not self._seating and (self._round is None or self._round.felt.is_empty)

    @property
    def seated_count(self) -> int:
        return len(self._seating)

    @property
    def current_rules(self) -> VersionedRules[Bets, Outcome]:
        """The rules of the round under way, or of the next one."""
        return self._configured

    def snapshot(self) -> types_pb2.TableSnapshot:
        return appearance.snapshot(
            self.table_id,
            self._voice.seq,
            self._clock.now(),
            self._phase,
            self._configured.version,
            self._round,
            self._past,
            len(self._seating),
            self._premises.closed_reason() or "",
        )

    def seat_of(self, player_id: str) -> Seat | None:
        return self._seating.seat_of(player_id)

    @property
    def next_round_id(self) -> str:
        """The round that takes bets, or the one that will next."""
        if self._round is not None and self._open(self._round):
            return self._round.round_id
        return f"{self.table_id}.{self._number + 1}"

    @property
    def round(self) -> Round[Bets, Outcome] | None:
        """The round under way."""
        return self._round

    # -- who sits here -----------------------------------------------------------------------------------------------

    def apply_session(self, session: session_pb2.Session) -> None:
        """A session at this table has started, moved on or ended."""
        if session.state == session_pb2.SESSION_STATE_ENDED:
            if self._is_being_paid(session.player_id):
                self._seating.keep_until_result(session.session_id)
            else:
                self._seating.free_seats([session.session_id])
        else:
            self._seating.seat_session(session)
        if session.state in {session_pb2.SESSION_STATE_INVITED, session_pb2.SESSION_STATE_WARNED}:
            self._announce_next = not self.individual
        self.wake()

    def _is_being_paid(self, player_id: str) -> bool:
        """His round has ended in the wallet, and nobody at the table has been told."""
        decided = self._phase in {types_pb2.PHASE_CLOSED, types_pb2.PHASE_DRAWN}
        return decided and self._round is not None and bool(self._round.felt.accepted_stakes_of(player_id))

    async def reconcile_seats(self) -> None:
        """Frees the seats of sessions whose end was not heard of."""
        sat = set(self._seating.session_ids())
        running = {session.session_id for session in await self._bank.list_sessions()}
        if self._round is None or self._round.felt.is_empty:
            self._seating.free_seats(sat - running)
            self.wake()

    # -- what players do ---------------------------------------------------------------------------------------------

    def open_round_and_seat(
        self, round_id: str, player_id: str, request_id: str = ""
    ) -> tuple[Round[Bets, Outcome], Seat]:
        """The round that takes bets and the player's seat; refused if this round does not, or he does not sit here.

        A command that came in time and is sent again gets its answer for as long as the round is here (G3).
        """
        round_ = self._round
        in_time = round_ is not None and (self._open(round_) or round_.has_command(player_id, request_id))
        if round_ is None or round_.round_id != round_id or not in_time:
            current = "" if round_ is None else round_.round_id
            closed_at = (
                ""
                if round_ is None or round_.closes_at is None
                else appearance.timestamp(round_.closes_at).ToJsonString()
            )
            raise refusals.betting_closed(round_id, current, closed_at)
        seat = self._seating.seat_of(player_id)
        if seat is None:
            raise TableRefused("NOT_SEATED", "Enter the table first.", table_id=self.table_id)
        if self._voice.full:
            raise refusals.overloaded("events that wait for the bus")
        return round_, seat

    @property
    def takes_bets(self) -> bool:
        """Whether there is a round and a bet that comes now is in time."""
        return self._round is not None and self._open(self._round)

    def _open(self, round_: Round[Bets, Outcome]) -> bool:
        """Whether a bet that arrives now is in time (`804/2015:14`)."""
        if self._phase != types_pb2.PHASE_BETTING or round_.draw_trigger or round_.void_reason:
            return False
        return round_.closes_at is None or self._clock.now() < round_.closes_at

    async def trigger_draw(self, player_id: str, round_id: str) -> FinishedRound[Outcome] | None:
        """Launches the ball on the player's word (`804/2015:15`); None for a round that ended before the last one."""
        if not self.individual:
            raise TableRefused(
                "WRONG_PLAY", "Here the round closes by the clock.", table_id=self.table_id, play="MULTI_PLAYER"
            )
        round_ = self._round
        if round_ is None or round_.round_id != round_id:
            return self._last_of(player_id, round_id)
        if self._open(round_):
            self.open_round_and_seat(round_id, player_id)
            if round_.felt.is_empty:
                raise TableRefused("NOTHING_STAKED", "Place a bet first.", round_id=round_id)
            round_.draw_trigger = DrawTrigger.PLAYER
            self.wake()
        elif self._seating.seat_of(player_id) is None and not round_.felt.accepted_stakes_of(player_id):
            raise TableRefused("NOT_SEATED", "Enter the table first.", table_id=self.table_id)
        finished = await background.shared_result(round_.finished)
        # So that who has his result can bet in the round it names. A result that stays on show is not held back.
        if not self._configured.configuration.result_shown_ms:
            await self.wait_for_open_round()
        return finished

    async def wait_if_opening(self, round_id: str) -> None:
        """Waits a moment if this round is just about to open.

        Whoever is warned that he has to bet in it (`804/2015:29`) hears so from the wallet, perhaps before it is open
        here: his bet is early and not late.
        """
        if round_id == self._opening:
            await self.wait_for_open_round()

    async def wait_for_open_round(self) -> None:
        """Waits a moment for a round that takes bets."""
        await background.wait_for_event(self._betting, NEXT_ROUND_TIMEOUT_S)

    def _last_of(self, player_id: str, round_id: str) -> FinishedRound[Outcome] | None:
        """The last round, if it is this one and he had a part in it: an individual table is nobody else's to see."""
        last = self.last_round
        if last is None or last.round_id != round_id:
            return None
        his = self._seating.seat_of(player_id) is not None or any(stake.player_id == player_id for stake in last.stakes)
        return last if his else None

    async def void_open_round(self, round_id: str, reason: str) -> None:
        """Makes the open round void for a malfunction; refused once it is decided (`804/2015:20`)."""
        round_ = self._round
        if round_ is None or round_.round_id != round_id or self._phase != types_pb2.PHASE_BETTING:
            raise TableRefused("ROUND_DECIDED", "Only a round that takes bets can become void.", round_id=round_id)
        round_.void_reason = reason
        self.wake()
        if round_.opening_journalled:
            await background.shared_result(round_.finished)

    # -- the life of the table ---------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Something has changed: rules, switches, seats, bets."""
        self._changed.set()

    def hand_over(self) -> None:
        """Finishes the round under way and opens no other."""
        self._leaving = True
        self.wake()

    async def run(self) -> None:
        """Plays rounds until told to leave; `StaleOwner` when another process has taken the table."""
        self._voice.on_overflow = self._picture
        self._say(self._picture())
        try:
            while await self._needed():
                await self._play()
        except StaleOwner:
            _log.warning("the table has another owner", extra={"table_id": self.table_id, "epoch": self._epoch})
            raise
        finally:
            if self._round is not None:
                self._round.abandon(refusals.unavailable("The table has just moved to another process"))

    async def _needed(self) -> bool:
        """Waits until a round may open; false when the table is to be left."""
        while not self._leaving:
            why = self._premises.closed_reason()
            self._rest(why)
            if why is None and self._seating and not self._voice.full:
                return True
            await self._wait(None if not self._voice.full else BUS_CHECK_EVERY_S)
        return False

    def _rest(self, why: str | None) -> None:
        """Says so if no round can open now: the table is switched off, or nobody sits here."""
        if why is not None:
            if self._phase != types_pb2.PHASE_DISABLED:
                self._phase = types_pb2.PHASE_DISABLED
                self._say_switched(enabled=False, reason=why)
        elif self._phase == types_pb2.PHASE_DISABLED:
            self._phase = types_pb2.PHASE_IDLE
            self._say_switched(enabled=True, reason="")
        elif not self._seating and self._phase != types_pb2.PHASE_IDLE:
            self._phase = types_pb2.PHASE_IDLE
            self._say(events_pb2.TableEvent(table_idle=events_pb2.TableIdle()))

    def _say_switched(self, *, enabled: bool, reason: str) -> None:
        self._say(events_pb2.TableEvent(table_switched=events_pb2.TableSwitched(enabled=enabled, reason=reason)))

    async def _play(self) -> None:
        """One round from its opening to the moment the next may open."""
        self._configured = self._premises.rules_in_force()
        try:
            round_ = await self._open_round()
        except WalletUnanswered:
            # No round has begun: rules, switches and a handover that have come meanwhile count before the next attempt.
            await self._wait(WALLET_RETRY_S)
            return
        try:
            begun = await self._take_bets(round_)
            round_.close()
            self._betting.clear()
            if not begun:
                self._round = None
                if self._leaving or self._seating:
                    # Another round or another owner is about to be told of. Where nobody sits, rest is told.
                    self._phase = types_pb2.PHASE_IDLE
                return
            self._phase = types_pb2.PHASE_CLOSED
            self._say(appearance.betting_closed(round_.round_id))
            await round_.wait_until_answered()
            drawn = await self._draw(round_) if not round_.void_reason else None
        except (StaleOwner, WalletFailed):
            # What lies on the felt is the ledger's to say: whoever reads it there ends the round.
            raise
        except Exception:  # noqa: BLE001 - whatever it was, the stakes are not ours to keep
            # A fault of ours harms no player (G9): nothing was drawn, so every stake goes back (GLI-19 A.6.4).
            _log.exception("a round failed", extra={"round_id": round_.round_id})
            round_.closed = True
            round_.void_reason = round_.void_reason or PLATFORM_FAULT
            await self._premises.switch_off(PLATFORM_FAULT, whole_game=False)
            drawn = None
        if drawn is None:
            await self._void(round_)
        else:
            await self._note_drawn(round_, drawn)
            await self._settle(round_, drawn)
        self._round = None
        await self._show_result(round_)

    async def _open_round(self) -> Round[Bets, Outcome]:
        configured, now = self._configured, self._clock.now()
        number = self._number + 1
        round_id = f"{self.table_id}.{number}"
        opened = Opened(
            round_id,
            self.table_id,
            self.placement_id,
            number,
            configured.version.version,
            now,
            None if self.individual else now + self._window(),
        )

        async def note_opened() -> None:
            await self._journal.write_opened(self._epoch, opened)
            self._number = number

        round_ = Round(
            round_id,
            configured.rules,
            self._bank,
            self._seating.session_ids(),
            seats=1 if self.individual else configured.configuration.seats,
            opened_at=now,
            configuration_version=configured.version.version,
            journal_opened=note_opened,
            now=self._clock.now,
            publish=self._say,
            on_change=self.wake,
        )
        if self._applied_version != configured.version.version:
            await self._bank.apply_specific_rules(configured.version.version, _policy(configured.configuration))
            self._applied_version = configured.version.version
        if self._announce_next:
            self._opening = round_id
            await self._bank.announce_round(round_id)
            self._announce_next = False
        if not self.individual:
            await round_.ensure_opened()
            # The window begins when players can see it: it is never shorter than announced (`903-B/2015:6.1.4`).
            round_.closes_at = self._clock.now() + self._window()
        self._round = round_
        self._phase = types_pb2.PHASE_BETTING
        self._opening = ""
        self._betting.set()
        self._say(appearance.round_opened(round_))
        return round_

    def _window(self) -> timedelta:
        return timedelta(milliseconds=self._configured.configuration.betting_window_ms)

    async def _take_bets(self, round_: Round[Bets, Outcome]) -> bool:
        """Returns when bets are closed; false for an individual round that nobody has bet in: it never was."""
        closing = BettingClose(round_, self._seating, self._premises, self._clock)
        while not closing.is_due(handing_over=self._leaving):
            await self._wait(closing.next_check_s())
        return closing.must_be_drawn

    async def _draw(self, round_: Round[Bets, Outcome]) -> Drawn | None:
        """Draws; None if there is no number, which makes the round void (`804/2015:20`)."""
        try:
            outcome, entropy = draw(self._randomness, round_.rules.draw)
        except SourceFailed as failed:
            _log.error(RANDOMNESS_FAILED, extra={"error": str(failed)})
            round_.void_reason = RANDOMNESS_FAILED
            await self._premises.switch_off(f"{RANDOMNESS_FAILED}: {failed}", whole_game=True)
            return None
        now = self._clock.now()
        return Drawn(
            round_.round_id,
            round_.closed_at or now,
            now,
            entropy,
            round_.rules.outcome_message(outcome).SerializeToString(),
            round_.journal_stakes(),
            round_.session_ids,
            round_.draw_trigger,
            tuple(round_.cancelled_stakes),
        )

    async def _note_drawn(self, round_: Round[Bets, Outcome], drawn: Drawn) -> None:
        """From the moment the journal has it the outcome stands (G6); before that nobody has seen it."""
        await self._journal.write_drawn(self._epoch, drawn)
        round_.outcome = round_.rules.read_outcome(drawn.outcome)
        self._phase = types_pb2.PHASE_DRAWN
        message = round_.rules.outcome_message(round_.outcome)
        said = appearance.outcome_drawn(round_.round_id, message, drawn.draw_trigger)
        self._say(said)
        self._past.appendleft(appearance.past_outcome(round_.round_id, drawn.drawn_at, said.outcome_drawn.outcome))

    async def _settle(self, round_: Round[Bets, Outcome], drawn: Drawn) -> None:
        result = await self._settlement.settle(drawn, round_.rules)
        shown_until = self._clock.now() + timedelta(milliseconds=self._configured.configuration.result_shown_ms)
        seats = {stake.player_id: stake.seat for stake in drawn.stakes}
        self._say(appearance.round_settled(round_.round_id, seats, result.entry, shown_until))
        self._end(round_, result, drawn.stakes)

    async def _void(self, round_: Round[Bets, Outcome]) -> None:
        if round_.opening_journalled:
            stakes = round_.journal_stakes()
            result = await self._settlement.void(
                round_.round_id, round_.void_reason, stakes, tuple(round_.cancelled_stakes), round_.closed_at
            )
            self._say(appearance.round_void(round_.round_id, round_.void_reason))
            self._end(round_, result, stakes)
        else:
            round_.abandon(refusals.unavailable("The round came to nothing"))

    def _end(self, round_: Round[Bets, Outcome], result: RoundResult, stakes: Sequence[JournalStake]) -> None:
        self._phase = types_pb2.PHASE_RESULT_SHOWN
        self.last_round = FinishedRound(round_.round_id, round_.outcome, result.entry, tuple(stakes), result.balances)
        round_.finish(self.last_round)
        self._announce_next = result.sessions.announce_next_round
        self._seating.free_kept_seats()
        self._seating.free_seats(result.sessions.ended_session_ids)

    async def _show_result(self, round_: Round[Bets, Outcome]) -> None:
        """Leaves the result on show (`903-B/2015:6.2.3`), and gives new credits to whoever has none left."""
        until = self._clock.now() + timedelta(milliseconds=self._configured.configuration.result_shown_ms)
        await self._refill(round_)
        while not self._leaving and (remaining_s := (until - self._clock.now()).total_seconds()) > 0:
            await self._wait(remaining_s)

    async def _refill(self, round_: Round[Bets, Outcome]) -> None:
        if self._configured.configuration.mode != wallet_types.MODE_DEMO or self.last_round is None:
            return
        players = {stake.account_id: stake.player_id for stake in self.last_round.stakes}
        for account_id, balance in self.last_round.balances.items():
            if balance.free_cents < round_.rules.minimum_cents and account_id in players:
                await self._premises.refill_demo_account(players[account_id], f"{round_.round_id}:refill:{account_id}")

    # -- small things ------------------------------------------------------------------------------------------------

    def _picture(self) -> events_pb2.TableEvent:
        event = events_pb2.TableEvent(snapshot_published=events_pb2.SnapshotPublished(snapshot=self.snapshot()))
        # It includes itself.
        event.snapshot_published.snapshot.seq += 1
        event.at.FromDatetime(self._clock.now())
        return event

    def _say(self, *events: events_pb2.TableEvent) -> None:
        now = appearance.timestamp(self._clock.now())
        for event in events:
            event.at.CopyFrom(now)
        self._voice.publish(*events)

    async def _wait(self, seconds: float | None) -> None:
        """Until something changes, or so long."""
        self._changed.clear()
        await background.wait_for_event(self._changed, seconds)


def _policy(configuration: types_pb2.TableConfiguration) -> session_pb2.InactivityPolicy:
    """The table's own treatment of inactivity, or the regulation's numbers."""
    if configuration.HasField("inactivity"):
        return configuration.inactivity
    return session_pb2.InactivityPolicy(invite=True)
