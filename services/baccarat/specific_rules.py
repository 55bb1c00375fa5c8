"""Reads a table's specific rules from its configuration and checks them against the regulation."""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.message import DecodeError

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.baccarat.engine import CARDS_LIMIT, TERMS, Chance, Commission, SpecificRules, Table
from services.kit.cards.shoe import PACK
from services.kit.round_limits import STAKE_LIMIT_CENTS
from services.kit.table.refusals import invalid, rule_violated

REGULATION = "812/2015"
PACKS = (6, 8)
PLACES_LIMIT = 9
SCORES_WITH_COMMISSION = frozenset({5, 6})
# Ours, since no rule sets them: they keep every amount that is multiplied from them within an int64 (G11).
MINIMUM_LIMIT_CENTS = 1_000_000_00
PRIZE_CAP_LIMIT_CENTS = 1_000_000_000_00

_COMMISSIONS = {
    baccarat_pb2.COMMISSION_FIVE_PERCENT: Commission.FIVE_PERCENT,
    baccarat_pb2.COMMISSION_HALF_ON_SCORE: Commission.HALF,
}
_RULES = "configuration.rules"


def unpack(configuration: types_pb2.TableConfiguration) -> baccarat_pb2.SpecificRules:
    """Returns the part of a configuration that only baccarat knows."""
    message = baccarat_pb2.SpecificRules()
    try:
        is_readable = configuration.rules.Unpack(message)
    except DecodeError:
        is_readable = False
    if not is_readable:
        raise invalid(_RULES, f"have to be a `{message.DESCRIPTOR.full_name}`")
    return message


def read(configuration: types_pb2.TableConfiguration) -> SpecificRules:
    """Returns the specific rules; refuses what goes beyond the regulation, with the rule (`812/2015:P.2`)."""
    message = unpack(configuration)
    if configuration.regulation != REGULATION:
        raise invalid("configuration.regulation", f"has to be {REGULATION} for baccarat")
    _verify_packs(message.packs)
    _verify_places(configuration, message.places)
    _verify_minimum(message.minimum_cents)
    rules = SpecificRules(
        packs=message.packs,
        minimum_cents=message.minimum_cents,
        times_minimum=_times_minimum(message.maxima, macau=message.macau),
        pairs=not message.without_pairs,
        commission=_commission(message.commission),
        half_scores=_half_scores(message),
        macau=message.macau,
        prize_cap_cents=message.prize_cap_cents,
        player_maximum_cents=message.player_maximum_cents,
        cut_card=_cut_card(message),
    )
    _verify_prize_cap(rules)
    _verify_player_maximum(rules)
    _verify_banca_can_be_bet(rules)
    return rules


def _verify_packs(packs: int) -> None:
    if packs not in PACKS:
        rule = "812/2015:6.b"
        raise rule_violated(f"{_RULES}.packs", "6, 8", rule, f"The shoe has six or eight packs ({rule}).")


def _cut_card(message: baccarat_pb2.SpecificRules) -> int | None:
    """Returns after how many cards the cut card comes; the cards of a whole round lie behind it (C17, C25)."""
    cut_card, last = message.cut_card, len(PACK) * message.packs - CARDS_LIMIT
    if not 0 <= cut_card <= last:
        rule = "812/2015:20"
        sentence = f"Behind the cut card lie the {CARDS_LIMIT} cards that a round may take: it comes after 1 to {last}"
        raise rule_violated(f"{_RULES}.cut_card", 1 if cut_card < 0 else last, rule, f"{sentence} ({rule}).")
    return cut_card or None


def _verify_places(configuration: types_pb2.TableConfiguration, places: int) -> None:
    """Refuses more places than a table may have, and more seats than it has places: a player sits at one (C9)."""
    rule = "812/2015:6.a"
    if not 1 <= places <= PLACES_LIMIT:
        sentence = f"A table has 1 to {PLACES_LIMIT} places ({rule})."
        raise rule_violated(f"{_RULES}.places", 1 if places < 1 else PLACES_LIMIT, rule, sentence)
    if configuration.play == wallet_types.PLAY_MULTI_PLAYER and configuration.seats > places:
        sentence = f"No more players than places: {places} ({rule})."
        raise rule_violated("configuration.seats", places, rule, sentence)


def _verify_minimum(minimum_cents: int) -> None:
    if minimum_cents < 1:
        rule = "812/2015:14"
        raise rule_violated(f"{_RULES}.minimum_cents", 1, rule, f"The operator has to set a minimum bet ({rule}).")
    if minimum_cents > MINIMUM_LIMIT_CENTS:
        raise invalid(f"{_RULES}.minimum_cents", f"may be {MINIMUM_LIMIT_CENTS} at most")


