"""Carries the stakes of one round to the wallet: those that arrive while others are on their way travel together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Generic

from feltro.wallet.v1 import wallet_pb2
from services.kit import background, trace
from services.kit.rpc.status import refused_from
from services.kit.table import refusals
from services.kit.table.banked.felt import Felt, Stake
from services.kit.table.game import Bets, Outcome
from services.kit.table.wallet.table_wallet import TableWallet

# Stakes of one table that may wait for the wallet (G11), and those that travel together: the wallet's own limit, and no
# more bytes of details than a message has room for.
WAITING_LIMIT = 5_000
BATCH_STAKES_LIMIT = 1_000
BATCH_BYTES_LIMIT = 1024 * 1024

StakeConfirmation = tuple[Stake[Bets], wallet_pb2.PlacedStake]


class StakeBatcher(Generic[Bets, Outcome]):
    """One round's way to the wallet."""

    def __init__(
        self,
        wallet: TableWallet,
        round_id: str,
        felt: Felt[Bets, Outcome],
        ensure_opened: Callable[[], Awaitable[None]],
        on_placed: Callable[[list[Stake[Bets]]], None],
        on_failure: Callable[[], None],
    ) -> None:
        """Nothing leaves before `opened` returns. `say_stuck` is called when carrying has failed."""
        self._bank = wallet
        self._round_id = round_id
        self._felt = felt
        self._opened = ensure_opened
        self._say_placed = on_placed
        self._say_stuck = on_failure
        self._waiting: list[tuple[Stake[Bets], asyncio.Future[StakeConfirmation[Bets]]]] = []
        self._under_way: list[tuple[Stake[Bets], asyncio.Future[StakeConfirmation[Bets]]]] = []
        self._task: asyncio.Task[None] | None = None

    def submit(self, stake: Stake[Bets]) -> asyncio.Future[StakeConfirmation[Bets]]:
        """Puts the stake on the felt and on its way; what is returned tells whether the wallet has it."""
        if len(self._waiting) >= WAITING_LIMIT:
            raise refusals.overloaded(WAITING_LIMIT)
        self._felt.add(stake)
        stake.traceparent = trace.traceparent()
        answer: asyncio.Future[StakeConfirmation[Bets]] = asyncio.get_running_loop().create_future()
        self._waiting.append((stake, answer))
        if self._task is None:
            self._task = asyncio.create_task(self._carry_on())
            self._task.add_done_callback(self._look_at)
        return answer

    @property
    def failed(self) -> bool:
        """Whether carrying has failed for good."""
        return self._task is not None and self._task.done()

    async def wait_until_answered(self) -> None:
        """Returns when the wallet has answered for every stake; raises what kept it from that."""
        while (task := self._task) is not None:
            await background.shared_result(task)

    def abandon(self, error: Exception) -> None:
        """The table is not ours any more: nobody here will learn what became of these."""
        if self._task is not None:
            self._task.cancel()
        for _, answer in (*self._under_way, *self._waiting):
            if not answer.done():
                answer.set_exception(error)
                # Whoever asked may be gone.
                answer.exception()
        self._waiting.clear()

    def _look_at(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._say_stuck()

    async def _carry_on(self) -> None:
        await self._opened()
        while self._waiting:
            leaving = self._fitting()
            self._under_way, self._waiting = self._waiting[:leaving], self._waiting[leaving:]
            orders = [self._order(stake) for stake, _ in self._under_way]
            answers = await self._bank.place_stakes(self._round_id, orders)
            placed: list[Stake[Bets]] = []
            # Most were committed together, at the same moment.
            moments: dict[tuple[int, int], datetime] = {}
            for (stake, asked), answer in zip(self._under_way, answers, strict=True):
                if answer.HasField("placed"):
                    moment = answer.placed.placed_at.seconds, answer.placed.placed_at.nanos
                    stake.placed_at = moments.get(moment)
                    if stake.placed_at is None:
                        stake.placed_at = moments[moment] = answer.placed.placed_at.ToDatetime(UTC)
                    placed.append(stake)
                    if not asked.done():
                        asked.set_result((stake, answer.placed))
                else:
                    self._felt.remove(stake)
                    if not asked.done():
                        asked.set_exception(refused_from(answer.refused))
                        asked.exception()
            self._under_way = []
            if placed:
                self._say_placed(placed)
        # A task that failed stays, so that `arrived` tells of it.
        self._task = None

    def _fitting(self) -> int:
        """How many of those that wait can travel together; at least one."""
        detail_bytes = 0
        for place, (stake, _) in enumerate(self._waiting[:BATCH_STAKES_LIMIT]):
            detail_bytes += len(stake.encoded_bets)
            if place and detail_bytes > BATCH_BYTES_LIMIT:
                return place
        return min(len(self._waiting), BATCH_STAKES_LIMIT)

    def _order(self, stake: Stake[Bets]) -> wallet_pb2.StakeOrder:
        return wallet_pb2.StakeOrder(
            request_id=stake.stake_id,
            account_id=stake.seat.account_id,
            session_id=stake.seat.session_id,
            amount_cents=stake.amount_cents,
            detail=stake.encoded_bets,
            traceparent=stake.traceparent,
        )
