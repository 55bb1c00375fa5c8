"""The entries of the round journal, and the protocol by which the runtime writes and reads them.

A round has these entries: when it opens; when it is drawn or dealt, with every stake that counts; each decision with
the stake that it made; each payment before the end; and when it has ended. They are enough to recompute why the round
paid what it paid (G10). Every write carries the epoch of the writer's lease and fails with `StaleOwner` once a later
owner has taken the table (G8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple, Protocol


class Ending(IntEnum):
    """How a round ended."""

    SETTLED = 2
    VOID = 3


class DrawTrigger(IntEnum):
    """What ended the betting of a round and led to its draw (GLI-19 4.16)."""

    UNKNOWN = 0
    """Not on record: nothing was drawn, or the round is older than this record."""
    PLAYER = 1
    CLOCK = 2
    SESSION_ENDED = 3
    """By the platform: the player's session ended with a bet on the felt."""
    TABLE_HANDED_OVER = 4
    """By the platform: the table had to move, and the player did not launch the ball in time."""


class ActedBy(IntEnum):
    """On whose word a decision was made (GLI-19 4.16)."""

    PLAYER = 1
    CLOCK = 2
    AWAY = 3
    """The platform's, because the player had left."""
    INSTRUCTION = 4
    """The player's, by an instruction given before."""
    PLATFORM = 5


class CommandUsed(Exception):
    """The command has made another decision, or placed a stake: nothing was written (G3)."""


class JournalStake(NamedTuple):
    """A stake as it lay on the felt when betting closed. A tuple, because one is made for every bet."""

    stake_id: str
    request_id: str
    player_id: str
    account_id: str
    session_id: str
    seat: int
    amount_cents: int
    bets: bytes
    """The serialized message that `Rules.bets_message` made."""
    placed_at: datetime


class CancelledStake(NamedTuple):
    """A stake, or a part of it, that its player took back before bets closed: it did not count at the close."""

    stake: JournalStake
    cancelled_at: datetime


@dataclass(frozen=True, slots=True)
class Opened:
    """A round takes bets. Written before the first of them is accepted."""

    round_id: str
    table_id: str
    placement_id: str
    """The configured table that the lease is for: an individual table was made from it, any other is it."""
    number: int
    """Counts the rounds of the table from 1."""
    configuration_version: int
    opened_at: datetime
    closes_at: datetime | None


class ShoePosition(NamedTuple):
    """Where in a shoe that goes on from round to round a round begins."""

    round_id: str
    """The round for which the shoe was shuffled: its draw has the entropy of all rounds of the shoe."""
    cards_taken: int
    """By the rounds of the shoe before this one."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Bets are closed and the outcome is drawn: one write, so that no outcome stands without its stakes."""

    round_id: str
    closed_at: datetime
    drawn_at: datetime
    entropy: bytes
    """Of the round, or of the shoe that goes on; the journal keeps that of a shoe once."""
    outcome: bytes | None
    """The serialized message that `Rules.outcome_message` made; None if decisions follow: then the ending has it."""
    stakes: Sequence[JournalStake]
    """Those that counted when betting closed; the stakes of decisions are with their moves."""
    session_ids: Sequence[str]
    """The sessions at the table when betting began: the wallet counts missed rounds by them."""
    draw_trigger: DrawTrigger
    cancelled_stakes: Sequence[CancelledStake] = ()
    hides_cards: bool = False
    """Whether the entropy hides cards after the deal: it is sealed in the journal, as where decisions follow (G7)."""
    sealed_with: str = ""
    """The id of the key with which the entropy of this entry is sealed; empty if it can be read."""
    shoe: ShoePosition | None = None
    """None if the entropy was drawn for this round alone."""

    @property
    def drawn_in(self) -> str:
        """The round for which the entropy was drawn."""
        return self.round_id if self.shoe is None else self.shoe.round_id

    @property
    def cards_taken(self) -> int:
        """How many cards earlier rounds have taken from the shoe."""
        return 0 if self.shoe is None else self.shoe.cards_taken

    @property
    def is_sealed(self) -> bool:
        """Whether the entropy cannot be read: of an unfinished round, because its key is missing or wrong."""
        return bool(self.sealed_with)

    @property
    def is_lost(self) -> bool:
        """Whether the draw itself is lost: the journal was restored from a backup, and this is what the ledger says."""
        return not self.entropy