def _times_minimum(maxima: Iterable[baccarat_pb2.ChanceMaximum], *, macau: bool) -> dict[Chance, int]:
    """Returns the operator's maxima, which may be lower than the ceilings and never higher; Macau has none (39, 40)."""
    maximum_of = dict[Chance, int]()
    for position, maximum in enumerate(maxima):
        path = f"{_RULES}.maxima[{position}]"
        if macau:
            rule = "812/2015:40"
            raise rule_violated(f"{_RULES}.maxima", "none", rule, f"In Macau no chance has a maximum ({rule}).")
        chance = next((each for each in Chance if each.value == maximum.chance), None)
        if chance is None or chance in maximum_of:
            raise invalid(f"{path}.chance", "has to be a chance, each of them once")
        terms = TERMS[chance]
        if not 1 <= maximum.times_minimum <= terms.ceiling:
            rule = f"812/2015:15.{terms.paragraph}"
            sentence = f"The maximum of `{chance}` is 1 to {terms.ceiling} times the minimum ({rule})."
            bound = 1 if maximum.times_minimum < 1 else terms.ceiling
            raise rule_violated(f"{path}.times_minimum", bound, rule, sentence)
        maximum_of[chance] = maximum.times_minimum
    return maximum_of


def _commission(number: int) -> Commission:
    """Returns the form of the commission; none is refused, for players would then win on average (C5)."""
    commission = _COMMISSIONS.get(baccarat_pb2.Commission.ValueType(number))
    if commission is None:
        rule = "812/2015:26"
        forms = ", ".join(baccarat_pb2.Commission.Name(each) for each in _COMMISSIONS)
        sentence = f"The commission on banca has one of two forms ({rule}); this software runs no table without one."
        raise rule_violated(f"{_RULES}.commission", forms, rule, sentence)
    return commission


def _half_scores(message: baccarat_pb2.SpecificRules) -> frozenset[int]:
    """Returns the scores whose prizes are halved: some with 26.b, none with 26.a, which excludes it (C4)."""
    scores = frozenset(message.half_scores)
    if message.commission == baccarat_pb2.COMMISSION_FIVE_PERCENT:
        if scores:
            rule = "812/2015:26"
            sentence = f"Five per cent of every prize and half of some are never charged together ({rule})."
            raise rule_violated(f"{_RULES}.half_scores", "none", rule, sentence)
    elif not scores or not scores <= SCORES_WITH_COMMISSION or len(scores) < len(message.half_scores):
        rule = "812/2015:26.b"
        raise rule_violated(f"{_RULES}.half_scores", "5, 6", rule, f"It is charged on 5, on 6, or on both ({rule}).")
    return scores


def _verify_prize_cap(rules: SpecificRules) -> None:
    """Refuses a cap outside Macau, and one that leaves some chance without any bet."""
    cap, field = rules.prize_cap_cents, f"{_RULES}.prize_cap_cents"
    if cap < 0 or cap > PRIZE_CAP_LIMIT_CENTS:
        raise invalid(field, f"has to be from 0 to {PRIZE_CAP_LIMIT_CENTS}")
    if not cap:
        return
    if not rules.macau:
        rule = "812/2015:41"
        raise rule_violated(field, 0, rule, f"Only in Macau prizes of a round are limited ({rule}).")
    shares = [("the tie", 10, "812/2015:43.b")]
    if rules.pairs:
        shares.append(("the pairs", 8, "812/2015:43.c"))
    for chances, percent, rule in shares:
        smallest = -(-100 * rules.minimum_cents // percent)
        if cap < smallest:
            sentence = f"With {percent} % of this amount nobody could bet the minimum on {chances} ({rule})."
            raise rule_violated(field, smallest, rule, sentence)
    table = Table(rules)
    if cap < (smallest := table.smallest_bet_cents(Chance.BANCA)):
        rule = "812/2015:43.a"
        raise rule_violated(field, smallest, rule, f"With this amount nobody could bet on banca ({rule}).")


def _verify_player_maximum(rules: SpecificRules) -> None:
    """Refuses Macau without what the platform can take of one player, and other tables with it."""
    maximum, field = rules.player_maximum_cents, f"{_RULES}.player_maximum_cents"
    if not rules.macau:
        if maximum:
            raise invalid(field, "has to be 0: here each chance has a maximum")
        return
    smallest = Table(rules).smallest_bet_cents(Chance.BANCA)
    if not smallest <= maximum <= STAKE_LIMIT_CENTS:
        raise invalid(field, f"has to be from {smallest} to {STAKE_LIMIT_CENTS} in Macau")


def _verify_banca_can_be_bet(rules: SpecificRules) -> None:
    """Refuses limits between which no multiple of banca's step lies (C6)."""
    table = Table(rules)
    smallest, maximum = table.smallest_bet_cents(Chance.BANCA), table.maximum_cents(Chance.BANCA)
    if maximum is not None and maximum < smallest:
        rule = "812/2015:9.b"
        sentence = (
            f"With these limits nobody could bet on banca, in multiples of {table.step_cents(Chance.BANCA)} ({rule})."
        )
        raise rule_violated(f"{_RULES}.minimum_cents", smallest, rule, sentence)
