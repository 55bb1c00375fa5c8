"""A table with the largest number of seats, each with a bet on every place, is answered and published."""

from __future__ import annotations

import pytest
from nats.aio.client import Client as Nats

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from services.kit.rpc.server import MESSAGE_BYTES_LIMIT
from services.kit.table.configuration.specific_rules import SEATS_LIMIT
from services.kit.table.encoding import packed
from services.kit.table.events import publisher as event_publisher
from services.kit.table.events.publisher import EventStream
from services.roulette.engine import Bets
from services.roulette.game import RouletteGame, RouletteRules
from services.wallet.server.wallet_service import STAKE_DETAIL_BYTES_LIMIT
from tests.processes.roulette import configuration
from tests.service.table.events.published import GAME, expect_no_gap, flush, published_messages, seat_taken

ROUND = "table.1"


def largest_bets() -> tuple[RouletteRules, Bets]:
    """Returns rules with the largest amounts, and a bet of the maximum on every place."""
    rules = RouletteGame().rules(configuration(wheel=roulette_pb2.WHEEL_AMERICAN_38, minimum_cents=100_000_000))
    return rules, {name: offer.maximum_cents for name, offer in rules.offered_places.items()}


def full_table() -> types_pb2.TableSnapshot:
    rules, bets = largest_bets()
    packed_bets, cents = packed(rules.bets_message(bets)), rules.total_cents(bets)
    seats = [
        types_pb2.SeatBets(seat=number, staked_cents=cents, bets=packed_bets) for number in range(1, SEATS_LIMIT + 1)
    ]
    return types_pb2.TableSnapshot(round=types_pb2.RoundOnTable(round_id=ROUND), bets=seats, seated=SEATS_LIMIT)


def snapshot_published(snapshot: types_pb2.TableSnapshot) -> events_pb2.TableEvent:
    return events_pb2.TableEvent(snapshot_published=events_pb2.SnapshotPublished(snapshot=snapshot))


def bets_as_seen(events: list[events_pb2.TableEvent]) -> dict[int, tuple[int, bytes]]:
    """Returns the bets of each seat as a client applies the events."""
    felt: dict[int, tuple[int, bytes]] = {}
    for event in events:
        if event.HasField("snapshot_published"):
            felt = {each.seat: (each.staked_cents, each.bets.value) for each in event.snapshot_published.snapshot.bets}
        elif event.HasField("bets_placed"):
            placed = event.bets_placed
            assert placed.round_id == ROUND
            assert placed.seat not in felt
            felt[placed.seat] = placed.amount_cents, placed.bets.value
    return felt


@pytest.mark.guarantee("G11")
def test_g11_a_full_table_fits_into_one_answer() -> None:
    rules, bets = largest_bets()
    # The largest bet is smaller than the detail that the ledger stores of a stake.
    assert len(rules.bets_message(bets).SerializeToString()) < STAKE_DETAIL_BYTES_LIMIT
    answer = table_pb2.GetTableResponse(table=full_table())
    assert 1024 * 1024 < answer.ByteSize() < MESSAGE_BYTES_LIMIT - 512 * 1024


@pytest.mark.guarantee("G11")
async def test_g11_a_snapshot_of_a_full_table_is_published_in_parts(bus: Nats, table_id: str) -> None:
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    snapshot = full_table()
    publisher.publish(snapshot_published(snapshot), seat_taken(7))
    assert publisher.seq == SEATS_LIMIT + 2
    await flush(publisher)
    messages = await published_messages(bus, table_id)
    assert all(
        events_pb2.TableEvents(events=message).ByteSize() <= event_publisher.MESSAGE_BYTES_LIMIT for message in messages
    )
    events = [event for message in messages for event in message]
    expect_no_gap(events)
    assert (events[0].snapshot_published.snapshot.seated, events[-1].seat_taken.seat) == (SEATS_LIMIT, 7)
    assert bets_as_seen(events) == {each.seat: (each.staked_cents, each.bets.value) for each in snapshot.bets}
    await publisher.close()


@pytest.mark.guarantee("G11")
async def test_g11_all_parts_of_a_snapshot_replace_dropped_events(
    bus: Nats,
    table_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_publisher, "WAITING_EVENTS_LIMIT", SEATS_LIMIT + 10)
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    snapshot = full_table()
    publisher.on_overflow = lambda: snapshot_published(snapshot)
    publisher.publish(*(seat_taken(seat) for seat in range(2 * SEATS_LIMIT)))
    await flush(publisher)
    assert not publisher.overflowed
    publisher.publish(seat_taken(7))
    await flush(publisher)
    events = [event for message in await published_messages(bus, table_id) for event in message]
    expect_no_gap(events)
    assert len(bets_as_seen(events)) == SEATS_LIMIT
    assert [event.WhichOneof("event") for event in (events[0], events[-1])] == ["snapshot_published", "seat_taken"]
    await publisher.close()
