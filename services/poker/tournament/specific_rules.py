"""The operator's choices for a tournament (*regras específicas*), and the bounds of each: section 4 of the rulebook.

What the regulation forbids is refused with RULE_VIOLATED and the rule; what a rule leaves to the operator, and is
beyond what this platform offers, with INVALID and the rule that leaves it open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from services.kit.table.refusals import TableRefused, invalid, specific_rule_violated
from services.poker import refusals
from services.poker import specific_rules as hand_rules
from services.poker.specific_rules import HeadsUpBlinds, Limit, Showdown
from services.poker.tournament.levels import Level, default_levels
from services.poker.tournament.payouts import DEFAULT_PAYOUTS, WHOLE_BPS, PayoutRow
from services.poker.tournament.price import FREE, Price
from services.poker.tournament.refusals import rule
from services.poker.variant import Variant

FEWEST_PLAYERS = 2
# Ours, since no rule sets one (G11).
MOST_PLAYERS = 10_000
MOST_CHIPS = 100_000_000
MOST_CENTS = 1_000_000_00
MOST_PRIZES_CENTS = 1_000_000_000_00
MOST_LEVELS = 100
MOST_EXTRAS = 100
PORTUGUESE = "pt-PT"


class Start(StrEnum):
    """When a tournament begins."""

    SCHEDULED = "scheduled"  # à hora marcada (24, 39; inf-05)
    ON_FULL = "on_full"  # sit & go: as soon as all places are taken (inf-04)


class RebuyWhen(StrEnum):
    """When a player may rebuy (inf-08)."""

    BUSTED = "busted"
    # With the starting stack or less, too.
    AT_STARTING_STACK = "at_starting_stack"


class InitialButton(StrEnum):
    """How the first button of a table is found (40, T-A-08)."""

    RANDOM = "random"
    SEAT_1 = "seat_1"


class CancelPolicy(StrEnum):
    """What happens to prizes already earned when a tournament is cancelled (36.c, T-A-04)."""

    LITERAL = "literal"
    NET_OF_AWARDED = "net_of_awarded"


class FreerollTicket(StrEnum):
    """What a player gets for an entry won in a freeroll when the tournament is cancelled (30, 37, T-A-03)."""

    NEW_TICKET = "new_ticket"
    CASH = "cash"


class PayWhen(StrEnum):
    """When prizes are credited (54, T-A-17)."""

    ON_ELIMINATION = "on_elimination"
    AT_END = "at_end"


class Approval(StrEnum):
    """What is allowed only where the regulator has expressly approved it."""

    NET_OF_AWARDED = "net_of_awarded"  # 36 as written distributes what was earned once more (T-A-04)
    SATELLITE_EARLY_STOP = "satellite_early_stop"  # 52 ends a tournament with one player (T-A-16)
    BUTTON_SMALL_BLIND = "button_small_blind"  # 806/2015:48 knows no exception for two players (T-A-29)


@dataclass(frozen=True, slots=True)
class TicketPrize:
    """A satellite's prize: the right to enter one predetermined later tournament (32)."""

    tournament: str
    value_cents: int
    # What the cash that is left over is divided by among the next places; whole to the next one by default (T-A-16).
    leftover_bps: tuple[int, ...] = (WHOLE_BPS,)


