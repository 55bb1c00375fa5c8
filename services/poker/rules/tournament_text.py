"""Writes the rules of a tournament that players read, with its own numbers and a glossary (810/2015:56 to 58)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from feltro.table.v1 import types_pb2
from services.kit.table.configuration import rules_template
from services.kit.table.configuration.rules_template import Language
from services.poker.specific_rules import Limit
from services.poker.tournament.specific_rules import CancelPolicy, FreerollTicket, PayWhen, Start, TournamentRules
from services.poker.variant import Variant

_TEXTS = Path(__file__).parent
_SECOND_MS, _MINUTE_MS = 1_000, 60_000


def render(configuration: types_pb2.TableConfiguration, rules: TournamentRules, language: str) -> str:
    """Returns the complete rules of a tournament, in Markdown."""
    chosen = rules_template.language_of(language)
    return rules_template.fill(
        template(chosen.code),
        rules_template.table_conditions(configuration) | _conditions(rules),
        rules_template.table_values(configuration, chosen) | _values(rules, chosen),
    )


@cache
def template(code: str) -> str:
    """Returns the text of one language as it is written, with its conditions and placeholders."""
    return (_TEXTS / f"tournament.{code}.md").read_text(encoding="utf-8")


def _conditions(rules: TournamentRules) -> dict[str, bool]:
    takes_cash = rules.freeroll_ticket is FreerollTicket.CASH
    return {
        "free": rules.is_freeroll,
        "satellite": rules.satellite is not None,
        "stops_early": rules.satellite_stops_early,
        "to_the_last": rules.timed_minutes is None and not rules.satellite_stops_early,
        # Nobody has won an entry to a free tournament.
        "freeroll_cash": takes_cash and not rules.is_freeroll,
        "freeroll_replaced": not takes_cash and bool(rules.replacement_tournament) and not rules.is_freeroll,
        "freeroll_refused": not takes_cash and not rules.replacement_tournament and not rules.is_freeroll,
        "scheduled": rules.start is Start.SCHEDULED,
        "late": rules.late_reg_until_level > 0,
        "reentries": rules.reentries_max > 0,
        "rebuys": rules.rebuys_max > 0,
        "addons": rules.addons_max > 0,
        "no_limit": rules.limit is Limit.NO_LIMIT,
        "pot_limit": rules.limit is Limit.POT_LIMIT,
        "half_pot": rules.limit is Limit.HALF_POT,
        "fixed_raises": rules.limit is Limit.FIXED_RAISES,
        "timed": rules.timed_minutes is not None,
        "guarantee": rules.guarantee_cents > 0,
        "at_end": rules.pay_when is PayWhen.AT_END,
        "net": rules.cancel_policy is CancelPolicy.NET_OF_AWARDED,
    }


def _values(rules: TournamentRules, language: Language) -> dict[str, object]:
    price = rules.price
    return {
        "game_name": "Hold'em" if rules.variant is Variant.HOLDEM else "Omaha",
        "regulation": rules.variant.regulation,
        "price": language.euros(price.total_cents),
        "price_prize": language.euros(price.prize_cents),
        "price_fee": language.euros(price.fee_cents),
        "price_bounty": language.euros(price.bounty_cents),
        "min_players": rules.min_players,
        "max_players": rules.max_players,
        "cancel_until": language.duration(rules.cancel_until_seconds * _SECOND_MS),
        "late_until": rules.late_reg_until_level,
        "reentries": rules.reentries_max,
        "reentry_until": rules.reentry_until_level,
        "rebuys": rules.rebuys_max,
        "rebuy_until": rules.rebuy_until_level,
        "rebuy_chips": rules.rebuy_chips,
        "rebuy_price": language.euros(rules.rebuy_price.total_cents),
        "rebuy_wait": language.duration(rules.rebuy_decision_seconds * _SECOND_MS),
        "addon_level": rules.addon_after_level,
        "addon_chips": rules.addon_chips,
        "addon_price": language.euros(rules.addon_price.total_cents),
        "starting_stack": rules.starting_stack,
        "levels": _levels(rules, language),
        "decision": language.duration(rules.decision_time_seconds * _SECOND_MS),
        "time_bank": language.duration(rules.time_bank_seconds * _SECOND_MS),
        "timed": language.duration((rules.timed_minutes or 0) * _MINUTE_MS),
        "payouts": _payouts(rules, language),
        "target": "" if rules.satellite is None else rules.satellite.tournament,
        "ticket": "" if rules.satellite is None else language.euros(rules.satellite.value_cents),
        "leftover": "" if rules.satellite is None else _shares(rules.satellite.leftover_bps, language),
        "replacement": rules.replacement_tournament,
        "guarantee": language.euros(rules.guarantee_cents),
    }


def _levels(rules: TournamentRules, language: Language) -> str:
    """Writes `10/20 (10 minutes), …`, a break after a level behind it."""
    written = []
    for level in rules.levels:
        length = language.duration(level.seconds * _SECOND_MS)
        rest = f" + {language.duration(level.break_seconds * _SECOND_MS)}" if level.break_seconds else ""
        written.append(f"{level.small_blind}/{level.big_blind} ({length}{rest})")
    return ", ".join(written)


def _payouts(rules: TournamentRules, language: Language) -> str:
    """Writes the largest field of each row, and the part of each of its places."""
    return "; ".join(f"≤ {row.entries_up_to}: {_shares(row.bps, language)}" for row in rules.payouts)


def _shares(bps: Sequence[int], language: Language) -> str:
    return ", ".join(language.percentage(each, 10_000) for each in bps)
