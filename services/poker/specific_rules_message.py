"""Reads a table's specific rules from its configuration, and writes them with every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.message import DecodeError

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.refusals import invalid
from services.poker.specific_rules import (
    CommissionMode,
    EntryMode,
    Limit,
    NoFlopNoDrop,
    SpecificRules,
    default_rules,
    verify,
)
from services.poker.variant import Variant

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
}
_NUMBERS = ("small_blind_cents", "max_raises_per_turn", "commission_bps", "auto_sitout_after")


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
    chosen: dict[str, object] = {name: value for name in _NUMBERS if (value := getattr(message, name))}
    least = message.cave_min_cents or 100 * message.big_blind_cents
    chosen |= {"cave_min_cents": least, "cave_max_cents": message.cave_max_cents or least}
    for name, numbers in (
        ("limit", _LIMITS),
        ("commission_mode", _COMMISSION_MODES),
        ("no_flop_no_drop", _NO_FLOP_NO_DROP),
        ("entry_mode", _ENTRY_MODES),
    ):
        number = getattr(message, name)
        if number:
            chosen[name] = _named(name, number, numbers)
    chosen["seats"] = configuration.seats
    chosen["decision_time_s"] = configuration.decision_ms // 1000
    return verify(default_rules(variant, message.big_blind_cents, **chosen))


def _named(field: str, number: int, numbers: Mapping[Any, int]) -> object:
    for name, each in numbers.items():
        if each == number:
            return name
    raise invalid(f"configuration.rules.{field}", "has to be one of the values that the contract names")


def message_of(rules: SpecificRules) -> poker_pb2.SpecificRules:
    """Builds the message of specific rules, with every default filled in."""
    return poker_pb2.SpecificRules(
        big_blind_cents=rules.big_blind_cents,
        small_blind_cents=rules.small_blind_cents,
        cave_min_cents=rules.cave_min_cents,
        cave_max_cents=rules.cave_max_cents,
        limit=_LIMITS[rules.limit],
        max_raises_per_turn=rules.max_raises_per_turn if rules.limit is Limit.FIXED_RAISES else 0,
        commission_mode=_COMMISSION_MODES[rules.commission_mode],
        commission_bps=rules.commission_bps,
        no_flop_no_drop=_NO_FLOP_NO_DROP[rules.no_flop_no_drop],
        entry_mode=_ENTRY_MODES[rules.entry_mode],
        auto_sitout_after=rules.auto_sitout_after,
    )
