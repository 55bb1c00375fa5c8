"""What each kind of process may do on the bus: everything else is tried against a real server, in every way known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import nats.errors
import nats.js.errors
import pytest
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from nats.js.api import StreamConfig, StreamInfo

from services.kit.bus import permissions
from services.kit.bus.buckets import Bucket
from services.kit.bus.connection import BusEndpoint, connect
from services.kit.bus.follower import StreamFollower
from services.kit.bus.permissions import GATEWAY, WALLET, WrongGame
from services.kit.bus.stored import StoredMessage
from services.kit.bus.stream_keeper import StreamKeeper
from services.kit.bus.streams import PLATFORM_STREAMS
from services.kit.bus.subjects import (
    ACTIVITY_BUCKET,
    API_PREFIX,
    CONNECTIONS_BUCKET,
    EVENTS_STREAM,
    FACTS_STREAM,
    LEASES_BUCKET,
    REPLICAS_BUCKET,
    TABLE_CLOCKS_BUCKET,
    bucket_stream,
    key_subject,
    own_view_subject,
    sessions_subject,
    stored_subject,
    table_subject,
)
from tests.processes.bus import endpoint, plain_url

pytestmark = pytest.mark.guarantee("G12")

TIMEOUT_S = 240.0
GAME, OTHER_GAME = "roulette", "other_game"
USERS = (WALLET, GATEWAY, GAME)
STREAMS = [config.name or "" for config in PLATFORM_STREAMS]
BUCKETS = (LEASES_BUCKET, REPLICAS_BUCKET, TABLE_CLOCKS_BUCKET, ACTIVITY_BUCKET, CONNECTIONS_BUCKET)
PRIVATE = "feltro.player.ana.wallet"
FORGED = b"forged"
NO_RESPONDERS = "503"


class Users:
    """Connections of the kinds of processes to one bus, and of the operator, who sees everything."""

    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self._url = url
        self._stack = stack

    async def connect(self, user: str) -> Nats:
        bus = await connect(endpoint(self._url, user), user)
        self._stack.push_async_callback(bus.close)
        return bus


@pytest.fixture
async def users(nats_url: str) -> AsyncIterator[Users]:
    async with AsyncExitStack() as stack:
        yield Users(nats_url, stack)


@pytest.fixture
async def operator(users: Users) -> Nats:
    return await users.connect(permissions.OPERATOR)


@asynccontextmanager
async def nothing_changes(operator: Nats, but: str = "") -> AsyncIterator[None]:
    """Fails if any stream but one has got a message, has lost one or is configured otherwise than before."""

    async def streams() -> list[tuple[object, ...]]:
        found: list[StreamInfo] = await operator.jetstream(timeout=TIMEOUT_S).streams_info()
        return sorted(
            (info.config.name, str(info.config), str(info.created), info.state.last_seq)
            for info in found
            if info.config.name != but
        )

    before = await streams()
    yield
    assert await streams() == before


async def settled(*connections: Nats) -> None:
    """Returns when the server has carried out everything that was sent so far."""
    for bus in connections:
        await bus.flush()


@pytest.mark.parametrize(
    "stranger",
    [("", ""), (GAME, "guessed"), ("root", "root"), (GAME, "")],
    ids=["anonymous", "wrong password", "unknown user", "no password"],
)
async def test_g12_a_stranger_is_not_let_in(nats_url: str, stranger: tuple[str, str]) -> None:
    user, password = stranger
    address = urlsplit(plain_url(nats_url))
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            assert json.loads((await reader.readline()).removeprefix(b"INFO "))["auth_required"]
            credentials = {"user": user, "pass": password} if user else {}
            writer.write(
                b"CONNECT " + json.dumps({"verbose": False, **credentials}).encode() + b"\r\nSUB > 1\r\nPING\r\n"
            )
            assert b"Authorization Violation" in await reader.readline()
            assert await reader.read() == b""
    finally:
        writer.close()
        await writer.wait_closed()


FORBIDDEN_PUBLISHES = {
    GAME: [
        PRIVATE,
        "feltro.player.ana.table",
        "feltro.wallet.transfers",
        "feltro.wallet.rounds.salon",
        sessions_subject(GAME, "salon"),
        table_subject(OTHER_GAME, "salon"),
        "feltro.table.salon",
        own_view_subject(OTHER_GAME, "ana"),
        key_subject(LEASES_BUCKET, f"{OTHER_GAME}.salon"),
        key_subject(LEASES_BUCKET, "salon"),
        key_subject(REPLICAS_BUCKET, f"{OTHER_GAME}.r1"),
        key_subject(TABLE_CLOCKS_BUCKET, OTHER_GAME),
        key_subject(ACTIVITY_BUCKET, "aa"),
        key_subject(CONNECTIONS_BUCKET, "players.ana.g1"),
        key_subject(CONNECTIONS_BUCKET, "gateways.g1"),
        stored_subject(FACTS_STREAM, PRIVATE),
        stored_subject(EVENTS_STREAM, table_subject(GAME, "salon")),
        stored_subject(bucket_stream(LEASES_BUCKET), key_subject(LEASES_BUCKET, f"{GAME}.salon")),
    ],
    GATEWAY: [
        PRIVATE,
        "feltro.wallet.transfers",
        sessions_subject(GAME, "salon"),
        table_subject(GAME, "salon"),
        own_view_subject(GAME, "ana"),
        key_subject(LEASES_BUCKET, f"{GAME}.salon"),
        key_subject(REPLICAS_BUCKET, f"{GAME}.r1"),
        key_subject(TABLE_CLOCKS_BUCKET, GAME),
        key_subject(CONNECTIONS_BUCKET, "others.ana"),
        stored_subject(FACTS_STREAM, PRIVATE),
        stored_subject(EVENTS_STREAM, table_subject(GAME, "salon")),
    ],
    WALLET: [
        table_subject(GAME, "salon"),
        "feltro.player.ana.table",
        own_view_subject(GAME, "ana"),
        key_subject(LEASES_BUCKET, f"{GAME}.salon"),
        key_subject(REPLICAS_BUCKET, f"{GAME}.r1"),
        key_subject(TABLE_CLOCKS_BUCKET, GAME),
        key_subject(ACTIVITY_BUCKET, "aa"),
        key_subject(CONNECTIONS_BUCKET, "players.ana.g1"),
    ],
}


@pytest.mark.parametrize("user", USERS)
async def test_g12_nobody_publishes_what_is_not_theirs(users: Users, operator: Nats, user: str) -> None:
    bus, heard = await users.connect(user), list[str]()

    async def hear(message: Msg) -> None:
        if message.data == FORGED:
            heard.append(message.subject)

    await operator.subscribe(">", cb=hear)
    await settled(operator)
    async with nothing_changes(operator):
        for subject in FORBIDDEN_PUBLISHES[user]:
            with pytest.raises(nats.js.errors.NoStreamResponseError):
                await bus.jetstream(timeout=TIMEOUT_S).publish(subject, FORGED)
        await settled(bus, operator)
    assert heard == []


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize("user", USERS)
async def test_g7_nobody_hears_what_is_not_for_them(users: Users, operator: Nats, user: str) -> None:
    bus, heard, last = await users.connect(user), list[str](), asyncio.Event()

    async def hear(message: Msg) -> None:
        heard.append(message.subject)
        if message.subject == "the.last":
            last.set()

    for subject in (
        ">",
        "feltro.>",
        "feltro.player.>",
        "$KV.>",
        "$JS.>",
        "_INBOX.>",
        stored_subject(FACTS_STREAM, ">"),
    ):
        await bus.subscribe(subject, cb=hear)
    await settled(bus)
    publishing = operator.jetstream(timeout=TIMEOUT_S)
    for subject in (
        PRIVATE,
        "feltro.wallet.transfers",
        sessions_subject(GAME, "salon"),
        sessions_subject(OTHER_GAME, "salon"),
        table_subject(GAME, "salon"),
        *(key_subject(bucket, GAME) for bucket in BUCKETS),
    ):
        await publishing.publish(subject, b"x")
    # A reply to somebody else.
    other = await users.connect(WALLET if user == GATEWAY else GATEWAY)
    await other.jetstream(prefix=API_PREFIX, timeout=TIMEOUT_S).stream_info(EVENTS_STREAM)
    await settled(operator)
    await bus.publish("the.last", b"")
    async with asyncio.timeout(TIMEOUT_S):
        await last.wait()
    own = {
        WALLET: set(),
        GATEWAY: {
            stored_subject(FACTS_STREAM, PRIVATE),
            stored_subject(EVENTS_STREAM, table_subject(GAME, "salon")),
            *(_stored_key(bucket) for bucket in (LEASES_BUCKET, REPLICAS_BUCKET, ACTIVITY_BUCKET)),
        },
        GAME: {
            stored_subject(FACTS_STREAM, sessions_subject(GAME, "salon")),
            *(_stored_key(bucket) for bucket in BUCKETS if bucket != ACTIVITY_BUCKET),
        },
    }
    # Its account also has the refusals of requests that JetStream does not serve there.
    assert {subject for subject in heard if subject.startswith("feltro.")} == own[user]
    assert not [subject for subject in heard if subject.startswith(("_INBOX", "$KV", "$JS"))]


@pytest.mark.guarantee("G7")
async def test_g7_the_gateway_alone_hears_what_a_game_tells_its_players(users: Users, operator: Nats) -> None:
    heard: dict[str, list[tuple[str, bytes]]] = {}
    connections = {user: await users.connect(user) for user in (GATEWAY, WALLET, GAME, OTHER_GAME)}
    connections[permissions.OPERATOR] = operator

    async def listen(user: str) -> None:
        async def hear(message: Msg) -> None:
            if message.subject.startswith("feltro.own."):
                heard.setdefault(user, []).append((message.subject, message.data))

        await connections[user].subscribe("feltro.own.>", cb=hear)

    for user in connections:
        await listen(user)
    await settled(*connections.values())
    # Each says everything that the others say: only what is its own arrives.
    for user, bus in connections.items():
        for game in (GAME, OTHER_GAME):
            await bus.publish(own_view_subject(game, "ana"), user.encode())
    await settled(*connections.values())
    await settled(*connections.values())
    # Its own account hears what it says itself; from others, each game what it says about itself.
    assert sorted(each for each in heard[GATEWAY] if each[1] != GATEWAY.encode()) == [
        (own_view_subject(OTHER_GAME, "ana"), OTHER_GAME.encode()),
        (own_view_subject(GAME, "ana"), GAME.encode()),
    ]
    for user in (WALLET, GAME, OTHER_GAME, permissions.OPERATOR):
        assert {said for _, said in heard[user]} == {user.encode()}, "nobody hears more than itself"


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize("config", PLATFORM_STREAMS, ids=lambda config: config.name)
def test_g7_no_stream_keeps_what_one_player_alone_may_see(config: StreamConfig) -> None:
    subject = own_view_subject(GAME, "ana").split(".")
    for stored in config.subjects or []:
        pairs = zip(stored.split("."), subject, strict=False)
        assert not all(pattern in {"*", ">", token} for pattern, token in pairs), stored


def _stored_key(bucket: str) -> str:
    return stored_subject(bucket_stream(bucket), key_subject(bucket, GAME))


def _forged_consumer(stream: str) -> dict[str, Any]:
    """A consumer whose deliveries would be forged facts."""
    return {
        "stream_name": stream,
        "config": {"name": "c", "deliver_subject": PRIVATE, "ack_policy": "none", "deliver_policy": "all"},
    }


def _round_about() -> list[tuple[str, object]]:
    """Requests to JetStream that would read, change or delete more than any process may."""
    requests: list[tuple[str, object]] = [
        ("INFO", {}),
        ("STREAM.LIST", {}),
        ("STREAM.NAMES", {}),
        ("STREAM.CREATE.MIRROR", {"name": "MIRROR", "mirror": {"name": FACTS_STREAM}}),
        ("STREAM.CREATE.OWN", {"name": "OWN", "subjects": ["feltro.player.>"]}),
        (
            "STREAM.CREATE.ECHO",
            {"name": "ECHO", "subjects": ["echo"], "republish": {"src": "echo", "dest": PRIVATE}},
        ),
        ("ACCOUNT.PURGE.FELTRO", {}),
        ("META.LEADER.STEPDOWN", {}),
    ]
    for stream in STREAMS:
        requests += [
            (f"STREAM.DELETE.{stream}", {}),
            (f"STREAM.PURGE.{stream}", {}),
            (f"STREAM.UPDATE.{stream}", {"name": stream, "subjects": ["mine.>"]}),
            (f"STREAM.MSG.DELETE.{stream}", {"seq": 1}),
            (f"STREAM.SNAPSHOT.{stream}", {"deliver_subject": "mine"}),
            (f"STREAM.RESTORE.{stream}", {"config": {"name": stream}, "state": {}}),
            (f"STREAM.LEADER.STEPDOWN.{stream}", {}),
            (f"CONSUMER.LIST.{stream}", {}),
            (f"CONSUMER.CREATE.{stream}", _forged_consumer(stream)),
            (f"CONSUMER.CREATE.{stream}.c", _forged_consumer(stream)),
            (f"CONSUMER.CREATE.{stream}.c.>", _forged_consumer(stream)),
            (f"CONSUMER.DURABLE.CREATE.{stream}.c", _forged_consumer(stream)),
            (f"CONSUMER.MSG.NEXT.{stream}.c", {}),
            (f"CONSUMER.DELETE.{stream}.c", {}),
        ]
    return requests


READS = {
    GAME: [EVENTS_STREAM, FACTS_STREAM, bucket_stream(ACTIVITY_BUCKET)],
    GATEWAY: [bucket_stream(TABLE_CLOCKS_BUCKET), bucket_stream(CONNECTIONS_BUCKET)],
    WALLET: [stream for stream in STREAMS if stream != FACTS_STREAM],
}


def _forbidden_reads(user: str) -> list[tuple[str, object]]:
    requests: list[tuple[str, object]] = []
    for stream in READS[user]:
        requests += [
            (f"STREAM.MSG.GET.{stream}", {"seq": 1}),
            (f"STREAM.MSG.GET.{stream}", {"next_by_subj": ">", "seq": 1}),
            (f"DIRECT.GET.{stream}", {"seq": 1}),
            (f"DIRECT.GET.{stream}", {"next_by_subj": ">", "seq": 1, "batch": 10}),
            (f"DIRECT.GET.{stream}.{PRIVATE}", {}),
            (f"DIRECT.GET.{stream}.{table_subject(OTHER_GAME, 'salon')}", {}),
        ]
    return requests


@pytest.mark.parametrize("prefix", [API_PREFIX, "$JS.API", "$JS.FELTRO.API", "$JS.hub.API"])
@pytest.mark.parametrize("user", USERS)
async def test_g12_no_request_to_jetstream_gets_round_the_permissions(
    users: Users, operator: Nats, user: str, prefix: str
) -> None:
    bus, answers = await users.connect(user), list[tuple[str, bytes]]()
    for subject in (PRIVATE, table_subject(OTHER_GAME, "salon"), *(key_subject(bucket, GAME) for bucket in BUCKETS)):
        await operator.jetstream(timeout=TIMEOUT_S).publish(subject, b"secret")
    requests = [*_round_about(), *_forbidden_reads(user)]

    async def receive(answer: Msg) -> None:
        status = (answer.headers or {}).get("Status", "")
        if status != NO_RESPONDERS:
            answers.append((requests[int(answer.subject.rpartition(".")[2])][0], answer.data))

    inbox = bus.new_inbox()
    await bus.subscribe(f"{inbox}.*", cb=receive)
    async with nothing_changes(operator):
        for number, (request, content) in enumerate(requests):
            payload = b"" if content == {} else json.dumps(content).encode()
            await bus.publish(f"{prefix}.{request}", payload, reply=f"{inbox}.{number}")
        await settled(bus)
        await bus.request(f"{API_PREFIX}.{ANSWERED[user][0]}", b'{"seq":1}', timeout=TIMEOUT_S)
        await settled(operator, bus)
    for request, answer in answers:
        assert "error" in json.loads(answer), (request, answer)


@pytest.mark.parametrize("stream", STREAMS)
async def test_g12_the_wallet_creates_streams_and_changes_none(users: Users, operator: Nats, stream: str) -> None:
    bus = await users.connect(WALLET)
    async with nothing_changes(operator):
        await StreamKeeper(bus).create_missing()
        taken_over = {"name": stream, "subjects": ["mine.>"], "republish": {"src": ">", "dest": "mine"}}
        answer = await bus.request(
            f"{API_PREFIX}.STREAM.CREATE.{stream}", json.dumps(taken_over).encode(), timeout=TIMEOUT_S
        )
        assert "error" in json.loads(answer.data)
        other = json.dumps({**taken_over, "name": "OTHER"}).encode()
        answer = await bus.request(f"{API_PREFIX}.STREAM.CREATE.{stream}", other, timeout=TIMEOUT_S)
        assert "error" in json.loads(answer.data)


ANSWERED = {
    WALLET: ["STREAM.INFO.FELTRO_WALLET", "STREAM.MSG.GET.FELTRO_WALLET"],
    GATEWAY: ["STREAM.INFO.FELTRO_TABLES", "DIRECT.GET.FELTRO_WALLET", "STREAM.MSG.GET.KV_feltro_activity"],
    GAME: [
        "STREAM.INFO.KV_feltro_leases",
        "DIRECT.GET.KV_feltro_leases",
        "STREAM.MSG.GET.KV_feltro_leases",
        f"DIRECT.GET.FELTRO_TABLES.{table_subject(GAME, 'salon')}",
    ],
}


@pytest.mark.parametrize("user", USERS)
async def test_g12_an_answer_goes_to_its_own_account_whatever_subject_the_request_names(
    users: Users, operator: Nats, user: str
) -> None:
    """Otherwise a process that may read could publish: what it has stored before, to any subject at all."""
    bus = await users.connect(user)
    own = {WALLET: PRIVATE, GATEWAY: key_subject(ACTIVITY_BUCKET, "aa"), GAME: table_subject(GAME, "salon")}[user]
    stream = await operator.jetstream(timeout=TIMEOUT_S).find_stream_name_by_subject(own)
    await operator.jetstream(timeout=TIMEOUT_S).publish(key_subject(LEASES_BUCKET, f"{GAME}.salon"), FORGED)
    await bus.jetstream(timeout=TIMEOUT_S).publish(own, FORGED)
    targets = [
        *FORBIDDEN_PUBLISHES[user],
        *(
            f"{api}.STREAM.{verb}.{stream}"
            for api in ("$JS.API", API_PREFIX)
            for verb in ("DELETE", "PURGE")
            for stream in STREAMS
        ),
    ]
    before = (await operator.jetstream(timeout=TIMEOUT_S).stream_info(stream)).state.last_seq
    async with nothing_changes(operator, but=stream):
        for reply in targets:
            for request in ANSWERED[user]:
                content = b"" if request.startswith(("STREAM.INFO", "DIRECT.GET.FELTRO_TABLES.")) else b'{"seq":1}'
                await bus.publish(f"{API_PREFIX}.{request}", content, reply=reply)
            await bus.publish(own, FORGED, reply=reply)
        # These come last, and are answered last.
        await bus.request(f"{API_PREFIX}.{ANSWERED[user][0]}", b'{"seq":1}', timeout=TIMEOUT_S)
        await bus.jetstream(timeout=TIMEOUT_S).publish(own, FORGED)
        await settled(bus, operator)
    # Nothing but its own messages.
    after = (await operator.jetstream(timeout=TIMEOUT_S).stream_info(stream)).state.last_seq
    assert after == before + len(targets) + 1


@pytest.mark.parametrize("header", ["all", "sub"])
async def test_g12_a_writer_of_one_key_deletes_no_other(users: Users, operator: Nats, header: str) -> None:
    await operator.jetstream(timeout=TIMEOUT_S).publish(key_subject(LEASES_BUCKET, f"{OTHER_GAME}.salon"), b"x")
    bus = await users.connect(GAME)
    async with nothing_changes(operator):
        with pytest.raises(nats.js.errors.APIError):
            await bus.jetstream(timeout=TIMEOUT_S).publish(
                key_subject(LEASES_BUCKET, f"{GAME}.salon"), FORGED, headers={"Nats-Rollup": header}
            )


@pytest.mark.guarantee("G11")
async def test_g11_an_entry_has_a_limit(users: Users, operator: Nats) -> None:
    bus = await users.connect(GAME)
    async with nothing_changes(operator):
        with pytest.raises(nats.js.errors.APIError):
            await bus.jetstream(timeout=TIMEOUT_S).publish(key_subject(LEASES_BUCKET, f"{GAME}.salon"), b"x" * 100_000)


@pytest.mark.parametrize("user", [GATEWAY, GAME])
async def test_every_process_follows_what_it_may_see(users: Users, operator: Nats, user: str) -> None:
    bus, changed = await users.connect(user), asyncio.Event()
    bucket = Bucket(bus, LEASES_BUCKET, changed.set)
    watching = asyncio.create_task(bucket.watch())
    key = f"{OTHER_GAME}.followed-{user}"
    async with asyncio.timeout(TIMEOUT_S):
        while not bucket.is_current:
            await asyncio.sleep(0.01)
        await operator.jetstream(timeout=TIMEOUT_S).publish(key_subject(LEASES_BUCKET, key), b"here")
        while key not in bucket.entries:
            changed.clear()
            await changed.wait()
    assert bucket.entries[key].value == (await bucket.read(key)).value == b"here"
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)


async def test_a_follower_of_some_subjects_notices_a_lost_message(
    users: Users, operator: Nats, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its numbers have gaps anyway: only the count of what is stored shows that one is missing."""
    bus = await users.connect(GATEWAY)
    received, caught_up = list[bytes](), asyncio.Event()
    take, lost = StreamFollower._take, False

    def lose_one(follower: StreamFollower, message: StoredMessage) -> None:
        nonlocal lost
        if message.data == b"lost" and not lost:
            lost = True
            return
        take(follower, message)

    monkeypatch.setattr(StreamFollower, "_take", lose_one)

    def follower(on_message: Callable[[StoredMessage], None]) -> StreamFollower:
        return StreamFollower(
            bus, FACTS_STREAM, "feltro.player.*.wallet", on_message, check_every_s=0.1, answered_within_s=TIMEOUT_S
        )

    info = await bus.jetstream(prefix=API_PREFIX, timeout=TIMEOUT_S).stream_info(FACTS_STREAM)
    start = info.state.last_seq
    following = asyncio.create_task(
        follower(lambda message: received.append(message.data)).follow(info, start, caught_up.set)
    )
    await caught_up.wait()
    # All at once: the loss is noticed at the second look at the stream, by when the last one has to be there.
    for payload in (b"first", b"lost", b"last"):
        await operator.publish(PRIVATE, payload)
        await operator.publish("feltro.wallet.transfers", b"")
    await operator.flush()
    async with asyncio.timeout(TIMEOUT_S):
        with pytest.raises(nats.errors.Error, match="not delivered"):
            await following
    assert received == [b"first", b"last"]


@pytest.mark.parametrize(
    "name", ["wallet", "gateway", "operator", "monitor", "", "a.b", "a b", "*", ">", "a\nb", "ção"]
)
def test_no_game_takes_the_name_of_another_user_or_a_pattern(name: str) -> None:
    with pytest.raises(WrongGame):
        permissions.game(name)


def test_an_endpoint_does_not_print_its_password() -> None:
    assert "hunter2" not in repr(BusEndpoint("nats://127.0.0.1", "wallet", "hunter2"))
