"""The felt of one round: the stakes of each player, accepted by the wallet or still on their way to it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, NamedTuple

from services.kit.table.game import Bets, Outcome, Rules, Totals
from services.kit.table.refusals import TableRefused
from services.kit.table.seat import Seat


@dataclass(slots=True, eq=False)
class Stake(Generic[Bets]):
    """The bets of one command, as far as they were not taken back."""

    stake_id: str
    request_id: str
    seat: Seat
    bets: Bets
    # The bets, serialised as the game's own message.
    encoded_bets: bytes
    amount_cents: int
    # The digest of what the player asked for.
    command_digest: bytes = b""
    # When the wallet accepted it; None before that.
    placed_at: datetime | None = None
    # The trace of the call that it came with.
    traceparent: str = ""


class TakenBack(NamedTuple, Generic[Bets]):
    """What is taken back of one stake, and what stays of it."""

    stake: Stake[Bets]
    bets: Bets
    rest: Bets | None


@dataclass(slots=True)
class _PlayerStakes(Generic[Bets]):
    """All stakes of one player."""

    seat: Seat
    # All of them together, those on their way included: limits apply to whatever may come to count.
    bets: Bets | None = None
    # Those that count, together.
    accepted: Bets | None = None
    stakes: list[Stake[Bets]] = field(default_factory=list)


class Felt(Generic[Bets, Outcome]):
    """The stakes of one round. A stake is added before the wallet has it, and removed if the wallet refuses it."""

    def __init__(self, rules: Rules[Bets, Outcome]) -> None:
        self.rules = rules
        self._players: dict[str, _PlayerStakes[Bets]] = {}
        # What the table as a whole has to know of stakes that count, that are on their way, and that are taken back.
        self._counted: dict[str, int] = {}
        self._coming: dict[str, int] = {}
        self._going: dict[str, int] = {}

    # -- placing -----------------------------------------------------------------------------------------------------

    def judge(self, player_id: str, bets: Bets) -> Bets:
        """Returns the player's bets with these added; refused if that would break a limit."""
        player = self._players.get(player_id)
        together = self.rules.add(None if player is None else player.bets, bets)
        self.rules.fits(self._counted, self._coming, self._going, self.rules.totals(bets))
        return together

    def add(self, stake: Stake[Bets], together: Bets) -> None:
        """Adds a stake that is on its way; `together` is what `judge` has just returned for its bets."""
        player = self._players.get(stake.seat.player_id)
        if player is None:
            player = self._players[stake.seat.player_id] = _PlayerStakes(stake.seat)
        player.bets = together
        player.stakes.append(stake)
        _change(self._coming, self.rules.totals(stake.bets), 1)

    def accept(self, stake: Stake[Bets], placed_at: datetime) -> Bets:
        """Counts a stake that the wallet has accepted; returns all bets of the player that count."""
        stake.placed_at = placed_at
        player = self._players[stake.seat.player_id]
        accepted = [stake.bets] if player.accepted is None else [player.accepted, stake.bets]
        together = self.rules.together(accepted)
        assert together is not None  # noqa: S101 - there is at least this stake
        player.accepted = together
        totals = self.rules.totals(stake.bets)
        _change(self._coming, totals, -1)
        _change(self._counted, totals, 1)
        return together

    def count(self, stake: Stake[Bets], placed_at: datetime) -> None:
        """Counts a stake that the wallet has accepted already: of a decision, or of a round that goes on."""
        player = self._players.get(stake.seat.player_id)
        if player is None:
            player = self._players[stake.seat.player_id] = _PlayerStakes(stake.seat)
        player.stakes.append(stake)
        player.bets = self.rules.together([stake.bets] if player.bets is None else [player.bets, stake.bets])
        _change(self._coming, self.rules.totals(stake.bets), 1)
        self.accept(stake, placed_at)

    def place_holder(self, place: int) -> str | None:
        """Returns the player whose bets take a place; None if it is free."""
        for player_id, player in self._players.items():
            if player.bets is not None and place in self.rules.places(player.bets):
                return player_id
        return None

    def remove(self, stake: Stake[Bets]) -> None:
        """Removes a stake that the wallet has refused. Nothing is judged: what is left was accepted before (G9)."""
        player = self._players[stake.seat.player_id]
        player.stakes.remove(stake)
        _change(self._coming, self.rules.totals(stake.bets), -1)
        if not player.stakes:
            del self._players[stake.seat.player_id]
        elif player.bets is not None:
            _, player.bets = self.rules.divide(player.bets, stake.bets)

    # -- taking back -------------------------------------------------------------------------------------------------

    def choose(self, player_id: str, bets: Bets | None) -> list[TakenBack[Bets]]:
        """Returns what of which stakes is to be taken back: all that counts, or these bets, from the newest stakes.

        Refuses bets that are not there, and what would leave less than a bet.
        """
        player = self._players.get(player_id)
        if player is None or player.accepted is None:
            raise TableRefused("NOT_ON_FELT", "There is nothing of yours to take back.", place="", amount_cents=0)
        stakes = self.accepted_stakes_of(player_id)
        if bets is None:
            chosen = [TakenBack(stake, stake.bets, None) for stake in stakes]
        else:
            self.rules.take(player.accepted, bets)
            chosen = []
            wanted: Bets | None = bets
            for stake in reversed(stakes):
                if wanted is None:
                    break
                held, rest = self.rules.divide(stake.bets, wanted)
                if held is not None:
                    chosen.append(TakenBack(stake, held, rest))
                    _, wanted = self.rules.divide(wanted, held)
            chosen.reverse()
        change: dict[str, int] = {}
        for taken in chosen:
            _change(change, self.rules.totals(taken.bets), -1)
        self.rules.fits(self._counted, self._coming, self._going, change)
        return chosen

    def begin_taking_back(self, chosen: list[TakenBack[Bets]]) -> None:
        """Notes that the wallet is asked for these bets: they may go, or stay."""
        for taken in chosen:
            _change(self._going, self.rules.totals(taken.bets), 1)

    def keep(self, chosen: list[TakenBack[Bets]]) -> None:
        """Leaves the bets where they are: the wallet has refused to give them back."""
        for taken in chosen:
            _change(self._going, self.rules.totals(taken.bets), -1)

    def take_back(self, chosen: list[TakenBack[Bets]]) -> None:
        """Takes bets off the felt that the wallet has given back."""
        self.keep(chosen)
        for taken in chosen:
            stake = taken.stake
            player = self._players[stake.seat.player_id]
            _change(self._counted, self.rules.totals(taken.bets), -1)
            if player.bets is not None:
                _, player.bets = self.rules.divide(player.bets, taken.bets)
            if taken.rest is None:
                player.stakes.remove(stake)
            else:
                stake.bets = taken.rest
                stake.encoded_bets = self.rules.bets_message(taken.rest).SerializeToString()
                stake.amount_cents = self.rules.total_cents(taken.rest)
        for player_id in {taken.stake.seat.player_id for taken in chosen}:
            player = self._players[player_id]
            player.accepted = self.rules.together(each.bets for each in self.accepted_stakes_of(player_id))
            if not player.stakes:
                del self._players[player_id]

    # -- what lies there ---------------------------------------------------------------------------------------------

    def accepted_bets_of(self, player_id: str) -> Bets | None:
        """Returns all bets of a player that count."""
        player = self._players.get(player_id)
        return None if player is None else player.accepted

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
            if player.accepted is not None:
                yield player.seat, player.accepted, self.rules.total_cents(player.accepted)

    @property
    def has_accepted_stakes(self) -> bool:
        """Whether any stake counts."""
        return next(self.accepted_stakes(), None) is not None

    @property
    def is_empty(self) -> bool:
        return not self._players


def _change(totals: dict[str, int], change: Totals, sign: int) -> None:
    for name, amount in change.items():
        totals[name] = totals.get(name, 0) + sign * amount
