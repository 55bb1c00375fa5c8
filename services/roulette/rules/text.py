"""The rules for players: `rules/pt.md` and `rules/en.md`, filled with a table's own limits and prizes (804/2015:25).

The texts hold the words, and the engine the numbers. A part between `<!-- if multi invite -->` and `<!-- end -->` is
for the tables of which all these words are true; `not` reverses the one after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_pb2
from services.roulette import call_bets, specific_rules
from services.roulette.board import Kind, Place
from services.roulette.engine import STAKE, TERMS, Table
from services.roulette.wheel import FRENCH_37, Colour, colour_of

# What the regulation itself says of inactivity (804/2015:28-29); the time before the warning is ours.
IDLE_SECONDS = 180
MISSED_ROUNDS = 5
WARN_AFTER_SECONDS = 20
END_AFTER_SECONDS = 60

_TEXTS = Path(__file__).parent
_ONE_EURO_CENTS = 100
_NO_BREAK_SPACE = "\u00a0"
_CONDITION = re.compile(r"<!-- if (.+) -->")
_END = "<!-- end -->"


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes what the numbers are filled in as."""

    code: str
    decimal_mark: str
    thousands_mark: str
    # Portuguese writes four digits together.
    thousands_from: int
    money_format: str
    percent_format: str
    # One, and more than one.
    seconds: tuple[str, str]
    minutes: tuple[str, str]

    def euros(self, cents: int) -> str:
        whole, rest = divmod(cents, 100)
        grouped = f"{whole:,}".replace(",", self.thousands_mark) if whole >= self.thousands_from else str(whole)
        return self.money_format.format(f"{grouped}{self.decimal_mark}{rest:02}")

    def percentage(self, part: int, whole: int) -> str:
        """Per cent, to two places."""
        return self.percent_format.format(f"{100 * part / whole:.2f}".replace(".", self.decimal_mark))

    def duration(self, milliseconds: int) -> str:
        """Whole minutes as minutes, everything else as seconds."""
        minutes, rest = divmod(milliseconds, 60_000)
        if minutes and not rest:
            return f"{minutes} {self.minutes[minutes > 1]}"
        seconds = f"{milliseconds / 1000:.3f}".rstrip("0").rstrip(".").replace(".", self.decimal_mark)
        return f"{seconds} {self.seconds[milliseconds != 1000]}"


PORTUGUESE = Language(
    code="pt",
    decimal_mark=",",
    thousands_mark=_NO_BREAK_SPACE,
    thousands_from=10_000,
    money_format="{} €",
    percent_format="{} %",
    seconds=("segundo", "segundos"),
    minutes=("minuto", "minutos"),
)
ENGLISH = Language(
    code="en",
    decimal_mark=".",
    thousands_mark=",",
    thousands_from=1_000,
    money_format="€{}",
    percent_format="{}%",
    seconds=("second", "seconds"),
    minutes=("minute", "minutes"),
)
LANGUAGES = {language.code: language for language in (PORTUGUESE, ENGLISH)}


def language_of(wanted: str) -> Language:
    """The language asked for, such as `en` or `en-GB`; Portuguese where there is no such text (903-B/2015:6.1.6)."""
    return LANGUAGES.get(wanted.partition("-")[0].lower(), PORTUGUESE)


def render(configuration: types_pb2.TableConfiguration, rules: roulette_pb2.SpecificRules, language: str) -> str:
    """The complete rules of a table, in Markdown. Rules that the regulation does not allow are refused."""
    complete = types_pb2.TableConfiguration()
    complete.CopyFrom(configuration)
    complete.rules.Pack(rules)
    table = Table(specific_rules.read(complete))
    chosen = language_of(language)
    kept = "\n".join(_kept(_text(chosen.code), _true_of(table, configuration)))
    filled = Template(kept).substitute(_numbers(table, configuration, chosen))
    return re.sub(r"\n{3,}", "\n\n", filled).strip() + "\n"


@cache
def _text(code: str) -> str:
    return (_TEXTS / f"{code}.md").read_text(encoding="utf-8")


# -- what is left out -----------------------------------------------------------------------------------------------


def _true_of(table: Table, configuration: types_pb2.TableConfiguration) -> frozenset[str]:
    """Every word that a text may ask for, with `not` before it where it is false of this table."""
    multi = configuration.play == wallet_pb2.PLAY_MULTI_PLAYER
    conditions = {
        "american": table.wheel is not FRENCH_37,
        "french": table.wheel is FRENCH_37,
        "single_zero": len(table.wheel.zeros) == 1,
        "double_zero": len(table.wheel.zeros) > 1,
        "multi": multi,
        "individual": not multi,
        "demo": configuration.mode == wallet_pb2.MODE_DEMO,
        "doubles": not table.specific_rules.without_doubles,
        "total": table.total_maximum_cents > 0,
        "call_bets": table.specific_rules.call_bets,
        "result_shown": configuration.result_shown_ms > 0,
        "take_back": not configuration.cancel_forbidden,
        "invite": configuration.inactivity.invite if configuration.HasField("inactivity") else True,
    }
    return frozenset(word for word, holds in conditions.items() for word in ([word] if holds else [f"not {word}"]))


