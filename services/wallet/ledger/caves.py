"""Decides poker's transfers: between a player's account and cave, and among a table's caves, one for each hand."""

from feltro.wallet.v1 import wallet_pb2
from services.wallet.ledger import relevant_events
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import BuyIn, CashOut, SeatResult, TransferHand
from services.wallet.ledger.messages import balance_message
from services.wallet.ledger.rounds import end_with_outcome
from services.wallet.model import inactivity, refusals
from services.wallet.model.state import Account, Play, SessionState, Table, TransferKind


def buy_in(book: Book, command: BuyIn, no: int) -> wallet_pb2.BuyInResponse:
    """Moves the amount into the cave; the commission on it comes on top, from the account (`806/2015:17.b`)."""
    table = book.table_of(command)
    _verify_poker(table)
    account = book.admitted_account(command.account_no, command.account_id, table)
    session = book.running_session(command.session_id, account, table)
    needed = command.amount_cents + command.commission_cents
    if account.free_cents < needed:
        raise refusals.insufficient_funds(account, needed)
    cave = book.caves[account.no, table.no]

    kind = TransferKind.BUY_IN
    book.begin_transfer(no, kind, table.mode)
    book.post(account, -needed, 0, no, kind, command, session, session_id=command.session_id)
    book.post(cave, command.amount_cents, 0, no, kind, command, session, session_id=command.session_id)
    if command.commission_cents:
        book.post(book.accounts[table.bank_no], command.commission_cents, 0, no, kind, command)
    # The whole session is loaded only if it is invited or warned.
    invited = book.sessions.get(session.no)
    if invited is not None:
        book.record_session_change(invited, inactivity.after_buy_in(invited, book.session_now))
    return wallet_pb2.BuyInResponse(
        transfer_id=no,
        balance=balance_message(account),
        cave_cents=cave.free_cents,
        commission_cents=command.commission_cents,
    )


def cash_out(book: Book, command: CashOut, no: int) -> wallet_pb2.CashOutResponse:
    """Moves money out of the cave; never refused to a blocked player or an ending session, for it is the player's."""
    table = book.table_of(command)
    _verify_poker(table)
    account = book.player_account(command.account_no, command.account_id)
    key = book.session_of(command.session_id, account, table)
    # Without a cave nobody has bought in: the store has searched for it under the table's lock.
    cave = book.caves.get((account.no, table.no))
    held = 0 if cave is None else cave.free_cents
    amount = command.amount_cents or held
    if amount > held:
        raise refusals.cave_insufficient(account.account_id, table.table_id, held, amount)

    if cave is not None and amount:
        kind = TransferKind.CASH_OUT
        book.begin_transfer(no, kind, table.mode)
        book.post(cave, -amount, 0, no, kind, command, key, session_id=command.session_id)
        book.post(account, amount, 0, no, kind, command, key, session_id=command.session_id)
    session_ended = book.close_if_done(book.sessions[key.no])
    running_no = book.running_session_nos.get((account.no, table.no))
    if running_no is not None:
        # There is one cave, whichever session the command names: a session that waited for it closes.
        book.close_if_done(book.sessions[running_no])
    return wallet_pb2.CashOutResponse(
        transfer_id=no if amount else 0,
        balance=balance_message(account),
        cave_cents=held - amount,
        session_ended=session_ended,
    )


def transfer_hand(book: Book, command: TransferHand, no: int) -> wallet_pb2.TransferHandResponse:
    """Moves money among the caves, less the commission; a cave pays its stake before it receives its winnings."""
    table = book.table_of(command)
    _verify_poker(table)
    round_ = book.find_open_round(command.round_id, table)
    staked = sum(seat.staked_cents for seat in command.seats)
    won = sum(seat.won_cents for seat in command.seats)
    if staked != won + command.commission_cents:
        raise refusals.not_balanced(staked, won, command.commission_cents)
    caves = [_cave_of(book, table, seat) for seat in command.seats]

    round_ = round_ or book.add_round(no, command.round_id, table)
    kind = TransferKind.HAND
    if staked:
        book.begin_transfer(no, kind, table.mode, round_)
        for seat, cave in zip(command.seats, caves, strict=True):
            key = book.session_keys[seat.session_id]
            if seat.staked_cents:
                book.post(cave, -seat.staked_cents, 0, no, kind, command, key, command.round_id, seat.session_id)
                book.post_second_leg(seat.won_cents)
            elif seat.won_cents:
                book.post(cave, seat.won_cents, 0, no, kind, command, key, command.round_id, seat.session_id)
            relevant_events.record_prize(
                book, table.mode, no, key.account_no, key.no, seat.staked_cents, seat.won_cents
            )
        if command.commission_cents:
            bank = book.accounts[table.bank_no]
            book.post(bank, command.commission_cents, 0, no, kind, command, None, command.round_id)
    bettors = {book.session_keys[seat.session_id].no for seat in command.seats if seat.staked_cents}
    sessions = end_with_outcome(
        book,
        command,
        round_,
        table,
        transfer_no=no if staked else None,
        staked_cents=staked,
        payout_cents=won,
        bettors=bettors,
    )
    return wallet_pb2.TransferHandResponse(
        transfer_id=no if staked else 0,
        ended_at=book.timestamp,
        caves=[
            wallet_pb2.CaveAfterHand(account_id=seat.account_id, cave_cents=cave.free_cents)
            for seat, cave in zip(command.seats, caves, strict=True)
        ],
        sessions=sessions,
    )


def _verify_poker(table: Table) -> None:
    if table.play is not Play.POKER:
        raise refusals.wrong_play(table)


def _cave_of(book: Book, table: Table, seat: SeatResult) -> Account:
    key = book.session_keys.get(seat.session_id)
    if key is None:
        raise refusals.session_unknown(seat.session_id)
    account = book.player_account(key.account_no, seat.account_id)
    if account.account_id != seat.account_id or key.table_no != table.no:
        raise refusals.session_elsewhere(seat.session_id)
    state = book.sessions[key.no].state
    if state is SessionState.ENDED and (seat.staked_cents or seat.won_cents):
        # The session's summary is out, and the cave may belong to a newer session.
        raise refusals.session_ended(seat.session_id, state)
    cave = book.caves.get((account.no, table.no))
    held = 0 if cave is None else cave.free_cents
    if cave is None or held < seat.staked_cents:
        raise refusals.cave_insufficient(seat.account_id, table.table_id, held, seat.staked_cents)
    return cave
