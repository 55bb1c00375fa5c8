"""The names on the bus: streams, buckets, and the subjects of what is in them."""

from __future__ import annotations

EVENTS_STREAM = "FELTRO_TABLES"
FACTS_STREAM = "FELTRO_WALLET"
# Which replica runs which placement, and which replicas there are; their keys begin with the game.
LEASES_BUCKET = "feltro_leases"
REPLICAS_BUCKET = "feltro_replicas"
# How far ahead the clock of a game's tables is, under the game.
TABLE_CLOCKS_BUCKET = "feltro_table_clocks"
# What gateways share: when each login was last active, and which tokens were revoked.
ACTIVITY_BUCKET = "feltro_activity"
# Which player is connected to which gateway, and which gateways there are.
CONNECTIONS_BUCKET = "feltro_connections"
# A replica whose heartbeat is older is gone; the bucket drops it then.
HEARTBEAT_LIFETIME_S = 2.5
# How processes reach JetStream, which is in an account of its own: see `permissions`.
API_PREFIX = "feltro.jetstream"

_EVENTS_PREFIX = "feltro.table."
_OWN_VIEWS_PREFIX = "feltro.own."


def table_subject(game: str, table_id: str) -> str:
    """Returns the subject of one table's public events."""
    return f"{_EVENTS_PREFIX}{game}.{table_id}"


def game_and_table(subject: str) -> tuple[str, str]:
    """Returns the game and the table of a `table_subject`."""
    game, _, table_id = subject.removeprefix(_EVENTS_PREFIX).partition(".")
    return game, table_id


def own_view_subject(game: str, player_id: str) -> str:
    """Returns the subject of what one player alone may see at a game's tables; no stream keeps it."""
    return f"{_OWN_VIEWS_PREFIX}{game}.{player_id}"


def game_and_player(subject: str) -> tuple[str, str]:
    """Returns the game and the player of an `own_view_subject`."""
    game, _, player_id = subject.removeprefix(_OWN_VIEWS_PREFIX).partition(".")
    return game, player_id


def sessions_subject(game: str, table_id: str) -> str:
    """Returns the subject of the sessions at one table, which the wallet publishes for the table's game."""
    return f"feltro.wallet.sessions.{game}.{table_id}"


def bucket_stream(bucket: str) -> str:
    """Returns the stream that keeps a bucket."""
    return f"KV_{bucket}"


def key_subject(bucket: str, key: str) -> str:
    """Returns the subject of one key of a bucket."""
    return f"$KV.{bucket}.{key}"


def stored_subject(stream: str, subject: str) -> str:
    """Returns the subject on which the bus publishes again what it has stored in a stream under a subject."""
    return f"feltro.stored.{stream}.{subject}"
