"""Reads a table's specific rules from its configuration and checks them against the regulation."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.blackjack.engine import MAXIMUM_TIMES_MINIMUM, SpecificRules
from services.kit.cards.shoe import PACK
from services.kit.table.refusals import TableRefused, invalid, rule_violated, specific_rule_violated

REGULATION = "805/2015"
PACKS = (4, 6, 8)
PLACES_LIMIT = 7
# The smallest step in which a half of every bet is whole cents (B19).
SMALLEST_STEP_CENTS = 2
# Ours, since no rule sets one: keeps every amount that is multiplied from it within an int64 (G11).
MINIMUM_LIMIT_CENTS = 1_000_000_00
# More often than the cards of a shoe let a place be split (G11).
SPLITS_LIMIT = 100


def read(configuration: types_pb2.TableConfiguration) -> SpecificRules:
    """Returns the specific rules; refuses what goes beyond the regulation, with the rule (`805/2015:P.2`)."""
    if configuration.regulation != REGULATION:
        raise invalid("configuration.regulation", f"has to be {REGULATION} for blackjack")
    message = _unpacked(configuration)
    places = _places(configuration, message.places)
    step_cents = _step_cents(message.step_cents)
    minimum_cents = _minimum_cents(message.minimum_cents, step_cents)
    packs = _packs(message.packs)
    return SpecificRules(
        packs=packs,
        places=places,
        places_per_player=_places_per_player(message.places_per_player, places),
        minimum_cents=minimum_cents,
        maximum_cents=_maximum_cents(message.maximum_cents, minimum_cents, step_cents),
        step_cents=step_cents,
        double_any_score=message.double_any_score,
        split_pairs_only=message.split_pairs_only,
        splits_limit=_splits_limit(message.splits_limit),
        insurance=not message.without_insurance,
        special_prizes=not message.without_special_prizes,
        cut_card=_cut_card(message.cut_card, packs),
    )


def message(rules: SpecificRules) -> blackjack_pb2.SpecificRules:
    """Builds the message of specific rules, with every default filled in."""
    return blackjack_pb2.SpecificRules(
        packs=rules.packs,
        places=rules.places,
        places_per_player=rules.places_per_player,
        minimum_cents=rules.minimum_cents,
        maximum_cents=rules.maximum_cents,
        step_cents=rules.step_cents,
        double_any_score=rules.double_any_score,
        split_pairs_only=rules.split_pairs_only,
        splits_limit=rules.splits_limit or 0,
        without_insurance=not rules.insurance,
        without_special_prizes=not rules.special_prizes,
        cut_card=rules.cut_card or 0,
    )


def _unpacked(configuration: types_pb2.TableConfiguration) -> blackjack_pb2.SpecificRules:
    rules = blackjack_pb2.SpecificRules()
    try:
        is_readable = configuration.rules.Unpack(rules)
    except DecodeError:
        is_readable = False
    if not is_readable:
        raise invalid("configuration.rules", f"have to be a `{rules.DESCRIPTOR.full_name}`")
    return rules


def _packs(packs: int) -> int:
    if packs not in PACKS:
        bound = ", ".join(map(str, PACKS))
        raise _violated("packs", bound, "4.b", f"The shoe has one of {bound} packs")
    return packs


def _cut_card(cut_card: int, packs: int) -> int | None:
    """Returns after how many cards the cut card comes; a pack lies behind it, more than a round takes (B23)."""
    last = len(PACK) * (packs - 1)
    if not 0 <= cut_card <= last:
        sentence = (
            f"In a shoe of {packs} packs the cut card has a whole pack behind it: it comes after 1 to {last} cards"
        )
        raise _violated("cut_card", 1 if cut_card < 0 else last, "4.b", sentence)
    return cut_card or None


def _places(configuration: types_pb2.TableConfiguration, places: int) -> int:
    if not 1 <= places <= PLACES_LIMIT:
        bound = 1 if places < 1 else PLACES_LIMIT
        raise _violated("places", bound, "4.a", f"A table has 1 to {PLACES_LIMIT} places")
    if configuration.play == wallet_types.PLAY_MULTI_PLAYER and configuration.seats > places:
        # A seat is a place: everybody who sits here can bet.
        rule = f"{REGULATION}:4.a"
        sentence = f"A table of {places} places seats {places} players at most ({rule})."
        raise rule_violated("configuration.seats", places, rule, sentence)
    return places


def _places_per_player(allowed: int, places: int) -> int:
    if not 0 <= allowed <= places:
        bound = 1 if allowed < 0 else places
        raise _violated("places_per_player", bound, "7", f"A player may bet on 1 to {places} places of this table")
    return allowed or 1


def _step_cents(step_cents: int) -> int:
    if step_cents < 0 or step_cents % SMALLEST_STEP_CENTS:
        sentence = "Bets lie in even steps, or three halves and a half of a bet could not be paid"
        raise _violated("step_cents", SMALLEST_STEP_CENTS, "25.a", sentence)
    return step_cents or SMALLEST_STEP_CENTS


def _minimum_cents(minimum_cents: int, step_cents: int) -> int:
    if minimum_cents < 1:
        raise _violated("minimum_cents", step_cents, "10", "The operator has to set a minimum bet")
    if minimum_cents > MINIMUM_LIMIT_CENTS:
        raise invalid("configuration.rules.minimum_cents", f"may be {MINIMUM_LIMIT_CENTS} at most")
    _verify_step("minimum_cents", minimum_cents, step_cents)
    return minimum_cents


def _maximum_cents(maximum_cents: int, minimum_cents: int, step_cents: int) -> int:
    if maximum_cents < minimum_cents:
        sentence = "The operator has to set a maximum bet, and it is not below the minimum"
        raise _violated("maximum_cents", minimum_cents, "10", sentence)
    ceiling_cents = MAXIMUM_TIMES_MINIMUM * minimum_cents
    if maximum_cents > ceiling_cents:
        sentence = f"The maximum is {MAXIMUM_TIMES_MINIMUM} times the minimum at most"
        raise _violated("maximum_cents", ceiling_cents, "11", sentence)
    _verify_step("maximum_cents", maximum_cents, step_cents)
    return maximum_cents


def _verify_step(field: str, cents: int, step_cents: int) -> None:
    """Refuses a limit that no bet could reach: what is published can be bet."""
    if cents % step_cents:
        bound = cents // step_cents * step_cents or step_cents
        raise _violated(field, bound, "25.a", f"Bets lie in steps of {step_cents} cents, which {cents} is not one of")


def _splits_limit(splits: int) -> int | None:
    """Returns how often a place may be split; splitting cannot be abolished, so that 0 means without limit (16.c)."""
    if splits < 0:
        raise _violated("splits_limit", 1, "16.c", "The number of splits may be limited, to 1 at least")
    if splits > SPLITS_LIMIT:
        raise invalid("configuration.rules.splits_limit", f"may be {SPLITS_LIMIT} at most")
    return splits or None


def _violated(field: str, bound: str | int, paragraph: str, sentence: str) -> TableRefused:
    return specific_rule_violated(field, bound, f"{REGULATION}:{paragraph}", sentence)
