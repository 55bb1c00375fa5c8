"""Looks up a player's rounds that are not drawn yet: the stakes in the ledger, the round in the journal.

A bet counts when the ledger has it, and its round is in the journal before that. So the answer is durable (G5), and the
same whichever process runs the table, or none. No table is asked, so no bet waits for this.
"""

from __future__ import annotations

from collections.abc import Sequence

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.kit.table.journal.history import PlayerRound, RecordedRound, RecordedStake, RoundHistory
from services.kit.table.journal.ledger_stakes import cancelled_in_ledger, stakes_in_ledger
from services.kit.table.wallet.client import Wallet, pages

_MODES = (types_pb2.MODE_REAL, types_pb2.MODE_DEMO)


class OpenRounds:
    """Looks up undrawn rounds at the tables of one game."""

    def __init__(self, game: str, wallet: Wallet, history: RoundHistory) -> None:
        self._game = game
        self._wallet = wallet
        self._history = history

    async def of_player(self, player_id: str, table_id: str | None) -> list[PlayerRound]:
        """Returns the player's rounds at one table, or at all tables of the game, newest first."""
        found = {
            round_.round_id: round_
            for mode in _MODES
            for round_ in await self._in_ledger(player_id, mode)
            if round_.game == self._game and table_id in {None, round_.table_id}
        }
        undrawn = await self._history.list_undrawn_rounds(list(found)) if found else []
        return [_player_round(round_, found[round_.round_id], player_id) for round_ in undrawn]

    async def _in_ledger(self, player_id: str, mode: types_pb2.Mode.ValueType) -> Sequence[wallet_pb2.Round]:
        try:
            account = await self._wallet.find_account(wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode))
        except Refused as refused:
            if refused.reason != "ACCOUNT_UNKNOWN":
                raise
            return []
        request = wallet_pb2.ListOpenRoundsRequest(account_id=account.balance.account_id)
        found: dict[str, wallet_pb2.Round] = {}
        async for page in pages(self._wallet.list_open_rounds, request):
            for round_ in page.rounds:
                # A round with more stakes than a page holds comes again on the next.
                if round_.round_id in found:
                    found[round_.round_id].stakes.extend(round_.stakes)
                else:
                    found[round_.round_id] = round_
        return list(found.values())


def _player_round(recorded: RecordedRound, round_: wallet_pb2.Round, player_id: str) -> PlayerRound:
    # All stakes are the player's: the ledger lists no others among an account's open rounds.
    player_ids = {stake.session_id: player_id for stake in round_.stakes}
    stakes = [RecordedStake(stake, None) for stake in stakes_in_ledger(round_, player_ids)]
    return PlayerRound(recorded, stakes, None, cancelled_in_ledger(round_, player_ids))
