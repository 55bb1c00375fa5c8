"""A round while it takes bets: each command of a player acts once, and the wallet accepts and cancels stakes."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

from google.protobuf.message import Message

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit import background
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.felt import Felt, Stake
from services.kit.table.banked.limits import RoundLimits
from services.kit.table.banked.stake_batcher import StakeBatcher
from services.kit.table.events import messages
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import CancelledStake, DrawTrigger, Ended, JournalStake
from services.kit.table.refusals import TableRefused
from services.kit.table.seat import Seat
from services.kit.table.wallet.table_wallet import TableWallet
from services.kit.wire_format import timestamp

_Answer = TypeVar("_Answer")


class PublishEvents(Protocol):
    """Publishes events to everybody who watches the table."""

    def __call__(self, *events: events_pb2.TableEvent) -> None: ...


@dataclass(frozen=True, slots=True)
class FinishedRound(Generic[Outcome]):
    """A round that has ended, as its table keeps it."""

    round_id: str
    rules: Rules[Any, Outcome]
    """Those that it was played by: the table's next round may have others."""
    outcome: Outcome | None
    entry: Ended
    stakes: tuple[JournalStake, ...]
    balances: dict[str, wallet_types.Balance]


class PlacedBets(NamedTuple, Generic[Bets]):
    """A stake that counts, and all bets that its player has on the felt now."""

    stake: Stake[Bets]
    confirmation: wallet_pb2.PlacedStake
    on_felt: Bets | None


