"""The outbox and a real JetStream: every fact is published once and in order, wherever a publisher dies."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator

import nats
import nats.errors
import nats.js.errors
import pytest
import pytest_asyncio
from nats.aio.client import Client as Nats
from sqlalchemy import text

from feltro.wallet.v1 import events_pb2
from services.kit.bus.subjects import API_PREFIX, FACTS_STREAM
from services.kit.database.postgresql import DirectConnection
from services.wallet.outbox import facts
from services.wallet.outbox import publisher as outbox
from services.wallet.outbox.publisher import OutboxPublisher
from tests.processes.bus import recreate_stream, stream_config
from tests.service.wallet.in_process_wallet import MULTI_PLAYER, InProcessWallet, Seat

TIMEOUT_S = 240.0


class Killed(Exception):
    """Stands for the death of a publisher's process."""


@pytest_asyncio.fixture
async def bus(nats_url: str, clean_stream: None) -> AsyncIterator[Nats]:
    connection = await nats.connect(nats_url)
    yield connection
    await connection.close()


async def play(wallet: InProcessWallet, rounds: int = 5, players: int = 3) -> list[Seat]:
    """Plays some rounds, each with a stake of every player, which is paid double."""
    table_id = await wallet.open_table(f"t-{id(wallet)}-{rounds}", MULTI_PLAYER)
    seats = [await wallet.sit_down(f"p{player}-{rounds}", table_id) for player in range(players)]
    for number in range(rounds):
        round_id = f"{table_id}-{number}"
        stakes = await asyncio.gather(*(wallet.place(seat, round_id, 100) for seat in seats))
        await wallet.settle(table_id, round_id, dict.fromkeys(stakes, 200))
    return seats


async def publish_all(wallet: InProcessWallet, publisher: OutboxPublisher) -> None:
    """Runs a publisher until the outbox is empty."""
    running = asyncio.create_task(publisher.run())
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while await unpublished(wallet):
                publisher.wake()
                await asyncio.sleep(0)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def publish_and_die(wallet: InProcessWallet, bus: Nats) -> None:
    """Runs a publisher that dies after its first batch is in the stream and before it removes the rows."""
    send = OutboxPublisher._send

    async def send_and_die(
        publisher: OutboxPublisher, messages: list[tuple[str, facts.Fact]], position: object
    ) -> None:
        await send(publisher, messages, position)  # type: ignore[arg-type]
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OutboxPublisher, "_send", send_and_die)
        with pytest.raises(Killed):
            await OutboxPublisher(wallet.engine, bus).run()


async def unpublished(wallet: InProcessWallet) -> int:
    return await wallet.count("SELECT count(*) FROM outbox")


async def stream(bus: Nats) -> list[tuple[str, str, bytes]]:
    """Returns message id, subject and payload of all messages in the stream, in its order."""
    jetstream = bus.jetstream(timeout=TIMEOUT_S)
    last = (await jetstream.stream_info(FACTS_STREAM)).state.last_seq
    messages = [await jetstream.get_msg(FACTS_STREAM, number) for number in range(1, last + 1)]
    return [((m.headers or {})["Nats-Msg-Id"], m.subject or "", m.data or b"") for m in messages]


async def ledger_movements(wallet: InProcessWallet) -> dict[str, list[tuple[int, int]]]:
    """Returns version and transfer of every movement of every player's account, from the ledger itself."""
    statement = """
        SELECT DISTINCT account_id::text, entries.version, transfer_no
        FROM entries JOIN accounts USING (account_no) WHERE kind = 1 ORDER BY 1, 2
    """
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    async with wallet.engine.connect() as connection:
        for account_id, version, transfer_no in await connection.execute(text(statement)):
            found[account_id].append((version, transfer_no))
    return found


def published_movements(messages: list[tuple[str, str, bytes]]) -> dict[str, list[int]]:
    """Returns the published transfers of every player's account, in the order of the stream."""
    published: dict[str, list[int]] = defaultdict(list)
    for _, subject, payload in messages:
        if subject.startswith("feltro.player."):
            fact = events_pb2.PlayerFact.FromString(payload)
            if fact.HasField("balance_changed"):
                for transaction in fact.balance_changed.transactions:
                    published[fact.balance_changed.balance.account_id].append(transaction.transfer_id)
    return published


