"""What a game adds to the runtime. Implementations are pure: no I/O, no clock, no randomness of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from google.protobuf.message import Message

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.randomness.tape import Tape

# The bets of a player and the outcome of a round, in the game's own immutable types.
Bets = TypeVar("Bets")
Outcome = TypeVar("Outcome")


# What the table as a whole has to know of bets: amounts by names that the game chooses.
Totals = Mapping[str, int]


class Betting(Protocol[Bets]):
    """The bets of a banked game. `add`, `take` and `fits` judge, and may refuse; the others never do."""

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:
        """Adds bets to what one player has on the felt; refused if that would break a limit of the player's."""

    def take(self, on_felt: Bets, taken: Bets) -> Bets | None:
        """Returns what stays if bets are taken back; refuses bets that are not there, and a rest that may not stay."""

    def together(self, bets: Iterable[Bets]) -> Bets | None:
        """Returns all bets as one, in their order; None if there are none. What was accepted is not judged again."""

    def divide(self, bets: Bets, wanted: Bets) -> tuple[Bets | None, Bets | None]:
        """Returns what of the bets is wanted, and the rest."""

    def total_cents(self, bets: Bets) -> int:
        """Returns the sum of the bets."""

    @property
    def bets_lean_on_each_other(self) -> bool:
        """Whether bets that are allowed together need not be allowed without some of them.

        Then each placement waits for those of the same player that are under way: the wallet may refuse any of them,
        and what remains would never have been allowed.
        """

    def totals(self, bets: Bets) -> Totals:
        """Returns what `fits` has to know of these bets."""

    def fits(self, counted: Totals, coming: Totals, going: Totals, change: Totals) -> None:
        """Refuses a change of the felt that would break a limit of the table as a whole, whatever the wallet answers.

        `counted` is what the wallet has accepted, `coming` what is on its way, and any part of it may be refused;
        `going` is what of the counted bets is being taken back. A change that takes back is negative.
        """


class StakeOnTable(NamedTuple, Generic[Bets]):
    """A stake as a deal sees it."""

    stake_id: str
    seat: int
    bets: Bets


class Wanted(NamedTuple, Generic[Bets]):
    """The stake that a decision needs before it takes effect."""

    bets: Bets
    cents: int


@dataclass(frozen=True, slots=True)
class Default:
    """The decision that is made for a seat when its time is up."""

    seat: int
    move: bytes
    move_if_away: bytes | None = None
    """The decision for a player who has left, if it is another one."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Who may decide now."""

    seats: tuple[int, ...]
    at_once: bool
    """Whether several are asked side by side, all in the same time; otherwise each decision has a time of its own."""
    defaults: tuple[Default, ...]
    """One for each question that is open, in the order in which they are taken."""


class DealtRound(Protocol[Bets, Outcome]):
    """A round whose cards are dealt: equal entropy, stakes and moves give equal rounds. Never changed once made."""

    @property
    def turn(self) -> Turn | None:
        """Who may decide now; None when the round is decided."""

    @property
    def outcome(self) -> Outcome:
        """Everything that the round has shown, and what it paid; only when it is decided."""

    @property
    def cards_shown(self) -> int:
        """How many cards lie on the table, those face down included: each takes its time to be dealt."""

    def judge(self, seat: int, move: bytes) -> Wanted[Bets] | None:
        """Returns what a decision has to stake; refuses one that is not possible now. Nothing changes."""

    def after(self, seat: int, move: bytes, stake_id: str) -> DealtRound[Bets, Outcome]:
        """Returns the round after a decision that was judged, whose stake the wallet has accepted. Never refuses."""

    def move_staking(self, seat: int, bets: Bets) -> bytes | None:
        """Returns the decision that stakes these bets now; None if none does."""

    def due_cents(self) -> Mapping[str, int]:
        """Returns what stakes pay, by stake id, that are decided for good before the round ends."""

    def view(self) -> Message:
        """Builds what everybody may see."""

    def own_view(self, seat: int, free_cents: int) -> Message | None:
        """Builds what one seat alone may see and decide, with this much money; None if that is nothing."""


