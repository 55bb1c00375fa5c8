"""Reads the specific rules of a tournament from its configuration, and writes them with every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from google.protobuf.message import DecodeError

from feltro.poker.v1 import poker_pb2, tournament_rules_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.refusals import invalid
from services.kit.wire_format import timestamp
from services.poker.specific_rules import HeadsUpBlinds, Limit, Showdown
from services.poker.tournament.levels import Level
from services.poker.tournament.payouts import PayoutRow
from services.poker.tournament.price import Price
from services.poker.tournament.refusals import REGULATION, rule
from services.poker.tournament.specific_rules import (
    PORTUGUESE,
    Approval,
    CancelPolicy,
    FreerollTicket,
    InitialButton,
    PayWhen,
    RebuyWhen,
    Start,
    TicketPrize,
    TournamentRules,
    default_rules,
    verify,
)
from services.poker.variant import Variant

_Word = TypeVar("_Word")
_Message = tournament_rules_pb2.TournamentRules

_VARIANTS = {variant.regulation: variant for variant in Variant}
_STARTS = {
    Start.SCHEDULED: tournament_rules_pb2.TOURNAMENT_START_SCHEDULED,
    Start.ON_FULL: tournament_rules_pb2.TOURNAMENT_START_ON_FULL,
}
_WORDS: Mapping[str, Mapping[Any, int]] = {
    "limit": {
        Limit.NO_LIMIT: poker_pb2.LIMIT_NO_LIMIT,
        Limit.POT_LIMIT: poker_pb2.LIMIT_POT,
        Limit.HALF_POT: poker_pb2.LIMIT_HALF_POT,
        Limit.FIXED_RAISES: poker_pb2.LIMIT_FIXED_RAISES,
    },
    "start": _STARTS,
    "rebuy_when": {
        RebuyWhen.BUSTED: tournament_rules_pb2.REBUY_WHEN_BUSTED,
        RebuyWhen.AT_STARTING_STACK: tournament_rules_pb2.REBUY_WHEN_AT_STARTING_STACK,
    },
    "initial_button": {
        InitialButton.RANDOM: tournament_rules_pb2.INITIAL_BUTTON_RANDOM,
        InitialButton.SEAT_1: tournament_rules_pb2.INITIAL_BUTTON_FIRST_SEAT,
    },
    "cancel_policy": {
        CancelPolicy.LITERAL: tournament_rules_pb2.CANCEL_POLICY_LITERAL,
        CancelPolicy.NET_OF_AWARDED: tournament_rules_pb2.CANCEL_POLICY_NET_OF_AWARDED,
    },
    "pay_when": {
        PayWhen.ON_ELIMINATION: tournament_rules_pb2.PAY_WHEN_ON_ELIMINATION,
        PayWhen.AT_END: tournament_rules_pb2.PAY_WHEN_AT_END,
    },
    "heads_up_blinds": {
        HeadsUpBlinds.LITERAL: poker_pb2.HEADS_UP_BLINDS_LITERAL,
        HeadsUpBlinds.BUTTON_SMALL_BLIND: poker_pb2.HEADS_UP_BLINDS_BUTTON_SMALL_BLIND,
    },
    "freeroll_ticket": {
        FreerollTicket.NEW_TICKET: tournament_rules_pb2.FREEROLL_TICKET_NEW_TICKET,
        FreerollTicket.CASH: tournament_rules_pb2.FREEROLL_TICKET_CASH,
    },
    "showdown": {
        Showdown.REVEAL_ALL: poker_pb2.SHOWDOWN_REVEAL_ALL,
        Showdown.MUCK_LOSERS: poker_pb2.SHOWDOWN_MUCK_LOSERS,
    },
}
_APPROVALS = {
    Approval.NET_OF_AWARDED: tournament_rules_pb2.TOURNAMENT_APPROVAL_NET_OF_AWARDED,
    Approval.BUTTON_SMALL_BLIND: tournament_rules_pb2.TOURNAMENT_APPROVAL_BUTTON_SMALL_BLIND,
    Approval.SATELLITE_EARLY_STOP: tournament_rules_pb2.TOURNAMENT_APPROVAL_SATELLITE_EARLY_STOP,
}
# Numbers of which 0 means the default.
_NUMBERS = (
    "seats",
    "min_players",
    "max_players",
    "starting_stack",
    "reentry_until_level",
    "rebuy_until_level",
    "rebuy_chips",
    "rebuy_decision_seconds",
    "timed_minutes",
    "decision_time_seconds",
    "hand_for_hand_from",
    "max_raises_per_turn",
)
# Numbers of which 0 is the default.
_COUNTS = (
    "cancel_until_seconds",
    "reentries_max",
    "rebuys_max",
    "addons_max",
    "addon_after_level",
    "addon_chips",
    "guarantee_cents",
)
# Numbers of which 0 is a choice, and absence means the default.
_NUMBERS_WITH_ZERO = ("late_reg_until_level", "time_bank_seconds")


def read(configuration: types_pb2.TableConfiguration) -> tuple[TournamentRules, datetime | None]:
    """Returns the specific rules and the scheduled start; refuses what goes beyond the regulation, with the rule."""
    if configuration.regulation != REGULATION:
        raise invalid("configuration.regulation", f"has to be {REGULATION} for a tournament")
    if configuration.play != wallet_types.PLAY_TOURNAMENT:
        raise invalid("configuration.play", "has to be PLAY_TOURNAMENT for a tournament")
    message = _Message()
    try:
        unpacked = configuration.rules.Unpack(message)
    except DecodeError:
        unpacked = False
    if not unpacked:
        raise invalid("configuration.rules", f"has to hold a `{message.DESCRIPTOR.full_name}`")
    return read_message(message)


def targets_of(configuration: types_pb2.TableConfiguration) -> frozenset[str]:
    """Returns the tournaments that a tournament gives entries to, without verifying its rules once more."""
    message = _Message()
    configuration.rules.Unpack(message)
    return frozenset({message.satellite.tournament_id, message.replacement_tournament_id}) - {""}


def read_message(message: tournament_rules_pb2.TournamentRules) -> tuple[TournamentRules, datetime | None]:
    """Returns what a message lays down, verified."""
    variant = _VARIANTS.get(message.regulation)
    if variant is None:
        raise invalid("configuration.rules.regulation", f"has to be one of {', '.join(_VARIANTS)}")
    rules = verify(default_rules(variant, _price(message.price), **_chosen(message)))
    nets = rules.guarantee_cents and rules.cancel_policy is CancelPolicy.NET_OF_AWARDED
    if nets and rules.pay_when is not PayWhen.AT_END:
        # What the operator adds to a prize could not be told from what players have paid in (T-A-26).
        sentence = f"has to be PAY_WHEN_AT_END with a guarantee and this policy ({rule('54')} leaves it open)"
        raise invalid("configuration.rules.pay_when", sentence)
    for name in ("price", "rebuy_price", "addon_price"):
        price = getattr(rules, name)
        if price.fee_cents and not price.prize_cents + price.bounty_cents:
            sentence = f"has to have a part for prizes or bounties beside the fee ({rule('inf-03')} leaves it open)"
            raise invalid(f"configuration.rules.{name}", sentence)
    is_scheduled = rules.start is Start.SCHEDULED
    if is_scheduled is not message.HasField("starts_at"):
        needs = "is needed: a scheduled tournament has a time" if is_scheduled else "is none of a sit & go"
        raise invalid("configuration.rules.starts_at", f"{needs} ({rule('39')} leaves it open)")
    return rules, message.starts_at.ToDatetime(UTC) if is_scheduled else None


def _chosen(message: tournament_rules_pb2.TournamentRules) -> dict[str, object]:
    """Returns what an operator has chosen otherwise than the default."""
    chosen: dict[str, object] = {name: value for name in _NUMBERS if (value := getattr(message, name))}
    chosen |= {name: getattr(message, name) for name in _COUNTS}
    chosen |= {name: getattr(message, name) for name in _NUMBERS_WITH_ZERO if message.HasField(name)}  # type: ignore[arg-type]
    for name, numbers in _WORDS.items():
        if number := getattr(message, name):
            chosen[name] = _named(name, number, numbers)
    if message.levels:
        chosen["levels"] = tuple(
            Level(each.small_blind, each.big_blind, each.seconds, each.break_seconds) for each in message.levels
        )
    if message.payouts:
        chosen["payouts"] = tuple(PayoutRow(row.entries_up_to, tuple(row.bps)) for row in message.payouts)
    for name in ("rebuy_price", "addon_price"):
        if message.HasField(name):  # type: ignore[arg-type]
            chosen[name] = _price(getattr(message, name))
    if message.HasField("satellite"):
        prize = message.satellite
        shared = {"leftover_bps": tuple(prize.leftover_bps)} if prize.leftover_bps else {}
        chosen["satellite"] = TicketPrize(prize.tournament_id, prize.value_cents, **shared)
    chosen["satellite_stops_early"] = message.satellite_stops_early
    chosen["replacement_tournament"] = message.replacement_tournament_id
    if message.bet_units:
        chosen["bet_units"] = tuple(message.bet_units)
    chosen["languages"] = tuple(message.languages) or (PORTUGUESE,)
    chosen["approvals"] = frozenset(_named("approvals", number, _APPROVALS) for number in message.approvals)
    return chosen


def _named(field: str, number: int, numbers: Mapping[_Word, int]) -> _Word:
    for name, each in numbers.items():
        if each == number:
            return name
    raise invalid(f"configuration.rules.{field}", "has to be one of the values that the contract names")


def _price(message: tournament_rules_pb2.TournamentPrice) -> Price:
    return Price(message.prize_cents, message.fee_cents, message.bounty_cents)


def price_message(price: Price) -> tournament_rules_pb2.TournamentPrice:
    return tournament_rules_pb2.TournamentPrice(
        prize_cents=price.prize_cents, fee_cents=price.fee_cents, bounty_cents=price.bounty_cents
    )


def _satellite_message(prize: TicketPrize) -> tournament_rules_pb2.SatellitePrize:
    return tournament_rules_pb2.SatellitePrize(
        tournament_id=prize.tournament, value_cents=prize.value_cents, leftover_bps=prize.leftover_bps
    )


def message_of(rules: TournamentRules, starts_at: datetime | None) -> tournament_rules_pb2.TournamentRules:
    """Builds the message of specific rules, with every default filled in."""
    has_fixed_raises = rules.limit is Limit.FIXED_RAISES
    message = _Message(
        regulation=rules.variant.regulation,
        price=price_message(rules.price),
        levels=[
            tournament_rules_pb2.TournamentLevel(
                small_blind=level.small_blind,
                big_blind=level.big_blind,
                seconds=level.seconds,
                break_seconds=level.break_seconds,
            )
            for level in rules.levels
        ],
        payouts=[tournament_rules_pb2.PayoutRow(entries_up_to=row.entries_up_to, bps=row.bps) for row in rules.payouts],
        rebuy_price=price_message(rules.rebuy_price) if rules.rebuys_max else None,
        addon_price=price_message(rules.addon_price) if rules.addons_max else None,
        bet_units=rules.bet_units if has_fixed_raises else (),
        languages=rules.languages,
        approvals=sorted(_APPROVALS[each] for each in rules.approvals),
        satellite=None if rules.satellite is None else _satellite_message(rules.satellite),
        satellite_stops_early=rules.satellite_stops_early,
        replacement_tournament_id=rules.replacement_tournament or None,
    )
    for name, numbers in _WORDS.items():
        setattr(message, name, numbers[getattr(rules, name)])
    for name in (*_NUMBERS, *_COUNTS, *_NUMBERS_WITH_ZERO):
        value = getattr(rules, name)
        if value is not None and (has_fixed_raises or name != "max_raises_per_turn"):
            setattr(message, name, value)
    if starts_at is not None:
        message.starts_at.CopyFrom(timestamp(starts_at))
    return message
