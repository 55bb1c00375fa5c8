"""The follower of a stream: what it checks while messages arrive."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar, cast

import pytest
from nats.js.api import StreamConfig, StreamInfo, StreamState

from services.kit.bus.follower import StreamFollower
from services.kit.bus.stored import StoredMessage

CREATED = datetime(2026, 1, 1, tzinfo=UTC)


class CheckedTwice(Exception):
    """The follower has asked about its stream a second time, so the first answer was good."""


class SlowStream:
    """A stream whose answer about itself is overtaken by a message."""

    def __init__(self) -> None:
        self.follower: StreamFollower | None = None
        self.asked = 0

    async def stream_info(self, name: str) -> StreamInfo:
        self.asked += 1
        if self.asked > 1:
            raise CheckedTwice(name)
        answer = info(last_seq=7)
        assert self.follower is not None
        self.follower._take(StoredMessage("subject", 8, b"", {}))
        return answer


class Connected:
    """A connection to the bus that stays."""

    is_connected = True
    stats: ClassVar = {"reconnects": 0}

    def __init__(self, stream: SlowStream) -> None:
        self._stream = stream

    def jetstream(self, **_: object) -> SlowStream:
        return self._stream


def info(last_seq: int) -> StreamInfo:
    state = StreamState(messages=last_seq, bytes=0, first_seq=1, last_seq=last_seq, consumer_count=0)
    return StreamInfo(config=StreamConfig(name="stream"), state=state, created=CREATED)


async def test_a_message_that_overtakes_the_answer_is_no_other_stream() -> None:
    stream, received = SlowStream(), list[int]()
    follower = stream.follower = StreamFollower(
        cast("Any", Connected(stream)),
        "stream",
        ">",
        lambda message: received.append(message.seq),
        check_every_s=0.0,
        answered_within_s=1.0,
    )
    follower._waiting = None
    follower._last_seq = 7
    with pytest.raises(CheckedTwice):
        await follower._check_forever(info(last_seq=7), 0)
    assert received == [8]
