"""When the owner of a tournament is killed: at a moment of each kind, by a seeded schedule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from random import Random

from services.poker.directing.course import Course, Step
from services.poker.tournament.money.awards import Why
from services.poker.tournament.running.facts import HandEnded, Paid
from services.poker.tournament.running.orders import Finished, HandForHand, MovePlayer, OpenTable
from services.poker.tournament.running.state import Phase

# How soon after the fact that makes the moment: its orders are just being followed.
LONGEST_DELAY_S = 0.05
# How long the killed process stays away.
DOWN_S = (0.5, 4.0)


class Moment(StrEnum):
    """A kind of moment, in the order in which they come."""

    REGISTRATION = "registration"
    START = "the start"
    IN_PLAY = "play"
    BALANCING = "balancing"
    HAND_FOR_HAND = "hand-for-hand"
    PAYMENT = "payment"
    END = "the end"


# Between which parts of the players each kind comes: of those registered, or of those left.
_SHARES = {
    Moment.REGISTRATION: (0.2, 0.9),
    Moment.START: (1.0, 1.0),
    Moment.IN_PLAY: (0.5, 0.9),
    Moment.BALANCING: (0.2, 0.45),
    Moment.HAND_FOR_HAND: (1.0, 1.0),
    Moment.PAYMENT: (0.02, 0.06),
    Moment.END: (1.0, 1.0),
}

_ORDERS = {Moment.START: OpenTable, Moment.BALANCING: MovePlayer, Moment.END: Finished}


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill of the owner."""

    moment: Moment
    players: int
    """How many are registered at least; or left at most."""
    delay_s: float
    down_s: float

    def __str__(self) -> str:
        at = f" ({self.players} players)" if _SHARES[self.moment][0] < 1 else ""
        return f"SIGKILL at {self.moment}{at}"

    def is_due(self, course: Course, step: Step) -> bool:
        """Whether the moment has come with this fact, after which the course is as given."""
        state = course.state
        if self.moment is Moment.REGISTRATION:
            is_registering = state.phase is Phase.REGISTERING and isinstance(step.event.fact, Paid)
            return is_registering and len(state.registered) >= self.players
        return len(state.playing) <= self.players and _has_come(self.moment, step)


def _has_come(moment: Moment, step: Step) -> bool:
    """Whether a fact makes a moment of this kind."""
    orders = step.orders
    match moment:
        case Moment.IN_PLAY:
            return isinstance(step.event.fact, HandEnded)
        case Moment.PAYMENT:
            awards = [award.award for transfer in step.transfers for award in transfer.pay_out.awards]
            return any(award.why is Why.PRIZE for award in awards)
        case Moment.HAND_FOR_HAND:
            return any(isinstance(order, HandForHand) and order.begins for order in orders)
        case _:
            return any(isinstance(order, _ORDERS[moment]) for order in orders)


def schedule(seed: int, players: int, count: int) -> list[Kill]:
    """Returns so many kills in the order in which they come: one of each kind first, then more of any."""
    dice = Random(seed)
    kinds = [Moment.REGISTRATION, Moment.START, Moment.IN_PLAY, Moment.BALANCING, Moment.HAND_FOR_HAND, Moment.PAYMENT]
    again = [Moment.IN_PLAY, Moment.BALANCING, Moment.PAYMENT, Moment.END]
    if count < len(kinds):
        chosen = sorted(dice.sample(kinds, count), key=kinds.index)
    else:
        chosen = kinds + [dice.choice(again[:-1]) for _ in range(count - len(kinds) - 1)]
        chosen += [Moment.END] * (count > len(kinds))
    kills = []
    for moment in chosen:
        low, high = _SHARES[moment]
        at = max(2, round(players * dice.uniform(low, high)))
        kills.append(Kill(moment, at, dice.uniform(0, LONGEST_DELAY_S), dice.uniform(*DOWN_S)))
    order = list(Moment)
    # Later ones of a kind are at fewer players; hand-for-hand and the end come when they come.
    return sorted(kills, key=lambda kill: (order.index(kill.moment), -kill.players))
