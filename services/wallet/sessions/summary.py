"""The summaries of sessions, computed from the ledger at each request, so that they never disagree with it.

The entries of a session carry its number. They belong to the player's account, between the versions that it had at the
session's start and end, and in poker to the player's cave at that table, from the version that it had at the start.
Both are ranges of the primary key of `entries`, so that no index by session is needed.

A tournament is paid for before anybody sits down there. A session at a tournament therefore counts what its player has
paid in and got since the player's session there before it, if there was one, refunds included (`806/2015:67`).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from feltro.wallet.v1 import session_pb2, types_pb2
from services.kit.wire_format import timestamp

# Deposits and withdrawals listed, the newest; the sums hold all of them (G11).
CASH_MOVEMENTS_LIMIT = 100

_SUMMARIES = text(
    """
    WITH wanted AS (
        SELECT s.session_no, s.account_no, s.table_no, s.started_at, s.ended_at,
               s.started_version AS from_version, COALESCE(s.ended_version, 9223372036854775807) AS to_version,
               s.started_cave_version AS from_cave_version,
               -- of tournaments (4) only: elsewhere the sessions before need not be searched
               CASE WHEN t.play = 4 THEN COALESCE((SELECT p.ended_version FROM sessions p
                         WHERE p.player_id = s.player_id AND p.session_no < s.session_no
                           AND p.account_no = s.account_no AND p.table_no = s.table_no
                         ORDER BY p.session_no DESC LIMIT 1), 0) END AS from_tournament_version,
               -- the cave is used by one session at a time
               COALESCE((SELECT n.started_cave_version FROM sessions n
                         WHERE n.player_id = s.player_id AND n.session_no > s.session_no
                           AND n.account_no = s.account_no AND n.table_no = s.table_no
                         ORDER BY n.session_no LIMIT 1), 9223372036854775807) AS to_cave_version
        FROM sessions s JOIN tables t USING (table_no) WHERE s.session_no = ANY(CAST(:session_nos AS bigint[]))
    )
    SELECT w.session_no, w.started_at, w.ended_at,
           account.staked_cents + cave.staked_cents + tournament.paid_cents AS staked_cents,
           account.won_cents + cave.won_cents + tournament.got_cents AS won_cents,
           account.paid_for_caves_cents - cave.bought_cents AS commission_cents,
           account.rounds + cave.hands AS rounds, account.deposited_cents, account.withdrawn_cents,
           cash.transfer_nos, cash.kinds, cash.amounts, cash.ats
    FROM wanted w
    CROSS JOIN LATERAL (
        SELECT
            -- onto the felt (3), off it again (4), back from a void round (6)
            COALESCE(sum(e.amount_cents) FILTER (WHERE t.kind IN (3, 4, 6) AND e.pocket = 2), 0)::bigint
                AS staked_cents,
            -- at the end of a settled round (5), or before it (10)
            COALESCE(sum(e.amount_cents) FILTER (WHERE t.kind IN (5, 10) AND e.pocket = 1), 0)::bigint AS won_cents,
            -COALESCE(sum(e.amount_cents) FILTER (WHERE t.kind = 7), 0)::bigint AS paid_for_caves_cents,
            COALESCE(sum(e.amount_cents) FILTER (WHERE t.kind = 1), 0)::bigint AS deposited_cents,
            -COALESCE(sum(e.amount_cents) FILTER (WHERE t.kind = 2), 0)::bigint AS withdrawn_cents,
            count(DISTINCT t.round_no) FILTER (WHERE t.kind IN (5, 10)) AS rounds
        FROM entries e JOIN transfers t USING (transfer_no)
        WHERE e.account_no = w.account_no AND e.version > w.from_version AND e.version <= w.to_version
          -- entries at other tables do not count, deposits and withdrawals belong to no table
          AND (e.session_no = w.session_no OR e.session_no IS NULL) AND (e.session_no IS NOT NULL OR t.kind IN (1, 2))
    ) account
    CROSS JOIN LATERAL (
        SELECT
            -COALESCE(sum(e.amount_cents) FILTER (WHERE t.kind = 9 AND e.amount_cents < 0), 0)::bigint AS staked_cents,
            COALESCE(sum(e.amount_cents) FILTER (WHERE t.kind = 9 AND e.amount_cents > 0), 0)::bigint AS won_cents,
            COALESCE(sum(e.amount_cents) FILTER (WHERE t.kind = 7), 0)::bigint AS bought_cents,
            count(DISTINCT e.transfer_no) FILTER (WHERE t.kind = 9) AS hands
        FROM accounts c JOIN entries e USING (account_no) JOIN transfers t USING (transfer_no)
        WHERE c.kind = 4 AND c.owner_no = w.account_no AND c.table_no = w.table_no
          AND e.version > w.from_cave_version AND e.version <= w.to_cave_version AND e.session_no = w.session_no
    ) cave
    CROSS JOIN LATERAL (
        SELECT -COALESCE(sum(e.amount_cents) FILTER (WHERE e.amount_cents < 0), 0)::bigint AS paid_cents,
               COALESCE(sum(e.amount_cents) FILTER (WHERE e.amount_cents > 0), 0)::bigint AS got_cents
        FROM (
            SELECT transfer_no FROM tournament_pay_ins
            WHERE account_no = w.account_no AND table_no = w.table_no
            UNION
            SELECT transfer_no FROM tournament_awards WHERE account_no = w.account_no AND table_no = w.table_no
        ) moved JOIN entries e USING (transfer_no)
        WHERE e.account_no = w.account_no AND e.version > w.from_tournament_version AND e.version <= w.to_version
    ) tournament
    CROSS JOIN LATERAL (
        SELECT array_agg(m.transfer_no ORDER BY m.version DESC) AS transfer_nos,
               array_agg(m.kind ORDER BY m.version DESC) AS kinds,
               array_agg(m.amount_cents ORDER BY m.version DESC) AS amounts,
               array_agg(m.at ORDER BY m.version DESC) AS ats
        FROM (
            SELECT t.transfer_no, t.kind, abs(e.amount_cents) AS amount_cents, t.at, e.version
            FROM entries e JOIN transfers t USING (transfer_no)
            WHERE e.account_no = w.account_no AND e.version > w.from_version AND e.version <= w.to_version
              AND e.session_no IS NULL AND t.kind IN (1, 2)
            ORDER BY e.version DESC LIMIT :cash_movements_limit
        ) m
    ) cash
    """
)


async def summaries(
    connection: AsyncConnection, session_nos: Sequence[int], now: datetime
) -> dict[int, session_pb2.SessionSummary]:
    """Returns the summary of each session by its number; a session that is not saved as ended lasts until `now`."""
    if not session_nos:
        return {}
    rows = await connection.execute(
        _SUMMARIES, {"session_nos": list(session_nos), "cash_movements_limit": CASH_MOVEMENTS_LIMIT}
    )
    return {row.session_no: _summary(row, now) for row in rows}


def _summary(row: Row[Any], now: datetime) -> session_pb2.SessionSummary:
    duration = max((row.ended_at or now) - row.started_at, timedelta())
    return session_pb2.SessionSummary(
        staked_cents=row.staked_cents,
        payout_cents=row.won_cents,
        net_cents=row.won_cents - row.staked_cents - row.commission_cents,
        commission_cents=row.commission_cents,
        rounds=row.rounds,
        duration_ms=duration // timedelta(milliseconds=1),
        deposited_cents=row.deposited_cents,
        withdrawn_cents=row.withdrawn_cents,
        cash_movements=_cash_movements(row),
    )


def _cash_movements(row: Row[Any]) -> list[session_pb2.CashMovement]:
    if row.transfer_nos is None:
        return []
    movements = zip(row.transfer_nos, row.kinds, row.amounts, row.ats, strict=True)
    return [
        session_pb2.CashMovement(
            transfer_id=transfer_no,
            kind=types_pb2.TransferKind.ValueType(kind),
            amount_cents=amount,
            at=timestamp(at),
        )
        for transfer_no, kind, amount, at in movements
    ]
