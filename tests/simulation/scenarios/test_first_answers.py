"""The first answer to a command is its answer for ever: after the round, without a session, at the next owner (G3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from feltro.roulette.v1 import roulette_pb2
from services.kit.table.owned import owned_tables
from tests.simulation import guarantees
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player, SendCommand
from tests.simulation.scenario import TABLE_ID, Scenario, placed_stake, refusal_reason

Happening = Callable[[Scenario, Player], Awaitable[None]]


async def session_ends(_: Scenario, player: Player) -> None:
    player.leave()
    await asyncio.sleep(1.0)


async def table_is_closed(_: Scenario, player: Player) -> None:
    """The player's own table is closed some time after they have left."""
    player.leave()
    await asyncio.sleep(owned_tables.EMPTY_FOR_S + 2 * owned_tables.RECONCILE_EVERY_S + 5.0)


async def later_rounds(_: Scenario, player: Player) -> None:
    for _number in range(3):
        round_id = await player.wait_for_open_round()
        placed_stake(await player.bet(round_id, {"odd": 100}))
        assert not refusal_reason(await player.spin(round_id))


async def new_session(_: Scenario, player: Player) -> None:
    player.leave()
    await asyncio.sleep(1.0)
    assert await player.enter()
    await player.wait_for_open_round()


async def handover(scenario: Scenario, player: Player) -> None:
    scenario.world.current_owners[TABLE_ID].hand_over.set()
    await asyncio.sleep(3.0)


async def death(scenario: Scenario, player: Player) -> None:
    scenario.world.current_owners[TABLE_ID].process.kill()
    await asyncio.sleep(8.0)


async def death_and_end_of_session(scenario: Scenario, player: Player) -> None:
    await death(scenario, player)
    await session_ends(scenario, player)


happenings = pytest.mark.parametrize(
    "happening",
    [session_ends, table_is_closed, later_rounds, new_session, handover, death, death_and_end_of_session],
)


async def repeat_all(commands: list[tuple[SendCommand, object]]) -> None:
    for send, first in commands:
        assert guarantees.lasting(await send()) == guarantees.lasting(first)


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
@happenings
def test_g3_every_command_of_a_played_round_gets_its_first_answer(happening: Happening) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        await later_rounds(scenario, ana)
        round_id = await ana.wait_for_open_round()
        commands: list[tuple[SendCommand, object]] = []
        for send in (
            ana.prepare_bet(round_id, {"red": 500, "17": 100})[1],
            ana.prepare_bet(round_id, {"black": 300, "red": 100})[1],
            ana.prepare_cancel(round_id, {"red": 150})[1],
            ana.prepare_repeat(round_id)[1],
            ana.prepare_cancel(round_id, {"black": 300})[1],
            ana.prepare_bet(round_id, {"voisins": 100, "0": 100})[1],
            ana.prepare_spin(round_id)[1],
        ):
            answer = await send()
            assert not refusal_reason(answer)
            assert answer is not None
            commands.append((send, answer))
        await repeat_all(commands)
        free_cents = scenario.free_cents("ana")
        await happening(scenario, ana)
        changed_cents = scenario.free_cents("ana") - free_cents
        await repeat_all(commands)
        assert scenario.free_cents("ana") - free_cents == changed_cents
        # Another player learns nothing of them.
        rui = Player(scenario.world, "rui", TABLE_ID)
        scenario.world.deposit("rui", 1_000)
        rui.table_id = ana.table_id
        assert refusal_reason(await rui.spin(round_id))
        assert refusal_reason(await rui.bet(round_id, {"red": 500, "17": 100}))

    Scenario(individual=True, call_bets=True).run(script)


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
def test_g3_commands_of_a_round_that_became_void_get_their_first_answers() -> None:
    """The owner dies before the draw: what it has answered stands, although every stake has gone back."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        sends = (
            ana.prepare_bet(round_id, {"red": 500})[1],
            ana.prepare_cancel(round_id, {"red": 100})[1],
            ana.prepare_bet(round_id, {"red": 200})[1],
        )
        commands = [(send, await send()) for send in sends]
        assert not any(refusal_reason(answer) for _, answer in commands)
        await death(scenario, ana)
        await repeat_all(commands)

    Scenario().run(script)


@pytest.mark.guarantee("G3")
def test_g3_a_bet_that_the_wallet_refused_is_refused_in_the_same_way() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana", cents=100)
        round_id = await ana.wait_for_open_round()
        _, send = ana.prepare_bet(round_id, {"red": 500})
        assert refusal_reason(await send()) == "INSUFFICIENT_FUNDS"
        scenario.world.deposit("ana", 10_000)
        assert refusal_reason(await send()) == "INSUFFICIENT_FUNDS"
        await death(scenario, ana)
        assert refusal_reason(await send()) == "INSUFFICIENT_FUNDS"

    Scenario().run(script)


@pytest.mark.guarantee("G3")
def test_g3_a_name_is_used_once_whatever_the_round_the_table_or_the_bets() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        owner = scenario.world.current_owners[TABLE_ID]

        async def place(round_id: str, place: str, table_id: str = ana.table_id) -> str:
            request = roulette_pb2.PlaceBetsRequest(
                request_id="name",
                table_id=table_id,
                round_id=round_id,
                bets=[roulette_pb2.Bet(place=place, amount_cents=100)],
            )
            try:
                await scenario.world.call(owner, lambda owner: owner.service.place_bets(request, ana.caller))
            except Exception as refused:  # noqa: BLE001 - its reason is compared
                return refusal_reason(refused)
            return ""

        assert not await place(round_id, "red")
        assert await place(round_id, "black") == "REQUEST_REUSED"
        assert not refusal_reason(await ana.spin(round_id))
        assert await place(round_id, "black") == "REQUEST_REUSED"
        later = await ana.wait_for_open_round()
        assert later != round_id
        assert await place(later, "red") == "REQUEST_REUSED"
        assert await place("another.1", "red", f"{TABLE_ID}-0123456789abcdef") == "REQUEST_REUSED"
        await death(scenario, ana)
        owner = scenario.world.current_owners[TABLE_ID]
        later = await ana.wait_for_open_round()
        assert await place(later, "red") == "REQUEST_REUSED"
        assert await place(round_id, "black") == "REQUEST_REUSED"
        assert not await place(round_id, "red")
        assert scenario.stakes(later) == []

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G3")
def test_g3_bets_that_travel_together_each_say_what_lay_there_right_after_them() -> None:
    """Neither a bet that is still on its way nor one that is then refused is in the answer."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana", cents=1_000)
        round_id = await ana.wait_for_open_round()
        scenario.set_deliveries(PlaceStakes=Delivery(request_delay_s=0.2))
        sends = [
            ana.prepare_bet(round_id, bets)[1] for bets in ({"red": 100}, {"17": 200}, {"odd": 5_000}, {"red": 300})
        ]
        placing: list[asyncio.Task[object]] = []
        for send in sends:
            placing.append(asyncio.ensure_future(send()))
            await asyncio.sleep(0.01)
        answers = await asyncio.gather(*placing)
        lain = [
            {bet.place: bet.amount_cents for bet in answer.on_felt.bets}
            for answer in answers
            if isinstance(answer, roulette_pb2.PlaceBetsResponse)
        ]
        assert lain == [{"red": 100}, {"red": 100, "17": 200}, {"red": 400, "17": 200}]
        assert refusal_reason(answers[2]) == "INSUFFICIENT_FUNDS"
        scenario.restore_network()
        await death(scenario, ana)
        await repeat_all([(send, answer) for send, answer in zip(sends, answers, strict=True) if answer != answers[2]])

    Scenario().run(script)