class Street(NamedTuple):
    """A part of the cards that are dealt when nobody decides any more."""

    view: Message
    """What everybody may see with them."""
    cards: int
    """How many they are."""


@runtime_checkable
class RunsOut(Protocol):
    """A `DealtRound` whose last decision may leave cards to be dealt, one street after the other."""

    def run_out(self, cards_shown: int) -> Sequence[Street]:
        """Returns what lies on the table after the last decision, and the streets that follow.

        `cards_shown` is how many cards lay there when it was made. Nothing if no street follows.
        """


@runtime_checkable
class LosesEarly(Protocol):
    """A `DealtRound` in which seats may be out of the hand while others play on."""

    def lost_cents(self, seat: int) -> int | None:
        """Returns what a seat has put in that can win nothing any more; None while it takes part."""


@dataclass(frozen=True, slots=True)
class DecidedAtOnce(Generic[Bets, Outcome]):
    """A `DealtRound` of a game without decisions: dealing decides it, and the outcome shows everything."""

    outcome: Outcome
    cards_shown: int = 0

    @property
    def turn(self) -> Turn | None:
        return None

    def judge(self, seat: int, move: bytes) -> Wanted[Bets] | None:
        raise AssertionError(f"seat {seat} decides {move!r} in a game without decisions")

    def after(self, seat: int, move: bytes, stake_id: str) -> DecidedAtOnce[Bets, Outcome]:
        raise AssertionError(f"seat {seat} decides {move!r} in a game without decisions, with stake {stake_id!r}")

    def move_staking(self, seat: int, bets: Bets) -> bytes | None:  # noqa: ARG002 - of the protocol
        return None

    def due_cents(self) -> Mapping[str, int]:
        return {}

    def view(self) -> Message:
        raise AssertionError("a game without decisions shows its outcome, and nothing before")

    def own_view(self, seat: int, free_cents: int) -> Message | None:  # noqa: ARG002 - of the protocol
        return None


class NoDecisions(ABC, Generic[Bets, Outcome]):
    """The part of `Rules` for games whose outcome is drawn at once, which nobody decides about."""

    move_type: type[Message] | None = None
    hides_cards = False
    cut_card: int | None = None

    def places(self, bets: Bets) -> Iterable[int]:  # noqa: ARG002 - of the protocol
        """Every place is for everybody."""
        return ()

    @abstractmethod
    def draw(self, tape: Tape) -> Outcome:
        """Draws the outcome that this entropy gives."""

    def deal(
        self,
        stakes: Sequence[StakeOnTable[Bets]],  # noqa: ARG002 - of the protocol
        tape: Tape,
        cards_taken: int = 0,  # noqa: ARG002 - of the protocol
    ) -> DealtRound[Bets, Outcome]:
        return DecidedAtOnce(self.draw(tape))


class NoBets(Generic[Bets, Outcome]):
    """The part of `Rules` for games whose players bring caves: nobody bets before the cards are dealt.

    What a player brings to a round is their cave, which is the stake that lies there.
    """

    bets_lean_on_each_other = False

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:  # noqa: ARG002 - of the protocol
        raise AssertionError(f"{added!r} is bet in a game without bets")

    def take(self, on_felt: Bets, taken: Bets) -> Bets | None:  # noqa: ARG002 - of the protocol
        raise AssertionError(f"{taken!r} is taken back in a game without bets")

    def together(self, bets: Iterable[Bets]) -> Bets | None:  # noqa: ARG002 - of the protocol
        return None

    def divide(self, bets: Bets, wanted: Bets) -> tuple[Bets | None, Bets | None]:
        raise AssertionError(f"{wanted!r} of {bets!r} is taken back in a game without bets")

    def totals(self, bets: object) -> Totals:  # noqa: ARG002 - of the protocol
        return _NO_TOTALS

    def fits(self, counted: Totals, coming: Totals, going: Totals, change: Totals) -> None:
        """Every change fits."""

    def places(self, bets: Bets) -> Iterable[int]:  # noqa: ARG002 - of the protocol
        """A seat is a place, and nobody bets elsewhere."""
        return ()


