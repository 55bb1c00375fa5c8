"""A hand outlives the process that dealt it: another replica goes on with the very cards, stopped or killed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import nats
import pytest

from feltro.blackjack.v1 import blackjack_pb2
from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.blackjack import BlackjackProcess
from tests.processes.databases import ROULETTE_ROLE as GAME_ROLE
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.wallet import WalletProcess
from tests.service.blackjack.platform import EVERY_PLACE, INDIVIDUAL, BlackjackDriver, Playing, table_rules
from tests.service.blackjack.replicas import TwoReplicas
from tests.service.game_driver import SeatedPlayer, unpacked
from tests.service.one_game_platform import PlatformDatabases
from tests.service.refusals import refusal

TABLE = "alone"
FOR_ONE, FOR_MANY = table_rules(play=INDIVIDUAL, places_per_player=7), table_rules()
SEVEN_BETS = dict.fromkeys(EVERY_PLACE, 1000)


@pytest.fixture
async def two(
    request: pytest.FixtureRequest,
    postgres: EmbeddedPostgres,
    wallet_template: str,
    game_template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[TwoReplicas]:
    home = tmp_path_factory.mktemp("handover")
    databases = PlatformDatabases(postgres, wallet_template, game_template)
    async with AsyncExitStack() as stack:
        own = stack.enter_context(databases.made_for("handover"))
        bus = stack.enter_context(ephemeral.nats())
        wallet = WalletProcess(postgres.url(WALLET_USER, own.wallet), bus.url, home)
        stack.callback(wallet.end)
        url = postgres.url(GAME_ROLE, own.game)
        replicas = [BlackjackProcess(url, bus.url, home, wallet_address=wallet.address) for _ in range(2)]
        wallet.start()
        await wallet.ready()
        connection = await nats.connect(bus.url)
        stack.push_async_callback(connection.close)
        client = await stack.enter_async_context(wallet.client())
        clients = [await stack.enter_async_context(replica.client()) for replica in replicas]
        driver = BlackjackDriver(client, clients[0], connection)
        for replica in replicas:
            stack.callback(replica.end)
        # The table is the first one's, which is alone when it is configured.
        replicas[0].start()
        await replicas[0].ready()
        await driver.configure_table(TABLE, getattr(request, "param", FOR_ONE))
        replicas[1].start()
        await replicas[1].ready()
        yield TwoReplicas(driver, replicas, clients)


@pytest.mark.slow
@pytest.mark.rule("805/2015:27", "805/2015:29", "903-B/2015:6.3.2")
@pytest.mark.guarantee("G6")
@pytest.mark.parametrize("end", ["stopped", "killed"])
async def test_g6_the_very_hand_goes_on_with_the_very_cards(two: TwoReplicas, end: str) -> None:
    driver = two.driver
    player = await driver.seat_new_player(TABLE)

    def is_split(playing: Playing) -> bool:
        # Two aces, and two tens that each get one, are stood on at once: then another place still has to decide.
        return any(
            hand.state == blackjack_pb2.HAND_STATE_IN_PLAY and hand.place > place
            for place, _ in playing.costs("SPLIT")
            for hand in playing.view.hands
        )

    playing = await driver.deal_until(player, is_split, SEVEN_BETS)
    ((place, _),) = playing.costs("SPLIT")
    request_id = f"split-{playing.round_id}"
    split = await driver.act(player, playing, "SPLIT", place, request_id=request_id)
    before = await driver.playing(player, playing.round_id)
    assert before is not None
    balance = await driver.balance(player)

    if end == "stopped":
        assert await asyncio.to_thread(two.owner.stop) == 0
    else:
        two.owner.kill()
    await two.follow(player)

    after = await driver.playing(player, playing.round_id)
    assert after is not None
    assert after.view == before.view
    assert (after.turn, after.seats, after.options) == (before.turn, before.seats, before.options)
    assert await driver.balance(player) == balance
    # The decision acts once, wherever it is sent again (G3).
    assert await driver.act(player, playing, "SPLIT", place, request_id=request_id) == split

    settled = await driver.finish(player, playing.round_id)
    outcome = unpacked(settled.round.outcome, blackjack_pb2.Outcome())
    assert not settled.round.void_reason
    # What lay there still lies there: cards were added, and none exchanged.
    hands = {(hand.place, hand.number): list(hand.cards) for hand in outcome.hands}
    for hand in before.view.hands:
        assert hands[hand.place, hand.number][: len(hand.cards)] == list(hand.cards)
    assert outcome.bank.cards[0] == before.view.bank.cards[0]
    assert settled.staked_cents >= 8000
    assert settled.payout_cents == sum(result.payout_cents for result in outcome.results)
    free_cents, locked_cents = await driver.balance(player)
    assert locked_cents == 0
    assert free_cents == settled.balance_after_cents
    replayed = await driver.blackjack.replay(playing.round_id)
    assert not replayed.differences
    assert replayed.computed_outcome == settled.round.outcome


async def taken_seats(driver: BlackjackDriver, player: SeatedPlayer) -> list[int]:
    """Returns the seats that everybody sees taken."""
    return [seat.seat for seat in (await driver.get_table(player)).table.seats if seat.taken]


@pytest.mark.slow
@pytest.mark.rule("805/2015:4.a")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize("two", [FOR_MANY], indirect=True)
async def test_g9_chosen_seats_are_kept_between_rounds_when_the_owner_changes(two: TwoReplicas) -> None:
    """Killed twice while betting: a seat is a place, so nobody moves, and a seat that was left is free."""
    driver = two.driver
    ana, rui, eva = [await driver.seat_new_player(TABLE, seat=seat) for seat in (6, 2, 4)]
    await driver.wait_for_open_round(ana)
    await two.seats_on_record(6, 2, 4)
    await driver.leave(eva)
    killed = two.owner
    killed.kill()
    await two.follow(ana, rui)

    assert [(await driver.get_table(player)).own_seat.seat for player in (ana, rui)] == [6, 2]
    assert await taken_seats(driver, ana) == [2, 6]
    assert (await refusal(driver.seat_new_player(TABLE, seat=6))).reason == "SEAT_TAKEN"
    assert (await driver.seat_new_player(TABLE, seat=4)).seat == 4
    await two.seats_on_record(6, 2, 4)
    killed.start()
    await killed.ready()
    two.owner.kill()
    await two.follow(ana, rui)
    assert [(await driver.get_table(player)).own_seat.seat for player in (ana, rui)] == [6, 2]
    assert await taken_seats(driver, ana) == [2, 4, 6]
    round_id = await driver.wait_for_open_round(ana)
    assert (await refusal(driver.bet(rui, round_id, "6", 1000))).reason == "PLACE_TAKEN"
    await driver.bet(rui, round_id, "2", 1000)
