"""Decides banked rounds: stakes are placed, cancelled, and settled or returned once (G4)."""

from dataclasses import dataclass

from feltro.wallet.v1 import wallet_pb2
from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.wallet.ledger import relevant_events
from services.wallet.ledger.book import Book, detail_bytes_of_part
from services.wallet.ledger.commands import (
    CancelStakes,
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
    """The stakes and the payout of one account in a round."""

    account: Account
    session_no: int
    staked_cents: int = 0
    payout_cents: int = 0


def settle_round(book: Book, command: SettleRound, no: int) -> wallet_pb2.SettleRoundResponse:
    table = book.table_of(command)
    _verify_banked(table)
    round_ = book.find_open_round(command.round_id, table)
    stakes = {} if round_ is None else book.open_stakes_of(round_)
    if stakes.keys() != command.payouts.keys():
        missing, unexpected = stakes.keys() - command.payouts.keys(), command.payouts.keys() - stakes.keys()
        raise refusals.stakes_differ(command.round_id, missing, unexpected)
    _verify_payouts(book, command, stakes)

    round_ = round_ or book.add_round(no, command.round_id, table)
    shares = _shares(book, stakes, command.payouts)
    staked = sum(share.staked_cents for share in shares)
    paid = sum(share.payout_cents for share in shares)
    kind = TransferKind.ROUND_SETTLED
    if shares:
        book.begin_transfer(no, kind, table.mode, round_)
        for share in shares:
            _post_share(book, share, no, kind, command)
            relevant_events.record_prize(
                book, table.mode, no, share.account.no, share.session_no, share.staked_cents, share.payout_cents
            )
        if staked != paid:
            bank = book.accounts[table.bank_no]
            book.post(bank, staked - paid, 0, no, kind, command, None, command.round_id)
    for stake_id, stake in stakes.items():
        stake.state = StakeState.SETTLED
        stake.payout_cents = command.payouts[stake_id]
        book.changed_stakes[stake.no] = stake
    sessions = end_with_outcome(
        book,
        command,
        round_,
        table,
        transfer_no=no if shares else None,
        staked_cents=staked,
        payout_cents=paid,
        bettors={share.session_no for share in shares},
    )
    return wallet_pb2.SettleRoundResponse(
        transfer_id=no if shares else 0, ended_at=book.timestamp, results=_results(shares), sessions=sessions
    )


def void_round(book: Book, command: VoidRound, no: int) -> wallet_pb2.VoidRoundResponse:
    """Returns all stakes; a round that is not known yet is void, too, so that a later stake is refused (G4)."""
    table = book.table_of(command)
    round_ = book.find_open_round(command.round_id, table)

    round_ = round_ or book.add_round(no, command.round_id, table)
    stakes = book.open_stakes_of(round_)
    shares = _shares(book, stakes, {stake_id: stake.open_cents for stake_id, stake in stakes.items()})
    returned = sum(share.payout_cents for share in shares)
    kind = TransferKind.ROUND_VOID
    if shares:
        book.begin_transfer(no, kind, table.mode, round_)
        for share in shares:
            _post_share(book, share, no, kind, command)
    for stake in stakes.values():
        stake.state = StakeState.RETURNED
        book.changed_stakes[stake.no] = stake
    book.end_round(
        round_,
        RoundState.VOID,
        table,
        transfer_no=no if shares else None,
        staked_cents=returned,
        payout_cents=returned,
        void_reason=command.reason,
    )
    for share in shares:
        book.record_bet(share.session_no)
    after = close_waiting_sessions(book, {share.session_no for share in shares})
    return wallet_pb2.VoidRoundResponse(
        transfer_id=no if shares else 0,
        ended_at=book.timestamp,
        results=_results(shares),
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
    if table.play is Play.POKER:
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


def _verify_payouts(book: Book, command: SettleRound, stakes: dict[str, Stake]) -> None:
    """Refuses payouts above what their stakes can get back, and above the operator's limits (G12)."""
    limits, paid = book.payout_limits, 0
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
        share.staked_cents += stake.open_cents
        share.payout_cents += payouts[stake_id]
    return list(shares.values())


def _post_share(book: Book, share: _Share, no: int, kind: TransferKind, command: SettleRound | VoidRound) -> None:
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
