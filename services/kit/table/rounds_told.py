"""Rounds that were looked up, in the words of the protos: without their players, and as one player lived them."""

from __future__ import annotations

from feltro.table.v1 import table_pb2, types_pb2
from services.kit.table.appearance import launch, packed, stamp
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal import Ending, StakeTakenBack
from services.kit.table.round_history import PlayerRound, RecordedRound, RecordedStake
from services.kit.table.surroundings import Configured

_STATUS = {
    None: types_pb2.ROUND_STATUS_IN_PROGRESS,
    Ending.SETTLED: types_pb2.ROUND_STATUS_SETTLED,
    Ending.VOID: types_pb2.ROUND_STATUS_VOID,
}


def table_round(round_: RecordedRound, rules: Rules[Bets, Outcome]) -> table_pb2.TableRound:
    outcome = None
    if round_.outcome is not None:
        outcome = packed(rules.outcome_message(rules.read_outcome(round_.outcome)))
    return table_pb2.TableRound(
        round_id=round_.round_id,
        status=_STATUS[round_.ending],
        opened_at=stamp(round_.opened_at),
        closed_at=None if round_.closed_at is None else stamp(round_.closed_at),
        drawn_at=None if round_.drawn_at is None else stamp(round_.drawn_at),
        ended_at=None if round_.ended_at is None else stamp(round_.ended_at),
        launch=launch(round_.launch),
        outcome=outcome,
        void_reason=round_.void_reason,
        configuration_version=round_.configuration_version,
    )


def player_round(lived: PlayerRound, configured: Configured[Bets, Outcome]) -> table_pb2.PlayerRound:
    """`configured` are the rules that the round was opened under."""
    round_, rules = lived.round, configured.rules
    outcome = None if round_.outcome is None else rules.read_outcome(round_.outcome)
    answer = table_pb2.PlayerRound(
        round=table_round(round_, rules),
        table_id=round_.table_id,
        regulation=configured.configuration.regulation,
        mode=configured.configuration.mode,
        session_id=lived.stakes[0].stake.session_id if lived.stakes else "",
        stakes=[_player_stake(recorded, outcome, rules) for recorded in lived.stakes],
        taken_back=[stake_taken_back(taken, rules) for taken in lived.taken_back],
        staked_cents=sum(recorded.stake.amount_cents for recorded in lived.stakes),
        payout_cents=sum(recorded.payout_cents or 0 for recorded in lived.stakes),
    )
    if lived.share is not None:
        answer.balance_before_cents = lived.share.balance_before_cents
        answer.balance_after_cents = lived.share.balance_after_cents
    return answer


def _player_stake(
    recorded: RecordedStake, outcome: Outcome | None, rules: Rules[Bets, Outcome]
) -> table_pb2.PlayerStake:
    bets = rules.read_bets(recorded.stake.bets)
    return table_pb2.PlayerStake(
        stake_id=recorded.stake.stake_id,
        placed_at=stamp(recorded.stake.placed_at),
        amount_cents=recorded.stake.amount_cents,
        payout_cents=recorded.payout_cents or 0,
        bets=packed(rules.bets_message(bets)),
        results=None if outcome is None else packed(rules.results_message(outcome, bets)),
    )


def stake_taken_back(taken: StakeTakenBack, rules: Rules[Bets, Outcome]) -> table_pb2.StakeTakenBack:
    stake = taken.stake
    return table_pb2.StakeTakenBack(
        stake_id=stake.stake_id,
        player_id=stake.player_id,
        placed_at=stamp(stake.placed_at),
        taken_back_at=stamp(taken.taken_back_at),
        amount_cents=stake.amount_cents,
        bets=packed(rules.bets_message(rules.read_bets(stake.bets))),
    )