@dataclass(frozen=True, slots=True)
class CancelledBets(Generic[Bets]):
    """How much was cancelled, and the bets that its player still has on the felt."""

    cents: int
    balance: wallet_types.Balance
    on_felt: Bets | None


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
    ) -> None:
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
        # True from the moment the round may be in the journal.
        self.opening_journalled = False
        # No new command begins; those under way go on.
        self.closed = False
        self.felt: Felt[Bets, Outcome] = Felt(rules)
        self.cancelled_stakes: list[CancelledStake] = []
        self.finished: asyncio.Future[FinishedRound[Outcome]] = asyncio.get_running_loop().create_future()
        self._wallet = wallet
        self._journal_opened = journal_opened
        self._now = now
        self._publish = publish
        self._on_change = on_change
        self._opened = False
        self._batcher = StakeBatcher(wallet, round_id, self.felt, self.ensure_opened, self._publish_placed, on_change)
        # Each command acts once (G3). Their number is bounded by what each player may place and cancel (G11).
        self._commands: dict[tuple[str, str], tuple[object, asyncio.Future[object]]] = {}
        self._cancelling: set[asyncio.Task[object]] = set()
        # Why it is not known whether a stake was cancelled.
        self._cancel_failure: Exception | None = None
        self._stakes_made = 0
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

    async def place(self, seat: Seat, request_id: str, bets: Bets) -> PlacedBets[Bets]:
        """Places bets, all or none; they count when this returns."""
        placed = self._once(seat, request_id, bets, lambda: self._submit(seat, request_id, bets))
        stake, confirmation = await background.shared_result(placed)
        return PlacedBets(stake, confirmation, self.felt.bets_of(seat.player_id))

    async def cancel_bets(self, seat: Seat, request_id: str, bets: Bets | None) -> CancelledBets[Bets]:
        """Cancels these bets, or all of the player's."""

        def begin() -> asyncio.Future[CancelledBets[Bets]]:
            self._limits.count_cancellation(seat.player_id)
            task = asyncio.create_task(self._cancel_bets(seat, bets))
            self._cancelling.add(cast("asyncio.Task[object]", task))
            task.add_done_callback(lambda done: self._cancelling.discard(cast("asyncio.Task[object]", done)))
            return task

        return await background.shared_result(self._once(seat, request_id, ("cancel", bets), begin))

    def has_command(self, player_id: str, request_id: str) -> bool:
        """Whether this command was received before."""
        return (player_id, request_id) in self._commands

    def _once(
        self, seat: Seat, request_id: str, content: object, begin: Callable[[], asyncio.Future[_Answer]]
    ) -> asyncio.Future[_Answer]:
        """Begins a command, or returns the answer of the same one received before (G3, `903-B/2015:6.1.1`)."""
        key = (seat.player_id, request_id)
        earlier = self._commands.get(key)
        if earlier is not None:
            earlier_content, answer = earlier
            if earlier_content != content:
                raise refusals.request_reused(request_id)
            return cast("asyncio.Future[_Answer]", answer)
        if self.closed:
            # The command may have waited for something since it was checked that the round takes bets (G6).
            raise self.betting_closed_refusal()
        begun = begin()
        self._commands[key] = (content, cast("asyncio.Future[object]", begun))
        return begun

    def betting_closed_refusal(self, round_id: str = "") -> TableRefused:
        """Builds the refusal of a bet in `round_id`, or in this round, which takes none."""
        closed_at = "" if self.closes_at is None else timestamp(self.closes_at).ToJsonString()
        return refusals.betting_closed(round_id or self.round_id, self.round_id, closed_at)

    def _submit(
        self, seat: Seat, request_id: str, bets: Bets
    ) -> asyncio.Future[tuple[Stake[Bets], wallet_pb2.PlacedStake]]:
        stake = self._stake(seat, request_id, bets)
        self._limits.verify_room(seat.player_id, len(stake.encoded_bets))
        confirmation = self._batcher.submit(stake)
        self._limits.count_stake(seat.player_id, len(stake.encoded_bets))
        return confirmation

    def _stake(self, seat: Seat, request_id: str, bets: Bets) -> Stake[Bets]:
        self._stakes_made += 1
        message = self.rules.bets_message(bets)
        self._bets_type = message.DESCRIPTOR.full_name
        return Stake(
            self._stake_id(seat), request_id, seat, bets, message.SerializeToString(), self.rules.total_cents(bets)
        )

    def _stake_id(self, seat: Seat) -> str:
        """Makes an id that tells other players nothing, for everybody sees it in the events.

        A plain count would show by its gaps that the wallet has refused somebody's bet, and why is nobody's business
        but theirs (G7). So the count is hashed with the session id, which only the player and the platform know.
        """
        # With the round, so that nobody can follow a count from one round to the next.
        count = f"{self.round_id}:{self._stakes_made}".encode()
        return f"{self.round_id}:{hashlib.blake2b(count, key=seat.session_id.encode()[:64], digest_size=8).hexdigest()}"

    async def _cancel_bets(self, seat: Seat, bets: Bets | None) -> CancelledBets[Bets]:
        """Cancels whole stakes; what of them stays is placed again as one new stake."""
        stakes, rest = self._choose_stakes(seat, bets)
        replacement: Stake[Bets] | None = None
        if rest is not None:
            # Refused before anything is cancelled: what was to stay must not be lost for want of room.
            replacement = self._stake(seat, "", rest)
            self._limits.verify_room(seat.player_id, len(replacement.encoded_bets))
            self._limits.count_stake(seat.player_id, len(replacement.encoded_bets))
        for stake in stakes:
            stake.being_cancelled = True
        cancelled_cents, balance = 0, wallet_types.Balance()
        for stake in stakes:
            balance = (await self._cancel(stake)).balance
            cancelled_cents += stake.amount_cents
            self.felt.remove(stake)
            self.cancelled_stakes.append(CancelledStake(_journal_stake(stake), self._now()))
            # One by one: a snapshot taken in between shows exactly what the events have said.
            bets_message = self.rules.bets_message(stake.bets)
            self._publish(
                messages.bets_cancelled(self.round_id, stake.stake_id, seat.number, stake.amount_cents, bets_message)
            )
        if replacement is not None:
            try:
                _, confirmation = await self._batcher.submit(replacement)
            except Refused:
                # Cancelled and not placed again: the answer and the felt say so.
                pass
            else:
                cancelled_cents -= replacement.amount_cents
                balance = confirmation.balance
        return CancelledBets(cancelled_cents, balance, self.felt.bets_of(seat.player_id))

    async def _cancel(self, stake: Stake[Bets]) -> wallet_pb2.CancelStakeResponse:
        """Cancels one stake; if that fails the round becomes void, for no draw may decide about an uncertain stake."""
        try:
            return await self._wallet.cancel_stake(self.round_id, stake.stake_id)
        except Refused:
            raise
        except Exception as failed:
            self._cancel_failure = failed
            self._on_change()
            raise

    def _choose_stakes(self, seat: Seat, bets: Bets | None) -> tuple[list[Stake[Bets]], Bets | None]:
        """Returns the newest stakes that hold these bets, and what they hold beyond them."""
        stakes = [stake for stake in self.felt.accepted_stakes_of(seat.player_id) if not stake.being_cancelled]
        if bets is None and stakes:
            return stakes, None
        chosen: list[Stake[Bets]] = []
        held: Bets | None = None
        missing = TableRefused("NOT_ON_FELT", "There is nothing of yours to take back.", place="", amount_cents=0)
        for stake in reversed(stakes if bets is not None else []):
            chosen.append(stake)
            held = self.rules.add(held, stake.bets)
            try:
                rest = self.rules.remove(held, cast("Bets", bets))
            except TableRefused as refused:
                missing = refused
                continue
            # What stays has to be a bet that could be placed.
            return chosen, None if rest is None else self.rules.add(None, rest)
        raise missing

    async def wait_until_answered(self) -> None:
        """Returns when the wallet has answered every command that began in time."""
        while True:
            try:
                await self._batcher.wait_until_answered()
            except Exception:
                # A cancellation may wait for a replacement that cannot be sent any more.
                self._batcher.abandon(_bet_dropped())
                if self._cancelling:
                    await asyncio.wait(self._cancelling)
                raise
            if not self._cancelling:
                break
            await asyncio.wait(self._cancelling)
        if self._cancel_failure is not None:
            raise self._cancel_failure

    def journal_stakes(self) -> list[JournalStake]:
        """Returns the stakes that count, as the journal keeps them."""
        return [_journal_stake(stake) for stake in self.felt.accepted_stakes()]

    def close(self) -> None:
        """Closes betting («jogo feito, nada mais»)."""
        self.closed = True
        self.closed_at = self._now()

    def finish(self, finished: FinishedRound[Outcome]) -> None:
        """Gives everybody who waits for it the end of the round."""
        # Nothing is on its way any more, unless sending had failed.
        self._batcher.abandon(_bet_dropped())
        if not self.finished.done():
            self.finished.set_result(finished)

    def abandon(self, refusal: Refused) -> None:
        """Fails everything that waits: this process does not learn how the round ends."""
        self.closed = True
        self._batcher.abandon(refusal)
        for task in self._cancelling:
            task.cancel()
        if not self.finished.done():
            self.finished.set_exception(refusal)
            self.finished.exception()

    # -- what others see ---------------------------------------------------------------------------------------------

    def outcome_message(self) -> Message | None:
        return None if self.outcome is None else self.rules.outcome_message(self.outcome)

    def bets_by_seat(self) -> Iterator[tuple[Seat, Message, int]]:
        for seat, bets, amount_cents in self.felt.bets_by_seat():
            yield seat, self.rules.bets_message(bets), amount_cents

    def _publish_placed(self, stakes: list[Stake[Bets]]) -> None:
        self._publish(
            *(
                messages.bets_placed(
                    self.round_id,
                    stake.stake_id,
                    stake.seat.number,
                    stake.amount_cents,
                    stake.encoded_bets,
                    self._bets_type,
                )
                for stake in stakes
            )
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