def _kept(text: str, true: frozenset[str]) -> Iterator[str]:
    """The lines for a table of which these words are true."""
    keep = True
    for line in text.splitlines():
        if condition := _CONDITION.fullmatch(line):
            keep = true.issuperset(re.findall(r"(?:not )?\w+", condition[1]))
        elif line == _END:
            keep = True
        elif keep:
            yield line


# -- what is filled in ----------------------------------------------------------------------------------------------


def _numbers(table: Table, configuration: types_pb2.TableConfiguration, language: Language) -> dict[str, object]:
    order = table.wheel.order
    straight_prize_cents = table.minimum_cents * TERMS[Kind.STRAIGHT].prize // STAKE
    largest_prize = max(offer.prize_halves for offer in table.offered_places.values()) // STAKE
    straight = TERMS[Kind.STRAIGHT].prize // STAKE
    return {
        "name": _name(configuration, language),
        "regulation": table.wheel.articles.regulation,
        "seats": configuration.seats,
        "pockets": len(order),
        "wheel_order": _listed(order),
        **{colour.name.lower(): _listed(_coloured(table, colour)) for colour in Colour},
        "minimum": language.euros(table.minimum_cents),
        "total_maximum": language.euros(table.total_maximum_cents),
        "zero_places": _listed(place.name for place in _around_zero(table)),
        "straight_example": language.euros(straight_prize_cents),
        "straight_example_return": language.euros(straight_prize_cents + table.minimum_cents),
        "largest_prize": largest_prize,
        "largest_prize_for_one": language.euros(largest_prize * _ONE_EURO_CENTS),
        "one": language.euros(_ONE_EURO_CENTS),
        # Every bet returns the same: a straight up wins once in so many rounds, and gives back stake and prize.
        "returned": straight + 1,
        "return_rate": language.percentage(straight + 1, len(order)),
        "betting_window": language.duration(configuration.betting_window_ms),
        "result_shown": language.duration(configuration.result_shown_ms),
        **_limits_and_prizes(table, language),
        **_called(table),
        **_inactivity(configuration, language),
    }


def _name(configuration: types_pb2.TableConfiguration, language: Language) -> str:
    """The table's name, in Portuguese where it has no other."""
    names = {ENGLISH.code: configuration.name.en}
    return names.get(language.code) or configuration.name.pt or configuration.game


def _limits_and_prizes(table: Table, language: Language) -> dict[str, object]:
    """Of each kind that is offered; they are the same on all its places."""
    numbers: dict[str, object] = {}
    for offer in table.offered_places.values():
        kind = offer.place.kind.name.lower()
        numbers[f"{kind}_minimum"] = language.euros(offer.minimum_cents)
        numbers[f"{kind}_maximum"] = language.euros(offer.maximum_cents)
        numbers[f"{kind}_prize"] = _multiple(offer.prize_halves)
    return numbers


def _multiple(halves: int) -> str:
    return "½" if halves * 2 == STAKE else str(halves // STAKE)


def _around_zero(table: Table) -> list[Place]:
    zeros = frozenset(table.wheel.zeros)
    return [place for place in table.board.values() if zeros & place.numbers and place.kind is not Kind.STRAIGHT]


def _coloured(table: Table, colour: Colour) -> list[str]:
    return [number for number in table.wheel.ascending if colour_of(number) is colour]


def _called(table: Table) -> dict[str, object]:
    """The call bets of a table that has them."""
    if not table.specific_rules.call_bets:
        return {}
    offered = call_bets.call_bets(table.wheel)
    numbers: dict[str, object] = {
        "neighbours": _listed(map(str, call_bets.NEIGHBOUR_COUNTS)),
        "neighbours_units": _listed(
            str(offered[f"neighbours-0-{neighbours}"].units) for neighbours in call_bets.NEIGHBOUR_COUNTS
        ),
        "long_final_units": offered["final-0"].units,
        "short_final_units": offered["final-9"].units,
    }
    for series in (call_bets.VOISINS, call_bets.TIERS, call_bets.ORPHELINS):
        covered = frozenset[str]().union(*(table.board[place].numbers for place, _ in series.components))
        numbers[f"{series.name}_units"] = series.units
        numbers[f"{series.name}_numbers"] = _listed(number for number in table.wheel.ascending if number in covered)
        numbers[f"{series.name}_chips"] = _listed(f"{units} × {place}" for place, units in series.components)
    return numbers


def _inactivity(configuration: types_pb2.TableConfiguration, language: Language) -> dict[str, object]:
    """The operator's numbers; the regulation's where he left them open."""
    policy = configuration.inactivity
    return {
        "idle": language.duration(1000 * (policy.idle_seconds or IDLE_SECONDS)),
        "missed_rounds": policy.missed_rounds or MISSED_ROUNDS,
        "warn_after": language.duration(1000 * (policy.warn_after_seconds or WARN_AFTER_SECONDS)),
        "end_after": language.duration(1000 * (policy.end_after_seconds or END_AFTER_SECONDS)),
    }


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
