"""Plays a hand in pokerkit beside the engine, and names the cause of every difference (section 7.3 of the rulebook).

pokerkit is asked at each decision for the actor, the amount to call and the bounds, and at the end for the stacks. Only
its five known faults are tolerated, each only where its circumstances are given; and with a fixed number of raises,
that it counts incomplete all-ins as raises (7.2).
"""

from __future__ import annotations

import warnings
from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from pokerkit import (
    Automation,
    BettingStructure,
    Card,
    Deck,
    Mode,
    OmahaHoldemHand,
    Opening,
    StandardHighHand,
    State,
    Street,
)

from services.poker.hand.betting import Legal, legal
from services.poker.hand.state import Hand, Kind, Move
from services.poker.specific_rules import Limit, SpecificRules
from services.poker.variant import Variant

_AUTOMATIONS = tuple(each for each in Automation if each is not Automation.HOLE_DEALING)
_STRUCTURES = {
    Limit.NO_LIMIT: BettingStructure.NO_LIMIT,
    Limit.POT_LIMIT: BettingStructure.POT_LIMIT,
    # The bounds are overridden below.
    Limit.HALF_POT: BettingStructure.POT_LIMIT,
    Limit.FIXED_RAISES: BettingStructure.FIXED_LIMIT,
}


class Cause(Enum):
    """Why pokerkit says otherwise, in the order of section 7.3."""

    SHORT_FIRST_WAGER = 1
    """An all-in below the minimum that is the first wager of a round counts as a full bet there."""
    SHORT_BIG_BLIND = 2
    """A big blind that is all in for less lowers the amount to call there."""
    NEEDLESS_PROMPT = 3
    """The last player with chips is asked there, though nothing is left to decide."""
    MERGED_POTS = 4
    """Pots are merged there after losing hands are dropped, which moves a cent between tied players."""
    CONSECUTIVE_SHORT_ALL_INS = 5
    """Several short all-ins are added up for everybody there, not for each player."""
    INCOMPLETE_COUNTED_AS_RAISE = 6
    """With a fixed number of raises an incomplete all-in uses one up there, and is raised in full (7.2)."""


class UnexplainedDifference(AssertionError):
    """pokerkit and the engine differ, and for none of the known causes."""


class _HalfPotState(State):
    """Half the pot as the maximum, which pokerkit does not have."""

    @property
    def max_completion_betting_or_raising_to_amount(self) -> int | None:
        least, actor = self.min_completion_betting_or_raising_to_amount, self.actor_index
        if least is None or actor is None:
            return None
        level, bet = max(self.bets), self.bets[actor]
        half = level + (self.total_pot_amount + level - bet) // 2
        return int(min(self.stacks[actor] + bet, max(least, half)))


@dataclass
class Beside:
    """A hand of the engine and the same one in pokerkit."""

    hand: Hand
    state: State
    # Of each incomplete raise of this round, whether it was the first wager.
    incomplete: list[bool] = field(default_factory=list)
    wagers: int = 0
    causes: list[Cause] = field(default_factory=list)

    def compare(self) -> bool:
        """Compares what comes next; False at the end, and after a difference that was explained."""
        self._answer_needless_prompt()
        may = legal(self.hand)
        if may is None:
            self._compare_end()
            return False
        theirs = self._theirs()
        if theirs == may:
            return True
        self.causes.append(self._cause(may, theirs))
        return False

    def act(self, move: Move, after: Hand) -> None:
        """Plays an action in pokerkit, after which the engine's hand is `after`."""
        hand, state = self.hand, self.state
        with warnings.catch_warnings():
            # Folding where a check is free is warned of.
            warnings.simplefilter("ignore")
            if move.kind is Kind.FOLD:
                state.fold()
            elif move.kind is Kind.RAISE:
                state.complete_bet_or_raise_to(move.to_cents)
            else:
                state.check_or_call()
        if move.kind is Kind.RAISE:
            least = hand.increment_cents
            if hand.deal.rules.limit is Limit.FIXED_RAISES:
                least = hand.full_level_cents + hand.increment_cents - hand.level_cents
            if move.to_cents - hand.level_cents < least:
                self.incomplete.append(self.wagers == 0)
            self.wagers += 1
        if after.street != hand.street or after.is_over:
            self.wagers = 0
            self.incomplete.clear()
        self.hand = after

    def _theirs(self) -> Legal | None:
        state = self.state
        if state.actor_index is None:
            return None
        least = state.min_completion_betting_or_raising_to_amount
        most = state.max_completion_betting_or_raising_to_amount
        return Legal(state.actor_index, state.checking_or_calling_amount or 0, least or 0, most or 0)

    def _answer_needless_prompt(self) -> None:
        """Checks for a player whom pokerkit asks though all others are all in (cause 3: folding would crash it)."""
        state, hand = self.state, self.hand
        while (asked := state.actor_index) is not None:
            others = [held for at, held in enumerate(state.stacks) if state.statuses[at] and at != asked]
            ours = hand.actor == asked and state.street_index == hand.street
            if ours or any(others) or state.checking_or_calling_amount:
                return
            self.causes.append(Cause.NEEDLESS_PROMPT)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                state.check_or_call()

    def _cause(self, ours: Legal, theirs: Legal | None) -> Cause:
        """Returns why the decision differs."""
        if theirs is None or ours.position != theirs.position:
            raise UnexplainedDifference(f"{self._place()}: {ours} against {theirs}")
        if self.hand.street == 0 and max(self.hand.bets) < self.hand.deal.rules.big_blind_cents:
            return Cause.SHORT_BIG_BLIND
        if ours.to_call_cents != theirs.to_call_cents or not self.incomplete:
            raise UnexplainedDifference(f"{self._place()}: {ours} against {theirs}")
        if self.hand.deal.rules.limit is Limit.FIXED_RAISES:
            return Cause.INCOMPLETE_COUNTED_AS_RAISE
        # Both are about who may raise again, not about how much.
        if any(self.incomplete) and theirs.can_raise and not ours.can_raise:
            return Cause.SHORT_FIRST_WAGER
        if len(self.incomplete) > 1 and theirs.can_raise != ours.can_raise:
            return Cause.CONSECUTIVE_SHORT_ALL_INS
        raise UnexplainedDifference(f"{self._place()}: {ours} against {theirs}")

    def _compare_end(self) -> None:
        ours, theirs = expected_stacks(self.hand), tuple(self.state.stacks)
        if self.state.status:
            raise UnexplainedDifference(f"{self._place()}: over here, and not there")
        if ours == theirs:
            return
        if theirs == expected_stacks(self.hand, merged=True):
            self.causes.append(Cause.MERGED_POTS)
            return
        raise UnexplainedDifference(f"{self._place()}: {ours} against {theirs}")

    def _place(self) -> str:
        deal = self.hand.deal
        return f"{deal.rules.variant} {deal.rules.limit} {deal.stacks} after {self.hand.moves}"


