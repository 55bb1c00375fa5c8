"""Poker in a simulated world."""

from __future__ import annotations

from collections import Counter
from typing import Any

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.game import DealtRound
from services.poker.dealt_hand import DealtPoker
from services.poker.game import PokerGame
from tests.simulation.environment.games import SimulatedGame


def seen_cards(dealt: DealtRound[Any, Any]) -> Counter[str]:
    """Returns the cards that lie face up, each as often as one view may name it: alone and in the best five."""
    assert isinstance(dealt, DealtPoker)
    hand = dealt.hand
    shown = () if hand.result is None else hand.result.shown
    cards = [*hand.board, *(card for position in shown for card in hand.deal.holes[position])]
    return Counter({card.name: 1 + len(shown) for card in cards})


POKER = SimulatedGame(PokerGame(), lambda _: None, poker_pb2, seen_cards)
# Blinds of 50 and 100 cents, and caves of a hundred big blinds.
BIG_BLIND_CENTS, CAVE_CENTS = 100, 10_000


def configuration(
    *,
    regulation: str = "806/2015",
    seats: int = 6,
    result_shown_ms: int = 500,
    dealing_ms: int = 0,
    decision_ms: int = 10_000,
    cave_min_cents: int = CAVE_CENTS,
    cave_max_cents: int = CAVE_CENTS,
    commission_mode: poker_pb2.CommissionMode.ValueType = poker_pb2.COMMISSION_MODE_POT,
    entry_mode: poker_pb2.EntryMode.ValueType = poker_pb2.ENTRY_MODE_WAIT_FOR_BIG_BLIND,
    period: poker_pb2.Period | None = None,
    **specific: int,
) -> types_pb2.TableConfiguration:
    """Builds the configuration of a table, of Hold'em unless told; `specific` are other numbers of its rules."""
    made = types_pb2.TableConfiguration(
        game="poker",
        regulation=regulation,
        mode=wallet_types.MODE_REAL,
        play=wallet_types.PLAY_POKER,
        result_shown_ms=result_shown_ms,
        seats=seats,
        dealing_ms=dealing_ms,
        decision_ms=decision_ms,
    )
    made.rules.Pack(
        poker_pb2.SpecificRules(
            big_blind_cents=BIG_BLIND_CENTS,
            cave_min_cents=cave_min_cents,
            cave_max_cents=cave_max_cents,
            commission_mode=commission_mode,
            entry_mode=entry_mode,
            period=period,
            # Clocks without extra time, unless a test wants it.
            **{"time_bank_s": 0, "time_bank_cap_s": 0, "disconnect_extra_s": 0, **specific},  # type: ignore[arg-type]
        )
    )
    return made
