"""The felt of one round: the stakes of each player, accepted by the wallet or still on their way to it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic

from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.seat import Seat


@dataclass(slots=True, eq=False)
class Stake(Generic[Bets]):
    """The bets of one command."""

    stake_id: str
    request_id: str
    seat: Seat
    bets: Bets
    # The bets, serialised as the game's own message.
    encoded_bets: bytes
    amount_cents: int
    # When the wallet accepted it; None before that.
    placed_at: datetime | None = None
    # The wallet is being asked to cancel it.
    being_cancelled: bool = False
    # The trace of the call that it came with.
    traceparent: str = ""


@dataclass(slots=True)
class _PlayerStakes(Generic[Bets]):
    """All stakes of one player."""

    seat: Seat
    # All of them together, those on their way included: limits apply to whatever may come to count.
    bets: Bets | None = None
    stakes: list[Stake[Bets]] = field(default_factory=list)


class Felt(Generic[Bets, Outcome]):
    """The stakes of one round. A stake is added before the wallet has it, and removed if the wallet refuses it."""

    def __init__(self, rules: Rules[Bets, Outcome]) -> None:
        self.rules = rules
        self._players: dict[str, _PlayerStakes[Bets]] = {}

    def add(self, stake: Stake[Bets]) -> None:
        """Adds a stake; refused, with nothing changed, if the player's bets together would break a limit."""
        player = self._players.get(stake.seat.player_id)
        if player is None:
            bets = self.rules.add(None, stake.bets)
            player = self._players[stake.seat.player_id] = _PlayerStakes(stake.seat)
        else:
            bets = self.rules.add(player.bets, stake.bets)
        player.bets = bets
        player.stakes.append(stake)

    def remove(self, stake: Stake[Bets]) -> None:
        player = self._players[stake.seat.player_id]
        player.stakes.remove(stake)
        if not player.stakes:
            del self._players[stake.seat.player_id]
        elif player.bets is not None:
            player.bets = self.rules.remove(player.bets, stake.bets)

    def bets_of(self, player_id: str) -> Bets | None:
        """Returns all bets of a player, those on their way included."""
        player = self._players.get(player_id)
        return None if player is None else player.bets

    def accepted_stakes_of(self, player_id: str) -> list[Stake[Bets]]:
        """Returns the stakes of a player that count, in the order of placing."""
        player = self._players.get(player_id)
        return [] if player is None else [stake for stake in player.stakes if stake.placed_at is not None]

    def accepted_stakes(self) -> Iterator[Stake[Bets]]:
        """Yields every stake that counts."""
        for player in self._players.values():
            for stake in player.stakes:
                if stake.placed_at is not None:
                    yield stake

    def bets_by_seat(self) -> Iterator[tuple[Seat, Bets, int]]:
        """Yields the bets and the amount of each player who has a stake that counts."""
        for player in self._players.values():
            counted = [stake for stake in player.stakes if stake.placed_at is not None]
            if len(counted) == len(player.stakes) and player.bets is not None:
                yield player.seat, player.bets, sum(stake.amount_cents for stake in counted)
            elif counted:
                bets: Bets | None = None
                for stake in counted:
                    bets = self.rules.add(bets, stake.bets)
                if bets is not None:
                    yield player.seat, bets, sum(stake.amount_cents for stake in counted)

    @property
    def is_empty(self) -> bool:
        return not self._players
