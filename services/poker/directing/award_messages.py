"""Translates the awards of a tournament into what the wallet is asked for."""

from __future__ import annotations

from feltro.wallet.v1 import tournament_pb2 as wallet_tournament
from services.poker.directing.books import WalletAward
from services.poker.tournament.money.awards import Why

_REASONS = {
    Why.PRIZE: wallet_tournament.AWARD_REASON_PRIZE,
    Why.BOUNTY: wallet_tournament.AWARD_REASON_BOUNTY,
    Why.OWN_BOUNTY: wallet_tournament.AWARD_REASON_BOUNTY,
    Why.UNREGISTERED: wallet_tournament.AWARD_REASON_REFUND,
    Why.TOO_LATE: wallet_tournament.AWARD_REASON_REFUND,
    Why.ENTRY_BACK: wallet_tournament.AWARD_REASON_REFUND,
    Why.SHARE_BY_CHIPS: wallet_tournament.AWARD_REASON_CANCELLATION_SHARE,
}


def award_message(each: WalletAward) -> wallet_tournament.Award:
    """Builds an award as the wallet is asked for it."""
    award = each.award
    return wallet_tournament.Award(
        account_id=each.account_id,
        reason=_REASONS[award.why],
        amount_cents=award.cents,
        refunded_request_id=each.refunded,
    )
