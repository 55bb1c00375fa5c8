"""Decides banked rounds: stakes are placed, cancelled, and paid, settled or returned once (G4)."""

from dataclasses import dataclass, replace

from feltro.wallet.v1 import wallet_pb2
from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.wallet.ledger import relevant_events
from services.wallet.ledger.book import Book, detail_bytes_of_part
from services.wallet.ledger.commands import (
    CancelStakes,
    PayStakes,
    PlaceStake,
    SettleRound,
    StakeToCancel,
    TransferHand,
    VoidRound,
)
from services.wallet.ledger.messages import balance_message, fill_balance, sessions_after_round_message
from services.wallet.ledger.sessions import close_waiting_sessions, count_round_for_sessions
from services.wallet.model import refusals
from services.wallet.model.state import (
    Account,
    Play,
    Round,
    RoundState,
    SessionState,
    Stake,
    StakeState,
    Table,
    TransferKind,
)


def place_stake(book: Book, command: PlaceStake, no: int) -> wallet_pb2.PlaceStakeResponse:
    table = book.table_of(command)
    _verify_banked(table)
    account = book.admitted_account(command.account_no, command.account_id, table)
    session = book.running_session(command.session_id, account, table)
    _verify_largest_payout(book, command)
    round_ = book.find_open_round(command.round_id, table)
    if round_ is not None:
        _verify_room(round_, 1, len(command.detail))
    if account.free_cents < command.amount_cents:
        raise refusals.insufficient_funds(account, command.amount_cents)

    round_ = round_ or book.add_round(no, command.round_id, table)
    kind = TransferKind.STAKE
    book.begin_transfer(no, kind, table.mode, round_)
    book.post(
        account,
        -command.amount_cents,
        command.amount_cents,
        no,
        kind,
        command,
        session,
        command.round_id,
        command.session_id,
    )
    stake = Stake(
        no,
        command.request_id,
        round_.no,
        account.no,
        session.no,
        command.amount_cents,
        0,
        0,
        StakeState.OPEN,
        command.largest_payout_cents,
    )
    book.add_stake(round_, stake, command.detail)
    if book.session_states[session.no] is not SessionState.ACTIVE:
        book.record_bet(session.no)
    # Filled in place: this is the most frequent answer, and assigning a message to another one copies it.
    response = wallet_pb2.PlaceStakeResponse()
    placed = response.placed
    placed.stake_id = stake.stake_id
    placed.transfer_id = no
    fill_balance(placed.balance, account)
    placed.placed_at.CopyFrom(book.timestamp)
    return response


def cancel_stakes(book: Book, command: CancelStakes, no: int) -> wallet_pb2.CancelStakesResponse:
    """Returns stakes of one player, or parts of them, by one transfer: all of them or none."""
    table = book.table_of(command)
    round_ = book.find_open_round(command.round_id, table)
    if round_ is None:
        raise refusals.round_unknown(command.round_id)
    stakes = [_stake_to_cancel(book, round_, command.account_id, part) for part in command.stakes]
    amounts = [part.amount_cents or stake.open_cents for part, stake in zip(command.stakes, stakes, strict=True)]
    parts = [
        part for part, stake, amount in zip(command.stakes, stakes, amounts, strict=True) if amount < stake.open_cents
    ]
    _verify_room(round_, len(parts), sum(map(detail_bytes_of_part, parts)))
    # All are of one account, and a player has one session at a table.
    account, session = book.accounts[stakes[0].account_no], book.sessions[stakes[0].session_no]

    kind, total = TransferKind.STAKE_CANCELLED, sum(amounts)
    book.begin_transfer(no, kind, table.mode, round_)
    book.post(
        account,
        total,
        -total,
        no,
        kind,
        command,
        book.session_keys[session.session_id],
        round_.round_id,
        session.session_id,
    )
    for part, stake, amount in zip(command.stakes, stakes, amounts, strict=True):
        book.cancel_stake(round_, stake, amount, no, part)
    # The player has bet, even if the bet was cancelled: the clock of inactivity restarts.
    book.record_bet(session.no)
    book.close_if_done(session)
    return wallet_pb2.CancelStakesResponse(
        transfer_id=no,
        balance=balance_message(account),
        open_cents=[stake.open_cents for stake in stakes],
        cancelled_at=book.timestamp,
    )


