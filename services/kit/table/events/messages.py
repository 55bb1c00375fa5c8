"""How a table looks from outside: its snapshot, and the events that change it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from feltro.table.v1 import events_pb2, types_pb2
from services.kit.table.banked.felt import Seat, Stake
from services.kit.table.events import phrases
from services.kit.table.journal.entries import DrawTrigger, Ended

if TYPE_CHECKING:
    from services.kit.table.banked.round import Round


def packed(message: Message) -> AnyMessage:
    """A game's own message among the words of all games."""
    box = AnyMessage()
    box.Pack(message)
    return box


def timestamp(at: datetime) -> Timestamp:
    moment = Timestamp()
    moment.FromDatetime(at)
    return moment


def draw_trigger_value(launched: DrawTrigger) -> types_pb2.DrawTrigger.ValueType:
    """The journal counts as the protos do."""
    return types_pb2.DrawTrigger.ValueType(launched)


def snapshot(
    table_id: str,
    seq: int,
    at: datetime,
    phase: types_pb2.Phase.ValueType,
    version: types_pb2.ConfigurationVersion,
    round_: Round[Any, Any] | None,
    past_outcomes: Iterable[types_pb2.PastOutcome],
    seated: int,
    disabled_reason: str,
) -> types_pb2.TableSnapshot:
    """All there is to see."""
    return types_pb2.TableSnapshot(
        table_id=table_id,
        seq=seq,
        at=timestamp(at),
        phase=phase,
        configuration=version.configuration,
        configuration_version=version.version,
        round=None if round_ is None else round_on_table(round_),
        bets=[] if round_ is None else seat_bets(round_),
        past_outcomes=past_outcomes,
        seated=seated,
        disabled_reason=disabled_reason,
    )


def round_on_table(round_: Round[Any, Any]) -> types_pb2.RoundOnTable:
    return types_pb2.RoundOnTable(
        round_id=round_.round_id,
        configuration_version=round_.configuration_version,
        opened_at=timestamp(round_.opened_at),
        closes_at=None if round_.closes_at is None else timestamp(round_.closes_at),
        outcome=None if round_.outcome is None else packed(round_.rules.outcome_message(round_.outcome)),
        draw_trigger=types_pb2.DRAW_TRIGGER_UNSPECIFIED
        if round_.outcome is None
        else draw_trigger_value(round_.draw_trigger),
    )


def seat_bets(round_: Round[Any, Any]) -> list[types_pb2.SeatBets]:
    return [
        types_pb2.SeatBets(seat=seat.number, staked_cents=cents, bets=packed(round_.rules.bets_message(bets)))
        for seat, bets, cents in round_.felt.bets_by_seat()
    ]


def past_outcome(round_id: str, drawn_at: datetime, outcome: AnyMessage) -> types_pb2.PastOutcome:
    return types_pb2.PastOutcome(round_id=round_id, drawn_at=timestamp(drawn_at), outcome=outcome)


def split_snapshot(event: events_pb2.TableEvent, bytes_limit: int) -> list[events_pb2.TableEvent]:
    """A `SnapshotPublished` as events that each fit: a full felt is told seat by seat, after an empty one."""
    if event.ByteSize() <= bytes_limit:
        return [event]
    empty = events_pb2.TableEvent()
    empty.CopyFrom(event)
    snapshot = empty.snapshot_published.snapshot
    del snapshot.bets[:]
    parts = [empty]
    for seat in event.snapshot_published.snapshot.bets:
        placed = events_pb2.BetsPlaced(
            round_id=snapshot.round.round_id, seat=seat.seat, amount_cents=seat.staked_cents, bets=seat.bets
        )
        parts.append(events_pb2.TableEvent(at=event.at, bets_placed=placed))
    return parts


def round_opened(round_: Round[Any, Any]) -> events_pb2.TableEvent:
    opened = events_pb2.RoundOpened(round=round_on_table(round_), phrase=phrases.PLACE_YOUR_BETS)
    return events_pb2.TableEvent(round_opened=opened)


def bets_placed(round_id: str, stake: Stake[Any], bets_type: str) -> events_pb2.TableEvent:
    """`bets_type` is the message that the stake's bets are put in; they are not put in it again."""
    event = events_pb2.TableEvent()
    placed = event.bets_placed
    placed.round_id = round_id
    placed.seat = stake.seat.number
    placed.amount_cents = stake.amount_cents
    placed.bets.type_url = f"type.googleapis.com/{bets_type}"
    placed.bets.value = stake.encoded_bets
    return event


def bets_cancelled(round_id: str, seat: Seat, cents: int, bets: Message) -> events_pb2.TableEvent:
    taken = events_pb2.BetsCancelled(round_id=round_id, seat=seat.number, amount_cents=cents, bets=packed(bets))
    return events_pb2.TableEvent(bets_cancelled=taken)


def betting_closed(round_id: str) -> events_pb2.TableEvent:
    closed = events_pb2.BettingClosed(round_id=round_id, phrase=phrases.NO_MORE_BETS)
    return events_pb2.TableEvent(betting_closed=closed)


def outcome_drawn(round_id: str, outcome: Message, launched: DrawTrigger) -> events_pb2.TableEvent:
    drawn = events_pb2.OutcomeDrawn(
        round_id=round_id, outcome=packed(outcome), draw_trigger=draw_trigger_value(launched)
    )
    return events_pb2.TableEvent(outcome_drawn=drawn)


def round_settled(
    round_id: str, seats: Mapping[str, int], entry: Ended, next_round_at: datetime
) -> events_pb2.TableEvent:
    """`seats` are the numbers of the players who had a stake."""
    results = [
        events_pb2.SeatResult(
            seat=seats[share.player_id], staked_cents=share.staked_cents, payout_cents=share.payout_cents
        )
        for share in entry.player_results
    ]
    settled = events_pb2.RoundSettled(round_id=round_id, results=results, next_round_at=timestamp(next_round_at))
    return events_pb2.TableEvent(round_settled=settled)


def round_void(round_id: str, reason: str) -> events_pb2.TableEvent:
    void = events_pb2.RoundVoid(round_id=round_id, reason=reason, phrase=phrases.ROUND_IS_VOID)
    return events_pb2.TableEvent(round_void=void)
