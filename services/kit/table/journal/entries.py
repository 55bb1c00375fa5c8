"""The round journal as the runtime sees it: what is written, when, and what can be read back.

A round is written three times: when it opens; when its outcome is drawn, with all that the outcome decides about;
and when it has ended. From these alone anyone can recompute why it paid what it paid (G10). Every write carries the
epoch of the writer's lease and fails with `StaleOwner` once a later owner has taken the table (G8).
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
    """On whose word a round took no more bets and was drawn (GLI-19 4.16)."""

    UNKNOWN = 0
    """Not on record: nothing was drawn, or the round is older than this record."""
    PLAYER = 1
    CLOCK = 2
    SESSION_ENDED = 3
    """The platform's own: his session ended with a bet on the felt."""
    TABLE_HANDED_OVER = 4
    """The platform's own: the table had to move, and he did not launch in time."""


class JournalStake(NamedTuple):
    """A stake as it lay on the felt when the round closed. There is one for every bet: a tuple is made fastest."""

    stake_id: str
    request_id: str
    player_id: str
    account_id: str
    session_id: str
    seat: int
    amount_cents: int
    bets: bytes
    """What `Rules.bets_message` made."""
    placed_at: datetime


class CancelledStake(NamedTuple):
    """A stake that its player took back while the round took bets: nothing of it counted at the close."""

    stake: JournalStake
    cancelled_at: datetime


@dataclass(frozen=True, slots=True)
class Opened:
    """A round takes bets. Written before the first of them is."""

    round_id: str
    table_id: str
    placement_id: str
    """The table the lease is for: of a player's own table the one it was made from, otherwise the table itself."""
    number: int
    """Counts the rounds of the table from 1."""
    configuration_version: int
    opened_at: datetime
    closes_at: datetime | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """Bets are closed and the outcome is drawn: one write, so no outcome stands without the stakes it is about."""

    round_id: str
    closed_at: datetime
    drawn_at: datetime
    entropy: bytes
    outcome: bytes
    """What `Rules.outcome_message` made."""
    stakes: Sequence[JournalStake]
    session_ids: Sequence[str]
    """The sessions at the table when betting began, for the report that the wallet counts missed rounds by."""
    draw_trigger: DrawTrigger
    cancelled_stakes: Sequence[CancelledStake] = ()


@dataclass(frozen=True, slots=True)
class PlayerResult:
    """What a round meant to one player."""

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
    """Stake and what came back."""
    player_results: Sequence[PlayerResult]
    returned_stakes: Sequence[JournalStake] = ()
    """The stakes of a round that was never drawn, as far as they are known: they were not written before."""
    cancelled_stakes: Sequence[CancelledStake] = ()
    """Of a round that was never drawn."""
    closed_at: datetime | None = None
    """Of a round that was never drawn: when it took no more bets, if it was its owner who closed it."""


@dataclass(frozen=True, slots=True)
class UnfinishedRound:
    """A round without an end, as whoever takes the table over finds it."""

    opened: Opened
    drawn: Drawn | None


class Journal(Protocol):
    """What the runtime needs of the journal."""

    async def take_ownership(self, placement_id: str) -> int:
        """Shuts every earlier owner out and returns the new owner's epoch, higher than all before (G8)."""

    async def write_opened(self, epoch: int, entry: Opened) -> None:
        """Repeating an entry that is there changes nothing, for all three kinds."""

    async def write_drawn(self, epoch: int, entry: Drawn) -> None: ...

    async def write_ended(self, epoch: int, entry: Ended) -> None: ...

    async def unfinished_rounds(self, placement_id: str) -> list[UnfinishedRound]:
        """Rounds without an end, oldest first."""

    async def past_outcomes(self, table_id: str, count: int) -> list[tuple[str, datetime, bytes]]:
        """The last settled rounds of a table, newest first: round, when it was drawn, outcome."""

    async def last_round_number(self, table_id: str) -> int:
        """The number of the table's latest round; 0 before the first."""

    async def last_bets(self, table_id: str, player_id: str) -> list[bytes]:
        """The bets of the player's last settled round at a table, in the order of placing."""

    async def find_stake(self, round_id: str, player_id: str, request_id: str) -> JournalStake | None:
        """The stake that a command made in an earlier round, for a command that is sent again (G3)."""