@dataclass(frozen=True, slots=True)
class Moved:
    """A decision: one write with the stake that it made, so that neither stands without the other."""

    round_id: str
    position: int
    """Counts the decisions of the round from 1."""
    seat: int
    move: bytes
    """The serialized message of the game's `move_type`."""
    acted_by: ActedBy
    moved_at: datetime
    command_id: str = ""
    """The id under which the wallet would carry the player's command out, and of its stake; empty if there was none."""
    command_digest: bytes = b""
    """Empty if a later owner knew the command by its stake alone."""
    stake: JournalStake | None = None


@dataclass(frozen=True, slots=True)
class Paid:
    """The wallet has paid stakes of an open round, which are decided for good."""

    round_id: str
    position: int
    """How many decisions had been made."""
    payouts: Sequence[tuple[str, int]]
    """Pairs of stake id and the cents that came back."""
    paid_at: datetime


@dataclass(frozen=True, slots=True)
class PlayerResult:
    """The sums and balances of one player in a round that has ended."""

    player_id: str
    session_id: str
    staked_cents: int
    payout_cents: int
    balance_before_cents: int
    balance_after_cents: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The wallet has ended the round."""

    round_id: str
    ending: Ending
    ended_at: datetime
    void_reason: str
    payouts: Sequence[tuple[str, int]]
    """Pairs of stake id and the cents that came back."""
    player_results: Sequence[PlayerResult]
    returned_stakes: Sequence[JournalStake] = ()
    """Stakes that no other entry holds: of a void round, and of a dealt one whose decisions a restored journal lost."""
    cancelled_stakes: Sequence[CancelledStake] = ()
    """Of a round that was never drawn."""
    closed_at: datetime | None = None
    """Of a round that was never drawn: when its owner closed the bets, if it did."""
    outcome: bytes | None = None
    """Of a round in which players decided."""


class DrawnOutcome(NamedTuple):
    """The outcome of a settled round, which only the rules of its own version can read."""

    round_id: str
    drawn_at: datetime
    outcome: bytes
    configuration_version: int


@dataclass(frozen=True, slots=True)
class UnfinishedRound:
    """A round without an end, as the next owner of its table finds it."""

    opened: Opened
    drawn: Drawn | None
    """With the stakes that counted when betting closed; those of decisions are with their moves."""
    moves: Sequence[Moved] = ()
    """In their order."""
    paid: Sequence[Paid] = ()


@dataclass(frozen=True, slots=True)
class LatestDeal:
    """The latest round of a table for which cards were dealt, and what followed."""

    opened: Opened
    drawn: Drawn
    """Still sealed if its key is missing or wrong."""
    moves: Sequence[Moved]
    ending: Ending | None
    outcome: bytes | None
    rounds_since: int
    """How many rounds were opened after it, for which nothing was dealt."""


class Journal(Protocol):
    """Writes entries durably and reads back what an owner needs."""

    async def take_ownership(self, placement_id: str) -> int:
        """Shuts every earlier owner out and returns the new owner's epoch, higher than all before (G8)."""

    async def raise_epoch(self, placement_id: str, epoch: int, known_epoch: int) -> None:
        """Raises the epoch of the owner of this epoch to one that is known elsewhere; of no other owner.

        A journal that was restored from a backup has lost the epochs since, and the ledger refuses those it has seen.
        """

    async def write_opened(self, epoch: int, entry: Opened) -> None:
        """Writes that a round takes bets. For all kinds, an entry that is there already changes nothing."""

    async def write_drawn(self, epoch: int, entry: Drawn) -> None: ...

    async def write_moved(self, epoch: int, entry: Moved) -> None:
        """Raises `CommandUsed` for a decision without a stake whose command `has_command` knows already.

        The command of a decision with a stake was checked before its stake was placed.
        """

    async def write_paid(self, epoch: int, entry: Paid) -> None: ...

    async def write_ended(self, epoch: int, entry: Ended) -> None: ...

    async def unfinished_rounds(self, placement_id: str) -> list[UnfinishedRound]:
        """Returns the rounds without an end, oldest first; a draw whose key is missing or wrong is still sealed."""

    async def past_outcomes(self, table_id: str, count: int) -> list[DrawnOutcome]:
        """Returns the outcomes of a table's last settled rounds, newest first."""

    async def has_command(self, command_id: str) -> bool:
        """Whether a command has made a decision, or placed a stake that counted; waits until that is known."""

    async def last_round_number(self, table_id: str) -> int:
        """Returns the number of the table's latest round; 0 before the first."""

    async def latest_deal(self, table_id: str) -> LatestDeal | None:
        """Returns the table's latest round for which something was drawn; None before the first."""

    async def last_bets(self, table_id: str, player_id: str) -> list[bytes]:
        """Returns the bets of the player's last settled round at a table, in the order of placing."""
