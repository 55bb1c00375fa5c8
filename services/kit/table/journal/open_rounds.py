"""Rounds of a player in which nothing is drawn yet: his stakes as the ledger has them, the round as the journal has it.

A bet counts when the ledger has it, and its round is in the journal before that: what is told here is durable (G5),
whichever process runs the table, and whether one does at this moment or not. No table is asked, so no bet waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.kit.table.journal.history import PlayerRound, RecordedStake, RoundHistory
from services.kit.table.journal.ledger_stakes import stakes_in_ledger
from services.kit.table.wallet.client import Wallet

_MODES = (types_pb2.MODE_REAL, types_pb2.MODE_DEMO)


class OpenRounds:
    """Looks up what players have in play at the tables of one game."""

    def __init__(self, game: str, wallet: Wallet, history: RoundHistory) -> None:
        self._game = game
        self._wallet = wallet
        self._history = history

    async def of_player(self, player_id: str, table_id: str | None) -> list[PlayerRound]:
        """Newest first; at one table only, or at all of the game."""
        found = {
            round_.round_id: round_
            for mode in _MODES
            for round_ in await self._in_ledger(player_id, mode)
            if round_.game == self._game and table_id in {None, round_.table_id}
        }
        undrawn = await self._history.list_undrawn_rounds(list(found)) if found else []
        return [PlayerRound(round_, _stakes(found[round_.round_id], player_id), None, []) for round_ in undrawn]

    async def _in_ledger(self, player_id: str, mode: types_pb2.Mode.ValueType) -> Sequence[wallet_pb2.Round]:
        try:
            account = await self._wallet.find_account(wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode))
        except Refused as refused:
            if refused.reason != "ACCOUNT_UNKNOWN":
                raise
            return []
        request = wallet_pb2.ListOpenRoundsRequest(account_id=account.balance.account_id)
        found: dict[str, wallet_pb2.Round] = {}
        while True:
            page = await self._wallet.list_open_rounds(request)
            for round_ in page.rounds:
                # One with more stakes than a page holds comes again.
                if round_.round_id in found:
                    found[round_.round_id].stakes.extend(round_.stakes)
                else:
                    found[round_.round_id] = round_
            if not page.next_page_token:
                return list(found.values())
            request.page_token = page.next_page_token


def _stakes(round_: wallet_pb2.Round, player_id: str) -> list[RecordedStake]:
    """His: the ledger shows no others in the open rounds of an account."""
    mine = {stake.session_id: player_id for stake in round_.stakes}
    return [RecordedStake(stake, None) for stake in stakes_in_ledger(round_, mine)]
