"""The values of the ledger and the sessions, as they are while a transaction holds the locks."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple


class AccountKind(IntEnum):
    """The owner of the money that an account counts."""

    PLAYER = 1
    # The operator's side of one player's account: minus the player's net payments. One per player, so that no row is
    # contended.
    OPERATOR = 2
    # A table's bank (banca). One per table, for the same reason.
    BANK = 3
    # The money of one player at one poker table.
    CAVE = 4
    # What the players of one tournament have paid in and not got out yet.
    POOL = 5
    # The face values of the open tickets to one tournament.
    TICKETS = 6


class Mode(IntEnum):
    REAL = 1
    DEMO = 2


class Play(IntEnum):
    INDIVIDUAL = 1
    MULTI_PLAYER = 2
    POKER = 3
    TOURNAMENT = 4


class PayInKind(IntEnum):
    """What a player pays a tournament for."""

    ENTRY = 1
    RE_ENTRY = 2
    REBUY = 3
    ADD_ON = 4


class AwardReason(IntEnum):
    """Why a tournament pays a player."""

    PRIZE = 1
    BOUNTY = 2
    # The whole price of one pay-in, fee included.
    REFUND = 3
    CANCELLATION_SHARE = 4


class TicketState(IntEnum):
    """How a ticket stands (T-A-02)."""

    ISSUED = 1
    USED = 2
    # By unregistering: it can be used again (`810/2015:25`, `810/2015:28`).
    RETURNED = 3
    # Cash, as a second won entry (`810/2015:29`).
    CONVERTED = 4
    # Cash, of a cancelled tournament (`810/2015:37`), or of one that was over when the ticket was awarded.
    REIMBURSED = 5
    # By a ticket to another tournament (`810/2015:30`).
    REPLACED = 6
    # With its tournament.
    EXPIRED = 7


OPEN_TICKETS = frozenset({TicketState.ISSUED, TicketState.RETURNED})
# Those that were credited in cash.
CASHED_TICKETS = frozenset({TicketState.CONVERTED, TicketState.REIMBURSED})


class TicketRefund(IntEnum):
    """How a pay-in by ticket is given back."""

    RETURN = 1
    CASH = 2
    REPLACE = 3


class TicketSettlement(IntEnum):
    """What becomes of open tickets when their tournament is over."""

    EXPIRE = 1
    REIMBURSE = 2
    REPLACE = 3


# How far an epoch may be above the highest one seen. A takeover raises it by one, and a table that nobody played at for
# long misses some: this many takeovers are one every five minutes for nine years.
EPOCH_JUMP_LIMIT = 1_000_000


class Pocket(IntEnum):
    FREE = 1
    LOCKED = 2


class RoundState(IntEnum):
    OPEN = 1
    SETTLED = 2
    VOID = 3


class StakeState(IntEnum):
    OPEN = 1
    CANCELLED = 2
    SETTLED = 3
    RETURNED = 4
    # Before its round ended, for good.
    PAID = 5


class TransferKind(IntEnum):
    DEPOSIT = 1
    WITHDRAWAL = 2
    STAKE = 3
    STAKE_CANCELLED = 4
    ROUND_SETTLED = 5
    ROUND_VOID = 6
    BUY_IN = 7
    CASH_OUT = 8
    HAND = 9
    STAKES_PAID = 10
    TOURNAMENT_PAID_IN = 11
    TOURNAMENT_PAID_OUT = 12
    TICKET_USED = 13
    TICKETS_SETTLED = 14


class SessionState(IntEnum):
    ACTIVE = 1
    INVITED = 2
    WARNED = 3
    ENDING = 4
    ENDED = 5


class EndCause(IntEnum):
    PLAYER = 1
    INACTIVITY = 2
    OPERATOR = 3
    LOGOUT = 4


@dataclass(slots=True)
class Account:
    """One account; only postings change its two balances."""

    no: int
    account_id: str
    kind: AccountKind
    mode: Mode
    player_id: str | None
    owner_no: int | None
    table_no: int | None
    free_cents: int
    locked_cents: int
    version: int
    blocked: bool


class AccountKey(NamedTuple):
    """The immutable facts of a player's account that commands need."""

    no: int
    operator_account_no: int


# A cave by its owner's number and its table's.
CaveKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class InactivityPolicy:
    """When a table invites, warns and ends. The defaults are the earliest moments that the regulations allow."""

    invite: bool = True
    idle_seconds: int = 180
    missed_rounds: int = 5
    warn_after_seconds: int = 20
    end_after_seconds: int = 60
    rebuy_grace_seconds: int = 60


@dataclass(slots=True)
class Table:
    """One table, with the epoch of its current owner (G8)."""

    no: int
    table_id: str
    game: str
    regulation: str
    mode: Mode
    play: Play
    epoch: int
    bank_no: int
    policy: InactivityPolicy
    # The newest version of specific rules applied to it.
    rules_version: int = 0
    # Of a tournament: its pool, the account of the tickets to it, and whether it is closed for good.
    pool_no: int | None = None
    tickets_no: int | None = None
    closed: bool = False


class TableKey(NamedTuple):
    """The immutable facts of a table that commands need."""

    no: int
    bank_no: int
    play: Play
    game: str
    # Of a tournament.
    pool_no: int | None = None
    tickets_no: int | None = None


@dataclass(slots=True)
class Round:
    """One round; it ends once (G4)."""

    no: int
    round_id: str
    table_no: int
    state: RoundState
    # Cancelled stakes included, so both only ever grow.
    stakes_placed: int = 0
    detail_bytes: int = 0


