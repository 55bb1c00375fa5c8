"""The rows that a transaction has locked and read, in memory, and the changes that it will write.

Pure: no I/O, no clock. The store fills a book under the locks, the decisions change it through the few methods here,
and the store writes their changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from services.wallet.ledger.commands import Command, StakeToCancel, TableCommand
from services.wallet.model import inactivity, refusals
from services.wallet.model.state import (
    EPOCH_JUMP_LIMIT,
    Account,
    AwardReason,
    Mode,
    Notice,
    PayIn,
    PayoutLimits,
    Pocket,
    RelevantEvent,
    RelevantEventLimits,
    Round,
    RoundState,
    Session,
    SessionKey,
    SessionState,
    Stake,
    StakeState,
    Table,
    Ticket,
    TicketState,
    TransferKind,
)


@dataclass(slots=True)
class Movement:
    """The change of one account by one transfer."""

    account: Account
    version: int
    transfer_no: int
    kind: TransferKind
    request_id: str
    round_id: str
    session_id: str
    # The index of its first posting in the book; there are one or two.
    first_posting: int


@dataclass(frozen=True, slots=True)
class RoundEnding:
    """The end of a round, for its row and its fact."""

    round: Round
    table: Table
    transfer_no: int | None
    void_reason: str | None
    outcome: bytes | None
    staked_cents: int
    payout_cents: int


@dataclass(frozen=True, slots=True)
class StakeCancellation:
    """What one transfer took back of one stake."""

    transfer_no: int
    stake_no: int
    amount_cents: int
    # Of a part: the bets that were taken back, and those that stay. None if nothing of the stake stays.
    cancelled_detail: bytes | None
    remaining_detail: bytes | None


@dataclass(frozen=True, slots=True)
class Awarded:
    """What one transfer of a tournament pays to one account for one reason."""

    transfer_no: int
    table_no: int
    account_no: int
    reason: AwardReason
    amount_cents: int
    # Of a refund: the transfer that had paid in what is given back.
    refunded_no: int | None
    # The ticket that it issued or gave back, and what that became by it.
    ticket: Ticket | None = None
    ticket_state: TicketState | None = None


@dataclass(frozen=True, slots=True)
class BankPayment:
    """What the bank adds to one payment of a tournament, the fees of refunds apart."""

    transfer_no: int
    table_no: int
    overlay_cents: int
    shortfall_cents: int


@dataclass(frozen=True, slots=True)
class TicketChange:
    """One change of a ticket, by one transfer."""

    ticket: Ticket
    number: int
    state: TicketState
    transfer_no: int


def detail_bytes_of_part(part: StakeToCancel) -> int:
    """Returns how many bytes of details the cancellation of a part adds to its round."""
    return len(part.cancelled_detail) + len(part.remaining_detail)


# transfer_no, account_no, version, first leg, session_no, free before, free movement, locked before, locked movement:
# up to two entries, one for each part of the balance that moves
Posting = tuple[int, int, int, int, int | None, int, int, int, int]
# part of the balance, before, amount
Entry = tuple[Pocket, int, int]
# kind, mode, round_no, reference
TransferRow = tuple[int, int, int | None, str | None]


@dataclass(slots=True)
class Book:
    """One transaction's view of the ledger, and its changes to it."""

    now: datetime
    # The time of the session clock, which may be advanced in development.
    session_now: datetime
    # Amounts below them are no relevant events.
    limits: RelevantEventLimits = field(default_factory=RelevantEventLimits)
    payout_limits: PayoutLimits = field(default_factory=PayoutLimits)
    # The traces of commands by their request ids, while spans are recorded.
    traces: dict[str, str] = field(default_factory=dict)

    accounts: dict[int, Account] = field(default_factory=dict)
    caves: dict[tuple[int, int], Account] = field(default_factory=dict)
    tables: dict[int, Table] = field(default_factory=dict)
    rounds: dict[str, Round] = field(default_factory=dict)
    # All open and paid stakes of the open rounds at the tables where this group cancels or pays stakes or ends rounds.
    stakes: dict[str, Stake] = field(default_factory=dict)
    session_keys: dict[str, SessionKey] = field(default_factory=dict)
    session_states: dict[int, SessionState] = field(default_factory=dict)
    # Whole rows of the sessions that this group may change.
    sessions: dict[int, Session] = field(default_factory=dict)
    # The session that has not ended, by account and table, where caves are cashed out.
    running_session_nos: dict[tuple[int, int], int] = field(default_factory=dict)
    # The pay-ins that this group may give back, by their requests.
    pay_ins: dict[str, PayIn] = field(default_factory=dict)
    # What the banks of tournaments that pay have added so far, by their tables.
    from_bank_cents: dict[int, int] = field(default_factory=dict)
    # The tickets that this group may change, or that say whether a new one is an account's second: by their ids, and by
    # account and tournament.
    tickets: dict[str, Ticket] = field(default_factory=dict)
    tickets_by_holder: dict[tuple[int, int], list[Ticket]] = field(default_factory=dict)
    # The tournaments that are being settled and have more open tickets than were read.
    tables_with_unread_tickets: set[int] = field(default_factory=set)
    # Numbers and ids for new tickets, in the order in which they are used.
    ticket_keys: Iterator[tuple[int, str]] = field(default_factory=lambda: iter(()))

    postings: list[Posting] = field(default_factory=list)
    # By number.
    transfers: dict[int, TransferRow] = field(default_factory=dict)
    movements: list[Movement] = field(default_factory=list)
    new_rounds: dict[int, Round] = field(default_factory=dict)
    # The stakes placed by this group, each with its detail.
    new_stakes: list[tuple[Stake, bytes]] = field(default_factory=list)
    cancellations: list[StakeCancellation] = field(default_factory=list)
    # How many stakes, parts of stakes and bytes of details this group adds to each round, by its number.
    round_growth: dict[int, tuple[int, int]] = field(default_factory=dict)
    changed_stakes: dict[int, Stake] = field(default_factory=dict)
    endings: list[RoundEnding] = field(default_factory=list)
    tables_with_raised_epoch: dict[int, Table] = field(default_factory=dict)
    changed_sessions: dict[int, Session] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    relevant_events: list[RelevantEvent] = field(default_factory=list)
    new_pay_ins: list[PayIn] = field(default_factory=list)
    awarded: list[Awarded] = field(default_factory=list)
    bank_payments: list[BankPayment] = field(default_factory=list)
    closed_tables: list[Table] = field(default_factory=list)
    # New tickets, each with the numbers of the tournament that awarded it and of the ticket that it replaces.
    new_tickets: list[tuple[Ticket, int, int | None]] = field(default_factory=list)
    ticket_changes: list[TicketChange] = field(default_factory=list)
    timestamp: Timestamp = field(init=False)

    def __post_init__(self) -> None:
        self.timestamp = Timestamp()
        self.timestamp.FromDatetime(self.now)

    # -- lookups, with their refusals -------------------------------------------------------------------------------

    def admit(self, command: Command) -> None:
        """Refuses a sender who may not act for the command's table: it learns nothing and changes nothing.

        A higher epoch shuts out all lower ones at once, even if its command is then refused (G8).
        """
        if not isinstance(command, TableCommand):
            return
        table = self.tables.get(command.table_no)
        if table is None:
            raise refusals.table_unknown(command.table_id)
        if table.game != command.game:
            raise refusals.wrong_game(command.game, (table.table_id, table.game))
        if command.epoch > table.epoch:
            if command.epoch - table.epoch > EPOCH_JUMP_LIMIT:
                raise refusals.epoch_too_high(table.table_id, command.epoch, table.epoch)
            table.epoch = command.epoch
            self.tables_with_raised_epoch[table.no] = table

    def table_of(self, command: TableCommand) -> Table:
        """Returns the table of a command that was admitted, if its sender owns it (G8)."""
        table = self.tables[command.table_no]
        if command.epoch < table.epoch:
            raise refusals.stale_epoch(table.table_id, command.epoch, table.epoch)
        return table

    def player_account(self, no: int, account_id: str) -> Account:
        account = self.accounts.get(no)
        if account is None:
            raise refusals.account_unknown(account_id)
        return account

    def admitted_account(self, no: int, account_id: str, table: Table) -> Account:
        """Returns the account, if it may bring money to this table."""
        account = self.player_account(no, account_id)
        if account.mode is not table.mode:
            raise refusals.mode_mismatch(account.account_id, account.mode, table)
        if account.blocked:
            raise refusals.account_blocked(account.account_id)
        return account

    def find_open_round(self, round_id: str, table: Table) -> Round | None:
        """Returns the round if it is open, None if it does not exist yet; refuses one that has ended (G4)."""
        round_ = self.rounds.get(round_id)
        if round_ is None:
            return None
        if round_.table_no != table.no:
            raise refusals.round_elsewhere(round_id, table.table_id)
        if round_.state is not RoundState.OPEN:
            raise refusals.round_ended(round_id, round_.state)
        return round_

    def running_session(self, session_id: str, account: Account, table: Table) -> SessionKey:
        """Returns the session, if it is this player's at this table and takes bets."""
        key = self.session_of(session_id, account, table)
        state = self.session_states[key.no]
        if state >= SessionState.ENDING:
            raise refusals.session_ended(session_id, state)
        return key

    def session_of(self, session_id: str, account: Account, table: Table) -> SessionKey:
        key = self.session_keys.get(session_id)
        if key is None:
            raise refusals.session_unknown(session_id)
        if key.account_no != account.no or key.table_no != table.no:
            raise refusals.session_elsewhere(session_id)
        return key

    def open_stakes_of(self, round_: Round) -> dict[str, Stake]:
        return self._stakes_of(round_, StakeState.OPEN)

    def paid_stakes_of(self, round_: Round) -> dict[str, Stake]:
        """Returns the stakes that were paid while the round went on."""
        return self._stakes_of(round_, StakeState.PAID)

    def _stakes_of(self, round_: Round, state: StakeState) -> dict[str, Stake]:
        return {
            stake_id: stake
            for stake_id, stake in self.stakes.items()
            if stake.round_no == round_.no and stake.state is state
        }

    # -- moving money -----------------------------------------------------------------------------------------------

    def begin_transfer(
        self, no: int, kind: TransferKind, mode: Mode, round_: Round | None = None, reference: str | None = None
    ) -> None:
        """Opens a transfer; the postings under its number must sum to zero (G1)."""
        self.transfers[no] = kind, mode, None if round_ is None else round_.no, reference

    def post(
        self,
        account: Account,
        free_cents: int,
        locked_cents: int,
        transfer_no: int,
        kind: TransferKind,
        command: Command,
        session: SessionKey | None = None,
        round_id: str = "",
        session_id: str = "",
    ) -> None:
        """Moves free and locked money of one account; the caller has verified that neither falls below zero (G2)."""
        account.version += 1
        first, request_id = len(self.postings), command.request_id
        self.movements.append(
            Movement(account, account.version, transfer_no, kind, request_id, round_id, session_id, first)
        )
        self._write_posting(account, free_cents, locked_cents, transfer_no, 1, None if session is None else session.no)

    def post_second_leg(self, free_cents: int) -> None:
        """Adds a second entry to the last posting's account and transfer: a hand's winnings after its stakes."""
        if free_cents:
            last = self.movements[-1]
            session_no = self.postings[-1][4]
            self._write_posting(last.account, free_cents, 0, last.transfer_no, 2, session_no)

    def _write_posting(
        self, account: Account, free_cents: int, locked_cents: int, transfer_no: int, leg: int, session_no: int | None
    ) -> None:
        free, locked = account.free_cents, account.locked_cents
        self.postings.append(
            (transfer_no, account.no, account.version, leg, session_no, free, free_cents, locked, locked_cents)
        )
        account.free_cents = free + free_cents
        account.locked_cents = locked + locked_cents

    def entries_of(self, movement: Movement) -> list[Entry]:
        """Returns the entries of the movement's postings."""
        entries: list[Entry] = []
        for posting in self.postings[movement.first_posting : movement.first_posting + 2]:
            transfer_no, account_no, _, _, _, free, free_cents, locked, locked_cents = posting
            if transfer_no != movement.transfer_no or account_no != movement.account.no:
                break
            if free_cents:
                entries.append((Pocket.FREE, free, free_cents))
            if locked_cents:
                entries.append((Pocket.LOCKED, locked, locked_cents))
        return entries

    # -- rounds and stakes ------------------------------------------------------------------------------------------

    def add_round(self, no: int, round_id: str, table: Table) -> Round:
        opened = Round(no, round_id, table.no, RoundState.OPEN)
        self.rounds[round_id] = opened
        self.new_rounds[no] = opened
        return opened

    def add_stake(self, round_: Round, stake: Stake, detail: bytes) -> None:
        """Adds a stake; the round counts it from now on, even if it is cancelled later."""
        self._grow_round(round_, len(detail))
        self.stakes[stake.stake_id] = stake
        self.new_stakes.append((stake, detail))

    def cancel_stake(self, round_: Round, stake: Stake, cents: int, no: int, part: StakeToCancel) -> None:
        """Cancels so much of a stake by a transfer; the round counts a part like one more stake."""
        stake.cancelled_cents += cents
        is_part = stake.open_cents > 0
        if is_part:
            self._grow_round(round_, detail_bytes_of_part(part))
        else:
            stake.state = StakeState.CANCELLED
        self.changed_stakes[stake.no] = stake
        details = (part.cancelled_detail, part.remaining_detail) if is_part else (None, None)
        self.cancellations.append(StakeCancellation(no, stake.no, cents, *details))

    def end_stake(self, stake: Stake, state: StakeState, payout_cents: int = 0, paid_no: int | None = None) -> None:
        """Ends a stake once and for all; `paid_no` is the transfer that pays it before its round ends (G4)."""
        if stake.state is not StakeState.OPEN:
            raise AssertionError(f"G4: stake {stake.stake_id} has ended before")
        stake.state, stake.payout_cents, stake.paid_transfer_no = state, payout_cents, paid_no
        self.changed_stakes[stake.no] = stake

    def _grow_round(self, round_: Round, detail_bytes: int) -> None:
        round_.stakes_placed += 1
        round_.detail_bytes += detail_bytes
        stakes, bytes_ = self.round_growth.get(round_.no, (0, 0))
        self.round_growth[round_.no] = stakes + 1, bytes_ + detail_bytes

    def end_round(
        self,
        round_: Round,
        state: RoundState,
        table: Table,
        *,
        transfer_no: int | None,
        staked_cents: int,
        payout_cents: int,
        void_reason: str | None = None,
        outcome: bytes | None = None,
    ) -> None:
        """Ends a round once and for all (G4)."""
        if round_.state is not RoundState.OPEN:
            raise AssertionError(f"G4: round {round_.round_id} has ended before")
        round_.state = state
        self.endings.append(RoundEnding(round_, table, transfer_no, void_reason, outcome, staked_cents, payout_cents))

    # -- tickets ----------------------------------------------------------------------------------------------------

    def hold_ticket(self, ticket: Ticket) -> None:
        """Adds a ticket that was read, unless it was read before."""
        if ticket.ticket_id not in self.tickets:
            self.tickets[ticket.ticket_id] = ticket
            self.tickets_by_holder.setdefault((ticket.account_no, ticket.table_no), []).append(ticket)

    def issue_ticket(
        self,
        account_no: int,
        target: Table,
        value_cents: int,
        awarded_by: Table,
        no: int,
        *,
        from_freeroll: bool,
        replaced: Ticket | None = None,
    ) -> Ticket:
        """Issues a ticket by a transfer; one in place of another is as that one."""
        ticket_no, ticket_id = next(self.ticket_keys)
        ticket = Ticket(
            ticket_no,
            ticket_id,
            account_no,
            target.no,
            value_cents,
            from_freeroll,
            won=replaced is None or replaced.won,
            state=TicketState.ISSUED,
            changes=0,
            awarded_by_id=awarded_by.table_id,
            replaced_id=None if replaced is None else replaced.ticket_id,
            issued_at=self.now,
            changed_at=self.now,
        )
        self.hold_ticket(ticket)
        self.new_tickets.append((ticket, awarded_by.no, None if replaced is None else replaced.no))
        self.change_ticket(ticket, TicketState.ISSUED, no)
        return ticket

    def change_ticket(self, ticket: Ticket, state: TicketState, no: int) -> None:
        """Changes the state of a ticket by a transfer, and puts that on record."""
        ticket.state, ticket.changed_at = state, self.now
        ticket.changes += 1
        self.ticket_changes.append(TicketChange(ticket, ticket.changes, state, no))

    # -- sessions ---------------------------------------------------------------------------------------------------

    def record_bet(self, session_no: int) -> None:
        """Withdraws invitation and warning, which any bet does."""
        session = self.sessions.get(session_no)
        if session is not None:
            self.record_session_change(session, inactivity.after_bet(session, self.session_now))

    def record_session_change(self, session: Session, notices: list[Notice]) -> None:
        """Marks a session as changed, and adds the notices for its player."""
        self.changed_sessions[session.no] = session
        self.session_states[session.no] = session.state
        self.notices += notices

    def close_if_done(self, session: Session) -> bool:
        """Closes a session that waited for its last stake or its cave; returns whether it did (G9)."""
        if session.state is not SessionState.ENDING or self._in_play(session):
            return False
        inactivity.close(session, self.accounts[session.account_no].version, self.session_now)
        self.record_session_change(session, [])
        return True

    def _in_play(self, session: Session) -> bool:
        cave = self.caves.get((session.account_no, session.table_no))
        if cave is not None and cave.free_cents > 0:
            return True
        return any(stake.session_no == session.no and stake.state is StakeState.OPEN for stake in self.stakes.values())
