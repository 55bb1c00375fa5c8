"""The names on the bus that more than one process reads: streams, subjects and buckets of tables and replicas."""

from __future__ import annotations

EVENTS_STREAM = "FELTRO_TABLES"
EVENTS_SUBJECTS = ["feltro.table.*"]
# Which replica runs which placement, and which replicas there are.
LEASES_BUCKET = "feltro_leases"
REPLICAS_BUCKET = "feltro_replicas"
# A replica whose heartbeat is older is gone; the bucket drops it then.
HEARTBEAT_LIFETIME_S = 2.5


def table_subject(table_id: str) -> str:
    """Returns the subject of one table's public events."""
    return f"feltro.table.{table_id}"
