"""Adds shoes that go on from round to round: a draw names the round that its shoe was shuffled for.

The entropy of a shoe is in the draw of that round alone; the draws of the rounds after it are without, and say how many
cards were taken before. Rounds that are older, and rounds with a shuffle of their own, name no shoe.
"""

from alembic import op

revision = "0004"
down_revision = "0003"

_COLUMNS = """
-- empty if the entropy is for this round alone
ALTER TABLE draws ADD COLUMN shoe_round_id text NOT NULL DEFAULT '';
-- by earlier rounds of the shoe
ALTER TABLE draws ADD COLUMN cards_taken integer NOT NULL DEFAULT 0 CHECK (cards_taken >= 0);
ALTER TABLE draws ADD CONSTRAINT draws_of_shoes CHECK (
    CASE WHEN cards_taken > 0 THEN shoe_round_id <> '' AND entropy = '' ELSE shoe_round_id = '' OR entropy <> '' END
)
"""

# The first part is that of `0003`. A shoe goes on with the round that is dealt next at its table, under the same rules
# and with fewer cards: none comes twice, and none of an earlier shoe comes back. It begins with no cards taken.
_CHECK = """
CREATE OR REPLACE FUNCTION check_draws() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE wrong bigint;
BEGIN
    SELECT round_no INTO wrong FROM written
        WHERE NOT EXISTS (SELECT FROM rounds WHERE rounds.round_no = written.round_no) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: round % is drawn and was never opened', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT written.round_no INTO wrong FROM written JOIN endings ON endings.round_no = written.round_no
        WHERE (endings.ending = 3 AND written.outcome IS NOT NULL)
           OR endings.xmin <> pg_current_xact_id()::xid LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: round % is drawn after it has ended', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT written.round_no INTO wrong FROM written JOIN rounds ON rounds.round_no = written.round_no
        WHERE written.shoe_round_id <> ''
          AND (written.cards_taken > 0) IS DISTINCT FROM (written.shoe_round_id <> rounds.round_id) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: round % says otherwise than its shoe whether cards were taken from it', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT written.round_no INTO wrong FROM written JOIN rounds ON rounds.round_no = written.round_no
        LEFT JOIN LATERAL (
            SELECT draws.shoe_round_id, draws.cards_taken, earlier.configuration_version
            FROM rounds AS earlier JOIN draws ON draws.round_no = earlier.round_no
            WHERE earlier.table_id = rounds.table_id AND earlier.number < rounds.number
            ORDER BY earlier.number DESC LIMIT 1
        ) AS before ON true
        WHERE written.cards_taken > 0
          AND (before.shoe_round_id IS DISTINCT FROM written.shoe_round_id
               OR before.cards_taken >= written.cards_taken
               OR before.configuration_version <> rounds.configuration_version) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: round % is dealt from a shoe that the round before has not left like that', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$
"""


def upgrade() -> None:
    for statement in _COLUMNS.split(";\n"):
        op.execute(statement)
    op.execute(_CHECK)
