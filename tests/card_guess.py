"""An invented card game for tests of the runtime: is the bank's face-down card higher or lower than one's own?

Everybody gets a card, the bank one face down. A king wins at once and is paid at once. The others are asked side by
side whether they cover themselves against an ace of the bank, for half of their bet, and then decide one after the
other: take another card, raise (a second bet, as high as the first), give up for half of the bet, or guess. A right
guess doubles. Players bet on the place that has the number of their seat.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.randomness.tape import Tape
from services.kit.table.game import Default, PlayerLimits, StakeOnTable, Turn, Wanted
from services.kit.table.refusals import TableRefused, invalid

Bets = Mapping[str, int]
"""Cents by place, such as `3`, `3.raise`, `3.cover`."""

ACE, KING, CARDS_LIMIT = 0, 12, 4
FIELDS = descriptor_pb2.FieldDescriptorProto
_SCHEMA: dict[str, dict[str, tuple[FIELDS.Type.ValueType, str, bool]]] = {
    "Bet": {"place": (FIELDS.TYPE_STRING, "", False), "amount_cents": (FIELDS.TYPE_INT64, "", False)},
    "Bets": {"bets": (FIELDS.TYPE_MESSAGE, "Bet", True)},
    "Hand": {"seat": (FIELDS.TYPE_INT32, "", False), "cards": (FIELDS.TYPE_INT32, "", True)},
    "Prize": {"place": (FIELDS.TYPE_STRING, "", False), "halves": (FIELDS.TYPE_INT32, "", False)},
    "Outcome": {
        "bank_card": (FIELDS.TYPE_INT32, "", False),
        "hands": (FIELDS.TYPE_MESSAGE, "Hand", True),
        "prizes": (FIELDS.TYPE_MESSAGE, "Prize", True),
    },
    "Result": {
        "place": (FIELDS.TYPE_STRING, "", False),
        "amount_cents": (FIELDS.TYPE_INT64, "", False),
        "payout_cents": (FIELDS.TYPE_INT64, "", False),
    },
    "Results": {"results": (FIELDS.TYPE_MESSAGE, "Result", True)},
    "Move": {"decision": (FIELDS.TYPE_STRING, "", False)},
    "View": {"hands": (FIELDS.TYPE_MESSAGE, "Hand", True)},
    "Choice": {"decision": (FIELDS.TYPE_STRING, "", False), "cents": (FIELDS.TYPE_INT64, "", False)},
    "OwnView": {"choices": (FIELDS.TYPE_MESSAGE, "Choice", True)},
}


def _messages() -> dict[str, Any]:
    """Builds the classes of the game's messages: a game of tests has no contract of its own."""
    file = descriptor_pb2.FileDescriptorProto(name="tests/card_guess.proto", package="tests.guess", syntax="proto3")
    for name, fields in _SCHEMA.items():
        described = file.message_type.add(name=name)
        for number, (field_name, (kind, of_type, repeated)) in enumerate(fields.items(), start=1):
            label = FIELDS.LABEL_REPEATED if repeated else FIELDS.LABEL_OPTIONAL
            added = described.field.add(name=field_name, number=number, type=kind, label=label)
            if of_type:
                added.type_name = f".tests.guess.{of_type}"
    pool = descriptor_pool.Default()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tests.guess.{name}")) for name in _SCHEMA
    }


messages = _messages()


def move(decision: str) -> bytes:
    """Returns the message of a decision as the journal holds it."""
    return bytes(messages["Move"](decision=decision).SerializeToString())


