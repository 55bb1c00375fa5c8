"""Reads what is stored in a stream, in order and page by page, without a consumer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import nats.errors
import nats.js.errors
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from services.kit.bus.subjects import API_PREFIX

# The messages and bytes of one page (G11).
PAGE_MESSAGES = 256
PAGE_BYTES = 4 * 1024 * 1024

_STATUS, _SUBJECT, _SEQUENCE, _PENDING = "Status", "Nats-Subject", "Nats-Sequence", "Nats-Num-Pending"
_END_OF_PAGE, _NOT_FOUND, _NO_RESPONDERS = "204", "404", "503"


class UnreadableAnswer(nats.errors.Error):
    """The bus answers otherwise than it should."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message of a stream."""

    subject: str
    seq: int
    data: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """Messages of a stream, in order."""

    messages: list[StoredMessage]
    pending: int
    """How many more there are."""


async def read_page(
    bus: Nats,
    stream: str,
    subject: str,
    *,
    within_s: float,
    after: int = 0,
    since: datetime | None = None,
    limit: int = PAGE_MESSAGES,
) -> Page:
    """Reads the messages on a subject that come after a sequence, or that were stored since a time."""
    request: dict[str, object] = {"next_by_subj": subject, "batch": limit, "max_bytes": PAGE_BYTES}
    if since is None:
        request["seq"] = after + 1
    else:
        request["start_time"] = since.isoformat()
    messages: list[StoredMessage] = []
    end: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def receive(answer: Msg) -> None:
        if end.done():
            return
        try:
            headers = answer.headers or {}
            if status := headers.get(_STATUS, ""):
                end.set_result(_pending_after(status, headers))
            else:
                messages.append(from_headers(headers, answer.data))
        except nats.errors.Error as failed:
            end.set_exception(failed)

    inbox = bus.new_inbox()
    subscription = await bus.subscribe(inbox, cb=receive)
    try:
        async with asyncio.timeout(within_s):
            await bus.publish(f"{API_PREFIX}.DIRECT.GET.{stream}", json.dumps(request).encode(), reply=inbox)
            return Page(messages, await end)
    finally:
        await subscription.unsubscribe()


def _pending_after(status: str, headers: Mapping[str, str]) -> int:
    """Returns how many messages follow a page, which the status message after it says."""
    if status == _NOT_FOUND:
        return 0
    if status == _NO_RESPONDERS:
        raise nats.js.errors.NotFoundError(code=404, description="there is no such stream")
    if status != _END_OF_PAGE:
        raise UnreadableAnswer(f"{status} {headers.get('Description', '')}".strip())
    return int(headers.get(_PENDING, "0"))


def from_headers(headers: Mapping[str, str], data: bytes) -> StoredMessage:
    """Makes a stored message of what the bus has sent of it."""
    try:
        return StoredMessage(headers[_SUBJECT], int(headers[_SEQUENCE]), data, headers)
    except (KeyError, ValueError) as wrong:
        raise UnreadableAnswer("a stored message without its subject or its number") from wrong
