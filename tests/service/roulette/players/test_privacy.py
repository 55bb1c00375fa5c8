"""A player sees nothing of another player, and calls nothing that is reserved for the operator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import uuid4

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from tests.processes.roulette import configuration
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal
from tests.service.roulette.platform import INDIVIDUAL, INDIVIDUAL_TABLES, RouletteDriver


@pytest.mark.guarantee("G7")
async def test_g7_only_the_player_and_the_operator_see_a_players_rounds(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    spun = await driver.play(seated_player, {"red": 100})
    stranger = await driver.new_player()
    request = table_pb2.ListPlayerRoundsRequest(game="roulette", player_id=seated_player.player_id)

    refused = await refusal(driver.roulette.tables.ListPlayerRounds(request, metadata=driver.roulette.player(stranger)))
    shown = await driver.roulette.tables.ListPlayerRounds(request, metadata=driver.roulette.operator)

    assert (refused.reason, refused.code) == ("NOT_YOURS", grpc.StatusCode.PERMISSION_DENIED)
    assert [player_round.round.round_id for player_round in shown.rounds] == [spun.round_id]


@pytest.mark.guarantee("G7")
async def test_g7_only_its_player_sees_an_individual_table(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    spun = await driver.play(seated_player, {"red": 100})
    # Another table of the same configured table.
    stranger = (await driver.seat_new_player(INDIVIDUAL_TABLES[regulation])).player_id
    as_stranger = driver.roulette.player(stranger)
    rounds = table_pb2.ListTableRoundsRequest(table_id=seated_player.table_id)

    viewed = await refusal(driver.roulette.table(stranger, seated_player.table_id))
    listed = await refusal(driver.roulette.tables.ListTableRounds(rounds, metadata=as_stranger))
    # A repeated launch would show the last result.
    launched = await refusal(driver.roulette.spin(stranger, seated_player.table_id, spun.round_id))

    bet = await refusal(driver.roulette.bet(stranger, seated_player.table_id, spun.next_round_id, {"red": 100}))
    # As if there were no such table: the answer says nothing about its rounds.
    for refused in (viewed, listed, launched, bet):
        assert (refused.reason, refused.facts) == ("TABLE_UNKNOWN", {"table_id": seated_player.table_id})
    (own_round,) = (
        await driver.roulette.tables.ListTableRounds(rounds, metadata=driver.metadata_of(seated_player))
    ).rounds
    assert own_round.round_id == spun.round_id
    assert (await driver.roulette.tables.ListTableRounds(rounds, metadata=driver.roulette.operator)).rounds


@pytest.mark.guarantee("G9")
async def test_g9_no_other_player_sits_at_an_individual_table(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    """Neither by a session that the other player starts, nor by one that an operator starts there for them."""
    stranger = await driver.new_player()
    account_id = await driver.wallet.open_account(stranger)
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"red": 100})
    multi_player = await driver.new_table()
    watcher = await driver.watch(multi_player)
    start, later = (
        session_pb2.StartSessionRequest(request_id=str(uuid4()), account_id=account_id, table_id=table_id)
        for table_id in (seated_player.table_id, multi_player)
    )
    as_stranger = driver.wallet.bearer("player", stranger)

    refused = await refusal(driver.wallet.sessions.StartSession(start, metadata=as_stranger))
    await driver.wallet.sessions.StartSession(start, metadata=driver.wallet.operator)
    await driver.wallet.sessions.StartSession(later, metadata=driver.wallet.operator)
    # Facts about sessions arrive in order: the first session has been announced to the tables, too.
    await watcher.wait_for("seat_taken")

    assert refused.reason == "SCOPE_MISSING"
    viewed = await refusal(driver.roulette.table(stranger, seated_player.table_id))
    launched = await refusal(driver.roulette.spin(stranger, seated_player.table_id, round_id))
    assert viewed.reason == launched.reason == "TABLE_UNKNOWN"
    assert (await driver.spin(seated_player, round_id)).round_id == round_id


async def test_a_player_who_has_left_their_own_table_does_not_sit_there(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    """Every call says so, whatever round it names: none is about a round in which they could bet."""
    spun = await driver.play(seated_player, {"red": 100})
    player_id, table_id = seated_player.player_id, seated_player.table_id
    open_round = await driver.wait_for_open_round(seated_player)
    request = session_pb2.EndSessionRequest(session_id=seated_player.session_id)
    watcher = await driver.watch(table_id)
    await driver.wallet.sessions.EndSession(request, metadata=driver.wallet.bearer("player", player_id))
    await watcher.wait_for("seat_left")

    for round_id in (open_round, spun.next_round_id, f"{table_id}.99", "none"):
        for refused in (
            await refusal(driver.roulette.bet(player_id, table_id, round_id, {"red": 100})),
            await refusal(driver.roulette.spin(player_id, table_id, round_id)),
        ):
            assert (refused.reason, refused.facts) == ("NOT_SEATED", {"table_id": table_id})


@pytest.mark.guarantee("G11")
async def test_g11_invented_table_ids_open_no_tables(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    for number in range(3):
        invented = f"{INDIVIDUAL_TABLES[regulation]}-{number:016x}"
        refused = [
            await refusal(driver.roulette.table(seated_player.player_id, invented)),
            await refusal(driver.roulette.bet(seated_player.player_id, invented, f"{invented}.1", {"red": 100})),
            await refusal(driver.roulette.spin(seated_player.player_id, invented, f"{invented}.1")),
        ]
        assert {each.reason for each in refused} == {"TABLE_UNKNOWN"}


async def test_rounds_of_another_game_are_refused(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    request = table_pb2.ListPlayerRoundsRequest(game="poker", player_id=seated_player.player_id)
    refused = await refusal(
        driver.roulette.tables.ListPlayerRounds(request, metadata=driver.metadata_of(seated_player))
    )
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "game"})


def operators_calls(driver: RouletteDriver, seated_player: SeatedPlayer) -> list[Callable[[], Awaitable[object]]]:
    """All calls that are reserved for the operator, made by a player."""
    tables, as_player = driver.roulette.tables, driver.metadata_of(seated_player)
    rules = configuration(play=INDIVIDUAL)
    return [
        lambda: tables.ConfigureTable(
            table_pb2.ConfigureTableRequest(request_id="r", table_id="mine", configuration=rules), metadata=as_player
        ),
        lambda: tables.ListConfigurations(
            table_pb2.ListConfigurationsRequest(table_id=seated_player.table_id), metadata=as_player
        ),
        lambda: tables.SetSwitch(
            table_pb2.SetSwitchRequest(
                request_id="r", game="roulette", scope=types_pb2.SWITCH_SCOPE_GAME, enabled=False, reason="I lost"
            ),
            metadata=as_player,
        ),
        lambda: tables.ListSwitches(table_pb2.ListSwitchesRequest(game="roulette"), metadata=as_player),
        lambda: tables.ReplayRound(table_pb2.ReplayRoundRequest(game="roulette", round_id="r"), metadata=as_player),
        lambda: tables.VoidOpenRound(
            table_pb2.VoidOpenRoundRequest(table_id=seated_player.table_id, round_id="r", reason="I lost"),
            metadata=as_player,
        ),
    ]


@pytest.mark.guarantee("G12")
async def test_g12_a_player_makes_no_call_reserved_for_the_operator(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    for call in operators_calls(driver, seated_player):
        refused = await refusal(call())
        assert (refused.reason, refused.facts) == ("SCOPE_MISSING", {"needed": "operator"})


@pytest.mark.guarantee("G12")
async def test_g12_the_operator_does_not_play(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
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
async def test_g12_a_call_without_an_authentic_token_is_refused(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    request = roulette_pb2.PlaceBetsRequest(request_id="r", table_id=seated_player.table_id, round_id="r")
    view = table_pb2.GetTableRequest(table_id=seated_player.table_id)

    without = await refusal(driver.roulette.roulette.PlaceBets(request))
    forged = await refusal(driver.roulette.roulette.PlaceBets(request, metadata=(("authorization", "Bearer a.b.c"),)))
    viewed = await refusal(driver.roulette.tables.GetTable(view))

    assert viewed.reason == "TABLE_UNKNOWN"
    assert without.reason == forged.reason == "TOKEN_INVALID"
    assert without.code == grpc.StatusCode.UNAUTHENTICATED
