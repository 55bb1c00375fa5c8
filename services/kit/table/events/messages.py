"""Builds what others see of a table: its snapshot, and the events that change it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from feltro.table.v1 import events_pb2, types_pb2
from services.kit.table.encoding import acted_by_value, draw_trigger_value, packed
from services.kit.table.events import phrases
from services.kit.table.journal.entries import ActedBy, DrawTrigger, Ended
from services.kit.table.seat import Seat
from services.kit.wire_format import timestamp


class HandView(Protocol):
    """What everybody may see of a dealt round while players decide."""

    @property
    def shown_at(self) -> datetime | None: ...

    def view(self) -> Message: ...

    def turn_message(self) -> types_pb2.Turn | None: ...


class RoundView(Protocol):
    """What others see of the round under way."""

    @property
    def round_id(self) -> str: ...

    @property
    def configuration_version(self) -> int: ...

    @property
    def opened_at(self) -> datetime: ...

    @property
    def closes_at(self) -> datetime | None: ...

    @property
    def draw_trigger(self) -> DrawTrigger: ...

    @property
    def hand(self) -> HandView | None:
        """The round's cards and turns, while players decide; None before, and in a game without decisions."""

    def outcome_message(self) -> Message | None:
        """The outcome as the game's own message; None before it is journalled."""

    def bets_by_seat(self) -> Iterable[tuple[Seat, Message, int]]:
        """The accepted bets of each player as the game's own message, and their amount."""


def snapshot(
    table_id: str,
    seq: int,
    at: datetime,
    phase: types_pb2.Phase.ValueType,
    version: types_pb2.ConfigurationVersion,
    round_: RoundView | None,
    past_outcomes: Iterable[types_pb2.PastOutcome],
    seated: int,
    disabled_reason: str,
    next_round_opens_at: datetime | None,
    shoe: types_pb2.Shoe | None,
    seats: Iterable[types_pb2.TableSeat],
) -> types_pb2.TableSnapshot:
    """Builds the whole state of a table that others see."""
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
        next_round_opens_at=None if next_round_opens_at is None else timestamp(next_round_opens_at),
        shoe=shoe,
        seats=seats,
    )


def table_seats(number: int, taken: Collection[int]) -> list[types_pb2.TableSeat]:
    """Builds so many seats; one that its player keeps although new rules have fewer seats is among them."""
    return [types_pb2.TableSeat(seat=seat, taken=seat in taken) for seat in sorted({*range(1, number + 1), *taken})]


def round_on_table(round_: RoundView) -> types_pb2.RoundOnTable:
    outcome, hand = round_.outcome_message(), round_.hand
    if outcome is not None:
        hand = None
    is_dealt = outcome is not None or hand is not None
    shown_at = None if hand is None else hand.shown_at
    return types_pb2.RoundOnTable(
        round_id=round_.round_id,
        configuration_version=round_.configuration_version,
        opened_at=timestamp(round_.opened_at),
        closes_at=None if round_.closes_at is None else timestamp(round_.closes_at),
        outcome=None if outcome is None else packed(outcome),
        draw_trigger=draw_trigger_value(round_.draw_trigger) if is_dealt else types_pb2.DRAW_TRIGGER_UNSPECIFIED,
        view=None if hand is None else packed(hand.view()),
        turn=None if hand is None else hand.turn_message(),
        shown_at=None if shown_at is None else timestamp(shown_at),
    )


def seat_bets(round_: RoundView) -> list[types_pb2.SeatBets]:
    return [
        types_pb2.SeatBets(seat=seat.number, staked_cents=amount_cents, bets=packed(bets))
        for seat, bets, amount_cents in round_.bets_by_seat()
    ]


def past_outcome(round_id: str, drawn_at: datetime, outcome: AnyMessage) -> types_pb2.PastOutcome:
    return types_pb2.PastOutcome(round_id=round_id, drawn_at=timestamp(drawn_at), outcome=outcome)


def split_snapshot(event: events_pb2.TableEvent, bytes_limit: int) -> list[events_pb2.TableEvent]:
    """Splits a `SnapshotPublished` that is too large: one with an empty felt, then the bets of one seat per event."""
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


def round_opened(round_: RoundView, shoe: types_pb2.Shoe | None) -> events_pb2.TableEvent:
    opened = events_pb2.RoundOpened(round=round_on_table(round_), phrase=phrases.PLACE_YOUR_BETS, shoe=shoe)
    return events_pb2.TableEvent(round_opened=opened)


def bets_placed(
    round_id: str, stake_id: str, seat: int, amount_cents: int, encoded_bets: bytes, bets_type: str
) -> events_pb2.TableEvent:
    """Builds the event of a stake from its bets as they are encoded already; `bets_type` is the message's full name."""
    event = events_pb2.TableEvent()
    placed = event.bets_placed
    placed.round_id = round_id
    placed.stake_id = stake_id
    placed.seat = seat
    placed.amount_cents = amount_cents
    placed.bets.type_url = f"type.googleapis.com/{bets_type}"
    placed.bets.value = encoded_bets
    return event