def expected_stacks(hand: Hand, *, merged: bool = False) -> tuple[int, ...]:
    """Returns the final stacks if all odd cents of a pot went to its first winner, as pokerkit has it (7.3).

    `merged`: and if pots were one between which only losers make a difference (cause 4).
    """
    result = hand.result
    assert result is not None
    winners_of = [
        tuple(payment.position for payment in result.payments if payment.pot == number)
        for number in range(len(result.pots))
    ]
    winning = {position for winners in winners_of for position in winners}
    amounts: dict[tuple[object, tuple[int, ...]], int] = {}
    for number, (pot, winners) in enumerate(zip(result.pots, winners_of, strict=True)):
        key = frozenset(winning.intersection(pot.positions)) if merged else number
        amounts[key, winners] = amounts.get((key, winners), 0) + pot.cents
    stacks = list(hand.held)
    for (_, winners), cents in amounts.items():
        part, odd = divmod(cents, len(winners))
        for place, position in enumerate(winners):
            stacks[position] += part + (odd if place == 0 else 0)
    return tuple(stacks)


def beside(hand: Hand) -> Beside:
    """Begins the same hand in pokerkit: the same stacks, blinds and cards, no commission."""
    deal, rules = hand.deal, hand.deal.rules
    blinds = [0] * len(deal.stacks)
    blinds[deal.small_blind_at], blinds[deal.big_blind_at] = rules.small_blind_cents, rules.big_blind_cents
    if len(blinds) == 2:
        # pokerkit turns the blinds of two players round.
        blinds.reverse()
    made = _HalfPotState if rules.limit is Limit.HALF_POT else State
    state = made(
        automations=_AUTOMATIONS,
        deck=Deck.STANDARD,
        hand_types=(StandardHighHand if rules.variant is Variant.HOLDEM else OmahaHoldemHand,),
        streets=_streets(rules),
        betting_structure=_STRUCTURES[rules.limit],
        ante_trimming_status=True,
        raw_antes=0,
        raw_blinds_or_straddles=tuple(blinds),
        bring_in=0,
        raw_starting_stacks=deal.stacks,
        player_count=len(deal.stacks),
        mode=Mode.CASH_GAME,
    )
    laps = [card for lap in zip(*deal.holes, strict=True) for card in lap]
    state.deck_cards = deque(next(Card.parse(card.name)) for card in (*laps, *deal.board))
    while state.can_deal_hole():
        state.deal_hole()
    return Beside(hand, state)


def _streets(rules: SpecificRules) -> tuple[Street, ...]:
    is_fixed = rules.limit is Limit.FIXED_RAISES
    units = rules.bet_units if is_fixed else (1, 1, 1, 1)
    return tuple(
        Street(
            card_burning_status=False,
            hole_dealing_statuses=(False,) * rules.variant.hole_cards if number == 0 else (),
            board_dealing_count=(0, 3, 1, 1)[number],
            draw_status=False,
            opening=Opening.POSITION,
            min_completion_betting_or_raising_amount=rules.big_blind_cents * units[number],
            # The opening bet counts there, and the big blind does not.
            max_completion_betting_or_raising_count=rules.max_raises_per_turn + (number > 0) if is_fixed else None,
        )
        for number in range(4)
    )
