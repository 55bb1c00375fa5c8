"""A round while it takes bets: each command of a player acts once, and the wallet accepts and cancels stakes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

from google.protobuf.message import Message

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit import background
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.answers import CancelledBets, PlacedBets, ReducedStake
from services.kit.table.banked.commands import BetCommand, PlayerCommands
from services.kit.table.banked.felt import Felt, Stake, TakenBack
from services.kit.table.banked.limits import RoundLimits
from services.kit.table.banked.stake_batcher import StakeBatcher
from services.kit.table.events import messages
from services.kit.table.events.messages import HandView
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import CancelledStake, DrawTrigger, Ended, JournalStake
from services.kit.table.refusals import TableRefused
from services.kit.table.seat import Seat
from services.kit.table.wallet.table_wallet import TableWallet
from services.kit.telemetry import trace
from services.kit.wire_format import timestamp

_Answer = TypeVar("_Answer")

# Commands of one player that a placement may wait behind (G11): with each, closing the round waits for the wallet once.
COMMANDS_AHEAD_LIMIT = 20


class PublishEvents(Protocol):
    """Publishes events to everybody who watches the table."""

    def __call__(self, *events: events_pb2.TableEvent) -> None: ...


class Deal(NamedTuple):
    """What came of the bets when they were closed: the answer to the player who has started the deal, for ever (G3)."""

    stakes: Sequence[JournalStake]
    """Those that counted then; decisions make others."""
    void_reason: str
    """Why nothing was dealt; empty if the cards are."""

    def staked_cents(self, player_id: str) -> int:
        return sum(stake.amount_cents for stake in self.stakes if stake.player_id == player_id)


@dataclass(frozen=True, slots=True)
class FinishedRound(Generic[Bets, Outcome]):
    """A round that has ended, as its table keeps it."""

    round_id: str
    number: int
    rules: Rules[Bets, Outcome]
    """Those that it was played by: the table's next round may have others."""
    outcome: Outcome | None
    entry: Ended
    stakes: tuple[JournalStake, ...]
    deal: Deal
    balances: dict[str, wallet_types.Balance]
    next_round_opens_at: datetime | None
    """When its table opens the next round at the earliest."""


