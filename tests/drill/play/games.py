"""What a drill has to know of each game: its tables, and how one plays there over REST. A game is one class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.drill.checks.feed import Json
from tests.processes.game import GameProcess
from tests.processes.poker import CAVE_MAX_CENTS, CAVE_MIN_CENTS, HOLDEM, OMAHA, PokerProcess
from tests.processes.poker import configuration as poker_configuration
from tests.service.baccarat_crash.games import BACCARAT
from tests.service.blackjack_crash.games import BLACKJACK
from tests.service.roulette_crash.games import ROULETTE, CrashGame

# Of each banked game: tables that players share, and configured tables at which every player has one of their own.
SHARED_TABLES, INDIVIDUAL_TABLES = 2, 1
# A shared table seats at least so many in every game.
PLAYERS_AT_SHARED_TABLE = 4
# A hand of poker waits so long for a player whose line is lost.
POKER_DECISION_MS = 10_000


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision that a player makes."""

    move: Json
    cents: int


@dataclass(frozen=True, slots=True)
class Preparation:
    """What a player does at a table before they can play: a command, with what it takes from their account."""

    kind: str
    word: str
    body: Json
    cents: int


class DrillGame(ABC):
    """One game; one with decisions overrides `choose`, one that hides cards `leaks`."""

    name: str
    process: type[GameProcess]
    bets: Sequence[Mapping[str, int]] = ()
    """What bots choose from; none where nobody bets before the deal."""
    tolerated: frozenset[str] = frozenset()
    """Refusals that a command may meet because of other players."""
    decides = False
    launch = ""
    """The command that closes the betting of an individual table."""
    least_players = 1
    """How many a table needs before anything is played."""
    leaves = False
    """Whether players leave their tables at the end, so that no other round begins."""

    @abstractmethod
    def tables(self) -> dict[str, types_pb2.TableConfiguration]:
        """The tables of a drill, with windows as short as the regulation allows."""

    def bet(self, dice: Random) -> Mapping[str, int]:
        """Chooses bets for one command."""
        return dice.choice(self.bets)

    def prepare(self, cave: Json | None, dice: Random) -> Preparation | None:
        """Chooses what a player has to do first, by what is shown of their cave; None if nothing."""
        return None

    def choose(self, own_view: Json, dice: Random) -> Choice | None:
        """Chooses a decision that the player has; None if there is none."""
        return None

    def leaks(self, event: Json) -> list[str]:
        """What an event or a snapshot shows although the rules hide it from everybody, or from its receiver (G7)."""
        return []

    def own_cards(self, own_view: Json) -> list[str]:
        """The cards of one pack that the player alone may see."""
        return []


class BankedDrillGame(DrillGame):
    """A banked game, with the tables and the bets of its crash tests."""

    def __init__(self, game: CrashGame[Any]) -> None:
        self.name = game.name
        self.process = game.process
        self.bets = game.bets
        self.tolerated = game.tolerated
        self.decides = game.has_turns
        self._game = game

    def tables(self) -> dict[str, types_pb2.TableConfiguration]:
        real, several, one = wallet_types.MODE_REAL, wallet_types.PLAY_MULTI_PLAYER, wallet_types.PLAY_INDIVIDUAL
        shared = {f"{self.name}-{number}": (number, several) for number in range(SHARED_TABLES)}
        own = {f"{self.name}-solo-{number}": (number, one) for number in range(INDIVIDUAL_TABLES)}
        return {
            table_id: self._game.configuration(number, play, real)
            for table_id, (number, play) in {**shared, **own}.items()
        }


class DrillRoulette(BankedDrillGame):
    """The wheels, French and American."""

    launch = "spin"

    def __init__(self) -> None:
        super().__init__(ROULETTE)


class DrillBaccarat(BankedDrillGame):
    """Ponto e banca and Macau."""

    launch = "deal"

    def __init__(self) -> None:
        super().__init__(BACCARAT)

    def leaks(self, event: Json) -> list[str]:
        # Cards are shown with the outcome alone.
        shown = [word for word in ("round_opened", "bets_placed", "betting_closed") if has_card(event.get(word))]
        return [f"cards in {word}" for word in shown]


class DrillBlackjack(BankedDrillGame):
    """Blackjack: every player may play two places, and decides by chance."""

    launch = "deal"

    def __init__(self) -> None:
        super().__init__(BLACKJACK)

    def choose(self, own_view: Json, dice: Random) -> Choice | None:
        options = own_view.get("options") or []
        if not options:
            return None
        option = dice.choice(options)
        cost = int(option.get("cost_cents") or 0)
        move = {
            "@type": "type.googleapis.com/feltro.blackjack.v1.Move",
            "place": option["place"],
            "decision": option["decision"],
        }
        if option["decision"] == "DECISION_INSURE":
            move["insurance_cents"] = cost
        return Choice(move, cost)

    def leaks(self, event: Json) -> list[str]:
        """The bank's second card lies face down while anybody decides."""
        banks = [(name, view.get("bank") or {}) for name, view in views_in_turns(event)]
        return [
            f"the bank's second card in {name}"
            for name, bank in banks
            if bank.get("hole_shown") or any((bank.get("cards") or [])[1:])
        ]


