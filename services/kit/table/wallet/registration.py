"""Registers the id of a new table at the wallet, which keeps one game from taking another's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.refusal import Refused
from services.kit.table.refusals import TableRefused, invalid
from services.kit.table.wallet.client import Wallet
from services.kit.table.wallet.table_wallet import retry_for_a_while


class TableRegistrar:
    """Registers tables of the game whose token the wallet is called with."""

    def __init__(self, wallet: Wallet) -> None:
        self._wallet = wallet
        # Refuses a new tournament for what its game asks of one beside its rules; set where the game has tournaments.
        self.verify_tournament: Callable[[str, types_pb2.TableConfiguration], Awaitable[None]] | None = None

    async def register(
        self, table_id: str, configuration: types_pb2.TableConfiguration, largest_payout_cents: int
    ) -> None:
        """Refuses an id that another game has, and rules by which one stake could get back more than the wallet pays.

        A repeat changes nothing. Raises `WalletUnanswered` after a while.
        """
        if configuration.play == wallet_types.PLAY_TOURNAMENT and self.verify_tournament is not None:
            await self.verify_tournament(table_id, configuration)
        request = wallet_pb2.RegisterTableRequest(
            table_id=table_id,
            game=configuration.game,
            regulation=configuration.regulation,
            mode=configuration.mode,
            play=configuration.play,
            largest_payout_cents=largest_payout_cents,
        )
        try:
            await retry_for_a_while(lambda: self._wallet.register_table(request))
        except Refused as refused:
            if refused.reason == "WRONG_GAME":
                game = refused.facts.get("table_game", "")
                sentence = f"A table of the game {game} has this id: choose another one."
                raise TableRefused("TABLE_TAKEN", sentence, table_id=table_id, game=game) from None
            if refused.reason == "TABLE_MISMATCH":
                field = refused.facts["field"]
                sentence = f"never changes: a table with another {field} needs another table_id."
                raise invalid(f"configuration.{field}", sentence) from None
            if refused.reason == "PAYOUT_TOO_LARGE":
                sentence = (
                    f"would let one bet get back {largest_payout_cents} cents, and the wallet pays"
                    f" {refused.facts['limit_cents']} at most: lower the table's limits, or raise the wallet's first"
                    " (`FELTRO_WALLET_STAKE_PAYOUT_LIMIT_CENTS`)."
                )
                raise invalid("configuration.rules", sentence) from None
            raise
