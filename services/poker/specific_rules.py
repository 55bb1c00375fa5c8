"""The operator's choices for a table (*regras específicas*), and the bounds of each: section 4 of the rulebook.

A value that a regulation forbids is refused with RULE_VIOLATED and the rule; one that a rule leaves to the operator,
and that is beyond what this platform offers, with INVALID and the rule that leaves it open.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from services.kit.table.caves.period import Period
from services.kit.table.refusals import TableRefused, invalid, specific_rule_violated
from services.poker import refusals
from services.poker.variant import Variant

# A table has 2 to 10 seats (4.a, 5), and needs two players (7).
FEWEST_SEATS, MOST_SEATS = 2, 10
# What the commission may be, in hundredths of a percent: of pots (17.a), of caves (17.b).
POT_COMMISSION_BPS, CAVE_COMMISSION_BPS = range(100, 501), range(500, 2001)
# Under this rate, rounding down takes small pots below the 1 % of 17.a.
UNROUNDED_COMMISSION_BPS = 200
# A smaller amount has no whole cent between 5 % and 20 % of it (17.b, A-13).
SMALLEST_CHARGED_CENTS = 5
# Ours, since no rule sets one: a hundred of such caves are far within an int64 (G11).
AMOUNT_LIMIT_CENTS = 1_000_000_000_00
# The invitation of 70.b comes after more than five hands without a bet, or fewer.
MOST_INACTIVE_HANDS = 5
ROUNDS = 4
# Ours, since 6.b leaves the time to the operator: no period is missed by a moment, and none goes on for ever.
SHORTEST_PERIOD, LONGEST_PERIOD = timedelta(minutes=15), timedelta(hours=24)
# What a time bank is refilled to, where an operator does not say it.
TIME_BANK_CAP_S = 60


class Limit(StrEnum):
    """The most that may be bet: the closed list of 24."""

    NO_LIMIT = "no_limit"  # sem limite (24.c)
    POT_LIMIT = "pot_limit"  # com limite de pote (24.b)
    HALF_POT = "limit_half_pot"  # com limite: half the pot (24.a)
    FIXED_RAISES = "limit_fixed_raises"  # com limite: a number of raises of a fixed size (24.a, 38)


class CommissionMode(StrEnum):
    """What the commission is taken from (17); a table has one of the two."""

    POT = "pot"
    CAVE = "cave"


class NoFlopNoDrop(StrEnum):
    """Which hands without voluntary betting are free of commission: the readings of 18 (A-10)."""

    ANY_PREFLOP_END = "any_preflop_end"
    WALK_ONLY = "walk_only"
    LITERAL = "literal"


class HeadsUpBlinds(StrEnum):
    """Who posts which blind when two play (A-01)."""

    LITERAL = "literal"
    BUTTON_SMALL_BLIND = "button_small_blind"


class Showdown(StrEnum):
    """Who turns cards up at the end (59)."""

    REVEAL_ALL = "reveal_all"
    MUCK_LOSERS = "muck_losers"


class EntryMode(StrEnum):
    """How a newcomer, or a player who is back, comes into the game (A-20)."""

    WAIT_FOR_BIG_BLIND = "wait_for_big_blind"
    IMMEDIATE = "immediate"
    WAIT_OR_VOLUNTARY_POST = "wait_or_voluntary_post"


class Approval(StrEnum):
    """What is allowed only where the regulator has expressly approved it, because a text speaks against it."""

    BUTTON_SMALL_BLIND = "button_small_blind"  # 48 knows no exception for two players
    COMMISSION_UNDER_2_PERCENT = "commission_under_2_percent"  # rounding takes less than 1 % of small pots
    COMMISSION_CAP = "commission_cap"  # 17 knows no cap


@dataclass(frozen=True, slots=True)
class SpecificRules:
    """What an operator lays down for a table. Amounts are cents; `verify` says whether a table may have it."""

    variant: Variant
    # The table's minimum bet (*aposta mínima*, 22).
    big_blind_cents: int
    small_blind_cents: int
    # The cave inicial (8): one amount, or a range.
    cave_min_cents: int
    cave_max_cents: int
    # What a *reposição* may bring a cave to (12, 14).
    top_up_to_min_cents: int
    top_up_to_max_cents: int
    limit: Limit
    commission_bps: int
    seats: int = 6
    # When a table in session mode is open (6.b); None for a table that always is (6.a).
    period: Period | None = None
    min_players: int = 2
    # With `FIXED_RAISES` only: raises after the opening bet of a round (38), and the size of bets, in big blinds.
    max_raises_per_turn: int = 3
    bet_units: tuple[int, int, int, int] = (1, 1, 2, 2)
    commission_mode: CommissionMode = CommissionMode.POT
    # From the account besides the cave; otherwise out of the cave.
    commission_on_top: bool = True
    commission_cap_cents: int | None = None
    # Whether a hand with an all-in player has one cap for all its payments.
    commission_cap_per_hand: bool = False
    no_flop_no_drop: NoFlopNoDrop = NoFlopNoDrop.ANY_PREFLOP_END
    decision_time_s: int = 20
    time_bank_s: int = 30
    time_bank_refill_s: int = 10
    time_bank_refill_hands: int = 10
    time_bank_cap_s: int = TIME_BANK_CAP_S
    disconnect_extra_s: int = 30
    # Hands decided only by timeouts after which a player sits out.
    auto_sitout_after: int = 2
    heads_up_blinds: HeadsUpBlinds = HeadsUpBlinds.LITERAL
    showdown: Showdown = Showdown.REVEAL_ALL
    entry_mode: EntryMode = EntryMode.WAIT_FOR_BIG_BLIND
    # A rest without losing the seat (68); 0 of either is not offered.
    rest_period_s: int = 600
    rest_per_hour: int = 1
    # Hands without a bet that may pass before the invitation (70.b).
    inactive_hands: int = MOST_INACTIVE_HANDS
    inactive_requires_absence: bool = True
    rebuy_grace_s: int = 60
    # How long a player who comes back has to bring what they left with.
    rathole_window_min: int = 60
    recovery_limit_s: int = 300
    gateway_pause_s: int = 120
    # Programs that players may use (11.f).
    allowed_aids: tuple[str, ...] = ()
    approvals: frozenset[Approval] = frozenset()
    # Whether a second account from a device or address that plays here is refused (`903-B/2015:6.6.1`).
    refuses_shared_devices: bool = False


def default_rules(variant: Variant, big_blind_cents: int, **chosen: object) -> SpecificRules:
    """Returns the recommended rules for a minimum bet, with what an operator has chosen otherwise; not verified."""
    cave_cents = 100 * big_blind_cents
    cave_min, cave_max = chosen.get("cave_min_cents", cave_cents), chosen.get("cave_max_cents", cave_cents)
    in_caves = chosen.get("commission_mode", CommissionMode.POT) is CommissionMode.CAVE
    defaults = {
        "small_blind_cents": big_blind_cents // 2,
        "cave_min_cents": cave_min,
        "cave_max_cents": cave_max,
        "top_up_to_min_cents": cave_min,
        "top_up_to_max_cents": cave_max,
        "limit": Limit.POT_LIMIT if variant is Variant.OMAHA else Limit.NO_LIMIT,
        "commission_bps": 1000 if in_caves else 500,
    }
    return SpecificRules(variant, big_blind_cents, **{**defaults, **chosen})  # type: ignore[arg-type]


def verify(rules: SpecificRules) -> SpecificRules:
    """Returns the rules if a table may have them; refuses them with the rule that is broken."""
    _verify_table(rules)
    _verify_blinds(rules)
    _verify_caves(rules)
    _verify_limit(rules)
    _verify_commission(rules)
    _verify_times(rules)
    return rules


def _verify_table(rules: SpecificRules) -> None:
    if not FEWEST_SEATS <= rules.seats <= MOST_SEATS:
        bound = FEWEST_SEATS if rules.seats < FEWEST_SEATS else MOST_SEATS
        raise _violated(rules, "seats", bound, "5", f"A table has {FEWEST_SEATS} to {MOST_SEATS} seats")
    if not FEWEST_SEATS <= rules.min_players <= rules.seats:
        bound = FEWEST_SEATS if rules.min_players < FEWEST_SEATS else rules.seats
        raise _violated(rules, "min_players", bound, "7", f"A table plays with {FEWEST_SEATS} to {rules.seats} players")
    if rules.period is not None:
        _verify_period(rules, rules.period)


def _verify_period(rules: SpecificRules, period: Period) -> None:
    if not SHORTEST_PERIOD <= period.ends_at - period.begins_at <= LONGEST_PERIOD:
        least, most = SHORTEST_PERIOD // timedelta(minutes=1), LONGEST_PERIOD // timedelta(hours=1)
        rule = rules.variant.rule("6.b")
        sentence = f"has to be from {least} minutes to {most} hours after `begins_at` ({rule} leaves it open)"
        raise invalid("configuration.rules.period.ends_at", sentence)


def _verify_blinds(rules: SpecificRules) -> None:
    _verify_open(rules, "big_blind_cents", 2, AMOUNT_LIMIT_CENTS, "22")
    if rules.small_blind_cents > rules.big_blind_cents:
        sentence = "The small blind is not above the big blind, which is the table's minimum bet"
        raise _violated(rules, "small_blind_cents", rules.big_blind_cents, "22", sentence)
    _verify_open(rules, "small_blind_cents", 1, rules.big_blind_cents, "22")


def _verify_caves(rules: SpecificRules) -> None:
    minimum = rules.big_blind_cents
    for field in ("cave_min_cents", "top_up_to_min_cents"):
        if getattr(rules, field) < minimum:
            raise _violated(rules, field, minimum, "15", "A cave is not below the table's minimum bet")
    _verify_open(rules, "cave_max_cents", rules.cave_min_cents, AMOUNT_LIMIT_CENTS, "14")
    _verify_open(rules, "top_up_to_min_cents", minimum, rules.top_up_to_max_cents, "14")
    _verify_open(rules, "top_up_to_max_cents", rules.top_up_to_min_cents, rules.cave_max_cents, "14")


def _verify_limit(rules: SpecificRules) -> None:
    standard = {field.name: field.default for field in dataclasses.fields(SpecificRules)}
    if rules.limit is not Limit.FIXED_RAISES:
        for field in ("max_raises_per_turn", "bet_units"):
            if getattr(rules, field) != standard[field]:
                sentence = "Only a table with a fixed number of raises limits their number and size"
                raise _violated(rules, field, f"{standard[field]}", "38", sentence)
    _verify_open(rules, "max_raises_per_turn", 1, 10, "38")
    if len(rules.bet_units) != ROUNDS:
        raise invalid("configuration.rules.bet_units", f"have to be {ROUNDS}, one for each betting round")
    if min(rules.bet_units) < 1:
        raise _violated(rules, "bet_units", 1, "23", "No bet is below the table's minimum bet")
    if max(rules.bet_units) > 100:
        raise invalid("configuration.rules.bet_units", "may be 100 big blinds at most")


def _verify_commission(rules: SpecificRules) -> None:
    in_pots = rules.commission_mode is CommissionMode.POT
    bounds, paragraph = (POT_COMMISSION_BPS, "17.a") if in_pots else (CAVE_COMMISSION_BPS, "17.b")
    if rules.commission_bps not in bounds:
        bound = bounds[0] if rules.commission_bps < bounds[0] else bounds[-1]
        sentence = f"The commission is from {bounds[0] // 100} % to {bounds[-1] // 100} %"
        raise _violated(rules, "commission_bps", bound, paragraph, sentence)
    if in_pots and rules.commission_bps < UNROUNDED_COMMISSION_BPS:
        sentence = "Rounded down to cents, a rate under 2 % would take less than 1 % of small pots"
        _verify_approved(
            rules, Approval.COMMISSION_UNDER_2_PERCENT, "commission_bps", UNROUNDED_COMMISSION_BPS, "17.a", sentence
        )
    if not in_pots and rules.cave_min_cents < SMALLEST_CHARGED_CENTS:
        sentence = "A smaller cave has no whole cent between 5 % and 20 % of it"
        raise _violated(rules, "cave_min_cents", SMALLEST_CHARGED_CENTS, "17.b", sentence)
    if rules.commission_cap_cents is None:
        return
    if not in_pots:
        raise _violated(rules, "commission_cap_cents", "", "17.b", "A commission on caves has no cap")
    _verify_approved(rules, Approval.COMMISSION_CAP, "commission_cap_cents", "", "17.a", "The commission has no cap")
    _verify_open(rules, "commission_cap_cents", 1, AMOUNT_LIMIT_CENTS, "17.a")


def _verify_times(rules: SpecificRules) -> None:
    if rules.heads_up_blinds is HeadsUpBlinds.BUTTON_SMALL_BLIND:
        sentence = "The first seat to the left of the button posts the small blind, whether two play or more"
        literal = HeadsUpBlinds.LITERAL.value
        _verify_approved(rules, Approval.BUTTON_SMALL_BLIND, "heads_up_blinds", literal, "48", sentence)
    if not 1 <= rules.inactive_hands <= MOST_INACTIVE_HANDS:
        bound = 1 if rules.inactive_hands < 1 else MOST_INACTIVE_HANDS
        sentence = f"The invitation comes after more than {MOST_INACTIVE_HANDS} hands without a bet, or fewer"
        raise _violated(rules, "inactive_hands", bound, "70.b", sentence)
    for field, low, high, paragraph in (
        ("decision_time_s", 5, 120, "43"),
        ("time_bank_s", 0, 300, "44"),
        ("time_bank_refill_s", 0, 300, "44"),
        ("time_bank_refill_hands", 1, 1000, "44"),
        ("time_bank_cap_s", rules.time_bank_s, 300, "44"),
        ("disconnect_extra_s", 0, 120, "44"),
        ("auto_sitout_after", 1, 5, "45"),
        ("rest_period_s", 0, 1800, "68"),
        ("rest_per_hour", 0, 4, "68"),
        ("rebuy_grace_s", 15, 300, "71"),
        ("rathole_window_min", 0, 1440, "8"),
        ("recovery_limit_s", 30, 900, "72"),
        ("gateway_pause_s", 30, 300, "72"),
    ):
        _verify_open(rules, field, low, high, paragraph)
    if not all(rules.allowed_aids):
        raise _violated(rules, "allowed_aids", "", "11.f", "Each aid that players may use is named")


def _verify_open(rules: SpecificRules, field: str, low: int, high: int, paragraph: str) -> None:
    """Refuses what the platform does not offer, though the rule leaves it to the operator."""
    value = getattr(rules, field)
    if not low <= value <= high:
        raise refusals.not_offered(field, value, low, high, rules.variant.rule(paragraph))


def _verify_approved(
    rules: SpecificRules, approval: Approval, field: str, bound: str | int, paragraph: str, sentence: str
) -> None:
    if approval not in rules.approvals:
        raise _violated(rules, field, bound, paragraph, f"{sentence}, unless the regulator has approved it expressly")


def _violated(rules: SpecificRules, field: str, bound: str | int, paragraph: str, sentence: str) -> TableRefused:
    return specific_rule_violated(field, bound, rules.variant.rule(paragraph), sentence)