class DrillPoker(DrillGame):
    """Hold'em and Omaha: players bring caves, and decide by chance."""

    name = "poker"
    process: type[GameProcess] = PokerProcess
    # The cave is full already, or the hand has made it another.
    tolerated = frozenset({"CAVE_OUT_OF_BOUNDS"})
    decides = True
    least_players = 2
    leaves = True

    def tables(self) -> dict[str, types_pb2.TableConfiguration]:
        quick: dict[str, Any] = {"decision_ms": POKER_DECISION_MS, "time_bank_s": 0, "disconnect_extra_s": 0}
        return {
            "poker-0": poker_configuration(regulation=HOLDEM, **quick),
            "poker-1": poker_configuration(regulation=OMAHA, **quick),
        }

    def prepare(self, cave: Json | None, dice: Random) -> Preparation | None:
        standing = (cave or {}).get("standing", "")
        if standing in {"", "CAVE_STANDING_SHORT"}:
            cents = dice.randint(CAVE_MIN_CENTS, CAVE_MAX_CENTS)
            return Preparation("buy_in", "buyIn", {"amount_cents": cents}, cents)
        if standing == "CAVE_STANDING_AWAY":
            return Preparation("presence", "setPresence", {"presence": "PRESENCE_PLAYING"}, 0)
        return None

    def choose(self, own_view: Json, dice: Random) -> Choice | None:
        legal = own_view.get("legal")
        if not legal:
            return None
        to_call, least, most = (int(legal.get(f"{name}_cents") or 0) for name in ("to_call", "min_to", "max_to"))
        actions = ["ACTION_CALL", "ACTION_FOLD"] if to_call else ["ACTION_CHECK"]
        move: Json = {"@type": "type.googleapis.com/feltro.poker.v1.Move", "action": dice.choice(actions)}
        if least and dice.randrange(3) == 0:
            move |= {"action": "ACTION_RAISE", "to_cents": dice.choice((least, least, most))}
        return Choice(move, 0)

    def leaks(self, event: Json) -> list[str]:
        """Hole cards are shown when nobody has to decide any more."""
        return [
            f"cards of seat {seat.get('seat')} in {name}"
            for name, view in views_in_turns(event)
            for seat in view.get("seats") or []
            if any(seat.get("cards") or [])
        ]

    def own_cards(self, own_view: Json) -> list[str]:
        return [card for card in own_view.get("cards") or [] if card]


def views_in_turns(event: Json) -> list[tuple[str, Json]]:
    """What everybody is shown of a round in which somebody has to decide, with the name of what shows it."""
    snapshot = event.get("table") or (event.get("snapshot_published") or {}).get("snapshot") or {}
    shown = {
        "round_dealt": event.get("round_dealt"),
        "move_made": event.get("move_made"),
        "snapshot": snapshot.get("round"),
    }
    return [
        (name, facts.get("view") or {})
        for name, facts in shown.items()
        if facts and (facts.get("turn") or {}).get("seats")
    ]


def has_card(value: object) -> bool:
    """Whether anything in a message is a card, such as `As`."""
    if isinstance(value, Mapping):
        return any(has_card(inner) for inner in value.values())
    if isinstance(value, list):
        return any(has_card(inner) for inner in value)
    return isinstance(value, str) and len(value) == 2 and value[0] in "23456789TJQKA" and value[1] in "cdhs"


def spread(played: Sequence[DrillGame], bots: int) -> list[tuple[DrillGame, str, bool]]:
    """Spreads bots over the tables of games: the game, the table, and whether each has a table of their own there.

    Shared tables get no more players than each of them seats; the players left over play alone.
    """
    tables = [
        (game, table_id, rules.play == wallet_types.PLAY_INDIVIDUAL)
        for game in played
        for table_id, rules in game.tables().items()
    ]
    alone = [table for table in tables if table[2]]
    seats = [table for table in tables for _ in range(table[0].least_players)]
    for players in range(2, PLAYERS_AT_SHARED_TABLE + 1):
        seats += [table for table in tables if table[0].least_players < players]
    seats += [alone[number % len(alone)] for number in range(bots - len(seats))]
    taken = Counter(table_id for _, table_id, _ in seats[:bots])
    # A table with fewer players than it needs would never play.
    return [seat if taken[seat[1]] >= seat[0].least_players else alone[0] for seat in seats[:bots]]


def games() -> tuple[DrillGame, ...]:
    """Every game that has a service."""
    return DrillRoulette(), DrillBaccarat(), DrillBlackjack(), DrillPoker()
