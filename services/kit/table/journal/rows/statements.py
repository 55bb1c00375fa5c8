"""The SQL statements of the journal's writer, and the columns that its readers share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

# One row for each round, or for each decision, stake and payment of a dealt one: all of one moment. Nothing is locked,
# because the statement that writes verifies that nobody else has written meanwhile.
READ_STATES = """
SELECT asked.round_id, placements.placement_id, placements.epoch, rounds.round_no, rounds.table_id, rounds.number,
       rounds.configuration_version, draws.entropy, draws.outcome, draws.shoe_round_id, draws.cards_taken,
       endings.ending,
       CASE WHEN rounds.round_no IS NULL THEN nextval('round_no') END,
       recorded.kind, recorded.position, recorded.stake_id, recorded.seat, recorded.move, recorded.acted_by,
       recorded.request_id, recorded.command_digest, recorded.payout_cents
FROM unnest($1::text[], $2::text[]) AS asked(round_id, placement_id)
LEFT JOIN rounds ON rounds.round_id = asked.round_id
LEFT JOIN draws ON draws.round_no = rounds.round_no
LEFT JOIN endings ON endings.round_no = rounds.round_no
JOIN placements ON placements.placement_id = COALESCE(rounds.placement_id, asked.placement_id)
CROSS JOIN LATERAL (SELECT CASE WHEN draws.outcome IS NULL THEN draws.round_no END) AS dealt(round_no)
LEFT JOIN LATERAL (
    SELECT 'move', position, stake_id, seat, move, acted_by, request_id, command_digest, NULL::bigint
    FROM moves WHERE moves.round_no = dealt.round_no
    UNION ALL
    SELECT 'stake', position, stake_id, NULL, NULL, NULL, NULL, NULL, NULL
    FROM stakes WHERE stakes.round_no = dealt.round_no
    UNION ALL
    SELECT 'paid', position, stake_id, NULL, NULL, NULL, NULL, NULL, payout_cents
    FROM paid WHERE paid.round_no = dealt.round_no
) AS recorded(kind, position, stake_id, seat, move, acted_by, request_id, command_digest, payout_cents) ON true
"""

# Whatever they were for.
SELECT_USED_COMMANDS = """
SELECT moves.request_id FROM moves WHERE moves.request_id = ANY($1::text[]) AND moves.request_id <> ''
UNION ALL SELECT stakes.stake_id FROM stakes WHERE stakes.stake_id = ANY($1::text[])
"""

# The columns that the writer fills in each table, and the types of the arrays that bring their values.
_COLUMNS = {
    "rounds": {
        "round_no": "bigint", "round_id": "text", "placement_id": "text", "table_id": "text", "number": "bigint",
        "configuration_version": "integer", "epoch": "bigint", "opened_at": "timestamptz", "closes_at": "timestamptz",
    },
    "draws": {
        "round_no": "bigint", "epoch": "bigint", "closed_at": "timestamptz", "drawn_at": "timestamptz",
        "entropy": "bytea", "outcome": "bytea", "session_ids": "text", "draw_trigger": "smallint",
        "cancelled_stakes": "bytea", "entropy_key": "text", "stake_count": "integer", "shoe_round_id": "text",
        "cards_taken": "integer",
    },
    "stakes": {
        "round_no": "bigint", "position": "integer", "stake_id": "text", "request_id": "text", "player_id": "text",
        "account_id": "text", "session_id": "text", "seat": "integer", "amount_cents": "bigint", "bets": "bytea",
        "placed_at": "timestamptz",
    },
    "moves": {
        "round_no": "bigint", "position": "integer", "epoch": "bigint", "seat": "integer", "move": "bytea",
        "acted_by": "smallint", "request_id": "text", "command_digest": "bytea", "stake_id": "text",
        "moved_at": "timestamptz",
    },
    "paid": {
        "round_no": "bigint", "stake_id": "text", "payout_cents": "bigint", "position": "integer",
        "paid_at": "timestamptz",
    },
    "endings": {
        "round_no": "bigint", "epoch": "bigint", "ending": "smallint", "ended_at": "timestamptz",
        "void_reason": "text", "closed_at": "timestamptz", "cancelled_stakes": "bytea", "outcome": "bytea",
    },
    "payouts": {"round_no": "bigint", "stake_id": "text", "payout_cents": "bigint"},
    "player_results": {
        "round_no": "bigint", "player_id": "text", "table_id": "text", "session_id": "text",
        "staked_cents": "bigint", "payout_cents": "bigint", "balance_before_cents": "bigint",
        "balance_after_cents": "bigint",
    },
}  # fmt: skip
# Values that are no arrays of their own in an array.
_EXPRESSIONS = {"session_ids": "string_to_array(session_ids, ' ')"}
# Waits for a takeover that is under way, reads its new epoch, and keeps the next one waiting until the commit.
_OWNED = """
WITH locked AS (
    SELECT FROM unnest($1::text[], $2::bigint[]) AS expected(placement_id, epoch)
    JOIN placements ON placements.placement_id = expected.placement_id AND placements.epoch = expected.epoch
    FOR SHARE OF placements
), owned AS MATERIALIZED (SELECT count(*) = cardinality($1::text[]){unused} AS by_all FROM locked)"""
# Whatever a command was for.
_UNUSED = """
    AND NOT EXISTS (SELECT FROM moves WHERE moves.request_id = ANY($3::text[]) AND moves.request_id <> '')
    AND NOT EXISTS (SELECT FROM stakes WHERE stakes.stake_id = ANY($3::text[]))"""
_INSERT = """, written_{table} AS (
    INSERT INTO {table} ({columns})
    SELECT {expressions} FROM unnest({arrays}) AS new({columns}) WHERE (SELECT by_all FROM owned)
)"""


@cache
def write_rows(tables: Sequence[str], *, of_commands: bool) -> str:
    """Returns the statement that writes rows of these tables, and whether it did: all or none of them.

    It does so only if every placement still has the epoch that is expected of it (G8) and, `of_commands`, if no command
    was used before (G3). Its values are the placements and their epochs, the commands, and then the columns of each
    table in turn. Tables without rows are left out, because the checks of a table cost time even so.
    """
    statement, number = _OWNED.format(unused=_UNUSED if of_commands else ""), 4 if of_commands else 3
    for table in tables:
        columns = _COLUMNS[table]
        arrays = [f"${number + place}::{type_}[]" for place, type_ in enumerate(columns.values())]
        number += len(columns)
        statement += _INSERT.format(
            table=table,
            columns=", ".join(columns),
            expressions=", ".join(_EXPRESSIONS.get(column, column) for column in columns),
            arrays=", ".join(arrays),
        )
    return f"{statement}\nSELECT by_all FROM owned"


# Of a round that was not drawn, the columns of `draws` are NULL. The entropy of a shoe that goes on is read from the
# draw of the round that it was shuffled for (`JOIN_SHOE`).
SELECT_OPENED_AND_DRAWN = """
SELECT rounds.round_no, rounds.round_id, rounds.table_id, rounds.placement_id, rounds.number,
       rounds.configuration_version, rounds.opened_at, rounds.closes_at,
       draws.closed_at, draws.drawn_at, COALESCE(shoe_draws.entropy, draws.entropy), draws.outcome, draws.session_ids,
       draws.draw_trigger, draws.cancelled_stakes, COALESCE(shoe_draws.entropy_key, draws.entropy_key),
       draws.stake_count, draws.shoe_round_id, draws.cards_taken"""
# How many columns that are.
OPENED_AND_DRAWN_COLUMNS = 19
JOIN_SHOE = """
LEFT JOIN rounds AS shoe_rounds ON shoe_rounds.round_id = draws.shoe_round_id AND draws.cards_taken > 0
LEFT JOIN draws AS shoe_draws ON shoe_draws.round_no = shoe_rounds.round_no
"""
