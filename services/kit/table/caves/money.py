"""The caves of one table, as the ledger has them: they are filled, cashed out, and change when a hand ends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from feltro.wallet.v1 import wallet_pb2
from services.kit.table.banked.commands import BetCommand
from services.kit.table.seat import Seat
from services.kit.table.wallet.table_wallet import TableWallet

BUY_INS_REMEMBERED = 1_000


class Caves:
    """What is in the caves of a table, by session. A player's session does not end before their cave is empty.

    One change at a time: each answer of the wallet then says what is in the cave now.
    """

    def __init__(self, wallet: TableWallet) -> None:
        self._wallet = wallet
        # Held from when a change of a cave is judged until it is made: each is judged by what the one before has left.
        self.judging = asyncio.Lock()
        self._cents: dict[str, int] = {}
        self._changing = asyncio.Lock()
        # The commands that were carried out last, so that a repeated one is not judged again (G11).
        self._bought: deque[str] = deque(maxlen=BUY_INS_REMEMBERED)

    async def load(self) -> None:
        """Reads what a former owner has left in the caves."""
        async with self._changing:
            self._cents = {cave.session_id: cave.cave_cents for cave in await self._wallet.list_caves()}

    def cents_of(self, session_id: str) -> int:
        """Returns what is in a player's cave."""
        return self._cents.get(session_id, 0)

    async def buy_in(
        self, seat: Seat, command: BetCommand, cents: int, commission_cents: int
    ) -> tuple[wallet_pb2.BuyInResponse, int]:
        """Fills a cave, and returns by how much it has grown: a repeated command gets its first answer (G3)."""
        request_id = buy_in_request_id(self._wallet.table_ref.table_id, seat.account_id, command)
        async with self._changing:
            answer = await self._wallet.buy_in(
                seat.account_id,
                seat.session_id,
                cents,
                commission_cents,
                request_id=request_id,
                command_digest=command.digest,
            )
            if request_id in self._bought:
                return answer, 0
            # A former owner may have carried it out: only the ledger knows.
            before = self.cents_of(seat.session_id)
            caves = {cave.session_id: cave.cave_cents for cave in await self._wallet.list_caves()}
            after = self._cents[seat.session_id] = caves.get(seat.session_id, 0)
            self._bought.append(request_id)
            return answer, after - before

    def has_bought(self, seat: Seat, command: BetCommand) -> bool:
        """Whether a command has filled a cave before, so that it is not judged again."""
        return buy_in_request_id(self._wallet.table_ref.table_id, seat.account_id, command) in self._bought

    async def cash_out(self, seat: Seat) -> wallet_pb2.CashOutResponse:
        """Gives the whole cave of a session that ends back to its player."""
        async with self._changing:
            answer = await self._wallet.cash_out(seat.account_id, seat.session_id)
            self._cents.pop(seat.session_id, None)
            return answer

    async def release(self, account_id: str, session_id: str, cents: int, request_id: str) -> bool:
        """Gives a part of a cave back that is not in play (any more); returns whether that has ended the session."""
        async with self._changing:
            answer = await self._wallet.cash_out(account_id, session_id, cents, request_id)
            self._cents[session_id] = answer.cave_cents
            return answer.session_ended

    async def transfer_hand(
        self,
        round_id: str,
        seats: Sequence[wallet_pb2.SeatInHand],
        commission_cents: int,
        outcome: bytes,
        sessions: Sequence[wallet_pb2.SessionInRound],
    ) -> wallet_pb2.TransferHandResponse:
        """Moves the chips of a hand among the caves, and the commission to the house."""
        async with self._changing:
            answer = await self._wallet.transfer_hand(round_id, seats, commission_cents, outcome, sessions)
            by_account = {cave.account_id: cave.cave_cents for cave in answer.caves}
            for seat in seats:
                self._cents[seat.session_id] = by_account[seat.account_id]
            return answer


def buy_in_request_id(table_id: str, account_id: str, command: BetCommand) -> str:
    """Returns the id under which the wallet fills a cave."""
    return f"{table_id}:buy-in:{command.wallet_request_id(account_id)}"
