"""The SQL statements of the journal's writer, and the columns that its readers share."""

from __future__ import annotations

# Waits for a takeover of the placement that is under way, and then reads its new epoch.
READ_STATES = """
SELECT asked.round_id, placements.placement_id, placements.epoch, rounds.round_no, rounds.table_id, rounds.number,
       rounds.configuration_version, draws.entropy, draws.outcome, endings.ending,
       CASE WHEN rounds.round_no IS NULL THEN nextval('round_no') END
FROM unnest($1::text[], $2::text[]) AS asked(round_id, placement_id)
LEFT JOIN rounds ON rounds.round_id = asked.round_id
LEFT JOIN draws ON draws.round_no = rounds.round_no
LEFT JOIN endings ON endings.round_no = rounds.round_no
JOIN placements ON placements.placement_id = COALESCE(rounds.placement_id, asked.placement_id)
FOR SHARE OF placements
"""
# What is recorded of decisions, stakes and payments that entries name; a round without them is never asked for.
READ_DECISIONS = """
SELECT asked.round_id, asked.position, asked.stake_id,
       COALESCE((SELECT max(moves.position) FROM moves WHERE moves.round_no = asked.round_no), 0),
       COALESCE((SELECT max(stakes.position) + 1 FROM stakes WHERE stakes.round_no = asked.round_no), 0),
       moves.seat, moves.move, moves.acted_by, moves.request_id, moves.command_digest, moves.stake_id,
       stakes.stake_id IS NOT NULL, paid.payout_cents, paid.position
FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::text[]) AS asked(round_id, round_no, position, stake_id)
LEFT JOIN moves ON moves.round_no = asked.round_no AND moves.position = asked.position
LEFT JOIN stakes ON stakes.stake_id = asked.stake_id AND stakes.round_no = asked.round_no
LEFT JOIN paid ON paid.round_no = asked.round_no AND paid.stake_id = asked.stake_id
"""
_WRITE_ROUNDS = """
WITH written_rounds AS (
    INSERT INTO rounds (round_no, round_id, placement_id, table_id, number, configuration_version, epoch, opened_at,
                        closes_at)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::integer[], $7::bigint[],
                         $8::timestamptz[], $9::timestamptz[])
), written_draws AS (
    INSERT INTO draws (round_no, epoch, closed_at, drawn_at, entropy, outcome, session_ids, draw_trigger,
                       cancelled_stakes, entropy_key, stake_count)
    SELECT round_no, epoch, closed_at, drawn_at, entropy, outcome, string_to_array(session_ids, ' '), draw_trigger,
           cancelled_stakes, entropy_key, stake_count
    FROM unnest($10::bigint[], $11::bigint[], $12::timestamptz[], $13::timestamptz[], $14::bytea[], $15::bytea[],
                $16::text[], $17::smallint[], $18::bytea[], $19::text[], $20::integer[])
         AS new(round_no, epoch, closed_at, drawn_at, entropy, outcome, session_ids, draw_trigger, cancelled_stakes,
                entropy_key, stake_count)
), written_endings AS (
    INSERT INTO endings (round_no, epoch, ending, ended_at, void_reason, closed_at, cancelled_stakes, outcome)
    SELECT * FROM unnest($21::bigint[], $22::bigint[], $23::smallint[], $24::timestamptz[], $25::text[],
                         $26::timestamptz[], $27::bytea[], $28::bytea[])
), written_payouts AS (
    INSERT INTO payouts (round_no, stake_id, payout_cents)
    SELECT * FROM unnest($29::bigint[], $30::text[], $31::bigint[])
), written_results AS (
    INSERT INTO player_results (round_no, player_id, table_id, session_id, staked_cents, payout_cents,
                                balance_before_cents, balance_after_cents)
    SELECT * FROM unnest($32::bigint[], $33::text[], $34::text[], $35::text[], $36::bigint[], $37::bigint[],
                         $38::bigint[], $39::bigint[])
)"""
_WRITE_DECISIONS = """, written_moves AS (
    INSERT INTO moves (round_no, position, epoch, seat, move, acted_by, request_id, command_digest, stake_id, moved_at)
    SELECT * FROM unnest($51::bigint[], $52::integer[], $53::bigint[], $54::integer[], $55::bytea[], $56::smallint[],
                         $57::text[], $58::bytea[], $59::text[], $60::timestamptz[])
), written_paid AS (
    INSERT INTO paid (round_no, stake_id, payout_cents, position, paid_at)
    SELECT * FROM unnest($61::bigint[], $62::text[], $63::bigint[], $64::integer[], $65::timestamptz[])
)"""
_WRITE_STAKES = """
INSERT INTO stakes (round_no, position, stake_id, request_id, player_id, account_id, session_id, seat, amount_cents,
                    bets, placed_at)
SELECT * FROM unnest($40::bigint[], $41::integer[], $42::text[], $43::text[], $44::text[], $45::text[], $46::text[],
                     $47::integer[], $48::bigint[], $49::bytea[], $50::timestamptz[])
"""
# The rows of a group without decisions, as games without any always write them; and those of any other group.
WRITE_ROWS = _WRITE_ROUNDS + _WRITE_STAKES
WRITE_ROWS_AND_DECISIONS = _WRITE_ROUNDS + _WRITE_DECISIONS + _WRITE_STAKES

# Of a round that was not drawn, the columns of `draws` are NULL.
SELECT_OPENED_AND_DRAWN = """
SELECT rounds.round_no, rounds.round_id, rounds.table_id, rounds.placement_id, rounds.number,
       rounds.configuration_version, rounds.opened_at, rounds.closes_at,
       draws.closed_at, draws.drawn_at, draws.entropy, draws.outcome, draws.session_ids, draws.draw_trigger,
       draws.cancelled_stakes, draws.entropy_key, draws.stake_count"""
# How many columns that are.
OPENED_AND_DRAWN_COLUMNS = 17
