"""Fills the rules that a game's players read with a table's own limits and times (804/2015:25), in each language.

A game brings one Markdown text per language. A part between `<!-- if multi invite -->` and `<!-- end -->` is kept for
tables of which all these conditions hold; `not` reverses the condition after it. The game adds its own conditions and
numbers to those that every table has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Template

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_pb2
from services.kit.table.configuration.specific_rules import END_AFTER_SECONDS, IDLE_SECONDS, MISSED_ROUNDS

# No rule sets the time from the invitation to the warning; this is what 0 stands for.
WARN_AFTER_SECONDS = 20

_NO_BREAK_SPACE = "\u00a0"
_CONDITION = re.compile(r"<!-- if (.+) -->")
_END = "<!-- end -->"


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes amounts, shares and durations."""

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
        """Writes a share with two decimals."""
        return self.percent_format.format(f"{100 * part / whole:.2f}".replace(".", self.decimal_mark))

    def duration(self, milliseconds: int) -> str:
        """Writes whole minutes as minutes, everything else as seconds."""
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


def language_of(requested: str) -> Language:
    """Returns the requested language, such as `en` or `en-GB`; Portuguese if it has no text (903-B/2015:6.1.6)."""
    return LANGUAGES.get(requested.partition("-")[0].lower(), PORTUGUESE)


def fill(text: str, conditions: Mapping[str, bool], values: Mapping[str, object]) -> str:
    """Keeps the parts of a text whose conditions hold, and fills the values in."""
    true = frozenset(name if holds else f"not {name}" for name, holds in conditions.items())
    filled = Template("\n".join(_kept_lines(text, true))).substitute(values)
    return re.sub(r"\n{3,}", "\n\n", filled).strip() + "\n"


def _kept_lines(text: str, true: frozenset[str]) -> Iterator[str]:
    keep = True
    for line in text.splitlines():
        if condition := _CONDITION.fullmatch(line):
            keep = true.issuperset(re.findall(r"(?:not )?\w+", condition[1]))
        elif line == _END:
            keep = True
        elif keep:
            yield line


def table_conditions(configuration: types_pb2.TableConfiguration) -> dict[str, bool]:
    """Returns the conditions that every game's text may use."""
    multi = configuration.play == wallet_pb2.PLAY_MULTI_PLAYER
    return {
        "multi": multi,
        "individual": not multi,
        "demo": configuration.mode == wallet_pb2.MODE_DEMO,
        "result_shown": configuration.result_shown_ms > 0,
        "cancel": not configuration.cancel_forbidden,
        "invite": configuration.inactivity.invite if configuration.HasField("inactivity") else True,
    }


def table_values(configuration: types_pb2.TableConfiguration, language: Language) -> dict[str, object]:
    """Returns the name, seats and times that every game's text may use; inactivity by the regulation if left open."""
    policy = configuration.inactivity
    return {
        "name": _name(configuration, language),
        "seats": configuration.seats,
        "betting_window": language.duration(configuration.betting_window_ms),
        "result_shown": language.duration(configuration.result_shown_ms),
        "idle": language.duration(1000 * (policy.idle_seconds or IDLE_SECONDS)),
        "missed_rounds": policy.missed_rounds or MISSED_ROUNDS,
        "warn_after": language.duration(1000 * (policy.warn_after_seconds or WARN_AFTER_SECONDS)),
        "end_after": language.duration(1000 * (policy.end_after_seconds or END_AFTER_SECONDS)),
    }


def _name(configuration: types_pb2.TableConfiguration, language: Language) -> str:
    """Returns the table's name, in Portuguese if it has no other."""
    names = {ENGLISH.code: configuration.name.en}
    return names.get(language.code) or configuration.name.pt or configuration.game
