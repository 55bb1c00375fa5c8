"""Sends the stakes of one round to the wallet: those that arrive while others are on their way travel together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Generic

from prometheus_client import Histogram

from feltro.wallet.v1 import wallet_pb2
from services.kit.batching import Batcher, BatcherFull, BatchLimits
from services.kit.rpc.status import refused_from
from services.kit.table import refusals
from services.kit.table.banked.answers import PlacedBets
from services.kit.table.banked.felt import Felt, Stake
from services.kit.table.game import Bets, Outcome
from services.kit.table.wallet.table_wallet import TableWallet
from services.kit.telemetry import trace

# Stakes of one table that may wait for the wallet (G11), and those that travel together: the wallet's own limit, and no
# more bytes of details than a message has room for.
WAITING_LIMIT = 5_000
BATCH_STAKES_LIMIT = 1_000
BATCH_BYTES_LIMIT = 1024 * 1024

_BATCHES = Histogram(
    "feltro_table_stake_batch", "Stakes per message to the wallet", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
)


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
        self._batcher: Batcher[Stake[Bets], PlacedBets[Bets]] = Batcher(
            self._place,
            BatchLimits(BATCH_STAKES_LIMIT, BATCH_BYTES_LIMIT, waiting_items=WAITING_LIMIT),
            weight=lambda stake: len(stake.encoded_bets),
            # It lies on the felt, whether its player still waits for the answer or not.
            keeps_abandoned=True,
            on_answered=self._publish,
            on_failure=lambda _: on_failure(),
        )

    def submit(self, stake: Stake[Bets], together: Bets) -> asyncio.Future[PlacedBets[Bets]]:
        """Puts a stake on the felt and sends it; the future is the wallet's answer.

        `together` is what the felt has just judged the player's bets to be with it.
        """
        self._felt.add(stake, together)
        stake.traceparent = trace.traceparent()
        try:
            return self._batcher.submit(stake)
        except BatcherFull:
            self._felt.remove(stake)
            raise refusals.overloaded(WAITING_LIMIT) from None
        except Exception:
            self._felt.remove(stake)
            raise

    @property
    def failed(self) -> bool:
        """Whether sending has failed for good."""
        return self._batcher.failed

    async def wait_until_answered(self) -> None:
        """Returns when the wallet has answered for every stake; raises what kept it from that."""
        await self._batcher.wait_until_answered()

    def abandon(self, error: Exception) -> None:
        """Fails what is unanswered: this process learns nothing more of it."""
        self._batcher.stop(error)

    async def _place(self, stakes: Sequence[Stake[Bets]]) -> list[PlacedBets[Bets] | Exception]:
        await self._ensure_opened()
        _BATCHES.observe(len(stakes))
        answers = await self._wallet.place_stakes(self._round_id, [self._order(stake) for stake in stakes])
        placed: list[PlacedBets[Bets] | Exception] = []
        # Most were committed together, at the same moment: one conversion serves them all.
        moments: dict[tuple[int, int], datetime] = {}
        for stake, answer in zip(stakes, answers, strict=True):
            if answer.HasField("placed"):
                confirmed = answer.placed
                moment = confirmed.placed_at.seconds, confirmed.placed_at.nanos
                placed_at = moments.get(moment)
                if placed_at is None:
                    placed_at = moments[moment] = confirmed.placed_at.ToDatetime(UTC)
                # In the order of the ledger: so each answer says what lay there right after its own stake (G3).
                on_felt = self._felt.accept(stake, placed_at)
                placed.append(
                    PlacedBets(
                        self._round_id,
                        stake.stake_id,
                        stake.amount_cents,
                        stake.bets,
                        on_felt,
                        confirmed.placed_at,
                        confirmed.balance,
                    )
                )
            else:
                self._felt.remove(stake)
                placed.append(refused_from(answer.refused))
        return placed

    def _order(self, stake: Stake[Bets]) -> wallet_pb2.StakeOrder:
        return wallet_pb2.StakeOrder(
            request_id=stake.stake_id,
            account_id=stake.seat.account_id,
            session_id=stake.seat.session_id,
            amount_cents=stake.amount_cents,
            detail=stake.encoded_bets,
            command_digest=stake.command_digest,
            traceparent=stake.traceparent,
            largest_payout_cents=self._felt.rules.largest_payout_cents(stake.bets),
        )

    def _publish(self, stakes: Sequence[Stake[Bets]], answers: Sequence[PlacedBets[Bets] | Exception]) -> None:
        placed = [stake for stake, answer in zip(stakes, answers, strict=True) if not isinstance(answer, Exception)]
        if placed:
            self._on_placed(placed)
