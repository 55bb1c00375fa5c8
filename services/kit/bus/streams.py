"""What is asked of JetStream in more than one place: a stream that has to exist, and a message that came too late."""

from __future__ import annotations

import nats.js.errors
from nats.js import JetStreamContext
from nats.js.api import StreamConfig

# JetStream's codes for "wrong last sequence": of a stream's subject, and of the whole stream.
_WRONG_LAST_SEQUENCE = frozenset({10071, 10164})


async def ensure_stream(jetstream: JetStreamContext, config: StreamConfig) -> None:
    """Creates a stream unless it exists."""
    try:
        await jetstream.add_stream(config)
    except nats.js.errors.BadRequestError:
        # It exists with another configuration, which is the operator's to choose.
        await jetstream.stream_info(config.name or "")


def is_sequence_conflict(error: nats.js.errors.APIError) -> bool:
    """Whether a message was refused because another one was stored in the meantime."""
    return error.err_code in _WRONG_LAST_SEQUENCE