def bets_cancelled(
    round_id: str,
    stake_id: str,
    seat: int,
    amount_cents: int,
    bets: Message,
    remaining_cents: int,
    remaining_bets: Message | None,
) -> events_pb2.TableEvent:
    """Builds the event of a stake of which a part was taken back, or all, if no bets remain."""
    cancelled = events_pb2.BetsCancelled(
        round_id=round_id,
        stake_id=stake_id,
        seat=seat,
        amount_cents=amount_cents,
        bets=packed(bets),
        remaining_cents=remaining_cents,
        remaining_bets=None if remaining_bets is None else packed(remaining_bets),
    )
    return events_pb2.TableEvent(bets_cancelled=cancelled)


def betting_closed(round_id: str, *, cards_follow: bool) -> events_pb2.TableEvent:
    phrase = phrases.NO_MORE_BETS_AND_CARDS if cards_follow else phrases.NO_MORE_BETS
    closed = events_pb2.BettingClosed(round_id=round_id, phrase=phrase)
    return events_pb2.TableEvent(betting_closed=closed)


def outcome_drawn(
    round_id: str,
    outcome: Message,
    trigger: DrawTrigger,
    shown_at: datetime | None = None,
    shoe: types_pb2.Shoe | None = None,
) -> events_pb2.TableEvent:
    """Builds the event of an outcome; `shown_at` is when all of its cards lie on the table, `shoe` how it is left."""
    drawn = events_pb2.OutcomeDrawn(
        round_id=round_id,
        outcome=packed(outcome),
        draw_trigger=draw_trigger_value(trigger),
        shown_at=None if shown_at is None else timestamp(shown_at),
        shoe=shoe,
    )
    return events_pb2.TableEvent(outcome_drawn=drawn)


def round_dealt(
    round_id: str, view: Message, turn: types_pb2.Turn | None, shown_at: datetime | None, trigger: int
) -> events_pb2.TableEvent:
    dealt = events_pb2.RoundDealt(
        round_id=round_id,
        view=packed(view),
        turn=turn,
        shown_at=None if shown_at is None else timestamp(shown_at),
        draw_trigger=draw_trigger_value(trigger),
    )
    return events_pb2.TableEvent(round_dealt=dealt)


def move_made(
    round_id: str,
    position: int,
    seat: int,
    move: Message,
    acted_by: ActedBy,
    view: AnyMessage,
    turn: types_pb2.Turn | None,
    shown_at: datetime | None,
) -> events_pb2.TableEvent:
    made = events_pb2.MoveMade(
        round_id=round_id,
        position=position,
        seat=seat,
        move=packed(move),
        acted_by=acted_by_value(acted_by),
        view=view,
        turn=turn,
        shown_at=None if shown_at is None else timestamp(shown_at),
    )
    return events_pb2.TableEvent(move_made=made)


def turn_changed(round_id: str, turn: types_pb2.Turn | None) -> events_pb2.TableEvent:
    """Builds the event of a clock that stands still, goes on, or has got more time."""
    return events_pb2.TableEvent(turn_changed=events_pb2.TurnChanged(round_id=round_id, turn=turn))


def cards_shown(round_id: str, view: Message, shown_at: datetime) -> events_pb2.TableEvent:
    """Builds the event of cards that nobody decides about any more."""
    shown = events_pb2.CardsShown(round_id=round_id, view=packed(view), shown_at=timestamp(shown_at))
    return events_pb2.TableEvent(cards_shown=shown)


def stakes_paid(round_id: str, by_seat: Mapping[int, Sequence[int]]) -> events_pb2.TableEvent:
    """Builds the event of stakes that were paid early; `by_seat` has their amounts and payouts."""
    results = [
        events_pb2.SeatResult(seat=seat, staked_cents=staked_cents, payout_cents=payout_cents)
        for seat, (staked_cents, payout_cents) in by_seat.items()
    ]
    return events_pb2.TableEvent(stakes_paid=events_pb2.StakesPaid(round_id=round_id, results=results))


def round_settled(
    round_id: str, seats: Mapping[str, int], entry: Ended, next_round_opens_at: datetime
) -> events_pb2.TableEvent:
    """Builds the event of a paid round; `seats` are the seat numbers of the players who had a stake."""
    results = [
        events_pb2.SeatResult(
            seat=seats[result.player_id], staked_cents=result.staked_cents, payout_cents=result.payout_cents
        )
        for result in entry.player_results
    ]
    settled = events_pb2.RoundSettled(
        round_id=round_id, results=results, next_round_opens_at=timestamp(next_round_opens_at)
    )
    return events_pb2.TableEvent(round_settled=settled)


def round_voided(round_id: str, reason: str, next_round_opens_at: datetime) -> events_pb2.TableEvent:
    void = events_pb2.RoundVoided(
        round_id=round_id,
        reason=reason,
        phrase=phrases.ROUND_IS_VOID,
        next_round_opens_at=timestamp(next_round_opens_at),
    )
    return events_pb2.TableEvent(round_voided=void)