class Round(Generic[Bets, Outcome]):
    """Takes bets until it is closed; its table then draws and ends it."""

    def __init__(
        self,
        round_id: str,
        rules: Rules[Bets, Outcome],
        wallet: TableWallet,
        session_ids: list[str],
        *,
        seats: int,
        opened_at: datetime,
        configuration_version: int,
        journal_opened: Callable[[], Awaitable[None]],
        now: Callable[[], datetime],
        publish: PublishEvents,
        on_change: Callable[[], None],
        holder_of_seat: Callable[[int], str | None],
    ) -> None:
        """`holder_of_seat` says which player sits on a seat; None if nobody does."""
        self.round_id = round_id
        self.rules = rules
        self.session_ids = session_ids
        self.opened_at = opened_at
        self.configuration_version = configuration_version
        self.closes_at: datetime | None = None
        self.closed_at: datetime | None = None
        # What ends the betting; unknown as long as bets are taken.
        self.draw_trigger = DrawTrigger.UNKNOWN
        self.void_reason = ""
        self.outcome: Outcome | None = None
        # What everybody sees while players decide.
        self.hand: HandView | None = None
        # Done when the cards are dealt or the round is void.
        self.dealt: asyncio.Future[Deal] = asyncio.get_running_loop().create_future()
        # True from the moment the round may be in the journal.
        self.opening_journalled = False
        # No new command begins; those under way go on.
        self.closed = False
        self.felt: Felt[Bets, Outcome] = Felt(rules)
        self.cancelled_stakes: list[CancelledStake] = []
        self.finished: asyncio.Future[FinishedRound[Bets, Outcome]] = asyncio.get_running_loop().create_future()
        self._wallet = wallet
        self._journal_opened = journal_opened
        self._now = now
        self._publish = publish
        self._on_change = on_change
        self._holder_of_seat = holder_of_seat
        self._opened = False
        self._batcher = StakeBatcher(wallet, round_id, self.felt, self.ensure_opened, self._publish_placed, on_change)
        # Their number is bounded by what each player may place and cancel (G11).
        self.commands = PlayerCommands()
        # Commands that wait for something: cancellations, and placements behind a cancellation of the same player.
        self._under_way: set[asyncio.Task[object]] = set()
        # The last cancellation of each player that began.
        self._cancelling: dict[str, asyncio.Task[CancelledBets[Bets]]] = {}
        # Why it is not known whether a stake was cancelled.
        self._cancel_failure: Exception | None = None
        self._limits = RoundLimits(round_id, seats)
        # The full name of the game's message of bets.
        self._bets_type = ""

    @property
    def failed(self) -> bool:
        """Whether stakes can no longer be sent to the wallet, or it is not known which of them it still holds."""
        return self._batcher.failed or self._cancel_failure is not None

    async def ensure_opened(self) -> None:
        """Journals the opening, before the first stake goes to the wallet."""
        if not self._opened:
            self.opening_journalled = True
            await self._journal_opened()
            self._opened = True

    async def place(self, seat: Seat, command: BetCommand, bets: Bets) -> PlacedBets[Bets]:
        """Places bets, all or none; they count when this returns."""
        return await background.shared_result(
            self._once(seat, command, lambda: self._place_in_turn(seat, command, bets))
        )

    async def cancel_bets(self, seat: Seat, command: BetCommand, bets: Bets | None) -> CancelledBets[Bets]:
        """Takes just these bets back, or all of the player's; refused, nothing has changed."""

        def begin() -> asyncio.Future[CancelledBets[Bets]]:
            self._limits.count_cancellation(seat.player_id)
            # In the order in which the player's commands came: what was clicked before can be taken back.
            earlier = self.commands.under_way(seat.player_id)
            task = asyncio.create_task(self._cancel_bets(seat, command, bets, earlier))
            self._cancelling[seat.player_id] = task
            self._track(task)
            return task

        return await background.shared_result(self._once(seat, command, begin))

    def _once(
        self, seat: Seat, command: BetCommand, begin: Callable[[], asyncio.Future[_Answer]]
    ) -> asyncio.Future[_Answer]:
        def begin_in_time() -> asyncio.Future[_Answer]:
            if self.closed:
                # The command may have waited for something since it was checked that the round takes bets (G6).
                raise self.betting_closed_refusal()
            return begin()

        return self.commands.once(seat.player_id, command, begin_in_time)

    def _track(self, task: asyncio.Task[_Answer]) -> None:
        self._under_way.add(cast("asyncio.Task[object]", task))
        task.add_done_callback(lambda done: self._under_way.discard(cast("asyncio.Task[object]", done)))

    def betting_closed_refusal(self, round_id: str = "") -> TableRefused:
        """Builds the refusal of a bet in `round_id`, or in this round, which takes none."""
        closed_at = "" if self.closes_at is None else timestamp(self.closes_at).ToJsonString()
        return refusals.betting_closed(round_id or self.round_id, self.round_id, closed_at)

    def _place_in_turn(self, seat: Seat, command: BetCommand, bets: Bets) -> asyncio.Future[PlacedBets[Bets]]:
        """Places bets at once, or behind commands of the same player that decide about them."""
        ahead = self._commands_ahead(seat.player_id)
        if not ahead:
            return self._submit(seat, command, bets)
        if len(ahead) >= COMMANDS_AHEAD_LIMIT:
            raise refusals.overloaded(COMMANDS_AHEAD_LIMIT)

        async def place_behind() -> PlacedBets[Bets]:
            await asyncio.wait(ahead)
            return await background.shared_result(self._submit(seat, command, bets))

        task = asyncio.create_task(place_behind())
        self._track(task)
        return task

    def _commands_ahead(self, player_id: str) -> Sequence[asyncio.Future[object]]:
        """Returns the commands of a player that have to be answered before the player's next placement is judged."""
        if self.rules.bets_lean_on_each_other:
            return self.commands.under_way(player_id)
        # So each answer says what lay there (G3).
        cancelling = self._cancelling.get(player_id)
        if cancelling is None or cancelling.done():
            return ()
        return [cast("asyncio.Future[object]", cancelling)]

    def _submit(self, seat: Seat, command: BetCommand, bets: Bets) -> asyncio.Future[PlacedBets[Bets]]:
        # Judged first: what no table allows may be more than a message holds.
        together = self.felt.judge(seat.player_id, bets)
        self._verify_places(seat.player_id, bets)
        message = self.rules.bets_message(bets)
        self._bets_type = message.DESCRIPTOR.full_name
        stake = Stake(
            command.wallet_request_id(seat.account_id),
            command.request_id,
            seat,
            bets,
            message.SerializeToString(),
            self.rules.total_cents(bets),
            command.digest,
        )
        self._limits.verify_room(seat.player_id, len(stake.encoded_bets))
        placed = self._batcher.submit(stake, together)
        self._limits.count_stakes(seat.player_id, len(stake.encoded_bets))
        return placed

    def _verify_places(self, player_id: str, bets: Bets) -> None:
        """Refuses bets on a place where somebody else sits or has bet."""
        for place in self.rules.places(bets):
            for holder in (self._holder_of_seat(place), self.felt.place_holder(place)):
                if holder not in {None, player_id}:
                    raise refusals.place_taken(place)

    async def _cancel_bets(
        self, seat: Seat, command: BetCommand, bets: Bets | None, earlier: Sequence[asyncio.Future[object]]
    ) -> CancelledBets[Bets]:
        """Has the wallet cancel stakes and parts of stakes together: all that was named and nothing else."""
        if earlier:
            await asyncio.wait(earlier)
        chosen = self.felt.choose(seat.player_id, bets)
        asked = [self._stake_to_cancel(taken) for taken in chosen]
        parts = [part for part in asked if part.remaining_detail]
        detail_bytes = sum(len(part.cancelled_detail) + len(part.remaining_detail) for part in parts)
        if parts:
            self._limits.verify_room(seat.player_id, detail_bytes, len(parts))
            self._limits.count_stakes(seat.player_id, detail_bytes, len(parts))
        self.felt.begin_taking_back(chosen)
        try:
            answer = await self._wallet.cancel_stakes(
                self.round_id,
                seat.account_id,
                asked,
                request_id=command.wallet_request_id(seat.account_id),
                command_digest=command.digest,
            )
        except Refused:
            self.felt.keep(chosen)
            raise
        except Exception as failed:
            # The round becomes void, for no draw may decide about stakes of which the wallet may hold a part or none.
            self._cancel_failure = failed
            self._on_change()
            raise
        return self._taken_back(seat, chosen, answer)

    def _stake_to_cancel(self, taken: TakenBack[Bets]) -> wallet_pb2.StakeToCancel:
        part = wallet_pb2.StakeToCancel(stake_id=taken.stake.stake_id, amount_cents=self.rules.total_cents(taken.bets))
        if taken.rest is not None:
            part.cancelled_detail = self.rules.bets_message(taken.bets).SerializeToString()
            part.remaining_detail = self.rules.bets_message(taken.rest).SerializeToString()
        return part

    def _taken_back(
        self, seat: Seat, chosen: list[TakenBack[Bets]], answer: wallet_pb2.CancelStakesResponse
    ) -> CancelledBets[Bets]:
        """Takes off the felt what the wallet has given back, and says so."""
        cancelled_at = answer.cancelled_at.ToDatetime(UTC)
        cents = 0
        events: list[events_pb2.TableEvent] = []
        for taken in chosen:
            bets, amount_cents = self.rules.bets_message(taken.bets), self.rules.total_cents(taken.bets)
            cents += amount_cents
            part = _journal_stake(taken.stake)._replace(amount_cents=amount_cents, bets=bets.SerializeToString())
            self.cancelled_stakes.append(CancelledStake(part, cancelled_at))
            rest = None if taken.rest is None else self.rules.bets_message(taken.rest)
            left_cents = 0 if taken.rest is None else self.rules.total_cents(taken.rest)
            events.append(
                messages.bets_cancelled(
                    self.round_id, taken.stake.stake_id, seat.number, amount_cents, bets, left_cents, rest
                )
            )
        self.felt.take_back(chosen)
        self._publish(*events)
        return CancelledBets(
            cents,
            answer.balance,
            self.felt.accepted_bets_of(seat.player_id),
            tuple(taken.stake.stake_id for taken in chosen if taken.rest is None),
            tuple(
                ReducedStake(taken.stake.stake_id, taken.stake.amount_cents, taken.rest)
                for taken in chosen
                if taken.rest is not None
            ),
        )

    async def wait_until_answered(self) -> None:
        """Returns when the wallet has answered every command that began in time."""
        while True:
            try:
                await self._batcher.wait_until_answered()
            except Exception:
                # A command may wait for a stake that cannot be sent any more.
                self._batcher.abandon(_bet_dropped())
                if self._under_way:
                    await asyncio.wait(self._under_way)
                raise
            if not self._under_way:
                break
            await asyncio.wait(self._under_way)
        if self._cancel_failure is not None:
            raise self._cancel_failure

    def count_stake(self, stake: JournalStake) -> None:
        """Puts a stake on the felt that the wallet has accepted: of a decision, or of a round that goes on."""
        seat = Seat(stake.seat, stake.player_id, stake.account_id, stake.session_id)
        bets = self.rules.read_bets(stake.bets)
        on_felt = Stake(stake.stake_id, stake.request_id, seat, bets, stake.bets, stake.amount_cents)
        self.felt.count(on_felt, stake.placed_at)

    def journal_stakes(self) -> list[JournalStake]:
        """Returns the stakes that count, as the journal keeps them."""
        return [_journal_stake(stake) for stake in self.felt.accepted_stakes()]

    def close(self) -> None:
        """Closes betting («jogo feito, nada mais»)."""
        self.closed = True
        self.closed_at = self._now()

    def finish(self, finished: FinishedRound[Bets, Outcome]) -> None:
        """Gives everybody who waits for it the end of the round."""
        # Nothing is on its way any more, unless sending had failed.
        self._batcher.abandon(_bet_dropped())
        if not self.finished.done():
            self.finished.set_result(finished)

    def tell_dealt(self, stakes: Sequence[JournalStake], void_reason: str = "") -> Deal:
        """Ends the wait for the deal, and returns what ended it first: the cards, or the reason of a void round."""
        if not self.dealt.done():
            self.dealt.set_result(Deal(stakes, void_reason))
        return self.dealt.result()

    def abandon(self, refusal: Refused) -> None:
        """Fails everything that waits: this process does not learn how the round ends."""
        self.closed = True
        self._batcher.abandon(refusal)
        for task in self._under_way:
            task.cancel()
        for waited_for in (self.dealt, self.finished):
            if not waited_for.done():
                waited_for.set_exception(refusal)
                waited_for.exception()

    # -- what others see ---------------------------------------------------------------------------------------------

    def outcome_message(self) -> Message | None:
        return None if self.outcome is None else self.rules.outcome_message(self.outcome)

    def bets_by_seat(self) -> Iterator[tuple[Seat, Message, int]]:
        for seat, bets, amount_cents in self.felt.bets_by_seat():
            yield seat, self.rules.bets_message(bets), amount_cents

    def _publish_placed(self, stakes: list[Stake[Bets]]) -> None:
        if trace.is_recording():
            for stake in stakes:
                with trace.continued(stake.traceparent):
                    self._publish(self._placed_event(stake))
        else:
            self._publish(*(self._placed_event(stake) for stake in stakes))

    def _placed_event(self, stake: Stake[Bets]) -> events_pb2.TableEvent:
        return messages.bets_placed(
            self.round_id,
            stake.stake_id,
            stake.seat.number,
            stake.amount_cents,
            stake.encoded_bets,
            self._bets_type,
        )


def _bet_dropped() -> TableRefused:
    return refusals.unavailable("The bet came to nothing")


def _journal_stake(stake: Stake[Bets]) -> JournalStake:
    """Converts a stake that the wallet has accepted."""
    return JournalStake(
        stake.stake_id,
        stake.request_id,
        stake.seat.player_id,
        stake.seat.account_id,
        stake.seat.session_id,
        stake.seat.number,
        stake.amount_cents,
        stake.encoded_bets,
        cast("datetime", stake.placed_at),
    )
