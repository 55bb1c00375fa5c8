"""What is one player's is not another's to see, and what is the operator's is not a player's to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import uuid4

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from tests.processes.roulette import configuration
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    LONG_WINDOW_MS,
    RouletteDriver,
    SeatedPlayer,
    refusal,
)


@pytest.mark.guarantee("G7")
async def test_a_players_rounds_are_his_and_the_operators_to_see(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    spun = await driver.play(seated_player, {"red": 100})
    stranger = await driver.new_player()
    request = table_pb2.ListPlayerRoundsRequest(game="roulette", player_id=seated_player.player_id)

    refused = await refusal(driver.roulette.tables.ListPlayerRounds(request, metadata=driver.roulette.player(stranger)))
    seen = await driver.roulette.tables.ListPlayerRounds(request, metadata=driver.roulette.operator)

    assert (refused.reason, refused.code) == ("NOT_YOURS", grpc.StatusCode.PERMISSION_DENIED)
    assert [lived.round.round_id for lived in seen.rounds] == [spun.round_id]


@pytest.mark.guarantee("G7")
async def test_an_individual_table_is_its_players_to_see(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    spun = await driver.play(seated_player, {"red": 100})
    # He sits in the same house, at another table.
    stranger = (await driver.seat_new_player(INDIVIDUAL_TABLES[regulation])).player_id
    as_stranger = driver.roulette.player(stranger)
    rounds = table_pb2.ListTableRoundsRequest(table_id=seated_player.table_id)

    looked = await refusal(driver.roulette.table(stranger, seated_player.table_id))
    looked_up = await refusal(driver.roulette.tables.ListTableRounds(rounds, metadata=as_stranger))
    # Its last result, in disguise of a launch that is sent again.
    launched = await refusal(driver.roulette.spin(stranger, seated_player.table_id, spun.round_id))

    assert looked.reason == looked_up.reason == "NOT_YOURS"
    assert launched.reason == "BETTING_CLOSED"
    (mine,) = (await driver.roulette.tables.ListTableRounds(rounds, metadata=driver.metadata_of(seated_player))).rounds
    assert mine.round_id == spun.round_id
    assert (await driver.roulette.tables.ListTableRounds(rounds, metadata=driver.roulette.operator)).rounds


@pytest.mark.guarantee("G9")
async def test_nobody_else_sits_at_a_players_own_table(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    """Neither by a session of his own making, nor by one that an operator has started there for him."""
    stranger = await driver.new_player()
    account_id = await driver.wallet.open_account(stranger)
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"red": 100})
    for_many = await driver.new_table(window_ms=LONG_WINDOW_MS)
    watch = await driver.watch(for_many)
    start, later = (
        session_pb2.StartSessionRequest(request_id=str(uuid4()), account_id=account_id, table_id=table_id)
        for table_id in (seated_player.table_id, for_many)
    )
    himself = driver.wallet.bearer("player", stranger)

    refused = await refusal(driver.wallet.sessions.StartSession(start, metadata=himself))
    await driver.wallet.sessions.StartSession(start, metadata=driver.wallet.operator)
    await driver.wallet.sessions.StartSession(later, metadata=driver.wallet.operator)
    # The wallet tells of sessions in their order: the first has been heard of, too.
    await watch.wait_for("seat_taken")

    assert refused.reason == "SCOPE_MISSING"
    looked = await refusal(driver.roulette.table(stranger, seated_player.table_id))
    launched = await refusal(driver.roulette.spin(stranger, seated_player.table_id, round_id))
    assert (looked.reason, launched.reason) == ("NOT_YOURS", "NOT_SEATED")
    assert (await driver.spin(seated_player, round_id)).round_id == round_id


@pytest.mark.guarantee("G11")
async def test_nobody_opens_tables_by_making_up_their_ids(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    for number in range(3):
        made_up = f"{INDIVIDUAL_TABLES[regulation]}-{number:016x}"
        refused = [
            await refusal(driver.roulette.table(seated_player.player_id, made_up)),
            await refusal(driver.roulette.bet(seated_player.player_id, made_up, f"{made_up}.1", {"red": 100})),
            await refusal(driver.roulette.spin(seated_player.player_id, made_up, f"{made_up}.1")),
        ]
        assert {each.reason for each in refused} == {"TABLE_UNKNOWN"}


async def test_another_game_is_not_played_here(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    request = table_pb2.ListPlayerRoundsRequest(game="poker", player_id=seated_player.player_id)
    refused = await refusal(
        driver.roulette.tables.ListPlayerRounds(request, metadata=driver.metadata_of(seated_player))
    )
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "game"})


def operators_calls(driver: RouletteDriver, seated_player: SeatedPlayer) -> list[Callable[[], Awaitable[object]]]:
    """Everything that is the operator's alone, tried by a player."""
    tables, me = driver.roulette.tables, driver.metadata_of(seated_player)
    rules = configuration(play=INDIVIDUAL)
    return [
        lambda: tables.ConfigureTable(
            table_pb2.ConfigureTableRequest(request_id="r", table_id="mine", configuration=rules), metadata=me
        ),
        lambda: tables.ListConfigurations(
            table_pb2.ListConfigurationsRequest(table_id=seated_player.table_id), metadata=me
        ),
        lambda: tables.SetSwitch(
            table_pb2.SetSwitchRequest(
                request_id="r", game="roulette", scope=types_pb2.SWITCH_SCOPE_GAME, enabled=False, reason="I lost"
            ),
            metadata=me,
        ),
        lambda: tables.ListSwitches(table_pb2.ListSwitchesRequest(game="roulette"), metadata=me),
        lambda: tables.ReplayRound(table_pb2.ReplayRoundRequest(game="roulette", round_id="r"), metadata=me),
        lambda: tables.VoidOpenRound(
            table_pb2.VoidOpenRoundRequest(table_id=seated_player.table_id, round_id="r", reason="I lost"), metadata=me
        ),
    ]