def _stake_to_cancel(book: Book, round_: Round, account_id: str, part: StakeToCancel) -> Stake:
    stake = book.stakes.get(part.stake_id)
    # A stake that is cancelled in full is as unknown to its own group as to the next, and so is another player's.
    if (
        stake is None
        or stake.round_no != round_.no
        or not stake.open_cents
        or book.accounts[stake.account_no].account_id != account_id
    ):
        raise refusals.stake_unknown(part.stake_id)
    if part.amount_cents > stake.open_cents:
        raise refusals.cancel_exceeds_stake(stake)
    return stake


@dataclass(slots=True)
class _Share:
    """Stakes of one account in a round, and what is paid for them."""

    account: Account
    session_no: int
    staked_cents: int = 0
    payout_cents: int = 0


def pay_stakes(book: Book, command: PayStakes, no: int) -> wallet_pb2.PayStakesResponse:
    """Pays some stakes of a round that goes on, by one transfer: all that are named or none."""
    table = book.table_of(command)
    _verify_banked(table)
    round_ = book.find_open_round(command.round_id, table)
    if round_ is None:
        raise refusals.round_unknown(command.round_id)
    open_stakes, paid_stakes = book.open_stakes_of(round_), book.paid_stakes_of(round_)
    for stake_id in command.payouts:
        if stake_id not in open_stakes:
            raise refusals.stake_unknown(stake_id)
    stakes = {stake_id: open_stakes[stake_id] for stake_id in command.payouts}
    _verify_payouts(book, command, stakes, paid_stakes)

    shares, earlier = _shares(book, stakes, command.payouts), _earlier_shares(book, paid_stakes)
    _pay(book, command, table, round_, no, TransferKind.STAKES_PAID, shares, earlier)
    for stake_id, stake in stakes.items():
        book.end_stake(stake, StakeState.PAID, command.payouts[stake_id], no)
    for share in shares:
        # Until now the player had a stake in play: the clock of inactivity restarts.
        book.record_bet(share.session_no)
        book.close_if_done(book.sessions[share.session_no])
    return wallet_pb2.PayStakesResponse(transfer_id=no, paid_at=book.timestamp, results=_results(shares))


def settle_round(book: Book, command: SettleRound, no: int) -> wallet_pb2.SettleRoundResponse:
    """Pays all stakes that are still open and ends the round; those paid before count in its result."""
    table = book.table_of(command)
    _verify_banked(table)
    round_ = book.find_open_round(command.round_id, table)
    stakes = {} if round_ is None else book.open_stakes_of(round_)
    paid_stakes = {} if round_ is None else book.paid_stakes_of(round_)
    if stakes.keys() != command.payouts.keys():
        missing, unexpected = stakes.keys() - command.payouts.keys(), command.payouts.keys() - stakes.keys()
        raise refusals.stakes_differ(command.round_id, missing, unexpected)
    _verify_payouts(book, command, stakes, paid_stakes)

    round_ = round_ or book.add_round(no, command.round_id, table)
    shares, earlier = _shares(book, stakes, command.payouts), _earlier_shares(book, paid_stakes)
    if shares:
        _pay(book, command, table, round_, no, TransferKind.ROUND_SETTLED, shares, earlier)
    for stake_id, stake in stakes.items():
        book.end_stake(stake, StakeState.SETTLED, command.payouts[stake_id])
    totals = _totals(shares, earlier)
    sessions = end_with_outcome(
        book,
        command,
        round_,
        table,
        transfer_no=no if shares else None,
        staked_cents=sum(share.staked_cents for share in totals),
        payout_cents=sum(share.payout_cents for share in totals),
        bettors={stake.session_no for stake in (*stakes.values(), *paid_stakes.values())},
    )
    return wallet_pb2.SettleRoundResponse(
        transfer_id=no if shares else 0, ended_at=book.timestamp, results=_results(totals), sessions=sessions
    )


