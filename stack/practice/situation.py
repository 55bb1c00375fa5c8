"""What a bot knows when it has to decide: its own cards, and what everybody at the table sees. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.kit.cards.card import Card
from stack.platform_client import Json


@dataclass(frozen=True, slots=True)
class Situation:
    """A decision to make; amounts are cents, or chips in a tournament."""

    cards: tuple[Card, ...]
    board: tuple[Card, ...]
    big_blind: int
    pot: int
    """Everything that was bet in the hand, the bets of this betting round included."""
    to_call: int
    """What it takes to stay in; nothing where a check is free."""
    min_to: int
    """What the bot's bet may become by a raise, at least; nothing where no raise is possible."""
    max_to: int
    stack: int
    """What the bot has left to bet."""
    bet: int
    """What the bot has bet in this betting round."""
    opponents: int
    """How many others have not given up."""

    @property
    def level(self) -> int:
        """The bet that has to be matched."""
        return self.bet + self.to_call


@dataclass(frozen=True, slots=True)
class Question:
    """A turn that is the bot's: what it names in its answer, and how long it may think."""

    round_id: str
    turn: int
    situation: Situation
    shown_in_s: float
    """How long the cards are still being dealt on the players' screens; the time to decide runs from then on."""
    time_s: float
    """How long the bot may think after that, before its extra time begins or its time is over."""


def question(shown: Json) -> Question | None:
    """Reads the answer of `TableService.GetTable`; None when the bot has nothing to decide now."""
    table, own = shown["table"], shown.get("own_seat") or {}
    round_ = table.get("round") or {}
    turn, own_view, view = round_.get("turn") or {}, own.get("own_view") or {}, round_.get("view") or {}
    legal = own_view.get("legal") or {}
    if table.get("phase") != "PHASE_PLAYING" or own.get("seat") not in (turn.get("seats") or ()) or not legal:
        return None
    seats = {int(seat["seat"]): seat for seat in view["seats"]}
    mine = seats[int(own["seat"])]
    now = _moment(table["at"])
    shown_at = _moment(round_["shown_at"]) if round_.get("shown_at") else now
    over_at = turn.get("extra_time_from") or turn.get("decide_by")
    begins_at = max(now, shown_at)
    return Question(
        round_id=str(round_["round_id"]),
        turn=int(turn["turn"]),
        situation=Situation(
            cards=_cards(own_view),
            board=tuple(Card.named(name) for name in view.get("board") or ()),
            big_blind=big_blind(table),
            pot=_cents(view, "total_cents"),
            to_call=_cents(legal, "to_call_cents"),
            min_to=_cents(legal, "min_to_cents"),
            max_to=_cents(legal, "max_to_cents"),
            stack=_cents(mine, "stack_cents"),
            bet=_cents(mine, "bet_cents"),
            opponents=sum(not seat.get("folded") for seat in seats.values()) - 1,
        ),
        shown_in_s=begins_at - now,
        time_s=_moment(over_at) - begins_at if over_at else 0.0,
    )


def big_blind(table: Json) -> int:
    """Returns the big blind of a table: of its specific rules, or of the tournament's present level."""
    notice = (table.get("chips") or {}).get("notice") or {}
    rules = table["configuration"].get("rules") or {}
    return _cents(notice, "big_blind") or _cents(rules, "big_blind_cents") or 1


def _cards(own_view: Json) -> tuple[Card, ...]:
    return tuple(Card.named(name) for name in own_view["cards"])


def _cents(message: Json, name: str) -> int:
    return int(message.get(name) or 0)


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
