"""Records large prizes, deposits and withdrawals beside the ledger's entries (`903-B/2015:6.3.6.6`).

Real money only: demonstration credits cost nothing, so a guest could fill with them a record that is kept for ten years
and bury the prizes that it is for.
"""

from services.wallet.ledger.book import Book
from services.wallet.model.state import Account, Mode, RelevantEvent, RelevantKind


def record_prize(
    book: Book,
    mode: Mode,
    transfer_no: int,
    account_no: int,
    session_no: int | None,
    staked_cents: int,
    paid_cents: int,
) -> None:
    """Records what one player won with all stakes in one round, in one hand, or by one payment of a tournament."""
    limit_cents = book.limits.prize_cents
    if paid_cents >= limit_cents and mode is Mode.REAL:
        book.relevant_events.append(
            RelevantEvent(
                RelevantKind.LARGE_PRIZE, transfer_no, account_no, session_no, paid_cents, staked_cents, limit_cents
            )
        )


def record_cash_transfer(book: Book, transfer_no: int, account: Account, cents: int) -> None:
    """Records a deposit, or below zero a withdrawal, if it is large."""
    limit_cents = book.limits.transfer_cents
    if abs(cents) >= limit_cents and account.mode is Mode.REAL:
        kind = RelevantKind.LARGE_DEPOSIT if cents > 0 else RelevantKind.LARGE_WITHDRAWAL
        book.relevant_events.append(RelevantEvent(kind, transfer_no, account.no, None, abs(cents), 0, limit_cents))