def void_round(book: Book, command: VoidRound, no: int) -> wallet_pb2.VoidRoundResponse:
    """Returns all open stakes; a round that is not known yet is void, too, so that a later stake is refused (G4).

    Stakes that were paid before stay paid: they were decided by then (B18).
    """
    table = book.table_of(command)
    if table.play is Play.TOURNAMENT:
        raise refusals.wrong_play(table)
    round_ = book.find_open_round(command.round_id, table)

    round_ = round_ or book.add_round(no, command.round_id, table)
    stakes = book.open_stakes_of(round_)
    shares = _shares(book, stakes, {stake_id: stake.open_cents for stake_id, stake in stakes.items()})
    kind = TransferKind.ROUND_VOID
    if shares:
        book.begin_transfer(no, kind, table.mode, round_)
        for share in shares:
            _post_share(book, share, no, kind, command)
    for stake in stakes.values():
        book.end_stake(stake, StakeState.RETURNED)
    totals = _totals(shares, _earlier_shares(book, book.paid_stakes_of(round_)))
    book.end_round(
        round_,
        RoundState.VOID,
        table,
        transfer_no=no if shares else None,
        staked_cents=sum(share.staked_cents for share in totals),
        payout_cents=sum(share.payout_cents for share in totals),
        void_reason=command.reason,
    )
    for share in shares:
        book.record_bet(share.session_no)
    after = close_waiting_sessions(book, {share.session_no for share in shares})
    return wallet_pb2.VoidRoundResponse(
        transfer_id=no if shares else 0,
        ended_at=book.timestamp,
        results=_results(totals),
        sessions=sessions_after_round_message(after),
    )


def end_with_outcome(
    book: Book,
    command: SettleRound | TransferHand,
    round_: Round,
    table: Table,
    *,
    transfer_no: int | None,
    staked_cents: int,
    payout_cents: int,
    bettors: set[int],
) -> wallet_pb2.SessionsAfterRound:
    """Ends a round that was played, banked or poker, and counts it for the sessions at its table."""
    book.end_round(
        round_,
        RoundState.SETTLED,
        table,
        transfer_no=transfer_no,
        staked_cents=staked_cents,
        payout_cents=payout_cents,
        outcome=command.outcome,
    )
    after = count_round_for_sessions(book, table, command.round_id, command.report, bettors)
    return sessions_after_round_message(after)


def _verify_banked(table: Table) -> None:
    if table.play is Play.POKER or table.play is Play.TOURNAMENT:
        raise refusals.wrong_play(table)


def _verify_room(round_: Round, stakes: int, detail_bytes: int) -> None:
    """Refuses stakes beyond the round's limits: a larger round could not be settled or read back (G4, G11)."""
    if stakes and round_.stakes_placed + stakes > STAKES_LIMIT:
        raise refusals.round_full(round_.round_id, "stakes", STAKES_LIMIT)
    if stakes and round_.detail_bytes + detail_bytes > DETAIL_BYTES_LIMIT:
        raise refusals.round_full(round_.round_id, "detail", DETAIL_BYTES_LIMIT)


def _verify_largest_payout(book: Book, command: PlaceStake) -> None:
    """Refuses a stake that might win more than the operator lets the wallet pay: better now than once it has won."""
    largest, limit = command.largest_payout_cents, book.payout_limits.stake_cents
    if largest is not None and largest > limit:
        raise refusals.payout_too_large(command.round_id, "stake", largest, limit, command.request_id)