@dataclass(frozen=True, slots=True)
class TournamentRules:
    """What an operator lays down for a tournament. `verify` says whether a tournament may have it."""

    variant: Variant
    limit: Limit
    price: Price
    start: Start = Start.SCHEDULED
    # Seats of a table (806/2015:5).
    seats: int = 9
    min_players: int = FEWEST_PLAYERS
    max_players: int = MOST_PLAYERS
    # The same chips for everybody, whenever they enter (41, T-A-20).
    starting_stack: int = 1500
    levels: tuple[Level, ...] = field(default_factory=default_levels)
    # How long before the scheduled start a registration can no longer be taken back (24).
    cancel_until_seconds: int = 0
    # The last level in which players may register late, re-enter and rebuy (23); the break after it included.
    late_reg_until_level: int = 6
    reentries_max: int = 0
    reentry_until_level: int = 6
    rebuys_max: int = 0
    rebuy_until_level: int = 6
    rebuy_when: RebuyWhen = RebuyWhen.BUSTED
    rebuy_price: Price = FREE
    rebuy_chips: int = 0
    rebuy_decision_seconds: int = 30
    # One or more blocks of chips for everybody in the break after a level (inf-10).
    addons_max: int = 0
    addon_after_level: int = 0
    addon_price: Price = FREE
    addon_chips: int = 0
    payouts: tuple[PayoutRow, ...] = DEFAULT_PAYOUTS
    # What the pool is at least; the operator adds what is missing (inf-19). A freeroll's pool is this alone (inf-14).
    guarantee_cents: int = 0
    satellite: TicketPrize | None = None
    satellite_stops_early: bool = False
    # Minutes after which the last lap begins (33, 52); None: play ends with one player.
    timed_minutes: int | None = None
    cancel_policy: CancelPolicy = CancelPolicy.LITERAL
    freeroll_ticket: FreerollTicket = FreerollTicket.NEW_TICKET
    # The tournament for which a new ticket is issued then, named before anybody enters by such a ticket (32).
    replacement_tournament: str = ""
    initial_button: InitialButton = InitialButton.RANDOM
    decision_time_seconds: int = 15
    time_bank_seconds: int = 30
    # Players left from which tables play hand for hand (49); None: one more than the paid places.
    hand_for_hand_from: int | None = None
    balance_trigger: int = 1
    pay_when: PayWhen = PayWhen.ON_ELIMINATION
    # With `FIXED_RAISES` only (806/2015:38).
    max_raises_per_turn: int = 3
    bet_units: tuple[int, int, int, int] = (1, 1, 2, 2)
    heads_up_blinds: HeadsUpBlinds = HeadsUpBlinds.LITERAL
    showdown: Showdown = Showdown.REVEAL_ALL
    languages: tuple[str, ...] = (PORTUGUESE,)
    approvals: frozenset[Approval] = frozenset()

    @property
    def is_freeroll(self) -> bool:
        """Whether entering is free (inf-14)."""
        return self.price.total_cents == 0

    @property
    def is_freezeout(self) -> bool:
        """Whether there is one entry for each, and no more chips (inf-07)."""
        return not (self.rebuys_max or self.reentries_max or self.addons_max)

    @property
    def last_open_level(self) -> int:
        """The last level in which the pool can grow; it is frozen when the next one begins (T-A-21)."""
        return max(
            self.late_reg_until_level,
            self.reentry_until_level if self.reentries_max else 0,
            self.rebuy_until_level if self.rebuys_max else 0,
            self.addon_after_level if self.addons_max else 0,
        )


def default_rules(variant: Variant, price: Price, **chosen: object) -> TournamentRules:
    """Returns the recommended rules with what an operator has chosen otherwise; not verified."""
    defaults: dict[str, object] = {"limit": Limit.POT_LIMIT if variant is Variant.OMAHA else Limit.NO_LIMIT}
    if chosen.get("start") is Start.ON_FULL:
        # All places are taken when it starts.
        defaults |= {"late_reg_until_level": 0, "max_players": chosen.get("seats", 9)}
    if chosen.get("rebuys_max"):
        defaults |= {"rebuy_price": price._replace(bounty_cents=0), "rebuy_chips": chosen.get("starting_stack", 1500)}
    return TournamentRules(variant, price=price, **{**defaults, **chosen})  # type: ignore[arg-type]


def verify(rules: TournamentRules) -> TournamentRules:
    """Returns the rules if a tournament may have them; refuses them with the rule that is broken."""
    _verify_field(rules)
    _verify_levels(rules)
    _verify_more_chips(rules)
    _verify_prizes(rules)
    _verify_satellite(rules)
    _verify_course(rules)
    for level in {rules.levels[0], rules.levels[-1]}:
        # The rules of the hands have bounds of their own (55).
        hand_rules.verify(rules_of_hands(rules, level))
    return rules


