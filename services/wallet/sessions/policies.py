"""The inactivity policies of tables: their columns and messages, and the log of changes (`903-B/2015:6.3.6.6`)."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from feltro.wallet.v1 import session_pb2
from services.kit.wire_format import timestamp
from services.wallet.model.state import InactivityPolicy, Table

# The fields of a policy have the same names in the model, in messages and as columns of `tables`.
POLICY_FIELDS = tuple(field.name for field in fields(InactivityPolicy))
POLICY_COLUMNS = ", ".join(POLICY_FIELDS)

# Prefixes of a policy's columns in the log: each row holds the policy before a change and the one after it.
_WAS = "was_"
_BECAME = "became_"
_LOG_COLUMNS = ", ".join(prefix + name for prefix in (_WAS, _BECAME) for name in POLICY_FIELDS)
_LOG_VALUES = ", ".join(f":{prefix}{name}" for prefix in (_WAS, _BECAME) for name in POLICY_FIELDS)

_SET_COLUMNS = ", ".join(f"{name} = :{name}" for name in POLICY_FIELDS)
_SET_POLICY = text(f"UPDATE tables SET {_SET_COLUMNS} WHERE table_no = :table_no")
# In the order in which all lock tables.
_LOCK_TABLES_OF_PLAYERS = text(
    "SELECT table_no FROM tables WHERE configured_table_id = :table_id ORDER BY table_no FOR NO KEY UPDATE"
)
_SET_POLICY_OF_PLAYERS = text(f"UPDATE tables SET {_SET_COLUMNS} WHERE configured_table_id = :table_id")
_POLICY_IN_FORCE = text(f"SELECT {POLICY_COLUMNS} FROM tables WHERE table_id = :table_id")
_CONFIGURED = text("""
SELECT configured.table_id, configured.rules_version
FROM tables JOIN tables AS configured ON configured.table_id = tables.configured_table_id
WHERE tables.table_id = :table_id
""")
_SET_RULES_VERSION = text("UPDATE tables SET rules_version = :version WHERE table_no = :table_no")
_INSERT_CHANGE = text(
    f"INSERT INTO policy_changes (at, actor, table_id, {_LOG_COLUMNS}) VALUES (:at, :actor, :table_id, {_LOG_VALUES})"
)
_PAGE_OF_CHANGES = text(f"""
SELECT change_no, at, actor, {_LOG_COLUMNS} FROM policy_changes
WHERE table_id = :table_id AND (CAST(:before_no AS bigint) IS NULL OR change_no < :before_no)
ORDER BY change_no DESC LIMIT :size
""")


def policy_from_row(row: Row[Any], prefix: str = "") -> InactivityPolicy:
    """Reads the policy columns of a row."""
    return InactivityPolicy(**{name: getattr(row, prefix + name) for name in POLICY_FIELDS})


def policy_from_message(message: session_pb2.InactivityPolicy) -> InactivityPolicy:
    """Reads a policy from a request; a number that it leaves out is 0."""
    return InactivityPolicy(**{name: getattr(message, name) for name in POLICY_FIELDS})


def policy_message(policy: InactivityPolicy) -> session_pb2.InactivityPolicy:
    """The message of a policy."""
    return session_pb2.InactivityPolicy(**asdict(policy))


async def set_policy(connection: AsyncConnection, table: Table, policy: InactivityPolicy) -> None:
    """Stores a table's policy, and that of all players' own tables that are made from it."""
    await connection.execute(_SET_POLICY, asdict(policy) | {"table_no": table.no})
    await connection.execute(_LOCK_TABLES_OF_PLAYERS, {"table_id": table.table_id})
    await connection.execute(_SET_POLICY_OF_PLAYERS, asdict(policy) | {"table_id": table.table_id})


async def policy_in_force(connection: AsyncConnection, table_id: str) -> InactivityPolicy | None:
    """Reads a table's policy; None if there is no such table."""
    row = (await connection.execute(_POLICY_IN_FORCE, {"table_id": table_id})).one_or_none()
    return None if row is None else policy_from_row(row)


async def configured_table(connection: AsyncConnection, table_id: str) -> tuple[str, int] | None:
    """Reads the configured table of a player's own table, and the version of the specific rules applied to it."""
    row = (await connection.execute(_CONFIGURED, {"table_id": table_id})).one_or_none()
    return None if row is None else (row.table_id, row.rules_version)


async def set_rules_version(connection: AsyncConnection, table_no: int, version: int) -> None:
    """Stores the version of the specific rules that the table's policy comes from."""
    await connection.execute(_SET_RULES_VERSION, {"version": version, "table_no": table_no})


async def insert_change(
    connection: AsyncConnection,
    at: datetime,
    actor: str,
    table_id: str,
    before: InactivityPolicy,
    after: InactivityPolicy,
) -> None:
    """Logs a change in the transaction that makes it."""
    values = {"at": at, "actor": actor, "table_id": table_id}
    await connection.execute(_INSERT_CHANGE, values | _columns(_WAS, before) | _columns(_BECAME, after))


async def page_of_changes(
    connection: AsyncConnection, table_id: str, *, before_no: int | None, size: int
) -> list[session_pb2.InactivityPolicyChange]:
    """Lists the changes of one table's policy, newest first."""
    wanted = {"table_id": table_id, "before_no": before_no, "size": size}
    return [_change_message(row) for row in await connection.execute(_PAGE_OF_CHANGES, wanted)]


def _columns(prefix: str, policy: InactivityPolicy) -> dict[str, Any]:
    return {prefix + name: value for name, value in asdict(policy).items()}


def _change_message(row: Row[Any]) -> session_pb2.InactivityPolicyChange:
    return session_pb2.InactivityPolicyChange(
        change_no=row.change_no,
        at=timestamp(row.at),
        changed_by=row.actor,
        before=policy_message(policy_from_row(row, _WAS)),
        after=policy_message(policy_from_row(row, _BECAME)),
    )
