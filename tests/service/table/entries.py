"""Builds the journal entries of a round as a table writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from services.kit.table.journal.entries import (
    ActedBy,
    CancelledStake,
    Drawn,
    DrawTrigger,
    Ended,
    Ending,
    Journal,
    JournalStake,
    Moved,
    Opened,
    Paid,
    PlayerResult,
)

AT = datetime(2026, 11, 2, 20, 0, tzinfo=UTC)


def opened(table_id: str, number: int, *, placement_id: str | None = None, version: int = 1) -> Opened:
    at = AT + timedelta(seconds=number)
    round_id = f"{table_id}.{number}"
    return Opened(round_id, table_id, placement_id or table_id, number, version, at, at + timedelta(seconds=20))


def stakes(round_id: str, players: Sequence[str]) -> list[JournalStake]:
    return [
        JournalStake(
            stake_id=f"{round_id}-{position}",
            request_id=f"request-{round_id}-{position}",
            player_id=player,
            account_id=f"account-{player}",
            session_id=f"session-{player}",
            seat=position + 1,
            amount_cents=100 + position,
            bets=f"bets {position}".encode(),
            placed_at=AT + timedelta(milliseconds=position),
        )
        for position, player in enumerate(players)
    ]


def drawn(round_id: str, players: Sequence[str] = ("ana", "rui"), outcome: bytes = b"17") -> Drawn:
    at = AT + timedelta(seconds=20)
    sessions = [f"session-{player}" for player in dict.fromkeys(players)]
    return Drawn(
        round_id,
        at,
        at + timedelta(seconds=1),
        b"entropy",
        outcome,
        stakes(round_id, players),
        sessions,
        DrawTrigger.CLOCK,
        cancelled_stakes(round_id),
    )


def cancelled_stakes(round_id: str) -> tuple[CancelledStake, ...]:
    """Eva cancels her only bet in every round."""
    (stake,) = stakes(f"{round_id}-back", ["eva"])
    return (CancelledStake(stake, AT + timedelta(seconds=15)),)


def dealt(round_id: str, players: Sequence[str] = ("ana", "rui")) -> Drawn:
    """A draw after which players decide."""
    return replace(drawn(round_id, players), outcome=None, hides_cards=True)


def moved(round_id: str, position: int, *, move: bytes = b"card", stake_id: str = "", seat: int = 1) -> Moved:
    """A decision of Ana's, with a stake if it has an id."""
    at = AT + timedelta(seconds=21 + position)
    stake = None
    if stake_id:
        stake = stakes(round_id, ["ana"])[0]._replace(stake_id=stake_id, request_id=f"request-{stake_id}", placed_at=at)
    command_id, digest = f"decision-{round_id}-{position}", b"digest of the command"
    return Moved(round_id, position, seat, move, ActedBy.PLAYER, at, command_id, digest, stake)


def paid(round_id: str, position: int, **cents: int) -> Paid:
    """A payment before the end; `cents` are by the ends of stake ids, such as `_0` of the round's first."""
    payouts = [(f"{round_id}-{name.removeprefix('_')}", each) for name, each in cents.items()]
    return Paid(round_id, position, payouts, AT + timedelta(seconds=40 + position))


def settled(entry: Drawn) -> Ended:
    players = dict.fromkeys(stake.player_id for stake in entry.stakes)
    results = [
        PlayerResult(
            player, f"session-{player}", sum(s.amount_cents for s in entry.stakes if s.player_id == player), 0, 9, 8
        )
        for player in players
    ]
    payouts = [(stake.stake_id, 0) for stake in entry.stakes]
    return Ended(entry.round_id, Ending.SETTLED, entry.drawn_at + timedelta(seconds=1), "", payouts, results)


def void(round_id: str, players: Sequence[str] = ()) -> Ended:
    returned = stakes(round_id, players)
    payouts = [(stake.stake_id, stake.amount_cents) for stake in returned]
    results = [
        PlayerResult(stake.player_id, stake.session_id, stake.amount_cents, stake.amount_cents, 9, 9)
        for stake in returned
    ]
    closed_at = AT + timedelta(seconds=20)
    return Ended(
        round_id,
        Ending.VOID,
        AT + timedelta(seconds=30),
        "a fault",
        payouts,
        results,
        returned,
        cancelled_stakes(round_id),
        closed_at,
    )


async def write_round(journal: Journal, epoch: int, entry: Opened, players: Sequence[str], **facts: bytes) -> None:
    """Writes all three entries of a settled round."""
    draw = drawn(entry.round_id, players, **facts)
    await journal.write_opened(epoch, entry)
    await journal.write_drawn(epoch, draw)
    await journal.write_ended(epoch, settled(draw))