class PlayerLimits:
    """The part of `Betting` for games that limit each player's bets alone, and any part of allowed bets is allowed."""

    bets_lean_on_each_other = False

    def totals(self, bets: object) -> Totals:  # noqa: ARG002 - of the protocol
        return _NO_TOTALS

    def fits(self, counted: Totals, coming: Totals, going: Totals, change: Totals) -> None:
        """Every change fits."""


_NO_TOTALS: Totals = {}


class Rules(Betting[Bets], Protocol[Bets, Outcome]):
    """A game under one version of a table's specific rules. Refusals are raised as `TableRefused`."""

    @property
    def minimum_cents(self) -> int:
        """The smallest stake that this table takes."""

    @property
    def largest_stake_cents(self) -> int:
        """The most that one player may have on the felt."""

    @property
    def largest_payout_limit_cents(self) -> int:
        """The most that one stake can get back within the table's limits."""

    @property
    def move_type(self) -> type[Message] | None:
        """The message of a decision; None if the game has none."""

    @property
    def hides_cards(self) -> bool:
        """Whether the entropy of a round hides cards after the deal: it is sealed in the journal (G6, G7)."""

    @property
    def cut_card(self) -> int | None:
        """After how many cards the cut card of a shoe comes; None if the cards are shuffled for each round.

        A shoe with a cut card goes on from round to round, and the round in which it comes is the last.
        """

    def places(self, bets: Bets) -> Iterable[int]:
        """Returns the places that bets take: nobody else may sit or bet there."""

    def deal(self, stakes: Sequence[StakeOnTable[Bets]], tape: Tape, cards_taken: int = 0) -> DealtRound[Bets, Outcome]:
        """Deals the round that this entropy gives, for the stakes that count when betting has closed.

        Where a shoe goes on from round to round the entropy is the shoe's, from which earlier rounds have taken so many
        cards (`DealtRound.cards_shown`).
        """

    def payout_cents(self, outcome: Outcome, bets: Bets) -> int:
        """Returns all that comes back for bets, the stake of a winning bet included."""

    def largest_payout_cents(self, bets: Bets) -> int:
        """Returns the most that can come back for bets, whatever the outcome; the wallet pays no more for them."""

    # The game's protobuf messages, each method's of one type.

    def bets_message(self, bets: Bets) -> Message: ...

    def read_bets(self, message: bytes) -> Bets:
        """Reads bets from the bytes of what `bets_message` built."""

    def outcome_message(self, outcome: Outcome) -> Message: ...

    def read_outcome(self, message: bytes) -> Outcome:
        """Reads an outcome from the bytes of what `outcome_message` built."""

    def results_message(self, outcome: Outcome, bets: Bets) -> Message:
        """Builds the message of each bet with its result."""


class Game(Protocol[Bets, Outcome]):
    """One game, under all specific rules by which it can be played."""

    name: str
    """Its name in `TableConfiguration.game`, in settings and in names of databases."""

    plays: frozenset[wallet_types.Play.ValueType]
    """How its tables can be played."""

    has_cards: bool
    """Whether cards are dealt, each of which takes its time on a screen (`TableConfiguration.dealing_ms`)."""

    has_decisions: bool
    """Whether players decide after the deal (`TableConfiguration.decision_ms` and `open_hand_hours`)."""

    def rules(self, configuration: types_pb2.TableConfiguration) -> Rules[Bets, Outcome]:
        """Reads the rules of a table; refused with RULE_VIOLATED, citing the rule, if the regulation forbids them."""

    def rules_text(self, configuration: types_pb2.TableConfiguration, language: str) -> str:
        """Writes the complete rules for players (`pt` or `en`) in Markdown, with the table's own limits and prizes."""
