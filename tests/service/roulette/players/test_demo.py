"""The demonstration: the same wheel and rules as for money, open to anybody, for credits that are worth nothing."""

from __future__ import annotations

from uuid import uuid4

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import wallet_pb2
from tests.engine.roulette import reference
from tests.processes.wallet import DEMO
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal
from tests.service.roulette.platform import INDIVIDUAL, INDIVIDUAL_TABLES, WHEEL_BY_REGULATION, RouletteDriver

CREDITS = 100_000
# Half on either colour: what one wins the other loses, until a zero takes all. The balance never grows meanwhile.
ALL_OR_NOTHING = {"red": CREDITS // 2, "black": CREDITS // 2}
# In so many rounds no zero comes once in 10^23.
ROUNDS_LIMIT = 2_000


@pytest.fixture
async def demo_table(driver: RouletteDriver, regulation: str) -> str:
    """A demonstration table."""
    return await driver.new_table(
        wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL, mode=DEMO, minimum_cents=1_000
    )


@pytest.fixture
async def guest(driver: RouletteDriver, demo_table: str) -> SeatedPlayer:
    """A player without any account, at a demonstration table."""
    return await driver.seat(driver.unique_name("guest"), demo_table)


@pytest.mark.rule("804/2015:30", "807/2015:32", "903-B/2015:6.1.3")
async def test_a_guest_without_an_account_plays_for_credits(driver: RouletteDriver, guest: SeatedPlayer) -> None:
    assert await driver.balance(guest) == (CREDITS, 0)

    spun = await driver.play(guest, {"red": 2_000, "17": 1_000})

    assert spun.payout_cents == reference.payout({"red": 2_000, "17": 1_000}, spun.outcome.number)
    assert await driver.balance(guest) == (CREDITS - 3_000 + spun.payout_cents, 0)
    assert (await driver.wallet.balance(guest.account_id)).mode == DEMO


@pytest.mark.rule("804/2015:30", "807/2015:32", "903-B/2015:6.1.3")
async def test_the_demonstration_has_the_layout_and_the_rules_of_the_real_table(
    driver: RouletteDriver, regulation: str, guest: SeatedPlayer
) -> None:
    real = await driver.seat_new_player(
        await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL, minimum_cents=1_000)
    )
    layouts = [
        await driver.roulette.roulette.GetLayout(
            roulette_pb2.GetLayoutRequest(table_id=seated_player.table_id), metadata=driver.metadata_of(seated_player)
        )
        for seated_player in (real, guest)
    ]
    refused = [
        await refusal(driver.bet(seated_player, await driver.wait_for_open_round(seated_player), {"red": 999}))
        for seated_player in (real, guest)
    ]

    assert layouts[0] == layouts[1]
    assert refused[0] == refused[1]


@pytest.mark.rule("804/2015:31", "807/2015:33")
async def test_a_guest_who_has_lost_everything_gets_new_credits(driver: RouletteDriver, guest: SeatedPlayer) -> None:
    spun = await driver.play(guest, ALL_OR_NOTHING)
    for _ in range(ROUNDS_LIMIT):
        if not spun.balance.free_cents:
            break
        assert await driver.balance(guest) == (CREDITS, 0)
        spun = await driver.play(guest, ALL_OR_NOTHING)
    assert spun.balance.free_cents == 0
    # The next round opens when the credits are there.
    await driver.wait_for_open_round(guest)
    assert await driver.balance(guest) == (CREDITS, 0)


@pytest.mark.rule("804/2015:31", "807/2015:33")
async def test_credits_are_never_paid_out(driver: RouletteDriver, guest: SeatedPlayer) -> None:
    await driver.play(guest, {"red": 2_000})
    request = wallet_pb2.WithdrawRequest(request_id=str(uuid4()), account_id=guest.account_id, amount_cents=1)

    refused = await refusal(driver.wallet.wallet.Withdraw(request, metadata=driver.wallet.operator))

    assert (refused.reason, refused.facts["account_mode"]) == ("MODE_MISMATCH", "MODE_DEMO")


@pytest.mark.rule("804/2015:31", "807/2015:33")
async def test_credits_and_money_never_meet(driver: RouletteDriver, regulation: str, demo_table: str) -> None:
    player_id = await driver.new_player(50_000)

    guest, seated_player = (
        await driver.seat(player_id, demo_table),
        await driver.seat(player_id, INDIVIDUAL_TABLES[regulation]),
    )
    await driver.play(guest, {"red": 2_000})

    assert guest.account_id != seated_player.account_id
    assert await driver.balance(seated_player) == (50_000, 0)


async def test_demonstrations_are_listed_apart(driver: RouletteDriver, demo_table: str, regulation: str) -> None:
    request = table_pb2.ListTablesRequest(game="roulette", mode=DEMO, page_size=500)
    listed = (await driver.roulette.tables.ListTables(request, metadata=driver.roulette.player("somebody"))).tables
    ids = {table.table_id for table in listed}
    assert demo_table in ids
    assert INDIVIDUAL_TABLES[regulation] not in ids