@pytest.mark.guarantee("G12")
async def test_what_is_the_operators_no_player_does(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    for call in operators_calls(driver, seated_player):
        refused = await refusal(call())
        assert (refused.reason, refused.facts) == ("SCOPE_MISSING", {"needed": "operator"})


@pytest.mark.guarantee("G12")
async def test_the_operator_does_not_play(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    request = roulette_pb2.PlaceBetsRequest(request_id="r", table_id=seated_player.table_id, round_id=round_id)
    enter = table_pb2.EnterTableRequest(request_id="r", table_id=seated_player.table_id)

    refused = [
        await refusal(driver.roulette.roulette.PlaceBets(request, metadata=driver.roulette.operator)),
        await refusal(driver.roulette.tables.EnterTable(enter, metadata=driver.roulette.operator)),
        await refusal(driver.roulette.roulette.PlaceBets(request, metadata=driver.roulette.bearer("game", "games"))),
    ]

    assert {(each.reason, each.facts["needed"]) for each in refused} == {("SCOPE_MISSING", "player")}


@pytest.mark.guarantee("G12")
async def test_without_an_authentic_token_nothing_is_done(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    request = roulette_pb2.PlaceBetsRequest(request_id="r", table_id=seated_player.table_id, round_id="r")
    look = table_pb2.GetTableRequest(table_id=seated_player.table_id)

    without = await refusal(driver.roulette.roulette.PlaceBets(request))
    forged = await refusal(driver.roulette.roulette.PlaceBets(request, metadata=(("authorization", "Bearer a.b.c"),)))
    looked = await refusal(driver.roulette.tables.GetTable(look))

    assert looked.reason == "NOT_YOURS"
    assert without.reason == forged.reason == "TOKEN_INVALID"
    assert without.code == grpc.StatusCode.UNAUTHENTICATED
