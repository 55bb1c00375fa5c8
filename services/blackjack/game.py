"""Connects the engine to the table runtime: bets by their names, the deal, and what stakes pay by the record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.blackjack import dealt_round, messages, refusals, specific_rules
from services.blackjack.dealt_round import DealtBlackjack
from services.blackjack.engine import SpecificRules, Table, bet_name
from services.blackjack.messages import Bets, Outcome
from services.blackjack.rules import text as rules_text
from services.kit.cards.shoe import shoe_from, shuffled_shoe
from services.kit.randomness.tape import Tape
from services.kit.table.game import PlayerLimits, StakeOnTable
from services.kit.table.refusals import invalid

# A bet is placed by itself, so that one which is decided early is paid early (20.a).
PLACED_AT_ONCE = 1


class BlackjackGame:
    """Implements `services.kit.table.game.Game`."""

    name = "blackjack"
    plays = frozenset({wallet_types.PLAY_INDIVIDUAL, wallet_types.PLAY_MULTI_PLAYER})
    has_cards = True
    has_decisions = True

    def rules(self, configuration: types_pb2.TableConfiguration) -> BlackjackRules:
        if configuration.game != self.name:
            raise invalid("configuration.game", f"has to be `{self.name}` here")
        return BlackjackRules(specific_rules.read(configuration))

    def rules_text(self, configuration: types_pb2.TableConfiguration, language: str) -> str:
        return rules_text.render(configuration, specific_rules.read(configuration), language)


class BlackjackRules(PlayerLimits):
    """Implements `services.kit.table.game.Rules`: the engine's table, with bets by name and messages."""

    move_type = blackjack_pb2.Move
    # The hole card, and all that is still in the shoe.
    hides_cards = True

    def __init__(self, rules: SpecificRules) -> None:
        self.table = Table(rules)
        self.minimum_cents = rules.minimum_cents
        self.cut_card = rules.cut_card
        self._places = {bet_name(place): place for place in range(1, rules.places + 1)}

    # -- requests -----------------------------------------------------------------------------------------------------

    def read_place_request(self, bets: Sequence[blackjack_pb2.Bet]) -> Bets:
        """Returns the bet that a player wants to place; `add` checks its limits."""
        return self._read(bets, PLACED_AT_ONCE)

    def read_cancel_request(self, bets: Sequence[blackjack_pb2.Bet]) -> Bets:
        """Returns the bets that a player wants to take back."""
        return self._read(bets, len(self._places))

    def _read(self, bets: Sequence[blackjack_pb2.Bet], most: int) -> Bets:
        if not 1 <= len(bets) <= most:
            raise invalid("bets", f"have to be 1 to {most}" if most > 1 else "have to be one")
        read: dict[str, int] = {}
        for position, bet in enumerate(bets):
            if bet.amount_cents <= 0:
                raise invalid(f"bets[{position}].amount_cents", "has to be above 0")
            self._place(bet.place)
            read[bet.place] = read.get(bet.place, 0) + bet.amount_cents
        return read

    def _place(self, name: str) -> int:
        """Returns the number of a place; stakes of decisions are named after it and are no places."""
        place = self._places.get(name)
        if place is None:
            raise refusals.place_unknown(name, len(self._places))
        return place

    # -- bets ---------------------------------------------------------------------------------------------------------

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:
        return _by_name(self.table.add(self._by_place(on_felt or {}), self._by_place(added)))

    def take(self, on_felt: Bets, taken: Bets) -> Bets | None:
        left = self.table.take(self._by_place(on_felt), self._by_place(taken))
        return None if left is None else _by_name(left)

    def _by_place(self, bets: Bets) -> Mapping[int, int]:
        return {self._place(name): cents for name, cents in bets.items()}

    def together(self, bets: Iterable[Bets]) -> Bets | None:
        """Returns bets that were accepted as one, those of decisions too."""
        felt: dict[str, int] = {}
        for each in bets:
            for name, cents in each.items():
                felt[name] = felt.get(name, 0) + cents
        return felt or None

    def divide(self, bets: Bets, wanted: Bets) -> tuple[Bets | None, Bets | None]:
        """Returns what of the bets is wanted, and the rest."""
        held, rest = dict[str, int](), dict[str, int]()
        for name, cents in bets.items():
            common = min(cents, wanted.get(name, 0))
            if common:
                held[name] = common
            if cents > common:
                rest[name] = cents - common
        return held or None, rest or None

    def total_cents(self, bets: Bets) -> int:
        return sum(bets.values())

    def places(self, bets: Bets) -> Iterable[int]:
        """Returns the places that bets take, whatever they are named after them."""
        return dict.fromkeys(int(name.partition(".")[0]) for name in bets)

    @property
    def largest_stake_cents(self) -> int:
        return self.table.largest_stake_cents

    def bets_message(self, bets: Bets) -> blackjack_pb2.Bets:
        return messages.bets_message(bets)

    def read_bets(self, message: bytes) -> Bets:
        """Reads bets without checking them: they were checked when placed, and `add` checks them by these rules."""
        return {bet.place: bet.amount_cents for bet in blackjack_pb2.Bets.FromString(message).bets}

    # -- dealing ------------------------------------------------------------------------------------------------------

    def deal(self, stakes: Sequence[StakeOnTable[Bets]], tape: Tape, cards_taken: int = 0) -> DealtBlackjack:
        """Deals from the shoe as earlier rounds have left it; without a cut card, it is shuffled for each (B23)."""
        packs = self.table.specific_rules.packs
        shoe = shuffled_shoe(packs, tape) if self.cut_card is None else shoe_from(cards_taken, packs, tape)
        return dealt_round.deal(self.table, stakes, shoe)

    # -- pay ----------------------------------------------------------------------------------------------------------

    def payout_cents(self, outcome: Outcome, bets: Bets) -> int:
        """Returns what stakes paid, each its part of what lay under its name."""
        return sum(_payout_cents(outcome, name, cents) for name, cents in bets.items())

    def largest_payout_cents(self, bets: Bets) -> int:
        return sum(self.table.largest_payout_cents(name, cents) for name, cents in bets.items())

    @property
    def largest_payout_limit_cents(self) -> int:
        """The most that one stake can get back: a place's maximum, with the best hand. Decisions stake no more each."""
        return self.table.largest_payout_cents(bet_name(1), self.table.specific_rules.maximum_cents)

    def outcome_message(self, outcome: Outcome) -> blackjack_pb2.Outcome:
        return outcome.record

    def read_outcome(self, message: bytes) -> Outcome:
        return Outcome.of(blackjack_pb2.Outcome.FromString(message))

    def results_message(self, outcome: Outcome, bets: Bets) -> blackjack_pb2.BetResults:
        return blackjack_pb2.BetResults(
            results=[
                messages.result_message(name, cents, _payout_cents(outcome, name, cents))
                for name, cents in bets.items()
            ]
        )

    # -- the layout ---------------------------------------------------------------------------------------------------

    def layout(self) -> blackjack_pb2.GetLayoutResponse:
        """Returns the table's options with every default filled in."""
        return blackjack_pb2.GetLayoutResponse(rules=specific_rules.message(self.table.specific_rules))


def _by_name(bets: Mapping[int, int]) -> Bets:
    return {bet_name(place): cents for place, cents in bets.items()}


def _payout_cents(outcome: Outcome, name: str, cents: int) -> int:
    """Returns what a stake paid; a `KeyError` if the round had none of that name (G12)."""
    staked_cents, payout_cents = outcome.paid[name]
    return dealt_round.part_of(payout_cents, cents, staked_cents)
