"""Builds the facts of a transaction for the bus: balances, transfers, ended rounds."""

from collections.abc import Iterator

from feltro.wallet.v1 import events_pb2, types_pb2
from services.kit.wire_format import embedded
from services.wallet.ledger.book import Book, Movement
from services.wallet.ledger.messages import balance_message, ticket_message
from services.wallet.model.state import Account, AccountKind, TransferKind
from services.wallet.outbox.facts import TRANSFERS_SUBJECT, Fact, player_subject, rounds_subject

# A message of transfers is closed before it exceeds this; NATS accepts 1 MiB (G11).
TRANSFERS_MESSAGE_BYTES_LIMIT = 256 * 1024

# Field numbers of events.proto, for messages that are assembled from encoded parts.
_PLAYER_FACT_BALANCE_CHANGED = 2
_BALANCE_CHANGED_BALANCE = 1
_BALANCE_CHANGED_TRANSACTIONS = 2
_TRANSFERS_MADE_TRANSACTIONS = 1


_OF_TOURNAMENTS = frozenset(
    {
        TransferKind.TOURNAMENT_PAID_IN,
        TransferKind.TOURNAMENT_PAID_OUT,
        TransferKind.TICKET_USED,
        TransferKind.TICKETS_SETTLED,
    }
)


def facts_of_book(book: Book) -> list[Fact]:
    """Returns every fact of a transaction, in the order of publication."""
    # A movement is encoded once for the two messages that carry it.
    encoded = [(movement, _transaction(book, movement).SerializeToString()) for movement in book.movements]
    return [*_balances(book, encoded), *_tickets(book), *_transfers(encoded), *_rounds(book)]


def _transaction(book: Book, movement: Movement) -> types_pb2.Transaction:
    account = movement.account
    is_cave = account.kind is AccountKind.CAVE
    owner = book.accounts.get(account.owner_no or 0) if is_cave else account
    transaction = types_pb2.Transaction(
        transfer_id=movement.transfer_no,
        kind=types_pb2.TransferKind.ValueType(movement.kind),
        request_id=movement.request_id,
        account_id=owner.account_id if owner is not None and owner.player_id is not None else "",
        cave_table_id=book.tables[account.table_no or 0].table_id if is_cave else "",
        round_id=movement.round_id,
        session_id=movement.session_id,
    )
    if movement.kind in _OF_TOURNAMENTS:
        _, _, _, tournament_id = book.transfers[movement.transfer_no]
        transaction.tournament_id = tournament_id or ""
    transaction.at.CopyFrom(book.timestamp)
    for part, before, amount in book.entries_of(movement):
        transaction.entries.add(
            balance_part=types_pb2.BalancePart.ValueType(part),
            before_cents=before,
            amount_cents=amount,
            after_cents=before + amount,
        )
    return transaction


def _player(book: Book, account: Account) -> Account | None:
    """Returns the player's account that a movement of the account or of its cave is published for."""
    if account.kind is AccountKind.PLAYER:
        return account
    return book.accounts.get(account.owner_no or 0) if account.kind is AccountKind.CAVE else None


def _balances(book: Book, encoded: list[tuple[Movement, bytes]]) -> Iterator[Fact]:
    parts: dict[int, list[bytes]] = {}
    # A fact of several commands goes on in the trace of the last.
    traces: dict[int, str] = {}
    for movement, transaction in encoded:
        player = _player(book, movement.account)
        if player is not None:
            parts.setdefault(player.no, []).append(embedded(_BALANCE_CHANGED_TRANSACTIONS, transaction))
            if book.traces:
                traces[player.no] = book.traces.get(movement.request_id, "")
    at = events_pb2.PlayerFact(at=book.timestamp).SerializeToString()
    for account_no, transactions in parts.items():
        account = book.accounts[account_no]
        transactions.append(embedded(_BALANCE_CHANGED_BALANCE, balance_message(account).SerializeToString()))
        payload = at + embedded(_PLAYER_FACT_BALANCE_CHANGED, b"".join(transactions))
        yield Fact(player_subject(account.player_id or ""), payload, traces.get(account_no, ""))


def _tickets(book: Book) -> Iterator[Fact]:
    """Yields the last state of each ticket that has changed."""
    for ticket in {change.ticket.no: change.ticket for change in book.ticket_changes}.values():
        account, target = book.accounts[ticket.account_no], book.tables[ticket.table_no]
        changed = events_pb2.TicketChanged(ticket=ticket_message(ticket, account, target))
        fact = events_pb2.PlayerFact(at=book.timestamp, ticket_changed=changed)
        yield Fact(player_subject(account.player_id or ""), fact.SerializeToString())


def _transfers(encoded: list[tuple[Movement, bytes]]) -> Iterator[Fact]:
    parts: list[bytes] = []
    size = 0
    for _, transaction in encoded:
        part = embedded(_TRANSFERS_MADE_TRANSACTIONS, transaction)
        if size + len(part) > TRANSFERS_MESSAGE_BYTES_LIMIT:
            yield Fact(TRANSFERS_SUBJECT, b"".join(parts))
            parts, size = [], 0
        parts.append(part)
        size += len(part)
    if parts:
        yield Fact(TRANSFERS_SUBJECT, b"".join(parts))


def _rounds(book: Book) -> Iterator[Fact]:
    for ending in book.endings:
        ended = events_pb2.RoundEnded(
            round_id=ending.round.round_id,
            table_id=ending.table.table_id,
            state=types_pb2.RoundState.ValueType(ending.round.state),
            ended_at=book.timestamp,
            staked_cents=ending.staked_cents,
            payout_cents=ending.payout_cents,
        )
        yield Fact(rounds_subject(ending.table.table_id), ended.SerializeToString())