@dataclass(slots=True)
class Stake:
    """One stake of a round that was open when it was read."""

    no: int
    stake_id: str
    round_no: int
    account_no: int
    session_no: int
    placed_cents: int
    cancelled_cents: int
    payout_cents: int
    state: StakeState
    # The most that it can get back; None if its game did not say.
    largest_payout_cents: int | None = None
    # The transfer that paid it before its round ended.
    paid_transfer_no: int | None = None

    @property
    def staked_cents(self) -> int:
        """What was not taken back of it, whether it is still in play or not."""
        return self.placed_cents - self.cancelled_cents

    @property
    def open_cents(self) -> int:
        return self.staked_cents if self.state is StakeState.OPEN else 0


@dataclass(slots=True)
class PayIn:
    """What a player paid into a tournament by one transfer."""

    no: int
    request_id: str
    table_no: int
    account_no: int
    kind: PayInKind
    prize_cents: int
    fee_cents: int
    bounty_cents: int
    # The ticket that it was paid with.
    ticket_id: str | None = None
    refunded: bool = False

    @property
    def pool_cents(self) -> int:
        """What the pool got of it."""
        return self.prize_cents + self.bounty_cents

    @property
    def price_cents(self) -> int:
        return self.pool_cents + self.fee_cents


@dataclass(slots=True)
class Ticket:
    """The right of one account to enter one tournament; only changes on record move its state."""

    no: int
    ticket_id: str
    account_no: int
    # The tournament that it is for.
    table_no: int
    value_cents: int
    from_freeroll: bool
    won: bool
    state: TicketState
    # How many changes are on record, the issue included.
    changes: int
    # The tournament that awarded it, and the ticket in whose place it was issued.
    awarded_by_id: str
    replaced_id: str | None
    issued_at: datetime
    changed_at: datetime

    @property
    def is_open(self) -> bool:
        """Whether it can be used."""
        return self.state in OPEN_TICKETS


@dataclass(frozen=True, slots=True)
class Device:
    """The device a player uses, as the player's client or the gateway describes it."""

    kind: str = ""
    agent: str = ""
    address: str = ""
    fingerprint: str = ""


# 2 000 euro: from this amount on, article 11(d) of Directive (EU) 2015/849 obliges operators of games of chance to
# identify who stakes and who collects. An operator may set other limits.
DEFAULT_RELEVANT_CENTS = 200_000


@dataclass(frozen=True, slots=True)
class RelevantEventLimits:
    """The amounts from which a prize or a transfer is recorded as a relevant event."""

    prize_cents: int = DEFAULT_RELEVANT_CENTS
    transfer_cents: int = DEFAULT_RELEVANT_CENTS


# What one stake and one round may pay unless the operator sets other limits: a million and a hundred million euro. That
# is above what the tables of a usual deployment can pay, and bounds what a faulty or stolen game service can.
DEFAULT_STAKE_PAYOUT_CENTS = 100_000_000
DEFAULT_ROUND_PAYOUT_CENTS = 10_000_000_000


@dataclass(frozen=True, slots=True)
class PayoutLimits:
    """The operator's limits of what is paid for one stake and for all stakes of a round, the stakes included."""

    stake_cents: int = DEFAULT_STAKE_PAYOUT_CENTS
    round_cents: int = DEFAULT_ROUND_PAYOUT_CENTS


class RelevantKind(IntEnum):
    LARGE_PRIZE = 1
    LARGE_DEPOSIT = 2
    LARGE_WITHDRAWAL = 3
    SHARED_DEVICE = 4


@dataclass(frozen=True, slots=True)
class RelevantEvent:
    """A large prize, deposit or withdrawal, recorded beside the ledger's entries (`903-B/2015:6.3.6.6`)."""

    kind: RelevantKind
    transfer_no: int
    # The player's own account, also for a prize won with a cave.
    account_no: int
    # Of a prize only, and not of a tournament's.
    session_no: int | None
    amount_cents: int
    # The player's stakes in the round, of a prize only.
    staked_cents: int
    # The limit that was reached.
    limit_cents: int


@dataclass(slots=True)
class Session:
    """One game session; its times are those of the session clock."""

    no: int
    session_id: str
    player_id: str
    account_no: int
    account_id: str
    table_no: int
    table_id: str
    game: str
    regulation: str
    mode: Mode
    play: Play
    state: SessionState
    device: Device
    started_at: datetime
    started_version: int
    ended_at: datetime | None
    ended_version: int | None
    end_cause: EndCause | None
    last_activity_at: datetime
    idle_since: datetime
    missed_rounds: int
    warned_at: datetime | None
    warned_round_id: str | None
    cave_short_since: datetime | None
    next_step_at: datetime | None


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The immutable facts of a session that commands need."""

    no: int
    account_no: int
    table_no: int


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice for a player about the session; `kind` is a SessionNoticeKind without its prefix."""

    session: Session
    kind: str
    rule: str
    at: datetime
    ends_at: datetime | None = None
    round_id: str = ""


@dataclass(slots=True)
class SessionsAfterRound:
    """The effects of a round's end on the sessions at its table."""

    notices: list[Notice] = field(default_factory=list)
    invited: list[Session] = field(default_factory=list)
    ended: list[Session] = field(default_factory=list)
    ending: list[Session] = field(default_factory=list)
    announce_next_round: bool = False