def rules_of_hands(rules: TournamentRules, level: Level) -> hand_rules.SpecificRules:
    """Returns the rules by which hands of a level are played: 55, less what section 3 of the rulebook takes out.

    Amounts are chips. Nothing is taken of a pot: the fee is inside the entry (806/2015:16 to 19 do not carry over), and
    whoever arrives is dealt in at once (T-A-12).
    """
    approvals = set()
    if Approval.BUTTON_SMALL_BLIND in rules.approvals:
        approvals.add(hand_rules.Approval.BUTTON_SMALL_BLIND)
    return hand_rules.default_rules(
        rules.variant,
        level.big_blind,
        small_blind_cents=level.small_blind,
        limit=rules.limit,
        commission_mode=hand_rules.CommissionMode.CAVE,
        seats=rules.seats,
        max_raises_per_turn=rules.max_raises_per_turn,
        bet_units=rules.bet_units,
        decision_time_s=rules.decision_time_seconds,
        time_bank_s=rules.time_bank_seconds,
        time_bank_cap_s=max(hand_rules.TIME_BANK_CAP_S, rules.time_bank_seconds),
        # 43 is stricter than the cash rule: the first decision that is missed (T-A-09).
        auto_sitout_after=1,
        heads_up_blinds=rules.heads_up_blinds,
        showdown=rules.showdown,
        entry_mode=hand_rules.EntryMode.IMMEDIATE,
        rest_period_s=0,
        rest_per_hour=0,
        approvals=frozenset(approvals),
    )


def _verify_field(rules: TournamentRules) -> None:
    if rules.min_players < FEWEST_PLAYERS:
        raise _violated("min_players", FEWEST_PLAYERS, "35", f"A tournament has {FEWEST_PLAYERS} participants at least")
    _verify_open(rules, "max_players", rules.min_players, MOST_PLAYERS, "inf-17")
    _verify_open(rules, "starting_stack", rules.levels[0].big_blind if rules.levels else 1, MOST_CHIPS, "41")
    _verify_price("price", rules.price)
    if rules.cancel_until_seconds < 0:
        sentence = "A registration can be taken back until the scheduled start at the latest"
        raise _violated("cancel_until_seconds", 0, "24", sentence)
    if PORTUGUESE not in rules.languages:
        raise _violated("languages", PORTUGUESE, "56", "Rules and instructions are in Portuguese")


def _verify_levels(rules: TournamentRules) -> None:
    levels = rules.levels
    if not 1 <= len(levels) <= MOST_LEVELS:
        raise invalid(_field("levels"), f"have to be 1 to {MOST_LEVELS} ({rule('45')} leaves it open)")
    for level in levels:
        if not 1 <= level.small_blind <= level.big_blind:
            raise _violated("levels", level.big_blind, "46", "A small blind is not above the big blind")
        if level.ante:
            raise _violated("levels", 0, "46", "Blinds are the only compulsory bets (806/2015:21)")
        if level.seconds < 1 or level.break_seconds < 0:
            raise invalid(_field("levels"), f"last a second at least ({rule('45')} leaves it open)")
    for before, after in pairwise(levels):
        if after.small_blind < before.small_blind or after.big_blind < before.big_blind:
            raise _violated("levels", before.big_blind, "46", "Blinds do not fall from level to level")


def _verify_more_chips(rules: TournamentRules) -> None:
    for name in ("rebuys_max", "reentries_max", "addons_max"):
        _verify_open(rules, name, 0, MOST_EXTRAS, "23")
    for name, is_used in (
        ("late_reg_until_level", True),
        ("reentry_until_level", rules.reentries_max),
        ("rebuy_until_level", rules.rebuys_max),
    ):
        if is_used:
            # The last level has no end: the pool could never be frozen.
            _verify_open(rules, name, 0, len(rules.levels) - 1, "23")
    _verify_open(rules, "rebuy_decision_seconds", 10, 60, "31")
    for what, count in (("rebuy", rules.rebuys_max), ("addon", rules.addons_max)):
        if count:
            _verify_price(f"{what}_price", getattr(rules, f"{what}_price"))
            _verify_open(rules, f"{what}_chips", 1, MOST_CHIPS, "23")
            if getattr(rules, f"{what}_price").bounty_cents:
                raise _violated(f"{what}_price", 0, "34", "A bounty belongs to an entry")
    if rules.addons_max and not (
        1 <= rules.addon_after_level < len(rules.levels) and rules.levels[rules.addon_after_level - 1].break_seconds
    ):
        raise _violated("addon_after_level", "", "23", "Add-ons are sold in a break, after a level that has one")


