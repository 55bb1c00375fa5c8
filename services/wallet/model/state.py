"""What the ledger and the sessions are about, as it stands while a transaction holds the locks."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum


class AccountKind(IntEnum):
    """Whose money an account counts."""

    PLAYER = 1
    # The operator's books opposite one player: minus what he has paid in, net. One per player, so that nothing is hot.
    OPERATOR = 2
    # A table's bank (banca). One per table, for the same reason.
    BANK = 3
    # What a player has on one poker table.
    CAVE = 4


class Mode(IntEnum):
    REAL = 1
    DEMO = 2


class Play(IntEnum):
    INDIVIDUAL = 1
    MULTI_PLAYER = 2
    POKER = 3


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
    """One account; its two balances are changed by postings only."""

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


@dataclass(frozen=True, slots=True)
class InactivityPolicy:
    """When a table invites, warns and ends. The defaults are the earliest moments the regulations allow."""

    invite: bool = True
    idle_seconds: int = 180
    missed_rounds: int = 5
    warn_after_seconds: int = 20
    end_after_seconds: int = 60
    rebuy_grace_seconds: int = 60


@dataclass(slots=True)
class Table:
    """One table as the wallet knows it."""

    no: int
    table_id: str
    game: str
    regulation: str
    mode: Mode
    play: Play
    epoch: int
    bank_no: int
    policy: InactivityPolicy
    # The newest specific rules that it was told of.
    rules_version: int = 0


@dataclass(slots=True)
class Round:
    """One round; `ended` things are set once (G4)."""

    no: int
    round_id: str
    table_no: int
    state: RoundState
    # All that was ever placed, what was taken back included: it never becomes less.
    stakes_placed: int = 0
    detail_bytes: int = 0


@dataclass(slots=True)
class Stake:
    """One stake of an open round."""

    no: int
    stake_id: str
    round_no: int
    account_no: int
    session_no: int
    placed_cents: int
    cancelled_cents: int
    payout_cents: int
    state: StakeState

    @property
    def open_cents(self) -> int:
        return self.placed_cents - self.cancelled_cents if self.state is StakeState.OPEN else 0


@dataclass(frozen=True, slots=True)
class Device:
    """What a player plays on, as he or the gateway said it."""

    kind: str = ""
    agent: str = ""
    address: str = ""
    fingerprint: str = ""


# 2 000 euro: from there on Directive (EU) 2015/849, article 11(d), has whoever offers games of chance look at who
# stakes and who collects. What is large at an operator's own tables is his to say.
DEFAULT_RELEVANT_CENTS = 200_000


@dataclass(frozen=True, slots=True)
class RelevantEventLimits:
    """From which amount on something is large, and noted."""

    prize_cents: int = DEFAULT_RELEVANT_CENTS
    transfer_cents: int = DEFAULT_RELEVANT_CENTS


class RelevantKind(IntEnum):
    LARGE_PRIZE = 1
    LARGE_DEPOSIT = 2
    LARGE_WITHDRAWAL = 3


@dataclass(frozen=True, slots=True)
class RelevantEvent:
    """Something that the ledger notes beside its entries, because it is large (`903-B/2015:6.3.6.6`)."""

    kind: RelevantKind
    transfer_no: int
    # the player's own, of a hand too
    account_no: int
    # of a prize
    session_no: int | None
    amount_cents: int
    # of a prize: what he had staked
    staked_cents: int
    # that was reached
    limit_cents: int


@dataclass(slots=True)
class Session:
    """One game session. Its times are of the session clock."""

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
class Notice:
    """Something a player has to be told about his session; `kind` is a SessionNoticeKind without its prefix."""

    session: Session
    kind: str
    rule: str
    at: datetime
    ends_at: datetime | None = None
    round_id: str = ""


@dataclass(slots=True)
class SessionsAfterRound:
    """What the end of a round meant to the sessions at its table."""

    notices: list[Notice] = field(default_factory=list)
    invited: list[Session] = field(default_factory=list)
    ended: list[Session] = field(default_factory=list)
    ending: list[Session] = field(default_factory=list)
    announce_next_round: bool = False
