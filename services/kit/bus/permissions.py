"""Who may do what on the bus, for every process of the platform: once, for the server's configuration and its tests.

Each kind of process has an account of its own. The streams are in another one, `FELTRO`, which lets each account in to
what is named here and to nothing else. Permissions of users within one account would not do: there the answer to a
request goes to any subject that the request names, and so a process that may only read could write anywhere.

There are no consumers, for the same reason, and only the wallet creates streams. What players alone may see at a table
is in no stream: each game's account lets the gateway's hear its own players' subjects, and no other account.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.kit.bus import subjects
from services.kit.bus.streams import PLATFORM_STREAMS
from services.kit.bus.subjects import (
    bucket_stream,
    key_subject,
    own_view_subject,
    sessions_subject,
    stored_subject,
    table_subject,
)

WALLET, GATEWAY, OPERATOR, MONITOR = "wallet", "gateway", "operator", "monitor"
# Names of users that no game may have.
RESERVED = frozenset({WALLET, GATEWAY, OPERATOR, MONITOR})

_GAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Permissions:
    """All that one kind of process may do on the bus."""

    user: str
    publishes: tuple[str, ...]
    """The subjects it may publish to; the bus answers that it has stored a message."""
    requests: tuple[str, ...]
    """The requests that it may make to JetStream, after `API_PREFIX`."""
    reads: tuple[str, ...]
    """Requests to JetStream that are answered by many messages."""
    hears: tuple[str, ...]
    """The subjects it may subscribe to."""
    tells: tuple[tuple[str, str], ...] = ()
    """Subjects outside the streams, each with the one other user who may subscribe to it."""


class WrongGame(ValueError):
    """No game can be called so; the message says why."""


def wallet() -> Permissions:
    """The wallet publishes facts about players, rounds and sessions, and creates the streams."""
    names = [config.name for config in PLATFORM_STREAMS]
    return Permissions(
        WALLET,
        publishes=("feltro.player.*.wallet", "feltro.wallet.>"),
        requests=(
            *(f"STREAM.INFO.{name}" for name in names),
            *(f"STREAM.CREATE.{name}" for name in names),
            f"STREAM.MSG.GET.{subjects.FACTS_STREAM}",
        ),
        reads=(),
        hears=(),
    )


def gateway() -> Permissions:
    """The gateway hears what it tells clients, and says who is connected; gateways share the activity of logins."""
    streams = [
        subjects.EVENTS_STREAM,
        subjects.FACTS_STREAM,
        *(
            bucket_stream(bucket)
            for bucket in (subjects.LEASES_BUCKET, subjects.REPLICAS_BUCKET, subjects.ACTIVITY_BUCKET)
        ),
    ]
    return Permissions(
        GATEWAY,
        publishes=(
            key_subject(subjects.ACTIVITY_BUCKET, "*"),
            key_subject(subjects.CONNECTIONS_BUCKET, "gateways.*"),
            key_subject(subjects.CONNECTIONS_BUCKET, "players.*.*"),
        ),
        requests=tuple(request for stream in streams for request in _view(stream)),
        reads=tuple(f"DIRECT.GET.{stream}" for stream in streams),
        hears=(
            stored_subject(subjects.EVENTS_STREAM, ">"),
            stored_subject(subjects.FACTS_STREAM, "feltro.player.*.wallet"),
            *(stored_subject(stream, ">") for stream in streams if stream.startswith("KV_")),
        ),
    )


def game(name: str) -> Permissions:
    """A game publishes the events of its own tables and writes its own keys; it hears the sessions at its tables.

    The gateway alone hears what the game tells its players.
    """
    if _GAME.fullmatch(name) is None:
        raise WrongGame(f"{name!r} can be no game: its name has 1 to 64 letters, digits, `_` and `-`.")
    if name in RESERVED:
        raise WrongGame(f"{name!r} can be no game: another process of the platform is called so.")
    shared = [bucket_stream(subjects.LEASES_BUCKET), bucket_stream(subjects.REPLICAS_BUCKET)]
    shared += [bucket_stream(subjects.TABLE_CLOCKS_BUCKET), bucket_stream(subjects.CONNECTIONS_BUCKET)]
    own_tables = table_subject(name, "*")
    return Permissions(
        name,
        publishes=(
            own_tables,
            key_subject(subjects.LEASES_BUCKET, f"{name}.*"),
            key_subject(subjects.REPLICAS_BUCKET, f"{name}.*"),
            key_subject(subjects.TABLE_CLOCKS_BUCKET, name),
        ),
        requests=(
            *(request for stream in shared for request in _view(stream)),
            f"DIRECT.GET.{subjects.EVENTS_STREAM}.{own_tables}",
        ),
        reads=tuple(f"DIRECT.GET.{stream}" for stream in shared),
        hears=(
            *(stored_subject(stream, ">") for stream in shared),
            stored_subject(subjects.FACTS_STREAM, sessions_subject(name, "*")),
        ),
        tells=((own_view_subject(name, "*"), GATEWAY),),
    )


def platform(games: Iterable[str]) -> list[Permissions]:
    """Returns the permissions of all processes of a platform with these games."""
    return [wallet(), gateway(), *(game(name) for name in sorted(set(games)))]


def _view(stream: str) -> tuple[str, str]:
    """What following a stream takes beside reading pages of it."""
    return f"STREAM.INFO.{stream}", f"STREAM.MSG.GET.{stream}"
