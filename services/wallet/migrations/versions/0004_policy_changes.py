"""Both policies of a change in columns of their own, as `tables` keeps the policy that holds, not in one text.

Nothing is updated, so the table stays append-only while it is filled: the text becomes JSON where it stands, PostgreSQL
computes the new columns from that as it adds them, and then they stop being computed.
"""

from alembic import op
from sqlalchemy import text

revision = "0004"
down_revision = "0003"

_POLICY = {
    "invite": "boolean",
    "idle_seconds": "integer",
    "missed_rounds": "integer",
    "warn_after_seconds": "integer",
    "end_after_seconds": "integer",
    "rebuy_grace_seconds": "integer",
}
# The text was Python's of two dictionaries. All that ever wrote it wrote all of these, in this order; what 0002 carried
# over was written the same way. This is its form, with one word and one number everywhere.
_SAID = {"boolean": True, "integer": 0}
_FORM = " -> ".join([str({name: _SAID[kind] for name, kind in _POLICY.items()})] * 2)
_UNREADABLE = text("""
SELECT change_no, change FROM policy_changes
WHERE replace(regexp_replace(change, '[0-9]+', '0', 'g'), 'False', 'True') <> :form ORDER BY change_no LIMIT 1
""")

_AS_JSON = """
ALTER TABLE policy_changes ALTER COLUMN change TYPE jsonb USING CAST(
    '[' || replace(replace(replace(replace(change, ' -> ', ', '), '''', '"'), 'True', 'true'), 'False', 'false') || ']'
    AS jsonb)
"""
# Where each policy is in that JSON.
_WHICH = {"was": 0, "became": 1}


def upgrade() -> None:
    unreadable = op.get_bind().execute(_UNREADABLE, {"form": _FORM}).one_or_none()
    if unreadable is not None:
        # The text goes, so what cannot be read out of it would be lost (903-B/2015:6.3.6.6).
        raise RuntimeError(
            f"policy_changes {unreadable.change_no} does not say two policies as the wallet writes them:"
            f" {unreadable.change!r}. Correct that row as the schema's owner, with the trigger"
            " policy_changes_append_only disabled meanwhile, then migrate again."
        )
    op.execute(_AS_JSON)
    added = [
        f"ADD COLUMN {which}_{name} {kind} NOT NULL"
        f" GENERATED ALWAYS AS (CAST(change -> {place} -> '{name}' AS {kind})) STORED"
        for which, place in _WHICH.items()
        for name, kind in _POLICY.items()
    ]
    op.execute(f"ALTER TABLE policy_changes {', '.join(added)}")
    kept = [f"ALTER COLUMN {which}_{name} DROP EXPRESSION" for which in _WHICH for name in _POLICY]
    op.execute(f"ALTER TABLE policy_changes {', '.join(kept)}")
    op.execute("ALTER TABLE policy_changes DROP COLUMN change")
