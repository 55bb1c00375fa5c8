"""The outbox and a real JetStream: every fact once, in order, whoever dies in between."""

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
from services.kit.database.postgresql import DirectConnection
from services.wallet.outbox import facts
from services.wallet.outbox import publisher as outbox
from services.wallet.outbox.publisher import OutboxPublisher
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import MULTI_PLAYER, InProcessWallet, Seat, open_wallet

WITHIN_S = 60.0


class Killed(Exception):
    """Stands for the end of a publisher's process."""


@pytest_asyncio.fixture
async def bus(nats_url: str, clean_stream: None) -> AsyncIterator[Nats]:
    connection = await nats.connect(nats_url)
    yield connection
    await connection.close()


@pytest_asyncio.fixture
async def desk(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as opened:
        yield opened


async def play(desk: InProcessWallet, rounds: int = 5, players: int = 3) -> list[Seat]:
    """Some rounds, each with a stake of everybody; every stake comes back doubled."""
    table_id = await desk.open_table(f"t-{id(desk)}-{rounds}", MULTI_PLAYER)
    seats = [await desk.sit_down(f"p{player}-{rounds}", table_id) for player in range(players)]
    for number in range(rounds):
        round_id = f"{table_id}-{number}"
        stakes = await asyncio.gather(*(desk.place(seat, round_id, 100) for seat in seats))
        await desk.settle(table_id, round_id, dict.fromkeys(stakes, 200))
    return seats


async def publish_all(desk: InProcessWallet, publisher: OutboxPublisher) -> None:
    """Lets a publisher run until nothing is left."""
    running = asyncio.create_task(publisher.run())
    try:
        async with asyncio.timeout(WITHIN_S):
            while await waiting(desk):
                publisher.wake()
                await asyncio.sleep(0)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def publish_and_die(desk: InProcessWallet, bus: Nats) -> None:
    """A publisher that is killed when its first batch is in the stream, and before it notes that."""
    send = OutboxPublisher._send

    async def send_and_die(publisher: OutboxPublisher, messages: list[tuple[str, facts.Fact]], place: object) -> None:
        await send(publisher, messages, place)  # type: ignore[arg-type]
        raise Killed

    with pytest.MonkeyPatch.context() as dying:
        dying.setattr(OutboxPublisher, "_send", send_and_die)
        with pytest.raises(Killed):
            await OutboxPublisher(desk.engine, bus).run()


async def waiting(desk: InProcessWallet) -> int:
    async with desk.engine.connect() as connection:
        return int((await connection.execute(text("SELECT count(*) FROM outbox"))).scalar_one())


async def stream(bus: Nats) -> list[tuple[str, str, bytes]]:
    """Message id, subject and payload of everything in the stream, in its order."""
    jetstream = bus.jetstream(timeout=WITHIN_S)
    last = (await jetstream.stream_info(facts.STREAM)).state.last_seq
    messages = [await jetstream.get_msg(facts.STREAM, number) for number in range(1, last + 1)]
    return [((m.headers or {})["Nats-Msg-Id"], m.subject or "", m.data or b"") for m in messages]


async def ledger_movements(desk: InProcessWallet) -> dict[str, list[tuple[int, int]]]:
    """Version and transfer of every movement of every player's account, from the ledger itself."""
    statement = """
        SELECT DISTINCT account_id::text, entries.version, transfer_no
        FROM entries JOIN accounts USING (account_no) WHERE kind = 1 ORDER BY 1, 2
    """
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    async with desk.engine.connect() as connection:
        for account_id, version, transfer_no in await connection.execute(text(statement)):
            found[account_id].append((version, transfer_no))
    return found


def told_movements(messages: list[tuple[str, str, bytes]]) -> dict[str, list[int]]:
    """The transfers that every player's account was told of, in the order of the stream."""
    told: dict[str, list[int]] = defaultdict(list)
    for _, subject, payload in messages:
        if subject.startswith("feltro.player."):
            fact = events_pb2.PlayerFact.FromString(payload)
            if fact.HasField("balance_changed"):
                for transaction in fact.balance_changed.transactions:
                    told[fact.balance_changed.balance.account_id].append(transaction.transfer_id)
    return told


async def expect_everything_once(desk: InProcessWallet, bus: Nats) -> None:
    messages = await stream(bus)
    ids = [message_id for message_id, _, _ in messages]
    assert len(set(ids)) == len(ids)
    ledger = await ledger_movements(desk)
    assert told_movements(messages) == {
        account_id: [transfer_no for _, transfer_no in movements] for account_id, movements in ledger.items()
    }


@pytest.mark.guarantee("G5")
async def test_g5_every_movement_is_told_once_and_in_order(desk: InProcessWallet, bus: Nats) -> None:
    seats = await play(desk)
    await publish_all(desk, OutboxPublisher(desk.engine, bus))
    await expect_everything_once(desk, bus)
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
async def test_g5_killed_after_publishing_and_before_noting_it_sends_nothing_twice(
    desk: InProcessWallet, bus: Nats, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(desk)
    await publish_and_die(desk, bus)
    published = len(await stream(bus))
    assert published > 0
    sent: list[str] = []
    publish = Nats.publish

    async def count(self: Nats, subject: str, *args: object, **kwargs: object) -> None:
        if not subject.startswith(("$JS", "_INBOX")):
            sent.append(subject)
        await publish(self, subject, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Nats, "publish", count)
    await publish_all(desk, OutboxPublisher(desk.engine, bus))
    # It is not the stream's memory for message ids that saves us: they were not sent again.
    assert sent == []
    assert len(await stream(bus)) == published
    await expect_everything_once(desk, bus)


@pytest.mark.guarantee("G5")
async def test_g5_killed_after_publishing_into_a_stream_that_was_lost_it_sends_nothing_twice(
    desk: InProcessWallet, bus: Nats
) -> None:
    await play(desk)
    await publish_all(desk, OutboxPublisher(desk.engine, bus))
    await bus.jetstream().delete_stream(facts.STREAM)
    account_id = await desk.open_account("eva", 1_000)

    await publish_and_die(desk, bus)
    published = await stream(bus)
    # So late that the stream has forgotten which ids it has had.
    await bus.jetstream().update_stream(name=facts.STREAM, subjects=facts.SUBJECTS, duplicate_window=0.1)
    await publish_all(desk, OutboxPublisher(desk.engine, bus))

    assert await stream(bus) == published
    assert list(told_movements(published)) == [account_id]


@pytest.mark.guarantee("G5")
@pytest.mark.parametrize("alive_for", [0, 1, 2, 7, 20])
async def test_g5_killed_in_the_middle_of_a_chain_the_next_publisher_goes_on_there(
    desk: InProcessWallet, bus: Nats, monkeypatch: pytest.MonkeyPatch, alive_for: int
) -> None:
    await play(desk)
    publish = Nats.publish
    left = alive_for

    async def die_in_between(self: Nats, subject: str, *args: object, **kwargs: object) -> None:
        nonlocal left
        if subject.startswith("feltro."):
            if left == 0:
                raise Killed
            left -= 1
        await publish(self, subject, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Nats, "publish", die_in_between)
    with pytest.raises(Killed):
        await OutboxPublisher(desk.engine, bus).run()
    monkeypatch.setattr(Nats, "publish", publish)
    # What was sent without waiting for an acknowledgement reaches the stream in its own time.
    async with asyncio.timeout(WITHIN_S):
        while len(await stream(bus)) < alive_for:
            await bus.flush()
    assert len(await stream(bus)) == alive_for
    await publish_all(desk, OutboxPublisher(desk.engine, bus))
    await expect_everything_once(desk, bus)


@pytest.mark.guarantee("G8")
async def test_g8_a_publisher_believed_dead_adds_nothing(desk: InProcessWallet, bus: Nats) -> None:
    await play(desk, rounds=1)
    zombie = OutboxPublisher(desk.engine, bus)
    connection = await DirectConnection.open(desk.engine)
    place = await zombie._find_place(connection)
    await publish_all(desk, OutboxPublisher(desk.engine, bus))
    before = await stream(bus)
    late = [
        ("late.1.0", facts.Fact("feltro.wallet.rounds.t", b"")),
        ("late.1.1", facts.Fact("feltro.wallet.rounds.t", b"")),
    ]
    with pytest.raises(nats.js.errors.APIError):
        await zombie._send(late, place)
    assert await stream(bus) == before
    await connection.discard()


async def test_two_replicas_publish_as_one(
    desk: InProcessWallet, bus: Nats, nats_url: str, wallet_database: WalletDatabase
) -> None:
    other_bus = await nats.connect(nats_url)
    async with open_wallet(wallet_database.url) as other:
        running = [
            asyncio.create_task(OutboxPublisher(desk.engine, bus).run()),
            asyncio.create_task(OutboxPublisher(other.engine, other_bus).run()),
        ]
        await asyncio.gather(play(desk, 6), play(other, 7))
        async with asyncio.timeout(WITHIN_S):
            while await waiting(desk):
                await asyncio.sleep(0)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    await other_bus.close()
    await expect_everything_once(desk, bus)


@pytest.mark.guarantee("G5")
async def test_g5_a_fact_of_a_transaction_that_fails_is_never_told(desk: InProcessWallet, bus: Nats) -> None:
    await play(desk, rounds=1)
    before = await waiting(desk)

    async def fail() -> None:
        async with desk.engine.begin() as connection:
            await facts.insert(connection, [facts.Fact("feltro.wallet.rounds.t", b"never")], desk.clock.now())
            raise Killed

    with pytest.raises(Killed):
        await fail()
    assert await waiting(desk) == before
    await publish_all(desk, OutboxPublisher(desk.engine, bus))
    assert all(payload != b"never" for _, _, payload in await stream(bus))


@pytest.mark.guarantee("G11")
async def test_g11_a_batch_is_limited_in_rows_and_messages(
    desk: InProcessWallet, bus: Nats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "ROWS_LIMIT", 2)
    monkeypatch.setattr(outbox, "MESSAGES_LIMIT", 3)
    await play(desk)
    await publish_all(desk, OutboxPublisher(desk.engine, bus))
    await expect_everything_once(desk, bus)
