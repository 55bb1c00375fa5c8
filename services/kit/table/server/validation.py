"""Checks the ids, texts and ownership in calls to any game's services, where they enter."""

from __future__ import annotations

import re
from datetime import timedelta

from services.kit.access.identity import OPERATOR, Caller
from services.kit.table import refusals
from services.kit.table.configuration.specific_rules import SEATS_LIMIT
from services.kit.table.refusals import TableRefused

# A table's id is part of a subject on the bus. An individual table's is 17 characters longer than a configured table's.
_TABLE = re.compile(r"[A-Za-z0-9_-]{1,60}")
_ID = re.compile(r"[\x21-\x7e]{1,128}")
_REQUEST = re.compile(r"[\x21-\x7e]{1,64}")
_PLAYER = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Ten years, as the contract bounds it; the clock itself bounds the sum of all advances.
MILLISECONDS_LIMIT = 3660 * 24 * 3_600_000


def table_id(value: str) -> str:
    if _TABLE.fullmatch(value) is None:
        raise refusals.invalid("table_id", "has to be 1 to 60 letters, digits, `_` or `-`.")
    return value


def player_id(value: str) -> str:
    if _PLAYER.fullmatch(value) is None:
        raise refusals.invalid("player_id", "has to be 1 to 64 letters, digits, `_` or `-`.")
    return value


def round_id(value: str) -> str:
    if _ID.fullmatch(value) is None:
        raise refusals.invalid("round_id", "has to be the id of a round, as the table tells it.")
    return value


def request_id(value: str) -> str:
    if _REQUEST.fullmatch(value) is None:
        raise refusals.invalid("request_id", "has to be 1 to 64 printable characters without spaces.")
    return value


def required_text(field: str, value: str, limit: int) -> str:
    if not 0 < len(value.strip()) <= limit:
        raise refusals.invalid(field, f"has to be said, in at most {limit} characters.")
    return value


def wanted_seat(value: int) -> int:
    """Returns the seat that a player asks for; 0 for any."""
    if not 0 <= value <= SEATS_LIMIT:
        raise refusals.invalid("seat", f"has to be from 1 to {SEATS_LIMIT}, or 0 for any.")
    return value


def positive_milliseconds(field: str, value: int) -> timedelta:
    if not 0 < value <= MILLISECONDS_LIMIT:
        raise refusals.invalid(field, f"has to be from 1 to {MILLISECONDS_LIMIT}: the clock goes forward only.")
    return timedelta(milliseconds=value)


def verify_may_see(caller: Caller, owner_id: str) -> None:
    """Refuses a player who asks for another player's records."""
    if OPERATOR not in caller.scopes and caller.subject != owner_id:
        raise TableRefused("NOT_YOURS", "This is another player's.")
