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
from services.kit.table import appearance, refusals
from services.kit.table.bank import Bank
from services.kit.table.carrier import Carrier
from services.kit.table.fair_share import FairShare
from services.kit.table.felt import Felt, Seat, Stake
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal import Ended, JournalStake, Launch, StakeTakenBack
from services.kit.table.refusals import TableRefused

_Answer = TypeVar("_Answer")


class Say(Protocol):
    """Tells whoever watches the table."""

    def __call__(self, *events: events_pb2.TableEvent) -> None: ...


@dataclass(frozen=True, slots=True)
class Finished(Generic[Outcome]):
    """A round that has ended, as its table remembers it."""

    round_id: str
    outcome: Outcome | None
    entry: Ended
    stakes: tuple[JournalStake, ...]
    balances: dict[str, wallet_types.Balance]


class Placed(NamedTuple, Generic[Bets]):
    """A stake that counts, and what its player has down now."""

    stake: Stake[Bets]
    said: wallet_pb2.StakePlaced
    on_felt: Bets | None


@dataclass(frozen=True, slots=True)
class TakenBack(Generic[Bets]):
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
        bank: Bank,
        session_ids: list[str],
        *,
        seats: int,
        opened_at: datetime,
        configuration_version: int,
        note_opened: Callable[[], Awaitable[None]],
        now: Callable[[], datetime],
        say: Say,
        changed: Callable[[], None],
    ) -> None:
        self.round_id = round_id
        self.rules = rules
        self.session_ids = session_ids
        self.opened_at = opened_at
        self.configuration_version = configuration_version
        self.closes_at: datetime | None = None
        self.closed_at: datetime | None = None
        # On whose word the ball is launched, once it is.
        self.launch = Launch.UNKNOWN
        self.void_reason = ""
        self.outcome: Outcome | None = None
        # Whether the round is in the journal, or may be.
        self.begun = False
        # No command begins any more; those that have begun go on.
        self.closed = False
        self.felt: Felt[Bets, Outcome] = Felt(rules)
        self.taken_back: list[StakeTakenBack] = []
        self.finished: asyncio.Future[Finished[Outcome]] = asyncio.get_running_loop().create_future()
        self._bank = bank
        self._note_opened = note_opened
        self._now = now
        self._say = say
        self._changed = changed
        self._opened = False
        self._carrier = Carrier(bank, round_id, self.felt, self.opened, self._say_placed, changed)
        # Each acts once (G3); how many there can be follows from what each player may place and take back (G11).
        self._commands: dict[tuple[str, str], tuple[object, asyncio.Future[object]]] = {}
        self._taking_back: set[asyncio.Task[object]] = set()
        # Why it is not known whether a stake was taken back.
        self._uncertain: Exception | None = None
        self._stakes_made = 0
        self._fair_share = FairShare(round_id, seats)
        # The message in which the game puts bets.
        self._bets_type = ""

    @property
    def stuck(self) -> bool:
        """Stakes cannot be carried to the wallet any more, or it is not known which still lie there."""
        return self._carrier.stuck or self._uncertain is not None

    async def opened(self) -> None:
        """Journals the opening before the first stake goes to the wallet."""
        if not self._opened:
            self.begun = True
            await self._note_opened()
            self._opened = True

    async def place(self, seat: Seat, request_id: str, bets: Bets) -> Placed[Bets]:
        """Puts bets down, all or none; they count when this returns."""
        placed = self._once(seat, request_id, bets, lambda: self._carry(seat, request_id, bets))
        stake, said = await background.result(placed)
        return Placed(stake, said, self.felt.bets_of(seat.player_id))

    async def take_back(self, seat: Seat, request_id: str, bets: Bets | None) -> TakenBack[Bets]:
        """Takes bets up again, or all of the player's."""

        def begin() -> asyncio.Future[TakenBack[Bets]]:
            self._fair_share.count_take_back(seat.player_id)
            task = asyncio.create_task(self._take_back(seat, bets))
            self._taking_back.add(cast("asyncio.Task[object]", task))
            task.add_done_callback(lambda done: self._taking_back.discard(cast("asyncio.Task[object]", done)))
            return task

        return await background.result(self._once(seat, request_id, ("back", bets), begin))

    def knows(self, player_id: str, request_id: str) -> bool:
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
            closed_at = "" if self.closes_at is None else appearance.stamp(self.closes_at).ToJsonString()
            raise refusals.betting_closed(self.round_id, self.round_id, closed_at)
        begun = begin()
        self._commands[key] = (content, cast("asyncio.Future[object]", begun))
        return begun

    def _carry(
        self, seat: Seat, request_id: str, bets: Bets
    ) -> asyncio.Future[tuple[Stake[Bets], wallet_pb2.StakePlaced]]:
        stake = self._stake(seat, request_id, bets)
        self._fair_share.verify_room(seat.player_id, len(stake.message))
        carried = self._carrier.carry(stake)
        self._fair_share.count(seat.player_id, len(stake.message))
        return carried

    def _stake(self, seat: Seat, request_id: str, bets: Bets) -> Stake[Bets]:
        self._stakes_made += 1
        stake_id = f"{self.round_id}:{self._stakes_made}"
        message = self.rules.bets_message(bets)
        self._bets_type = message.DESCRIPTOR.full_name
        return Stake(stake_id, request_id, seat, bets, message.SerializeToString(), self.rules.cents(bets))

    async def _take_back(self, seat: Seat, bets: Bets | None) -> TakenBack[Bets]:
        """Stakes are taken back whole; what of them should stay is put down again as one."""
        stakes, rest = self._chosen(seat, bets)
        stays: Stake[Bets] | None = None
        if rest is not None:
            # Refused before anything is taken: what was to stay must not go for want of room.
            stays = self._stake(seat, "", rest)
            self._fair_share.verify_room(seat.player_id, len(stays.message))
            self._fair_share.count(seat.player_id, len(stays.message))
        for stake in stakes:
            stake.going = True
        taken, balance = 0, wallet_types.Balance()
        for stake in stakes:
            balance = (await self._cancel(stake)).balance
            taken += stake.amount_cents
            self.felt.lift(stake)
            self.taken_back.append(StakeTakenBack(_as_journalled(stake), self._now()))
            # One by one: whoever looks in between sees what has been said, and nothing else.
            gone = self.rules.bets_message(stake.bets)
            self._say(appearance.bets_taken_back(self.round_id, seat, stake.amount_cents, gone))
        if stays is not None:
            try:
                _, said = await self._carrier.carry(stays)
            except Refused:
                # Taken back and not put down again: the answer and the felt say so.
                pass
            else:
                taken -= stays.amount_cents
                balance = said.balance
        return TakenBack(taken, balance, self.felt.bets_of(seat.player_id))

    async def _cancel(self, stake: Stake[Bets]) -> wallet_pb2.CancelStakeResponse:
        """A stake that may lie or not is none to draw for: the round is void, and the wallet returns what there is."""
        try:
            return await self._bank.cancel(self.round_id, stake.stake_id)
        except Refused:
            raise
        except Exception as failed:
            self._uncertain = failed
            self._changed()
            raise

    def _chosen(self, seat: Seat, bets: Bets | None) -> tuple[list[Stake[Bets]], Bets | None]:
        """The newest stakes that hold these bets, and what else they hold."""
        stakes = [stake for stake in self.felt.stakes_of(seat.player_id) if not stake.going]
        if bets is None and stakes:
            return stakes, None
        chosen: list[Stake[Bets]] = []
        held: Bets | None = None
        missing = TableRefused("NOT_ON_FELT", "There is nothing of yours to take back.", place="", amount_cents=0)
        for stake in reversed(stakes if bets is not None else []):
            chosen.append(stake)
            held = self.rules.add(held, stake.bets)
            try:
                rest = self.rules.take(held, cast("Bets", bets))
            except TableRefused as refused:
                missing = refused
                continue
            # What stays has to be a bet that could be placed.
            return chosen, None if rest is None else self.rules.add(None, rest)
        raise missing

    async def all_arrived(self) -> None:
        """Returns when the wallet has answered for everything that was begun in time."""
        while True:
            try:
                await self._carrier.arrived()
            except Exception:
                # What is being taken back may wait for a stake that cannot be carried any more.
                self._carrier.drop(refusals.unavailable("The bet came to nothing"))
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
        return [_as_journalled(stake) for stake in self.felt.counted()]

    def close(self) -> None:
        """Takes no more bets («jogo feito, nada mais»)."""
        self.closed = True
        self.closed_at = self._now()

    def finish(self, finished: Finished[Outcome]) -> None:
        # Nothing is on its way any more, unless carrying had failed.
        self._carrier.drop(refusals.unavailable("The bet came to nothing"))
        if not self.finished.done():
            self.finished.set_result(finished)

    def drop(self, why: Refused) -> None:
        """Nobody here will learn what becomes of the round."""
        self.closed = True
        self._carrier.drop(why)
        for task in self._taking_back:
            task.cancel()
        if not self.finished.done():
            self.finished.set_exception(why)
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
        stake.message,
        cast("datetime", stake.placed_at),
    )