async def verify_all_published_once(wallet: InProcessWallet, bus: Nats) -> None:
    messages = await stream(bus)
    ids = [message_id for message_id, _, _ in messages]
    assert len(set(ids)) == len(ids)
    ledger = await ledger_movements(wallet)
    assert published_movements(messages) == {
        account_id: [transfer_no for _, transfer_no in movements] for account_id, movements in ledger.items()
    }


@pytest.mark.guarantee("G5")
async def test_g5_every_movement_is_published_once_and_in_order(wallet: InProcessWallet, bus: Nats) -> None:
    seats = await play(wallet)
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))
    await verify_all_published_once(wallet, bus)
    messages = await stream(bus)
    versions: list[int] = []
    for _, subject, payload in messages:
        fact = (
            events_pb2.PlayerFact.FromString(payload) if subject == facts.player_subject(seats[0].player_id) else None
        )
        if fact is not None and fact.HasField("balance_changed"):
            versions.append(fact.balance_changed.balance.version)
    assert versions == sorted(set(versions))
    ended = [payload for _, subject, payload in messages if subject.startswith("feltro.wallet.rounds.")]
    assert len(ended) == 5
    first = events_pb2.RoundEnded.FromString(ended[0])
    assert (first.staked_cents, first.payout_cents) == (300, 600)
    made = [
        transaction
        for _, subject, payload in messages
        if subject == facts.TRANSFERS_SUBJECT
        for transaction in events_pb2.TransfersMade.FromString(payload).transactions
    ]
    assert sum(entry.amount_cents for transaction in made for entry in transaction.entries) == 0


@pytest.mark.guarantee("G5")
async def test_g5_a_publisher_that_dies_before_it_removes_the_rows_publishes_nothing_twice(
    wallet: InProcessWallet, bus: Nats, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(wallet)
    await publish_and_die(wallet, bus)
    published = len(await stream(bus))
    assert published > 0
    sent: list[str] = []
    publish = Nats.publish

    async def count(self: Nats, subject: str, *args: object, **kwargs: object) -> None:
        if not subject.startswith(("$JS", API_PREFIX, "_INBOX")):
            sent.append(subject)
        await publish(self, subject, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Nats, "publish", count)
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))
    # They are not sent again at all: the stream's memory of message ids is not needed.
    assert sent == []
    assert len(await stream(bus)) == published
    await verify_all_published_once(wallet, bus)


@pytest.mark.guarantee("G5")
async def test_g5_a_publisher_that_dies_on_a_recreated_stream_publishes_nothing_twice(
    wallet: InProcessWallet, bus: Nats
) -> None:
    await play(wallet)
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))
    await recreate_stream(bus, FACTS_STREAM)
    account_id = await wallet.open_account("eva", 1_000)

    await publish_and_die(wallet, bus)
    published = await stream(bus)
    # So late that the stream no longer remembers message ids.
    await bus.jetstream().update_stream(stream_config(FACTS_STREAM).evolve(duplicate_window=0.1))
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))

    assert await stream(bus) == published
    assert list(published_movements(published)) == [account_id]


@pytest.mark.guarantee("G5")
@pytest.mark.parametrize("sent_before", [0, 1, 2, 7, 20])
async def test_g5_after_a_death_in_the_middle_of_a_chain_the_next_publisher_continues_there(
    wallet: InProcessWallet, bus: Nats, monkeypatch: pytest.MonkeyPatch, sent_before: int
) -> None:
    await play(wallet)
    publish = Nats.publish
    left = sent_before

    async def publish_or_die(self: Nats, subject: str, *args: object, **kwargs: object) -> None:
        nonlocal left
        if subject.startswith(("feltro.player.", "feltro.wallet.")):
            if left == 0:
                raise Killed
            left -= 1
        await publish(self, subject, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Nats, "publish", publish_or_die)
    with pytest.raises(Killed):
        await OutboxPublisher(wallet.engine, bus).run()
    monkeypatch.setattr(Nats, "publish", publish)
    # Messages sent without waiting for an acknowledgement reach the stream later.
    async with asyncio.timeout(TIMEOUT_S):
        while len(await stream(bus)) < sent_before:
            await bus.flush()
    assert len(await stream(bus)) == sent_before
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))
    await verify_all_published_once(wallet, bus)


