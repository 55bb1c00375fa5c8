"""The answers to players' bets, as they are first given and as the ledger gives them again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.table.game import Bets, Outcome, Rules


class PlacedBets(NamedTuple, Generic[Bets]):
    """A stake that counts, and all bets that its player had on the felt right after it."""

    round_id: str
    stake_id: str
    amount_cents: int
    bets: Bets
    on_felt: Bets
    placed_at: Timestamp
    balance: types_pb2.Balance


class ReducedStake(NamedTuple, Generic[Bets]):
    """What stays of a stake of which a part was taken back."""

    stake_id: str
    amount_cents: int
    bets: Bets


@dataclass(frozen=True, slots=True)
class CancelledBets(Generic[Bets]):
    """How much was taken back of which stakes, and the bets that its player still had on the felt."""

    cents: int
    balance: types_pb2.Balance
    on_felt: Bets | None
    cancelled_stake_ids: tuple[str, ...]
    reduced_stakes: tuple[ReducedStake[Bets], ...]


def placed_bets(answer: wallet_pb2.GetFirstAnswerResponse, rules: Rules[Bets, Outcome]) -> PlacedBets[Bets]:
    """Builds the first answer to a placement from what the ledger says."""
    on_felt = _in_play(answer, rules)
    assert on_felt is not None  # noqa: S101 - there is at least the stake itself
    return PlacedBets(
        answer.round_id,
        answer.placed.stake_id,
        answer.amount_cents,
        rules.read_bets(answer.detail),
        on_felt,
        answer.placed.placed_at,
        answer.placed.balance,
    )


def cancelled_bets(answer: wallet_pb2.GetFirstAnswerResponse, rules: Rules[Bets, Outcome]) -> CancelledBets[Bets]:
    """Builds the first answer to a cancellation from what the ledger says."""
    in_play = {stake.stake_id: stake for stake in answer.in_play}
    stake_ids = [part.stake_id for part in answer.cancelled_parts]
    return CancelledBets(
        sum(part.amount_cents for part in answer.cancelled_parts),
        answer.cancelled.balance,
        _in_play(answer, rules),
        tuple(stake_id for stake_id in stake_ids if stake_id not in in_play),
        tuple(
            ReducedStake(stake_id, in_play[stake_id].amount_cents, rules.read_bets(in_play[stake_id].detail))
            for stake_id in stake_ids
            if stake_id in in_play
        ),
    )


def _in_play(answer: wallet_pb2.GetFirstAnswerResponse, rules: Rules[Bets, Outcome]) -> Bets | None:
    return rules.together(rules.read_bets(stake.detail) for stake in answer.in_play)
