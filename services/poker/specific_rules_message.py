"""Reads a table's specific rules from its configuration, and writes them with every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from google.protobuf.message import DecodeError
from google.protobuf.timestamp_pb2 import Timestamp

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.caves.period import Period
from services.kit.table.refusals import invalid
from services.poker.specific_rules import (
    TIME_BANK_CAP_S,
    Approval,
    CommissionMode,
    EntryMode,
    HeadsUpBlinds,
    Limit,
    NoFlopNoDrop,
    Showdown,
    SpecificRules,
    default_rules,
    verify,
)
from services.poker.variant import Variant

_Word = TypeVar("_Word")

_VARIANTS = {variant.regulation: variant for variant in Variant}
_LIMITS = {
    Limit.NO_LIMIT: poker_pb2.LIMIT_NO_LIMIT,
    Limit.POT_LIMIT: poker_pb2.LIMIT_POT,
    Limit.HALF_POT: poker_pb2.LIMIT_HALF_POT,
    Limit.FIXED_RAISES: poker_pb2.LIMIT_FIXED_RAISES,
}
_COMMISSION_MODES = {
    CommissionMode.POT: poker_pb2.COMMISSION_MODE_POT,
    CommissionMode.CAVE: poker_pb2.COMMISSION_MODE_CAVE,
}
_NO_FLOP_NO_DROP = {
    NoFlopNoDrop.ANY_PREFLOP_END: poker_pb2.NO_FLOP_NO_DROP_ANY_PREFLOP_END,
    NoFlopNoDrop.WALK_ONLY: poker_pb2.NO_FLOP_NO_DROP_WALK_ONLY,
    NoFlopNoDrop.LITERAL: poker_pb2.NO_FLOP_NO_DROP_LITERAL,
}
_ENTRY_MODES = {
    EntryMode.WAIT_FOR_BIG_BLIND: poker_pb2.ENTRY_MODE_WAIT_FOR_BIG_BLIND,
    EntryMode.IMMEDIATE: poker_pb2.ENTRY_MODE_IMMEDIATE,
    EntryMode.WAIT_OR_VOLUNTARY_POST: poker_pb2.ENTRY_MODE_WAIT_OR_VOLUNTARY_POST,
}
_HEADS_UP_BLINDS = {
    HeadsUpBlinds.LITERAL: poker_pb2.HEADS_UP_BLINDS_LITERAL,
    HeadsUpBlinds.BUTTON_SMALL_BLIND: poker_pb2.HEADS_UP_BLINDS_BUTTON_SMALL_BLIND,
}
_SHOWDOWNS = {
    Showdown.REVEAL_ALL: poker_pb2.SHOWDOWN_REVEAL_ALL,
    Showdown.MUCK_LOSERS: poker_pb2.SHOWDOWN_MUCK_LOSERS,
}
_APPROVALS = {
    Approval.BUTTON_SMALL_BLIND: poker_pb2.APPROVAL_BUTTON_SMALL_BLIND,
    Approval.COMMISSION_UNDER_2_PERCENT: poker_pb2.APPROVAL_COMMISSION_UNDER_2_PERCENT,
    Approval.COMMISSION_CAP: poker_pb2.APPROVAL_COMMISSION_CAP,
}
_WORDS: Mapping[str, Mapping[Any, int]] = {
    "limit": _LIMITS,
    "commission_mode": _COMMISSION_MODES,
    "no_flop_no_drop": _NO_FLOP_NO_DROP,
    "entry_mode": _ENTRY_MODES,
    "heads_up_blinds": _HEADS_UP_BLINDS,
    "showdown": _SHOWDOWNS,
}
# Numbers of which 0 means the default.
_NUMBERS = (
    "small_blind_cents",
    "max_raises_per_turn",
    "commission_bps",
    "commission_cap_cents",
    "auto_sitout_after",
    "min_players",
    "time_bank_refill_hands",
    "inactive_hands",
    "rebuy_grace_s",
    "recovery_limit_s",
    "gateway_pause_s",
)
# Numbers of which 0 is a choice, and absence means the default.
_NUMBERS_WITH_ZERO = (
    "time_bank_s",
    "time_bank_refill_s",
    "time_bank_cap_s",
    "disconnect_extra_s",
    "rest_period_s",
    "rest_per_hour",
    "rathole_window_min",
)


def read(configuration: types_pb2.TableConfiguration) -> SpecificRules:
    """Returns the specific rules; refuses what goes beyond the regulation, with the rule."""
    variant = _VARIANTS.get(configuration.regulation)
    if variant is None:
        raise invalid("configuration.regulation", f"has to be one of {', '.join(_VARIANTS)} for poker")
    if configuration.play != wallet_types.PLAY_POKER:
        raise invalid("configuration.play", "has to be PLAY_POKER for poker")
    message = poker_pb2.SpecificRules()
    try:
        unpacked = configuration.rules.Unpack(message)
    except DecodeError:
        unpacked = False
    if not unpacked:
        raise invalid("configuration.rules", f"has to hold a `{message.DESCRIPTOR.full_name}`")
    chosen = _chosen(message)
    chosen["seats"] = configuration.seats
    chosen["decision_time_s"] = configuration.decision_ms // 1000
    return verify(default_rules(variant, message.big_blind_cents, **chosen))


def _chosen(message: poker_pb2.SpecificRules) -> dict[str, object]:
    """Returns what an operator has chosen otherwise than the default."""
    chosen: dict[str, object] = {name: value for name in _NUMBERS if (value := getattr(message, name))}
    chosen |= {name: getattr(message, name) for name in _NUMBERS_WITH_ZERO if message.HasField(name)}  # type: ignore[arg-type]
    for name, numbers in _WORDS.items():
        if number := getattr(message, name):
            chosen[name] = _named(name, number, numbers)
    least = message.cave_min_cents or 100 * message.big_blind_cents
    most = message.cave_max_cents or least
    chosen |= {
        "cave_min_cents": least,
        "cave_max_cents": most,
        "top_up_to_min_cents": message.top_up_to_min_cents or least,
        "top_up_to_max_cents": message.top_up_to_max_cents or most,
        "commission_on_top": not message.commission_out_of_cave,
        "commission_cap_per_hand": message.commission_cap_per_hand,
        "inactive_requires_absence": not message.inactive_although_present,
        "allowed_aids": tuple(message.allowed_aids),
        "approvals": frozenset(_named("approvals", number, _APPROVALS) for number in message.approvals),
        "refuses_shared_devices": message.refuses_shared_devices,
    }
    if message.HasField("time_bank_s") and not message.HasField("time_bank_cap_s"):
        # A bank that begins with more than it may be refilled to by default stays as it is.
        chosen["time_bank_cap_s"] = max(message.time_bank_s, TIME_BANK_CAP_S)
    if message.HasField("period"):
        chosen["period"] = _period(message.period)
    if message.bet_units:
        chosen["bet_units"] = tuple(message.bet_units)
    return chosen


def _period(message: poker_pb2.Period) -> Period:
    return Period(_time(message, "begins_at"), _time(message, "ends_at"), completes_lap=not message.ends_with_hand)


def _time(message: poker_pb2.Period, name: Literal["begins_at", "ends_at"]) -> datetime:
    field = f"configuration.rules.period.{name}"
    if not message.HasField(name):
        raise invalid(field, "has to be set")
    at: Timestamp = getattr(message, name)
    try:
        return at.ToDatetime(UTC)
    except (ValueError, OverflowError):
        raise invalid(field, "has to be a time") from None


def _named(field: str, number: int, numbers: Mapping[_Word, int]) -> _Word:
    for name, each in numbers.items():
        if each == number:
            return name
    raise invalid(f"configuration.rules.{field}", "has to be one of the values that the contract names")


def message_of(rules: SpecificRules) -> poker_pb2.SpecificRules:
    """Builds the message of specific rules, with every default filled in."""
    has_fixed_raises = rules.limit is Limit.FIXED_RAISES
    message = poker_pb2.SpecificRules(
        big_blind_cents=rules.big_blind_cents,
        cave_min_cents=rules.cave_min_cents,
        cave_max_cents=rules.cave_max_cents,
        top_up_to_min_cents=rules.top_up_to_min_cents,
        top_up_to_max_cents=rules.top_up_to_max_cents,
        bet_units=rules.bet_units if has_fixed_raises else (),
        commission_out_of_cave=not rules.commission_on_top,
        commission_cap_per_hand=rules.commission_cap_per_hand,
        inactive_although_present=not rules.inactive_requires_absence,
        allowed_aids=rules.allowed_aids,
        approvals=sorted(_APPROVALS[each] for each in rules.approvals),
        refuses_shared_devices=rules.refuses_shared_devices,
    )
    if rules.period is not None:
        message.period.begins_at.FromDatetime(rules.period.begins_at)
        message.period.ends_at.FromDatetime(rules.period.ends_at)
        message.period.ends_with_hand = not rules.period.completes_lap
    for name, numbers in _WORDS.items():
        setattr(message, name, numbers[getattr(rules, name)])
    for name in (*_NUMBERS, *_NUMBERS_WITH_ZERO):
        value = getattr(rules, name)
        if value is not None and (has_fixed_raises or name != "max_raises_per_turn"):
            setattr(message, name, value)
    return message
