"""Notices accounts that play at one poker table from one device or address, and records that (`903-B/2015:6.6.1`).

Real money only, and poker only: elsewhere players do not play against each other.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.wallet.model.state import Device, Mode, Play, Table
from services.wallet.store.relevant_events import SHARED_DEVICES_RECORDED

_OTHERS_ON = text(
    """
    SELECT session_no FROM sessions
    WHERE table_no = :table_no AND state < 5 AND player_id <> :player_id
      AND ((device_address <> '' AND device_address = :address)
        OR (device_fingerprint <> '' AND device_fingerprint = :fingerprint))
    ORDER BY session_no
    """
)
_INSERT = text(
    """
    INSERT INTO shared_devices (
        at, table_no, account_no, session_no, other_session_no, request_id,
        device_kind, device_agent, device_address, device_fingerprint)
    SELECT :at, :table_no, :account_no, (SELECT session_no FROM sessions WHERE session_id = CAST(:session_id AS uuid)),
           other_no, :request_id,
           :kind, :agent, :address, :fingerprint
    FROM unnest(CAST(:other_nos AS bigint[])) AS other_no
    """
)


async def others_on(connection: AsyncConnection, table: Table, player_id: str, device: Device) -> Sequence[int]:
    """Returns the running sessions of other players at a table from this device or address, under the table's lock."""
    if table.play is not Play.POKER or table.mode is not Mode.REAL:
        return ()
    wanted = {
        "table_no": table.no,
        "player_id": player_id,
        "address": device.address,
        "fingerprint": device.fingerprint,
    }
    return (await connection.execute(_OTHERS_ON, wanted)).scalars().all()


async def record(
    connection: AsyncConnection,
    table: Table,
    account_no: int,
    device: Device,
    others: Sequence[int],
    *,
    session_id: str,
    request_id: str,
    at: datetime,
) -> None:
    """Records an event for each of the other players; without a session the player was refused."""
    values = {
        "at": at,
        "table_no": table.no,
        "account_no": account_no,
        "session_id": session_id or None,
        "other_nos": list(others),
        "request_id": request_id,
        "kind": device.kind,
        "agent": device.agent,
        "address": device.address,
        "fingerprint": device.fingerprint,
    }
    await connection.execute(_INSERT, values)


def count_metrics(events: int) -> None:
    """Counts events; call it once they are durable."""
    SHARED_DEVICES_RECORDED.inc(events)
