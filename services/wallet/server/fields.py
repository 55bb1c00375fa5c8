"""Checks of the fields of requests, the same for every service of the wallet: ids, amounts, texts, times and pages."""

import json
import re
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from feltro.wallet.v1 import types_pb2
from services.kit import paging
from services.kit.access.identity import DEMO_ID_PREFIX
from services.kit.paging import PageRequest
from services.wallet.model import refusals

# One command moves at most a hundred million euro, a stake apart: sums of amounts stay far inside int64 (G11).
AMOUNT_LIMIT_CENTS = 10**10
REQUEST_ID_CHARACTERS_LIMIT = 128
COMMAND_DIGEST_BYTES_LIMIT = 64

_BUS_SAFE = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Before the first character that no table's id has, such as the dot of `salon.7`.
_FIRST_PART = re.compile(r"([A-Za-z0-9_-]+)[^A-Za-z0-9_-]")
_REGULATION = re.compile(r"[0-9]{3}/[0-9]{4}")
_PRINTABLE = re.compile(rf"[\x21-\x7e]{{1,{REQUEST_ID_CHARACTERS_LIMIT}}}")


class PagedRequest(Protocol):
    """The fields of every request for a page."""

    page_size: int
    page_token: str


def bus_safe_id(field: str, value: str) -> str:
    """An id that becomes a part of a subject on the bus."""
    if _BUS_SAFE.fullmatch(value) is None:
        raise refusals.invalid(field, "has to be 1 to 64 letters, digits, `_` or `-`.")
    return value


def registered_player_id(field: str, value: str) -> str:
    """The id of a player whom the operator knows, which no visitor of a demonstration has."""
    if value.startswith(DEMO_ID_PREFIX):
        raise refusals.invalid(
            field,
            f"must not begin with `{DEMO_ID_PREFIX}`: visitors of demonstrations are called so, and have no money.",
        )
    return bus_safe_id(field, value)


def printable_id(field: str, value: str) -> str:
    if _PRINTABLE.fullmatch(value) is None:
        raise refusals.invalid(
            field, f"has to be 1 to {REQUEST_ID_CHARACTERS_LIMIT} printable characters without spaces."
        )
    return value


def id_of_table(field: str, value: str, table_id: str) -> str:
    """The id of a round or request at a table: if its first part names a table, it is this one.

    Otherwise one game could use up the ids of another's next round, or of the request that will settle it.
    """
    named = table_named_by(printable_id(field, value))
    if named not in {"", table_id}:
        raise refusals.invalid(field, f"belongs to the table `{named}`: here it has to begin with `{table_id}`.")
    return value


def table_ref(field: str, table: types_pb2.TableRef) -> tuple[str, int]:
    """The table that a game acts for, and the epoch of its lease."""
    if table.epoch < 1:
        raise refusals.invalid(f"{field}.epoch", "has to be the epoch of the table's lease, 1 or above.")
    return bus_safe_id(f"{field}.table_id", table.table_id), table.epoch


def command_digest(field: str, value: bytes) -> bytes:
    """The digest of a command whose content the game has digested."""
    verify_length(field, value, COMMAND_DIGEST_BYTES_LIMIT)
    return b"game:" + value


def table_named_by(value: str) -> str:
    """Returns the table that the first part of an id names; nothing if the id has one part only."""
    found = _FIRST_PART.match(value)
    return "" if found is None else found[1]


def uuid(field: str, value: str) -> UUID:
    try:
        return UUID(value)
    except ValueError:
        raise refusals.invalid(field, "has to be a UUID.") from None


def regulation_number(field: str, value: str) -> str:
    if _REGULATION.fullmatch(value) is None:
        raise refusals.invalid(field, "has to be the number of a regulation, such as `804/2015`.")
    return value


def positive_amount(field: str, value: int, limit: int = AMOUNT_LIMIT_CENTS) -> int:
    if not 0 < value <= limit:
        raise refusals.invalid(field, f"has to be above 0 and at most {limit} cents.")
    return value


def amount_or_zero(field: str, value: int, limit: int = AMOUNT_LIMIT_CENTS) -> int:
    if not 0 <= value <= limit:
        raise refusals.invalid(field, f"has to be from 0 to {limit} cents.")
    return value


def verify_length(field: str, value: bytes | str, limit: int) -> None:
    """Refuses bytes or text longer than their limit, and text that the database cannot store."""
    if len(value) > limit:
        raise refusals.invalid(field, f"is longer than {limit}.")
    # The one character that PostgreSQL's text cannot hold. Half a surrogate pair is not UTF-8: no message brings one.
    if isinstance(value, str) and "\0" in value:
        raise refusals.invalid(field, "has to be without NUL characters.")


def json_text(field: str, value: str) -> str:
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        raise refusals.invalid(field, "has to be JSON.") from None
    return value


def verify_given(field: str, request: Message) -> None:
    """Refuses a request without a field that may be false but must not be left out."""
    if not request.HasField(field):
        raise refusals.invalid(field, "has to be given: true or false.")


def optional_time(field: str, request: Message) -> datetime | None:
    if not request.HasField(field):
        return None
    stamp: Timestamp = getattr(request, field)
    try:
        return stamp.ToDatetime(UTC)
    except (ValueError, OverflowError):
        raise refusals.invalid(field, "has to be a time.") from None


def page_request(request: PagedRequest, default_size: int = paging.DEFAULT_PAGE_SIZE) -> PageRequest:
    """Reads `page_size` and `page_token` of a request."""
    return paging.page_request(request.page_size, request.page_token, refusals.invalid, default_size=default_size)
