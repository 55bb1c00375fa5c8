"""The SQL statements of the journal's writer, and the columns that its readers share."""

from __future__ import annotations

# Waits for a takeover of the placement that is under way, and then reads its new epoch.
READ_STATES = """
SELECT asked.round_id, placements.placement_id, placements.epoch, rounds.round_no, rounds.table_id, rounds.number,
       rounds.configuration_version, draws.entropy, draws.outcome, draws.shoe_round_id, draws.cards_taken,
       endings.ending,
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
                       cancelled_stakes, entropy_key, stake_count, shoe_round_id, cards_taken)
    SELECT round_no, epoch, closed_at, drawn_at, entropy, outcome, string_to_array(session_ids, ' '), draw_trigger,
           cancelled_stakes, entropy_key, stake_count, shoe_round_id, cards_taken
    FROM unnest($10::bigint[], $11::bigint[], $12::timestamptz[], $13::timestamptz[], $14::bytea[], $15::bytea[],
                $16::text[], $17::smallint[], $18::bytea[], $19::text[], $20::integer[], $21::text[], $22::integer[])
         AS new(round_no, epoch, closed_at, drawn_at, entropy, outcome, session_ids, draw_trigger, cancelled_stakes,
                entropy_key, stake_count, shoe_round_id, cards_taken)
), written_endings AS (
    INSERT INTO endings (round_no, epoch, ending, ended_at, void_reason, closed_at, cancelled_stakes, outcome)
    SELECT * FROM unnest($23::bigint[], $24::bigint[], $25::smallint[], $26::timestamptz[], $27::text[],
                         $28::timestamptz[], $29::bytea[], $30::bytea[])
), written_payouts AS (
    INSERT INTO payouts (round_no, stake_id, payout_cents)
    SELECT * FROM unnest($31::bigint[], $32::text[], $33::bigint[])
), written_results AS (
    INSERT INTO player_results (round_no, player_id, table_id, session_id, staked_cents, payout_cents,
                                balance_before_cents, balance_after_cents)
    SELECT * FROM unnest($34::bigint[], $35::text[], $36::text[], $37::text[], $38::bigint[], $39::bigint[],
                         $40::bigint[], $41::bigint[])
)"""
_WRITE_DECISIONS = """, written_moves AS (
    INSERT INTO moves (round_no, position, epoch, seat, move, acted_by, request_id, command_digest, stake_id, moved_at)
    SELECT * FROM unnest($53::bigint[], $54::integer[], $55::bigint[], $56::integer[], $57::bytea[], $58::smallint[],
                         $59::text[], $60::bytea[], $61::text[], $62::timestamptz[])
), written_paid AS (
    INSERT INTO paid (round_no, stake_id, payout_cents, position, paid_at)
    SELECT * FROM unnest($63::bigint[], $64::text[], $65::bigint[], $66::integer[], $67::timestamptz[])
)"""
_WRITE_STAKES = """
INSERT INTO stakes (round_no, position, stake_id, request_id, player_id, account_id, session_id, seat, amount_cents,
                    bets, placed_at)
SELECT * FROM unnest($42::bigint[], $43::integer[], $44::text[], $45::text[], $46::text[], $47::text[], $48::text[],
                     $49::integer[], $50::bigint[], $51::bytea[], $52::timestamptz[])
"""
# The rows of a group without decisions, as games without any always write them; and those of any other group.
WRITE_ROWS = _WRITE_ROUNDS + _WRITE_STAKES
WRITE_ROWS_AND_DECISIONS = _WRITE_ROUNDS + _WRITE_DECISIONS + _WRITE_STAKES

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
