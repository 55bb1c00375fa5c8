"""Sends the stakes of one round to the wallet: those that arrive while others are on their way travel together."""

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
    """Puts the stakes of one round on the felt, and removes those that the wallet refuses."""

    def __init__(
        self,
        wallet: TableWallet,
        round_id: str,
        felt: Felt[Bets, Outcome],
        ensure_opened: Callable[[], Awaitable[None]],
        on_placed: Callable[[list[Stake[Bets]]], None],
        on_failure: Callable[[], None],
    ) -> None:
        """Sends nothing before `ensure_opened` has returned; calls `on_failure` when sending has failed for good."""
        self._wallet = wallet
        self._round_id = round_id
        self._felt = felt
        self._ensure_opened = ensure_opened
        self._on_placed = on_placed
        self._on_failure = on_failure
        self._waiting: list[tuple[Stake[Bets], asyncio.Future[StakeConfirmation[Bets]]]] = []
        self._under_way: list[tuple[Stake[Bets], asyncio.Future[StakeConfirmation[Bets]]]] = []
        self._task: asyncio.Task[None] | None = None

    def submit(self, stake: Stake[Bets]) -> asyncio.Future[StakeConfirmation[Bets]]:
        """Puts a stake on the felt and sends it; the future is the wallet's answer."""
        if len(self._waiting) >= WAITING_LIMIT:
            raise refusals.overloaded(WAITING_LIMIT)
        self._felt.add(stake)
        stake.traceparent = trace.traceparent()
        answer: asyncio.Future[StakeConfirmation[Bets]] = asyncio.get_running_loop().create_future()
        self._waiting.append((stake, answer))
        if self._task is None:
            self._task = asyncio.create_task(self._send_all())
            self._task.add_done_callback(self._ended)
        return answer

    @property
    def failed(self) -> bool:
        """Whether sending has failed for good."""
        return self._task is not None and self._task.done()

    async def wait_until_answered(self) -> None:
        """Returns when the wallet has answered for every stake; raises what kept it from that."""
        while (task := self._task) is not None:
            await background.shared_result(task)

    def abandon(self, error: Exception) -> None:
        """Fails what is unanswered: another process owns the table now, and this one learns nothing more of it."""
        if self._task is not None:
            self._task.cancel()
        for _, answer in (*self._under_way, *self._waiting):
            if not answer.done():
                answer.set_exception(error)
                # The caller may be gone: then nobody retrieves it.
                answer.exception()
        self._waiting.clear()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._on_failure()

    async def _send_all(self) -> None:
        await self._ensure_opened()
        while self._waiting:
            count = self._batch_size()
            self._under_way, self._waiting = self._waiting[:count], self._waiting[count:]
            orders = [self._order(stake) for stake, _ in self._under_way]
            answers = await self._wallet.place_stakes(self._round_id, orders)
            placed: list[Stake[Bets]] = []
            # Most were committed together, at the same moment: one conversion serves them all.
            moments: dict[tuple[int, int], datetime] = {}
            for (stake, confirmation), answer in zip(self._under_way, answers, strict=True):
                if answer.HasField("placed"):
                    moment = answer.placed.placed_at.seconds, answer.placed.placed_at.nanos
                    stake.placed_at = moments.get(moment)
                    if stake.placed_at is None:
                        stake.placed_at = moments[moment] = answer.placed.placed_at.ToDatetime(UTC)
                    placed.append(stake)
                    if not confirmation.done():
                        confirmation.set_result((stake, answer.placed))
                else:
                    self._felt.remove(stake)
                    if not confirmation.done():
                        confirmation.set_exception(refused_from(answer.refused))
                        confirmation.exception()
            self._under_way = []
            if placed:
                self._on_placed(placed)
        # A task that failed stays, so that `wait_until_answered` raises its failure and no other one begins.
        self._task = None

    def _batch_size(self) -> int:
        """Returns how many of the waiting stakes can travel together; at least one."""
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