def _verify_prizes(rules: TournamentRules) -> None:
    _verify_open(rules, "guarantee_cents", 0, MOST_PRIZES_CENTS, "34")
    if rules.is_freeroll and not rules.guarantee_cents:
        raise _violated("guarantee_cents", 1, "34", "The operator funds the prizes of a free tournament")
    if not rules.payouts:
        raise _violated("payouts", 1, "34", "At least one place is paid")
    entries = 0
    for row in rules.payouts:
        if row.entries_up_to <= entries:
            raise invalid(_field("payouts"), "go from small fields to large ones")
        if not row.bps or sum(row.bps) != WHOLE_BPS:
            raise _violated("payouts", WHOLE_BPS, "34", "The parts of the paid places are the whole pool")
        if min(row.bps) < 0 or any(after > before for before, after in pairwise(row.bps)):
            raise _violated("payouts", "", "34", "No place is paid more than a better one")
        if len(row.bps) > max(entries + 1, FEWEST_PLAYERS):
            raise _violated("payouts", entries + 1, "33", "No more places are paid than there are entries")
        entries = row.entries_up_to


def _verify_satellite(rules: TournamentRules) -> None:
    prize = rules.satellite
    if prize is None:
        if rules.satellite_stops_early:
            raise _violated("satellite_stops_early", "", "52", "A tournament ends when one player has all chips")
        return
    if not prize.tournament:
        raise _violated("satellite", "", "32", "An entry that is won is one to a predetermined tournament")
    if not 1 <= prize.value_cents <= MOST_CENTS:
        raise invalid(_field("satellite"), f"is worth 1 to {MOST_CENTS} cents ({rule('32')} leaves it open)")
    bps = prize.leftover_bps
    if not bps or sum(bps) != WHOLE_BPS or min(bps) < 0 or any(after > before for before, after in pairwise(bps)):
        raise _violated("satellite", WHOLE_BPS, "34", "What is left over is divided as published, and all of it")
    if rules.satellite_stops_early:
        sentence = "A tournament ends when one player has all chips"
        _verify_approved(rules, Approval.SATELLITE_EARLY_STOP, "satellite_stops_early", "52", sentence)


def _verify_course(rules: TournamentRules) -> None:
    if rules.cancel_policy is CancelPolicy.NET_OF_AWARDED:
        sentence = "What the eliminated have paid for prizes is divided among the players still in"
        _verify_approved(rules, Approval.NET_OF_AWARDED, "cancel_policy", "36.c", sentence)
    if rules.heads_up_blinds is HeadsUpBlinds.BUTTON_SMALL_BLIND:
        sentence = "The first seat to the left of the button posts the small blind, whether two play or more"
        _verify_approved(rules, Approval.BUTTON_SMALL_BLIND, "heads_up_blinds", "55", sentence)
    most_places = max(len(row.bps) for row in rules.payouts)
    if rules.hand_for_hand_from is not None and rules.hand_for_hand_from <= most_places:
        sentence = "Tables play hand for hand before the paid places are reached"
        raise _violated("hand_for_hand_from", most_places + 1, "49", sentence)
    if rules.balance_trigger != 1:
        raise _violated("balance_trigger", 1, "47", "Tables have the same number of players, or as near as possible")
    if rules.timed_minutes is not None:
        _verify_open(rules, "timed_minutes", 1, 60 * 24, "52")
    _verify_open(rules, "decision_time_seconds", 5, 120, "42")
    _verify_open(rules, "time_bank_seconds", 0, 300, "42")


def _verify_price(name: str, price: Price) -> None:
    if min(price) < 0 or price.total_cents > MOST_CENTS:
        sentence = f"has parts of 0 cents or more, {MOST_CENTS} together at most ({rule('inf-03')} leaves it open)"
        raise invalid(_field(name), sentence)


def _verify_open(rules: TournamentRules, name: str, low: int, high: int, paragraph: str) -> None:
    """Refuses what the platform does not offer, though the rule leaves it to the operator."""
    value = getattr(rules, name)
    if not low <= value <= high:
        raise refusals.not_offered(name, value, low, high, rule(paragraph))


def _verify_approved(rules: TournamentRules, approval: Approval, name: str, paragraph: str, sentence: str) -> None:
    if approval not in rules.approvals:
        raise _violated(name, "", paragraph, f"{sentence}, unless the regulator has approved it expressly")


def _violated(name: str, bound: str | int, paragraph: str, sentence: str) -> TableRefused:
    return specific_rule_violated(name, bound, rule(paragraph), sentence)


def _field(name: str) -> str:
    """The path of a field from the request that configures a tournament."""
    return f"configuration.rules.{name}"