def decision_of(message: bytes) -> str:
    return str(messages["Move"].FromString(message).decision)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that a round has shown, and what each place pays, in halves of its bet."""

    bank_card: int
    hands: Mapping[int, tuple[int, ...]]
    halves: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class GuessRound:
    """Implements `DealtRound`. A card's rank is its number divided by 4, from the ace to the king."""

    stakes: tuple[StakeOnTable[Bets], ...]
    deck: tuple[int, ...]
    """The bank's card, then the others in the order in which they are dealt."""
    hands: Mapping[int, tuple[int, ...]]
    asked: tuple[int, ...]
    """The seats that may still cover themselves."""
    waiting: tuple[int, ...]
    """The seats that have not guessed."""
    halves: Mapping[str, int] = field(default_factory=dict)
    """What the decided places pay."""
    guesses: Mapping[int, str] = field(default_factory=dict)

    @property
    def turn(self) -> Turn | None:
        if self.asked:
            return Turn(self.asked, at_once=True, defaults=tuple(Default(seat, move("decline")) for seat in self.asked))
        if self.waiting:
            return Turn(self.waiting[:1], at_once=False, defaults=(Default(self.waiting[0], move("higher")),))
        return None

    @property
    def outcome(self) -> Outcome:
        assert self.turn is None, "the outcome hides nothing: it is not told before the round is decided"
        halves = dict(self.halves)
        for seat, guess in self.guesses.items():
            bank, own = self.deck[0] // 4, self.hands[seat][-1] // 4
            right = bank > own if guess == "higher" else bank < own
            pays = 2 if bank == own else 4 * right
            halves |= {f"{seat}": pays, f"{seat}.raise": pays}
        halves |= {f"{seat}.cover": 6 * (self.deck[0] // 4 == ACE) for seat in self.hands}
        return Outcome(self.deck[0], self.hands, halves)

    @property
    def cards_shown(self) -> int:
        return 1 + sum(map(len, self.hands.values()))

    def choices(self, seat: int) -> dict[str, int]:
        """Returns the decisions that a seat has now, with what they cost."""
        bet = self._staked(f"{seat}")
        if seat in self.asked:
            return {"cover": bet // 2, "decline": 0}
        if self.asked or self.waiting[:1] != (seat,):
            return {}
        choices = {"higher": 0, "lower": 0, "give_up": 0}
        if len(self.hands[seat]) < CARDS_LIMIT:
            choices["card"] = 0
        if not self._staked(f"{seat}.raise"):
            choices["raise"] = bet
        return choices

    def judge(self, seat: int, move: bytes) -> Wanted[Bets] | None:
        choices, decision = self.choices(seat), decision_of(move)
        if not choices:
            raise TableRefused("NOT_YOUR_TURN", "It is not for you to decide now.", place=seat)
        if decision not in choices:
            raise TableRefused("DECISION_ILLEGAL", "This is not possible now.", decision=decision)
        cents = choices[decision]
        return Wanted({f"{seat}.{decision}": cents}, cents) if cents else None

    def after(self, seat: int, move: bytes, stake_id: str) -> GuessRound:
        decision, wanted, changed = decision_of(move), self.judge(seat, move), self
        if wanted is not None:
            changed = replace(self, stakes=(*self.stakes, StakeOnTable(stake_id, seat, wanted.bets)))
        if decision in {"cover", "decline"}:
            return replace(changed, asked=tuple(each for each in self.asked if each != seat))
        if decision == "card":
            return replace(changed, hands={**self.hands, seat: (*self.hands[seat], self.deck[self.cards_shown])})
        if decision == "raise":
            return changed
        changed = replace(changed, waiting=self.waiting[1:])
        if decision == "give_up":
            return replace(changed, halves={**self.halves, f"{seat}": 1, f"{seat}.raise": 1})
        return replace(changed, guesses={**self.guesses, seat: decision})

    def move_staking(self, seat: int, bets: Bets) -> bytes | None:
        """Returns the decision that stakes these bets now; None if none does."""
        for decision in self.choices(seat):
            wanted = self.judge(seat, move(decision))
            if wanted is not None and wanted.bets == bets:
                return move(decision)
        return None

    def due_cents(self) -> Mapping[str, int]:
        return {
            stake.stake_id: payout_cents(self.halves, stake.bets)
            for stake in self.stakes
            if all(place in self.halves for place in stake.bets)
        }

    def view(self) -> Message:
        view: Message = messages["View"](hands=hand_messages(self.hands))
        return view

    def own_view(self, seat: int, free_cents: int) -> Message | None:
        choices = [{"decision": each, "cents": cost} for each, cost in self.choices(seat).items() if cost <= free_cents]
        return messages["OwnView"](choices=choices) if choices else None

    def _staked(self, place: str) -> int:
        return sum(stake.bets.get(place, 0) for stake in self.stakes)


def payout_cents(halves: Mapping[str, int], bets: Bets) -> int:
    return sum(cents * halves.get(place, 0) // 2 for place, cents in bets.items())


def hand_messages(hands: Mapping[int, tuple[int, ...]]) -> list[Any]:
    return [messages["Hand"](seat=seat, cards=cards) for seat, cards in hands.items()]


class GuessRules(PlayerLimits):
    """Implements `Rules`."""

    minimum_cents = 100
    largest_stake_cents = 100_000
    largest_payout_limit_cents = 300_000
    move_type: type[Message] | None = messages["Move"]
    hides_cards = True
    cut_card: int | None = None

    # -- bets --------------------------------------------------------------------------------------------------------

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:
        for place, cents in added.items():
            if not place.isdecimal() or cents < self.minimum_cents or cents % 2:
                raise invalid("bets", "are even amounts of cents on places")
        return self._sum([*([on_felt] if on_felt else []), added])

    def take(self, on_felt: Bets, taken: Bets) -> Bets | None:
        if any(on_felt.get(place, 0) < cents for place, cents in taken.items()):
            raise invalid("bets", "are not there")
        return self.divide(on_felt, taken)[1]

    def together(self, bets: Iterable[Bets]) -> Bets | None:
        return self._sum(bets) or None

    def divide(self, bets: Bets, wanted: Bets) -> tuple[Bets | None, Bets | None]:
        found = {place: min(cents, wanted[place]) for place, cents in bets.items() if place in wanted}
        rest = {place: cents - found.get(place, 0) for place, cents in bets.items() if cents > found.get(place, 0)}
        return found or None, rest or None

    def total_cents(self, bets: Bets) -> int:
        return sum(bets.values())

    def places(self, bets: Bets) -> Iterable[int]:
        return {int(place.partition(".")[0]) for place in bets}

    def _sum(self, bets: Iterable[Bets]) -> Bets:
        total: dict[str, int] = {}
        for each in bets:
            for place, cents in each.items():
                total[place] = total.get(place, 0) + cents
        return total

    # -- rounds ------------------------------------------------------------------------------------------------------

    def deal(self, stakes: Sequence[StakeOnTable[Bets]], tape: Tape, cards_taken: int = 0) -> GuessRound:
        deck = tuple(tape.shuffled(range(52)))[cards_taken:]
        seats = sorted({stake.seat for stake in stakes})
        hands = {seat: (card,) for seat, card in zip(seats, deck[1:], strict=False)}
        playing = tuple(seat for seat, cards in hands.items() if cards[0] // 4 != KING)
        halves = {f"{seat}": 4 for seat in seats if seat not in playing}
        return GuessRound(tuple(stakes), deck, hands, playing, playing, halves)

    def payout_cents(self, outcome: Outcome, bets: Bets) -> int:
        return payout_cents(outcome.halves, bets)

    def largest_payout_cents(self, bets: Bets) -> int:
        return 3 * self.total_cents(bets)

    # -- messages ----------------------------------------------------------------------------------------------------

    def bets_message(self, bets: Bets) -> Message:
        message: Message = messages["Bets"](
            bets=[{"place": place, "amount_cents": cents} for place, cents in bets.items()]
        )
        return message

    def read_bets(self, message: bytes) -> Bets:
        return {bet.place: bet.amount_cents for bet in messages["Bets"].FromString(message).bets}

    def outcome_message(self, outcome: Outcome) -> Message:
        prizes = [{"place": place, "halves": halves} for place, halves in outcome.halves.items()]
        message: Message = messages["Outcome"](
            bank_card=outcome.bank_card, hands=hand_messages(outcome.hands), prizes=prizes
        )
        return message

    def read_outcome(self, message: bytes) -> Outcome:
        read = messages["Outcome"].FromString(message)
        return Outcome(
            read.bank_card,
            {hand.seat: tuple(hand.cards) for hand in read.hands},
            {prize.place: prize.halves for prize in read.prizes},
        )

    def results_message(self, outcome: Outcome, bets: Bets) -> Message:
        results = [
            {"place": place, "amount_cents": cents, "payout_cents": self.payout_cents(outcome, {place: cents})}
            for place, cents in bets.items()
        ]
        message: Message = messages["Results"](results=results)
        return message


class GuessGame:
    """Implements `Game`."""

    name = "guess"
    has_cards = True
    has_decisions = True
    plays = frozenset({wallet_types.PLAY_INDIVIDUAL, wallet_types.PLAY_MULTI_PLAYER})

    def rules(self, configuration: types_pb2.TableConfiguration) -> GuessRules:
        if configuration.game != self.name:
            raise invalid("configuration.game", f"has to be `{self.name}` here")
        return GuessRules()

    def rules_text(self, configuration: types_pb2.TableConfiguration, language: str) -> str:
        return f"{configuration.game}: higher or lower ({language})"
