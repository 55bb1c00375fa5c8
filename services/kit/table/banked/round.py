"""A round while it takes bets: the commands of players, each acting once, and their way to the wallet."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit import background
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.felt import Felt, Seat, Stake
from services.kit.table.banked.limits import RoundLimits
from services.kit.table.banked.stake_batcher import StakeBatcher
from services.kit.table.events import messages as appearance
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import CancelledStake, DrawTrigger, Ended, JournalStake
from services.kit.table.refusals import TableRefused
from services.kit.table.wallet.table_wallet import TableWallet

_Answer = TypeVar("_Answer")


class PublishEvents(Protocol):
    """Tells whoever watches the table."""

    def __call__(self, *events: events_pb2.TableEvent) -> None: ...


@dataclass(frozen=True, slots=True)
class FinishedRound(Generic[Outcome]):
    """A round that has ended, as its table remembers it."""

    round_id: str
    outcome: Outcome | None
    entry: Ended
    stakes: tuple[JournalStake, ...]
    balances: dict[str, wallet_types.Balance]


class PlacedBets(NamedTuple, Generic[Bets]):
    """A stake that counts, and what its player has down now."""

    stake: Stake[Bets]
    confirmation: wallet_pb2.PlacedStake
    on_felt: Bets | None


@dataclass(frozen=True, slots=True)
class CancelledBets(Generic[Bets]):
    """What counts no more, and what still does."""

    cents: int
    balance: wallet_types.Balance
    on_felt: Bets | None


class Round(Generic[Bets, Outcome]):
    """One round."""

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
        # On whose word the ball is launched, once it is.
        self.draw_trigger = DrawTrigger.UNKNOWN
        self.void_reason = ""
        self.outcome: Outcome | None = None
        # Whether the round is in the journal, or may be.
        self.opening_journalled = False
        # No command begins any more; those that have begun go on.
        self.closed = False
        self.felt: Felt[Bets, Outcome] = Felt(rules)
        self.cancelled_stakes: list[CancelledStake] = []
        self.finished: asyncio.Future[FinishedRound[Outcome]] = asyncio.get_running_loop().create_future()
        self._bank = wallet
        self._note_opened = journal_opened
        self._now = now
        self._say = publish
        self._changed = on_change
        self._opened = False
        self._carrier = StakeBatcher(wallet, round_id, self.felt, self.ensure_opened, self._say_placed, on_change)
        # Each acts once (G3); how many there can be follows from what each player may place and take back (G11).
        self._commands: dict[tuple[str, str], tuple[object, asyncio.Future[object]]] = {}
        self._taking_back: set[asyncio.Task[object]] = set()
        # Why it is not known whether a stake was taken back.
        self._uncertain: Exception | None = None
        self._stakes_made = 0
        self._fair_share = RoundLimits(round_id, seats)
        # The message in which the game puts bets.
        self._bets_type = ""

    @property
    def failed(self) -> bool:
        """Stakes cannot be carried to the wallet any more, or it is not known which still lie there."""
        return self._carrier.failed or self._uncertain is not None

    async def ensure_opened(self) -> None:
        """Journals the opening before the first stake goes to the wallet."""
        if not self._opened:
            self.opening_journalled = True
            await self._note_opened()
            self._opened = True

    async def place(self, seat: Seat, request_id: str, bets: Bets) -> PlacedBets[Bets]:
        """Puts bets down, all or none; they count when this returns."""
        placed = self._once(seat, request_id, bets, lambda: self._carry(seat, request_id, bets))
        stake, said = await background.shared_result(placed)
        return PlacedBets(stake, said, self.felt.bets_of(seat.player_id))

    async def cancel_bets(self, seat: Seat, request_id: str, bets: Bets | None) -> CancelledBets[Bets]:
        """Takes bets up again, or all of the player's."""

        def begin() -> asyncio.Future[CancelledBets[Bets]]:
            self._fair_share.count_cancellation(seat.player_id)
            task = asyncio.create_task(self._take_back(seat, bets))
            self._taking_back.add(cast("asyncio.Task[object]", task))
            task.add_done_callback(lambda done: self._taking_back.discard(cast("asyncio.Task[object]", done)))
            return task

        return await background.shared_result(self._once(seat, request_id, ("back", bets), begin))

    def has_command(self, player_id: str, request_id: str) -> bool:
        """Whether this command has been heard before."""
        return (player_id, request_id) in self._commands

    def _once(
        self, seat: Seat, request_id: str, content: object, begin: Callable[[], asyncio.Future[_Answer]]
    ) -> asyncio.Future[_Answer]:
        """The answer under way or given to this command, or that of a new one (G3, `903-B/2015:6.1.1`)."""
        key = (seat.player_id, request_id)
        known = self._commands.get(key)
        if known is not None:
            said_before, answer = known
            if said_before != content:
                raise refusals.request_reused(request_id)
            return cast("asyncio.Future[_Answer]", answer)
        if self.closed:
            # Whoever asked may have waited for something since he was told that the round takes bets (G6).
            closed_at = "" if self.closes_at is None else appearance.timestamp(self.closes_at).ToJsonString()
            raise refusals.betting_closed(self.round_id, self.round_id, closed_at)
        begun = begin()
        self._commands[key] = (content, cast("asyncio.Future[object]", begun))
        return begun

    def _carry(
        self, seat: Seat, request_id: str, bets: Bets
    ) -> asyncio.Future[tuple[Stake[Bets], wallet_pb2.PlacedStake]]:
        stake = self._stake(seat, request_id, bets)
        self._fair_share.verify_room(seat.player_id, len(stake.encoded_bets))
        carried = self._carrier.submit(stake)
        self._fair_share.count_stake(seat.player_id, len(stake.encoded_bets))
        return carried

    def _stake(self, seat: Seat, request_id: str, bets: Bets) -> Stake[Bets]:
        self._stakes_made += 1
        stake_id = f"{self.round_id}:{self._stakes_made}"
        message = self.rules.bets_message(bets)
        self._bets_type = message.DESCRIPTOR.full_name
        return Stake(stake_id, request_id, seat, bets, message.SerializeToString(), self.rules.total_cents(bets))

    async def _take_back(self, seat: Seat, bets: Bets | None) -> CancelledBets[Bets]:
        """Stakes are taken back whole; what of them should stay is put down again as one."""
        stakes, rest = self._chosen(seat, bets)
        stays: Stake[Bets] | None = None
        if rest is not None:
            # Refused before anything is taken: what was to stay must not go for want of room.
            stays = self._stake(seat, "", rest)
            self._fair_share.verify_room(seat.player_id, len(stays.encoded_bets))
            self._fair_share.count_stake(seat.player_id, len(stays.encoded_bets))
        for stake in stakes:
            stake.being_cancelled = True
        taken, balance = 0, wallet_types.Balance()
        for stake in stakes:
            balance = (await self._cancel(stake)).balance
            taken += stake.amount_cents
            self.felt.remove(stake)
            self.cancelled_stakes.append(CancelledStake(_as_journalled(stake), self._now()))
            # One by one: whoever looks in between sees what has been said, and nothing else.
            gone = self.rules.bets_message(stake.bets)
            self._say(appearance.bets_cancelled(self.round_id, seat, stake.amount_cents, gone))
        if stays is not None:
            try:
                _, said = await self._carrier.submit(stays)
            except Refused:
                # Taken back and not put down again: the answer and the felt say so.
                pass
            else:
                taken -= stays.amount_cents
                balance = said.balance
        return CancelledBets(taken, balance, self.felt.bets_of(seat.player_id))

    async def _cancel(self, stake: Stake[Bets]) -> wallet_pb2.CancelStakeResponse:
        """A stake that may lie or not is none to draw for: the round is void, and the wallet returns what there is."""
        try:
            return await self._bank.cancel_stake(self.round_id, stake.stake_id)
        except Refused:
            raise
        except Exception as failed:
            self._uncertain = failed
            self._changed()
            raise

    def _chosen(self, seat: Seat, bets: Bets | None) -> tuple[list[Stake[Bets]], Bets | None]:
        """The newest stakes that hold these bets, and what else they hold."""
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
        """Returns when the wallet has answered for everything that was begun in time."""
        while True:
            try:
                await self._carrier.wait_until_answered()
            except Exception:
                # What is being taken back may wait for a stake that cannot be carried any more.
                self._carrier.abandon(refusals.unavailable("The bet came to nothing"))
                if self._taking_back:
                    await asyncio.wait(self._taking_back)
                raise
            if not self._taking_back:
                break
            await asyncio.wait(self._taking_back)
        if self._uncertain is not None:
            raise self._uncertain

    def journal_stakes(self) -> list[JournalStake]:
        """The stakes that count, as the journal keeps them."""
        return [_as_journalled(stake) for stake in self.felt.accepted_stakes()]

    def close(self) -> None:
        """Takes no more bets («jogo feito, nada mais»)."""
        self.closed = True
        self.closed_at = self._now()

    def finish(self, finished: FinishedRound[Outcome]) -> None:
        # Nothing is on its way any more, unless carrying had failed.
        self._carrier.abandon(refusals.unavailable("The bet came to nothing"))
        if not self.finished.done():
            self.finished.set_result(finished)

    def abandon(self, refusal: Refused) -> None:
        """Nobody here will learn what becomes of the round."""
        self.closed = True
        self._carrier.abandon(refusal)
        for task in self._taking_back:
            task.cancel()
        if not self.finished.done():
            self.finished.set_exception(refusal)
            self.finished.exception()

    def _say_placed(self, stakes: list[Stake[Bets]]) -> None:
        self._say(*(appearance.bets_placed(self.round_id, stake, self._bets_type) for stake in stakes))


def _as_journalled(stake: Stake[Bets]) -> JournalStake:
    """A stake that the wallet has."""
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
