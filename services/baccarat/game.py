"""Connects the engine to the table runtime: translates between it and the messages of `feltro.baccarat.v1`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.baccarat import roads, specific_rules
from services.baccarat.engine import (
    CARDS_LIMIT,
    TERMS,
    Bets,
    Chance,
    Outcome,
    SpecificRules,
    Table,
    Winner,
    chance_named,
    deal,
    is_pair,
)
from services.baccarat.rules import text as rules_text
from services.kit.cards.card import Card
from services.kit.randomness.tape import Tape
from services.kit.table.game import DealtRound, DecidedAtOnce, NoDecisions, StakeOnTable
from services.kit.table.refusals import invalid

# Each chance a few times, as the contract bounds it (G11).
BETS_LIMIT = 20

_WINNERS = {
    Winner.PONTO: baccarat_pb2.WINNER_PONTO,
    Winner.BANCA: baccarat_pb2.WINNER_BANCA,
    Winner.TIE: baccarat_pb2.WINNER_TIE,
}


class BaccaratGame:
    """Implements `services.kit.table.game.Game`."""

    name = "baccarat"
    plays = frozenset({wallet_types.PLAY_INDIVIDUAL, wallet_types.PLAY_MULTI_PLAYER})
    has_cards = True
    has_decisions = False

    def rules(self, configuration: types_pb2.TableConfiguration) -> BaccaratRules:
        if configuration.game != self.name:
            raise invalid("configuration.game", f"has to be `{self.name}` here")
        return BaccaratRules(specific_rules.read(configuration))

    def rules_text(self, configuration: types_pb2.TableConfiguration, language: str) -> str:
        return rules_text.render(configuration, specific_rules.unpack(configuration), language)


class BaccaratRules(Table, NoDecisions[Bets, Outcome]):
    """Implements `services.kit.table.game.Rules`: the engine's table with its messages."""

    # Ponto and banca have to differ (812/2015:13): ponto 1000 and banca 500 may come to stand only with another 500.
    bets_lean_on_each_other = True

    def __init__(self, rules: SpecificRules) -> None:
        super().__init__(rules)
        self.cut_card = rules.cut_card

    # -- requests -----------------------------------------------------------------------------------------------------

    def read_place_request(self, bets: Sequence[baccarat_pb2.Bet]) -> Bets:
        """Returns the bets that a player wants to place; `add` judges them."""
        return self._read(bets)

    def read_cancel_request(self, bets: Sequence[baccarat_pb2.Bet]) -> Bets:
        """Returns the bets that a player wants to take back; `take` judges them."""
        return self._read(bets)

    def _read(self, bets: Sequence[baccarat_pb2.Bet]) -> Bets:
        if not 1 <= len(bets) <= BETS_LIMIT:
            raise invalid("bets", f"have to be 1 to {BETS_LIMIT}")
        read: dict[Chance, int] = {}
        for position, bet in enumerate(bets):
            if bet.amount_cents <= 0:
                raise invalid(f"bets[{position}].amount_cents", "has to be above 0")
            chance = chance_named(bet.place)
            read[chance] = read.get(chance, 0) + bet.amount_cents
        return read

    # -- bets ---------------------------------------------------------------------------------------------------------

    def bets_message(self, bets: Bets) -> baccarat_pb2.Bets:
        return bets_message(bets)

    def read_bets(self, message: bytes) -> Bets:
        """Reads bets without checking them: they were checked when placed, and `add` checks them by these rules."""
        return {Chance(bet.place): bet.amount_cents for bet in baccarat_pb2.Bets.FromString(message).bets}

    # -- rounds -------------------------------------------------------------------------------------------------------

    def deal(
        self,
        stakes: Sequence[StakeOnTable[Bets]],  # noqa: ARG002 - no stake changes the cards
        tape: Tape,
        cards_taken: int = 0,
    ) -> DealtRound[Bets, Outcome]:
        """Deals a round, which is decided at once."""
        outcome = self.draw(tape, cards_taken)
        return DecidedAtOnce(outcome, cards_shown=len(outcome.ponto) + len(outcome.banca))

    def outcome_message(self, outcome: Outcome) -> baccarat_pb2.Outcome:
        return baccarat_pb2.Outcome(
            ponto=[card.name for card in outcome.ponto],
            banca=[card.name for card in outcome.banca],
            ponto_score=outcome.ponto_score,
            banca_score=outcome.banca_score,
            winner=_WINNERS[outcome.winner],
            ponto_pair=is_pair(outcome.ponto),
            banca_pair=is_pair(outcome.banca),
        )

    def read_outcome(self, message: bytes) -> Outcome:
        """Reads the cards; a `ValueError` if no round is dealt so."""
        read = baccarat_pb2.Outcome.FromString(message)
        ponto, banca = ([Card.named(name) for name in names] for names in (read.ponto, read.banca))
        if not (2 <= len(ponto) <= 3 and 2 <= len(banca) <= 3):
            raise ValueError(f"A round has two or three cards on each side, not {len(ponto)} and {len(banca)}.")
        in_order = [ponto[0], banca[0], ponto[1], banca[1], *ponto[2:], *banca[2:]]
        # What lies behind the last card is never reached.
        outcome = deal([*in_order, *in_order][:CARDS_LIMIT])
        if outcome != Outcome(tuple(ponto), tuple(banca)):
            raise ValueError(f"No round is dealt so by the rules: {' '.join(card.name for card in in_order)}.")
        return outcome

    def results_message(self, outcome: Outcome, bets: Bets) -> baccarat_pb2.BetResults:
        message = baccarat_pb2.BetResults()
        for chance, cents in bets.items():
            payout_cents = self.bet_payout_cents(outcome, chance, cents)
            wins = self.wins(outcome, chance)
            message.results.add(
                place=chance,
                amount_cents=cents,
                payout_cents=payout_cents,
                prize_cents=payout_cents - cents if wins else 0,
                commission_cents=self.commission_cents(outcome, chance, cents) if wins else 0,
            )
        return message

    # -- what a table shows -------------------------------------------------------------------------------------------

    def layout(self, rules: baccarat_pb2.SpecificRules) -> baccarat_pb2.GetLayoutResponse:
        """Returns every chance of the table with its limits and its prize."""
        message = baccarat_pb2.GetLayoutResponse(rules=rules)
        for chance in self.offered_chances:
            message.chances.add(
                place=chance,
                minimum_cents=self.smallest_bet_cents(chance),
                maximum_cents=self.maximum_cents(chance) or 0,
                prize=TERMS[chance].prize,
                step_cents=self.step_cents(chance),
            )
        return message


def bets_message(bets: Bets) -> baccarat_pb2.Bets:
    """Builds the message of bets, which is the same under all rules."""
    message = baccarat_pb2.Bets()
    for chance, cents in bets.items():
        message.bets.add(place=chance, amount_cents=cents)
    return message


def roads_message(rounds: Iterable[tuple[str, Outcome]]) -> baccarat_pb2.GetRoadsResponse:
    """Builds the roads of rounds with their ids, oldest first."""
    rounds = list(rounds)
    big_road = roads.big_road(outcome for _, outcome in rounds)
    message = baccarat_pb2.GetRoadsResponse(ties_before_first=big_road.ties_before_first)
    for round_id, outcome in rounds:
        message.bead_road.add(
            round_id=round_id,
            winner=_WINNERS[outcome.winner],
            score=max(outcome.ponto_score, outcome.banca_score),
            ponto_pair=is_pair(outcome.ponto),
            banca_pair=is_pair(outcome.banca),
        )
    for mark in big_road.marks:
        message.big_road.add(
            column=mark.column,
            row=mark.row,
            winner=_WINNERS[mark.winner],
            ties=mark.ties,
            ponto_pair=mark.ponto_pair,
            banca_pair=mark.banca_pair,
        )
    return message
