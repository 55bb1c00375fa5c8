"""Splits the text of a policy change into columns for both policies, as `tables` has for the policy in force.

No row is updated, so that the table stays append-only: the text becomes JSON in place, PostgreSQL computes the new
columns from it when it adds them, and then they stop being computed.
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
# The text is Python's of two dictionaries. Every writer wrote all of these keys, in this order, also in rows that
# 0002 carried over. This is the form of such a text, with the same boolean and the same number everywhere.
_SAMPLE = {"boolean": True, "integer": 0}
_FORM = " -> ".join([str({name: _SAMPLE[kind] for name, kind in _POLICY.items()})] * 2)
_UNREADABLE = text("""
SELECT change_no, change FROM policy_changes
WHERE replace(regexp_replace(change, '[0-9]+', '0', 'g'), 'False', 'True') <> :form ORDER BY change_no LIMIT 1
""")

_AS_JSON = """
ALTER TABLE policy_changes ALTER COLUMN change TYPE jsonb USING CAST(
    '[' || replace(replace(replace(replace(change, ' -> ', ', '), '''', '"'), 'True', 'true'), 'False', 'false') || ']'
    AS jsonb)
"""
# The index of each policy in that JSON.
_POLICY_INDEX = {"was": 0, "became": 1}


def upgrade() -> None:
    unreadable = op.get_bind().execute(_UNREADABLE, {"form": _FORM}).one_or_none()
    if unreadable is not None:
        # The text is dropped, so that an unreadable one would be lost (903-B/2015:6.3.6.6).
        raise RuntimeError(
            f"policy_changes {unreadable.change_no} does not say two policies as the wallet writes them:"
            f" {unreadable.change!r}. Correct that row as the schema's owner, with the trigger"
            " policy_changes_append_only disabled meanwhile, then migrate again."
        )
    op.execute(_AS_JSON)
    added = [
        f"ADD COLUMN {which}_{name} {kind} NOT NULL"
        f" GENERATED ALWAYS AS (CAST(change -> {index} -> '{name}' AS {kind})) STORED"
        for which, index in _POLICY_INDEX.items()
        for name, kind in _POLICY.items()
    ]
    op.execute(f"ALTER TABLE policy_changes {', '.join(added)}")
    filled = [f"ALTER COLUMN {which}_{name} DROP EXPRESSION" for which in _POLICY_INDEX for name in _POLICY]
    op.execute(f"ALTER TABLE policy_changes {', '.join(filled)}")
    op.execute("ALTER TABLE policy_changes DROP COLUMN change")
