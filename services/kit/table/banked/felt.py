"""What lies on the felt in one round: whose, how much, and what is still on its way to the wallet. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic

from services.kit.table.game import Bets, Outcome, Rules


@dataclass(frozen=True, slots=True)
class Seat:
    """A player at the table. His seat number is all that others see of him."""

    number: int
    player_id: str
    account_id: str
    session_id: str


@dataclass(slots=True, eq=False)
class Stake(Generic[Bets]):
    """The bets of one command."""

    stake_id: str
    request_id: str
    seat: Seat
    bets: Bets
    # The same, in the game's own message.
    encoded_bets: bytes
    amount_cents: int
    # None as long as the wallet has not said that it has it.
    placed_at: datetime | None = None
    # Being taken back.
    being_cancelled: bool = False
    # The call that it came with.
    traceparent: str = ""


@dataclass(slots=True)
class _Pile(Generic[Bets]):
    """All of one player's stakes."""

    seat: Seat
    # With those on their way: limits hold for what may come to count, not only for what counts.
    bets: Bets | None = None
    stakes: list[Stake[Bets]] = field(default_factory=list)


class Felt(Generic[Bets, Outcome]):
    """The stakes of one round. A stake is put down before the wallet has it, and lifted if the wallet refuses it."""

    def __init__(self, rules: Rules[Bets, Outcome]) -> None:
        self.rules = rules
        self._piles: dict[str, _Pile[Bets]] = {}

    def add(self, stake: Stake[Bets]) -> None:
        """Refused, and nothing changed, if the player's bets together would break a limit."""
        pile = self._piles.get(stake.seat.player_id)
        if pile is None:
            bets = self.rules.add(None, stake.bets)
            pile = self._piles[stake.seat.player_id] = _Pile(stake.seat)
        else:
            bets = self.rules.add(pile.bets, stake.bets)
        pile.bets = bets
        pile.stakes.append(stake)

    def remove(self, stake: Stake[Bets]) -> None:
        pile = self._piles[stake.seat.player_id]
        pile.stakes.remove(stake)
        if not pile.stakes:
            del self._piles[stake.seat.player_id]
        elif pile.bets is not None:
            pile.bets = self.rules.remove(pile.bets, stake.bets)

    def bets_of(self, player_id: str) -> Bets | None:
        """What a player has down, with what is on its way."""
        pile = self._piles.get(player_id)
        return None if pile is None else pile.bets

    def accepted_stakes_of(self, player_id: str) -> list[Stake[Bets]]:
        """Those that count, in the order of placing."""
        pile = self._piles.get(player_id)
        return [] if pile is None else [stake for stake in pile.stakes if stake.placed_at is not None]

    def accepted_stakes(self) -> Iterator[Stake[Bets]]:
        """Every stake that counts."""
        for pile in self._piles.values():
            for stake in pile.stakes:
                if stake.placed_at is not None:
                    yield stake

    def bets_by_seat(self) -> Iterator[tuple[Seat, Bets, int]]:
        """Of each player who has a stake that counts: what lies there and how much it is."""
        for pile in self._piles.values():
            counted = [stake for stake in pile.stakes if stake.placed_at is not None]
            if len(counted) == len(pile.stakes) and pile.bets is not None:
                yield pile.seat, pile.bets, sum(stake.amount_cents for stake in counted)
            elif counted:
                bets: Bets | None = None
                for stake in counted:
                    bets = self.rules.add(bets, stake.bets)
                if bets is not None:
                    yield pile.seat, bets, sum(stake.amount_cents for stake in counted)

    @property
    def is_empty(self) -> bool:
        return not self._piles