def _verify_payouts(
    book: Book, command: PayStakes | SettleRound, stakes: dict[str, Stake], paid_stakes: dict[str, Stake]
) -> None:
    """Refuses payouts above what their stakes can get back, and above the operator's limits (G12).

    The limit of a round counts what was paid in it before.
    """
    limits, paid = book.payout_limits, sum(stake.payout_cents for stake in paid_stakes.values())
    for stake_id, payout in command.payouts.items():
        largest = stakes[stake_id].largest_payout_cents
        if largest is not None and payout > largest:
            raise refusals.payout_too_large(command.round_id, "largest_payout_cents", payout, largest, stake_id)
        if payout > limits.stake_cents:
            raise refusals.payout_too_large(command.round_id, "stake", payout, limits.stake_cents, stake_id)
        paid += payout
    if paid > limits.round_cents:
        raise refusals.payout_too_large(command.round_id, "round", paid, limits.round_cents)


def _shares(book: Book, stakes: dict[str, Stake], payouts: dict[str, int]) -> list[_Share]:
    """Sums up stakes and payouts by account; a player has one session at a table, so one share."""
    shares: dict[int, _Share] = {}
    for stake_id, stake in stakes.items():
        share = shares.get(stake.account_no)
        if share is None:
            shares[stake.account_no] = share = _Share(book.accounts[stake.account_no], stake.session_no)
        share.staked_cents += stake.staked_cents
        share.payout_cents += payouts[stake_id]
    return list(shares.values())


def _earlier_shares(book: Book, paid_stakes: dict[str, Stake]) -> list[_Share]:
    return _shares(book, paid_stakes, {stake_id: stake.payout_cents for stake_id, stake in paid_stakes.items()})


def _totals(shares: list[_Share], earlier: list[_Share]) -> list[_Share]:
    """Sums up by account what is paid now and what was paid earlier in the round."""
    totals = {share.account.no: replace(share) for share in shares}
    for share in earlier:
        total = totals.setdefault(share.account.no, _Share(share.account, share.session_no))
        total.staked_cents += share.staked_cents
        total.payout_cents += share.payout_cents
    return list(totals.values())


def _pay(
    book: Book,
    command: PayStakes | SettleRound,
    table: Table,
    round_: Round,
    no: int,
    kind: TransferKind,
    shares: list[_Share],
    earlier: list[_Share],
) -> None:
    """Moves the shares' stakes to the bank and their payouts from it."""
    book.begin_transfer(no, kind, table.mode, round_)
    for share in shares:
        _post_share(book, share, no, kind, command)
    _record_prizes(book, table, no, shares, earlier)
    kept = sum(share.staked_cents - share.payout_cents for share in shares)
    if kept:
        book.post(book.accounts[table.bank_no], kept, 0, no, kind, command, None, command.round_id)


def _record_prizes(book: Book, table: Table, no: int, shares: list[_Share], earlier: list[_Share]) -> None:
    """Records what the accounts have won in the round so far: a prize paid in parts is as large as one paid at once."""
    totals = {share.account.no: share for share in _totals(shares, earlier)}
    paid_before = {share.account.no for share in earlier if share.payout_cents}
    for share in shares:
        account_no, total = share.account.no, totals[share.account.no]
        # A lost stake adds nothing to a prize that was recorded.
        if share.payout_cents or account_no not in paid_before:
            relevant_events.record_prize(
                book, table.mode, no, account_no, share.session_no, total.staked_cents, total.payout_cents
            )


def _post_share(
    book: Book, share: _Share, no: int, kind: TransferKind, command: PayStakes | SettleRound | VoidRound
) -> None:
    session_id = book.sessions[share.session_no].session_id
    key = book.session_keys[session_id]
    book.post(
        share.account, share.payout_cents, -share.staked_cents, no, kind, command, key, command.round_id, session_id
    )


def _results(shares: list[_Share]) -> list[wallet_pb2.AccountResult]:
    return [
        wallet_pb2.AccountResult(
            account_id=share.account.account_id,
            staked_cents=share.staked_cents,
            payout_cents=share.payout_cents,
            balance=balance_message(share.account),
        )
        for share in shares
    ]
