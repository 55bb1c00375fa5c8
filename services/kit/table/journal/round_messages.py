"""Builds the messages of recorded rounds: a round without its players, and a round with one player's stakes."""

from __future__ import annotations

from google.protobuf.message import Message

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.encoding import draw_trigger_value, packed
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import CancelledStake, Ending, Moved
from services.kit.table.journal.history import PlayerRound, RecordedRound, RecordedStake
from services.kit.wire_format import timestamp

_STATES = {
    None: wallet_types.ROUND_STATE_OPEN,
    Ending.SETTLED: wallet_types.ROUND_STATE_SETTLED,
    Ending.VOID: wallet_types.ROUND_STATE_VOID,
}


def table_round(round_: RecordedRound, rules: Rules[Bets, Outcome]) -> table_pb2.TableRound:
    outcome = None
    if round_.outcome is not None:
        outcome = packed(rules.outcome_message(rules.read_outcome(round_.outcome)))
    return table_pb2.TableRound(
        round_id=round_.round_id,
        state=_STATES[round_.ending],
        opened_at=timestamp(round_.opened_at),
        closed_at=None if round_.closed_at is None else timestamp(round_.closed_at),
        drawn_at=None if round_.drawn_at is None else timestamp(round_.drawn_at),
        ended_at=None if round_.ended_at is None else timestamp(round_.ended_at),
        draw_trigger=draw_trigger_value(round_.draw_trigger),
        outcome=outcome,
        void_reason=round_.void_reason,
        configuration_version=round_.configuration_version,
    )


def player_round(played: PlayerRound, versioned_rules: VersionedRules[Bets, Outcome]) -> table_pb2.PlayerRound:
    """`versioned_rules` are the rules that the round was opened under."""
    round_, rules = played.round, versioned_rules.rules
    outcome = None if round_.outcome is None else rules.read_outcome(round_.outcome)
    answer = table_pb2.PlayerRound(
        round=table_round(round_, rules),
        table_id=round_.table_id,
        regulation=versioned_rules.configuration.regulation,
        mode=versioned_rules.configuration.mode,
        session_id=played.stakes[0].stake.session_id if played.stakes else "",
        stakes=[_player_stake(recorded, outcome, rules) for recorded in played.stakes],
        cancelled_stakes=[cancelled_stake(each, rules) for each in played.cancelled_stakes],
        staked_cents=sum(recorded.stake.amount_cents for recorded in played.stakes),
        payout_cents=sum(recorded.payout_cents or 0 for recorded in played.stakes),
        moves=[recorded_move(move, rules) for move in played.moves],
    )
    if played.result is not None:
        answer.balance_before_cents = played.result.balance_before_cents
        answer.balance_after_cents = played.result.balance_after_cents
    return answer


def _player_stake(
    recorded: RecordedStake, outcome: Outcome | None, rules: Rules[Bets, Outcome]
) -> table_pb2.PlayerStake:
    bets = rules.read_bets(recorded.stake.bets)
    return table_pb2.PlayerStake(
        stake_id=recorded.stake.stake_id,
        placed_at=timestamp(recorded.stake.placed_at),
        amount_cents=recorded.stake.amount_cents,
        payout_cents=recorded.payout_cents or 0,
        bets=packed(rules.bets_message(bets)),
        results=None if outcome is None else packed(rules.results_message(outcome, bets)),
    )


def recorded_move(move: Moved, rules: Rules[Bets, Outcome]) -> table_pb2.RecordedMove:
    return table_pb2.RecordedMove(
        position=move.position,
        seat=move.seat,
        move=packed(read_move(move, rules)),
        acted_by=types_pb2.ActedBy.ValueType(move.acted_by),
        stake_id="" if move.stake is None else move.stake.stake_id,
        made_at=timestamp(move.moved_at),
    )


def read_move(move: Moved, rules: Rules[Bets, Outcome]) -> Message:
    """Reads the game's own message of a decision."""
    if rules.move_type is None:
        raise ValueError(f"decision {move.position} of {move.round_id} was made in a game without decisions")
    return rules.move_type.FromString(move.move)


def cancelled_stake(cancelled: CancelledStake, rules: Rules[Bets, Outcome]) -> table_pb2.CancelledStake:
    stake = cancelled.stake
    return table_pb2.CancelledStake(
        stake_id=stake.stake_id,
        player_id=stake.player_id,
        placed_at=timestamp(stake.placed_at),
        cancelled_at=timestamp(cancelled.cancelled_at),
        amount_cents=stake.amount_cents,
        bets=packed(rules.bets_message(rules.read_bets(stake.bets))),
    )