@pytest.mark.guarantee("G8")
async def test_g8_a_publisher_that_is_believed_dead_adds_nothing(wallet: InProcessWallet, bus: Nats) -> None:
    await play(wallet, rounds=1)
    zombie = OutboxPublisher(wallet.engine, bus)
    connection = await DirectConnection.open(wallet.engine)
    position = await zombie._find_position(connection)
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))
    before = await stream(bus)
    late = [
        ("late.1.0", facts.Fact("feltro.wallet.rounds.t", b"")),
        ("late.1.1", facts.Fact("feltro.wallet.rounds.t", b"")),
    ]
    with pytest.raises(nats.js.errors.APIError):
        await zombie._send(late, position)
    assert await stream(bus) == before
    await connection.discard()


@pytest.mark.guarantee("G5")
async def test_g5_two_replicas_publish_as_one(
    first_replica: InProcessWallet, second_replica: InProcessWallet, bus: Nats, nats_url: str
) -> None:
    second_bus = await nats.connect(nats_url)
    running = [
        asyncio.create_task(OutboxPublisher(first_replica.engine, bus).run()),
        asyncio.create_task(OutboxPublisher(second_replica.engine, second_bus).run()),
    ]
    await asyncio.gather(play(first_replica, 6), play(second_replica, 7))
    async with asyncio.timeout(TIMEOUT_S):
        while await unpublished(first_replica):
            await asyncio.sleep(0)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    await second_bus.close()
    await verify_all_published_once(first_replica, bus)


@pytest.mark.guarantee("G5")
async def test_g5_a_fact_of_a_failed_transaction_is_never_published(wallet: InProcessWallet, bus: Nats) -> None:
    await play(wallet, rounds=1)
    before = await unpublished(wallet)

    async def fail() -> None:
        async with wallet.engine.begin() as connection:
            await facts.insert(connection, [facts.Fact("feltro.wallet.rounds.t", b"never")], wallet.clock.now())
            raise Killed

    with pytest.raises(Killed):
        await fail()
    assert await unpublished(wallet) == before
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))
    assert all(payload != b"never" for _, _, payload in await stream(bus))


@pytest.mark.guarantee("G5")
@pytest.mark.parametrize("rest", ["", ".", ".x.0", ".-1.0", f".{'9' * 5_000}.0"])
async def test_g5_a_stranger_s_message_in_the_stream_stops_no_publisher(
    wallet: InProcessWallet, bus: Nats, rest: str
) -> None:
    await play(wallet, rounds=1)
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))
    async with wallet.engine.connect() as connection:
        ledger_id = (await connection.execute(text("SELECT ledger_id::text FROM outbox_cursor"))).scalar_one()
    before = len(await stream(bus))
    headers = {"Nats-Msg-Id": f"{ledger_id}{rest}"}
    await bus.jetstream().publish("feltro.wallet.rounds.t", b"\xff", headers=headers)
    await play(wallet, rounds=2)
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))
    messages = await stream(bus)
    assert messages[before][0] == headers["Nats-Msg-Id"]
    ledger = await ledger_movements(wallet)
    assert sum(map(len, published_movements(messages).values())) == sum(map(len, ledger.values()))


@pytest.mark.guarantee("G11")
async def test_g11_a_batch_is_limited_in_rows_and_messages(
    wallet: InProcessWallet, bus: Nats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "ROWS_LIMIT", 2)
    monkeypatch.setattr(outbox, "MESSAGES_LIMIT", 3)
    await play(wallet)
    await publish_all(wallet, OutboxPublisher(wallet.engine, bus))
    await verify_all_published_once(wallet, bus)
