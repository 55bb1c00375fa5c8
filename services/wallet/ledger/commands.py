"""The ledger's commands: one value each, with fields that are valid in themselves."""

from dataclasses import dataclass, field

from services.wallet.model.state import AwardReason, PayInKind, TicketRefund, TicketSettlement

# The number of an id that the database does not know.
UNKNOWN = 0


@dataclass(slots=True)
class Command:
    """The fields of every command. `digest` stands for its content (G3); the epoch is authority and not part of it."""

    request_id: str
    digest: bytes
    caller: str
    # The trace of the call, while spans are recorded.
    traceparent: str = field(default="", kw_only=True)


@dataclass(slots=True)
class CashCommand(Command):
    """A command between a player's account and its operator account."""

    account_id: str
    amount_cents: int
    account_no: int = field(default=UNKNOWN, kw_only=True)
    operator_account_no: int = field(default=UNKNOWN, kw_only=True)


@dataclass(slots=True)
class Deposit(CashCommand):
    reference: str


@dataclass(slots=True)
class Withdraw(CashCommand):
    reference: str


@dataclass(slots=True)
class RefillDemo(CashCommand):
    """Brings the free balance up to the amount."""


@dataclass(slots=True)
class TableCommand(Command):
    """A command of the service that owns a table."""

    table_id: str
    epoch: int
    # The game of the sender's token.
    game: str
    table_no: int = field(default=UNKNOWN, kw_only=True)


@dataclass(slots=True)
class PlaceStake(TableCommand):
    round_id: str
    account_id: str
    session_id: str
    amount_cents: int
    detail: bytes
    # The most that it can get back; None if the game does not say.
    largest_payout_cents: int | None = None
    account_no: int = UNKNOWN
    session_no: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class StakeToCancel:
    """How much of one stake is cancelled."""

    stake_id: str
    # 0 cancels all that is open.
    amount_cents: int
    # Of a part: the bets that it takes back, and those that stay.
    cancelled_detail: bytes = b""
    remaining_detail: bytes = b""


@dataclass(slots=True)
class CancelStakes(TableCommand):
    round_id: str
    account_id: str
    stakes: list[StakeToCancel]


@dataclass(slots=True)
class PayStakes(TableCommand):
    """Pays some stakes of a round that goes on."""

    round_id: str
    payouts: dict[str, int]


@dataclass(frozen=True, slots=True)
class SessionInRound:
    """The game service's report on one session in a round."""

    session_id: str
    bet: bool
    excused: bool
    cave_below_minimum: bool


@dataclass(slots=True)
class RoundEndCommand(TableCommand):
    """A command that ends a round."""

    round_id: str


@dataclass(slots=True)
class SettleRound(RoundEndCommand):
    payouts: dict[str, int]
    outcome: bytes
    report: list[SessionInRound]


@dataclass(slots=True)
class VoidRound(RoundEndCommand):
    reason: str


@dataclass(frozen=True, slots=True)
class SeatResult:
    """The stake and the winnings of one seat in a hand."""

    account_id: str
    session_id: str
    staked_cents: int
    won_cents: int


@dataclass(slots=True)
class TransferHand(RoundEndCommand):
    seats: list[SeatResult]
    commission_cents: int
    outcome: bytes
    report: list[SessionInRound]


@dataclass(slots=True)
class BuyIn(TableCommand):
    account_id: str
    session_id: str
    amount_cents: int
    commission_cents: int
    account_no: int = UNKNOWN
    session_no: int = UNKNOWN


@dataclass(slots=True)
class CashOut(TableCommand):
    account_id: str
    session_id: str
    # 0 cashes out all.
    amount_cents: int
    account_no: int = UNKNOWN
    session_no: int = UNKNOWN


@dataclass(slots=True)
class TournamentCommand(TableCommand):
    """A command about the money of a tournament, which is a table to the wallet."""


@dataclass(slots=True)
class PayIn(TournamentCommand):
    account_id: str
    kind: PayInKind
    prize_cents: int
    fee_cents: int
    bounty_cents: int
    # The ticket that it is paid with.
    ticket_id: str = ""
    account_no: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class Award:
    """What one player is paid for one reason."""

    account_id: str
    reason: AwardReason
    amount_cents: int
    # Of a refund: the request that paid in what is given back.
    refunded_request_id: str = ""
    # Of a refund of a pay-in by ticket.
    ticket_refund: TicketRefund | None = None
    # The tournament of a new ticket: of a prize that is one, or of a refund that replaces one.
    target_id: str = ""
    # Of a prize that is a ticket.
    from_freeroll: bool = False


@dataclass(slots=True)
class PayOut(TournamentCommand):
    awards: list[Award]
    # What comes from the bank besides the fees of refunds, each under its name.
    overlay_cents: int
    shortfall_cents: int
    # The numbers of the accounts by their ids, and of the tournaments that tickets are for.
    account_nos: dict[str, int] = field(default_factory=dict)
    target_nos: dict[str, int] = field(default_factory=dict)

    @property
    def target_ids(self) -> set[str]:
        return {award.target_id for award in self.awards} - {""}

    @property
    def from_bank_cents(self) -> int:
        return self.overlay_cents + self.shortfall_cents


@dataclass(slots=True)
class SettleTickets(TournamentCommand):
    """Ends open tickets to a tournament."""

    settlement: TicketSettlement
    freeroll_settlement: TicketSettlement
    # The tournament of the tickets that replace others.
    replacement_id: str = ""
    target_nos: dict[str, int] = field(default_factory=dict)

    @property
    def target_ids(self) -> set[str]:
        return {self.replacement_id} - {""}


@dataclass(slots=True)
class CloseTournament(TournamentCommand):
    """Closes a tournament whose pool is empty, and to which no ticket is open."""
