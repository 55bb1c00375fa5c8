"""Connects the engine to the table runtime: translates between it and the messages of `feltro.roulette.v1`."""

from __future__ import annotations

from collections.abc import Sequence

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.game import NoDecisions, PlayerLimits
from services.kit.table.refusals import below_minimum, invalid
from services.roulette import specific_rules
from services.roulette.engine import STAKE, TERMS, Bets, OfferedPlace, Outcome, Table
from services.roulette.rules import text as rules_text
from services.roulette.wheel import Colour, colour_of

# Every place of the larger board once, with room to spare (G11).
BETS_LIMIT = 200

_KINDS = {kind: number for number, kind in specific_rules.KIND_OF_NUMBER.items()}
_COLOURS = {
    Colour.RED: roulette_pb2.COLOUR_RED,
    Colour.BLACK: roulette_pb2.COLOUR_BLACK,
    Colour.GREEN: roulette_pb2.COLOUR_GREEN,
}


class RouletteGame:
    """Implements `services.kit.table.game.Game`."""

    name = "roulette"
    plays = frozenset({wallet_types.PLAY_INDIVIDUAL, wallet_types.PLAY_MULTI_PLAYER})
    has_cards = False
    has_decisions = False

    def rules(self, configuration: types_pb2.TableConfiguration) -> RouletteRules:
        if configuration.game != self.name:
            raise invalid("configuration.game", f"has to be `{self.name}` here")
        return RouletteRules(specific_rules.read(configuration))

    def rules_text(self, configuration: types_pb2.TableConfiguration, language: str) -> str:
        return rules_text.render(configuration, specific_rules.unpack(configuration), language)


class RouletteRules(Table, PlayerLimits, NoDecisions[Bets, Outcome]):
    """Implements `services.kit.table.game.Rules`: the engine's table with its messages."""

    # -- requests ----------------------------------------------------------------------------------------------------

    def read_place_request(self, bets: Sequence[roulette_pb2.Bet]) -> Bets:
        """Returns the bets a player wants to place, call bets as their components. `add` checks the limits of a place.

        Only the unit of a call bet is compared with the minimum here: `add` cannot tell its chips from others (T11).
        """
        return self._read(bets, minimum_unit_cents=self.minimum_cents)

    def read_cancel_request(self, bets: Sequence[roulette_pb2.Bet]) -> Bets:
        """Returns the bets a player wants to take back, named as they were placed."""
        return self._read(bets, minimum_unit_cents=0)

    def _read(self, bets: Sequence[roulette_pb2.Bet], minimum_unit_cents: int) -> Bets:
        if not 1 <= len(bets) <= BETS_LIMIT:
            raise invalid("bets", f"have to be 1 to {BETS_LIMIT}")
        read: dict[str, int] = {}
        for position, bet in enumerate(bets):
            name, amount_cents = bet.place, bet.amount_cents
            if amount_cents <= 0:
                raise invalid(f"bets[{position}].amount_cents", "has to be above 0")
            components = self.components(name, amount_cents)
            if len(components) > 1 and amount_cents < minimum_unit_cents:
                rule = self.wheel.articles.cite(self.wheel.articles.minimum)
                raise below_minimum(name, amount_cents, minimum_unit_cents, rule)
            for place, cents in components:
                read[place] = read.get(place, 0) + cents
        return read

    # -- bets -------------------------------------------------------------------------------------------------------

    def bets_message(self, bets: Bets) -> roulette_pb2.Bets:
        return bets_message(bets)

    def read_bets(self, message: bytes) -> Bets:
        """Reads bets without checking them: they were checked when placed, and `add` checks them by these rules."""
        return {bet.place: bet.amount_cents for bet in roulette_pb2.Bets.FromString(message).bets}

    # -- outcomes ---------------------------------------------------------------------------------------------------

    def outcome_message(self, outcome: Outcome) -> roulette_pb2.Outcome:
        return roulette_pb2.Outcome(number=outcome.number, colour=_COLOURS[outcome.colour], pocket=outcome.pocket)

    def read_outcome(self, message: bytes) -> Outcome:
        read = roulette_pb2.Outcome.FromString(message)
        for outcome in self.outcomes:
            if (outcome.number, outcome.pocket) == (read.number, read.pocket):
                return outcome
        raise ValueError(f"Pocket {read.pocket} of {self.wheel.name} does not hold `{read.number}`.")

    def results_message(self, outcome: Outcome, bets: Bets) -> roulette_pb2.BetResults:
        message = roulette_pb2.BetResults()
        for place, cents in bets.items():
            payout_cents = self.payout_cents(outcome, {place: cents})
            message.results.add(
                place=place,
                amount_cents=cents,
                payout_cents=payout_cents,
                prize_cents=payout_cents - cents if payout_cents else 0,
            )
        return message

    # -- the board --------------------------------------------------------------------------------------------------

    def layout(self) -> roulette_pb2.GetLayoutResponse:
        """Returns every place of the table with its limits and its prize."""
        message = roulette_pb2.GetLayoutResponse(
            wheel=roulette_pb2.Wheel.Value(f"WHEEL_{self.wheel.name}"),
            total_maximum_cents=self.total_maximum_cents,
            largest_prize_per_unit=max(terms.prize for terms in TERMS.values()) // STAKE,
        )
        for number in self.wheel.order:
            message.pockets.add(number=number, colour=_COLOURS[colour_of(number)])
        message.places.extend(_place_message(offer) for offer in self.offered_places.values())
        for call_bet in self.call_bets.values() if self.specific_rules.call_bets else ():
            call_bet_message = message.call_bets.add(place=call_bet.name, units=call_bet.units)
            for place, units in call_bet.components:
                call_bet_message.components.add(place=place, amount_cents=units)
        return message


def bets_message(bets: Bets) -> roulette_pb2.Bets:
    """Builds the message of bets, which is the same under all rules."""
    message = roulette_pb2.Bets()
    add = message.bets.add
    for place, cents in bets.items():
        add(place=place, amount_cents=cents)
    return message


def _place_message(offer: OfferedPlace) -> roulette_pb2.Place:
    return roulette_pb2.Place(
        place=offer.place.name,
        kind=roulette_pb2.Kind.ValueType(_KINDS[offer.place.kind]),
        numbers=offer.place.ordered_numbers,
        minimum_cents=offer.minimum_cents,
        maximum_cents=offer.maximum_cents,
        prize_halves=offer.prize_halves,
        even_cents_only=offer.even_cents_only,
    )
