"""The rules for what comes in over gRPC, the same for every service of the wallet: ids, amounts, pages, ownership."""

import base64
import binascii
import re
from datetime import UTC, datetime

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from services.kit.access.identity import DEMO_ID_PREFIX, Caller
from services.wallet.model import refusals
from services.wallet.store.answers import REQUEST_ID_CHARACTERS_LIMIT

# One command moves at most this: a hundred million euro. Sums of amounts stay far inside int64 (G11).
AMOUNT_LIMIT_CENTS = 10**10
DEFAULT_PAGE_SIZE, PAGE_SIZE_LIMIT = 50, 500

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REGULATION = re.compile(r"[0-9]{3}/[0-9]{4}")
_ID = re.compile(r"[\x21-\x7e]{1,128}")


def bus_safe_id(field: str, value: str) -> str:
    """An id that becomes a part of a subject on the bus."""
    if _NAME.fullmatch(value) is None:
        raise refusals.invalid(field, "has to be 1 to 64 letters, digits, `_` or `-`.")
    return value


def registered_player_id(field: str, value: str) -> str:
    """The id of somebody whom the operator knows: it is none that visitors of demonstrations are given."""
    if value.startswith(DEMO_ID_PREFIX):
        raise refusals.invalid(
            field,
            f"must not begin with `{DEMO_ID_PREFIX}`: visitors of demonstrations are called so, and have no money.",
        )
    return bus_safe_id(field, value)


def printable_id(field: str, value: str) -> str:
    if _ID.fullmatch(value) is None:
        raise refusals.invalid(
            field, f"has to be 1 to {REQUEST_ID_CHARACTERS_LIMIT} printable characters without spaces."
        )
    return value


def regulation_number(field: str, value: str) -> str:
    if _REGULATION.fullmatch(value) is None:
        raise refusals.invalid(field, "has to be the number of a regulation, such as `804/2015`.")
    return value


def positive_amount(field: str, value: int) -> int:
    if not 0 < value <= AMOUNT_LIMIT_CENTS:
        raise refusals.invalid(field, f"has to be above 0 and at most {AMOUNT_LIMIT_CENTS} cents.")
    return value


def amount_or_zero(field: str, value: int, limit: int = AMOUNT_LIMIT_CENTS) -> int:
    if not 0 <= value <= limit:
        raise refusals.invalid(field, f"has to be from 0 to {limit} cents.")
    return value


def verify_length(field: str, value: bytes | str, limit: int) -> None:
    """Bytes or words that fit where they are kept."""
    if len(value) > limit:
        raise refusals.invalid(field, f"is longer than {limit}.")
    # The one character that PostgreSQL's text cannot hold. Half a surrogate pair is not UTF-8: no message brings one.
    if isinstance(value, str) and "\0" in value:
        raise refusals.invalid(field, "has to be without NUL characters.")


def page_size(value: int) -> int:
    if not 0 <= value <= PAGE_SIZE_LIMIT:
        raise refusals.invalid("page_size", f"has to be from 0 to {PAGE_SIZE_LIMIT}.")
    return value or DEFAULT_PAGE_SIZE


def page_token(position: int) -> str:
    return base64.urlsafe_b64encode(str(position).encode()).decode().rstrip("=")


def page_position(token: str) -> int | None:
    """Where a page begins; None for the first one."""
    if not token:
        return None
    try:
        position = int(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (ValueError, binascii.Error):
        position = 0
    if not 0 < position < 2**63:
        raise refusals.invalid("page_token", "is not one that this wallet has given out.")
    return position


def optional_time(field: str, request: Message) -> datetime | None:
    """A time that may be left out."""
    if not request.HasField(field):
        return None
    stamp: Timestamp = getattr(request, field)
    try:
        return stamp.ToDatetime(UTC)
    except (ValueError, OverflowError):
        raise refusals.invalid(field, "has to be a time.") from None


def verify_access(caller: Caller, player_id: str | None) -> None:
    """A player sees only what is his own."""
    if not caller.scopes & {"operator", "game"} and caller.subject != player_id:
        raise refusals.not_yours()
