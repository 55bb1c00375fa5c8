"""What the service of every game's tables refuses before anything is read, and which tables it lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.access.identity import DEMO, OPERATOR, PLAYER, Caller
from services.kit.paging import Page, PageRequest
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.journal.sealing import NO_KEYS
from services.kit.table.refusals import TableRefused
from services.kit.table.server.table_service import TableService

GAME = "wheel"
AT = datetime(2026, 11, 2, 20, 0, tzinfo=UTC)
ANA, GUEST = Caller("ana", frozenset({PLAYER}), 0.0), Caller("demo-1", frozenset({DEMO}), 0.0)
OLGA = Caller("olga", frozenset({OPERATOR}), 0.0)
REAL, DEMO_MODE = wallet_types.MODE_REAL, wallet_types.MODE_DEMO
TABLES = {
    "a-real": (REAL, wallet_types.PLAY_MULTI_PLAYER),
    "b-demo": (DEMO_MODE, wallet_types.PLAY_MULTI_PLAYER),
    "c-tournament": (REAL, wallet_types.PLAY_TOURNAMENT),
    "d-closed": (REAL, wallet_types.PLAY_INDIVIDUAL),
}


class Catalogue:
    """Four tables, of which the operator has switched one off."""

    def placement_ids(self) -> frozenset[str]:
        return frozenset(TABLES)

    def rules_in_force(self, table_id: str, _caller: Caller | None = None) -> VersionedRules[Any, Any]:
        mode, play = TABLES[table_id]
        configuration = types_pb2.TableConfiguration(game=GAME, mode=mode, play=play)
        version = types_pb2.ConfigurationVersion(table_id=table_id, version=3, configuration=configuration)
        return VersionedRules(version, cast("Any", None))

    def closed_reason(self, table_id: str) -> str | None:
        return "maintenance" if table_id == "d-closed" else None


class NothingRecorded:
    """Stands for the journal and the configurations of which nothing is known."""

    async def round_for_replay(self, _round_id: str) -> None:
        """There is no such round."""

    async def page(self, _table_id: str, _requested: PageRequest) -> Page[object]:
        return Page([], "")


def service() -> TableService[Any, Any]:
    none, nothing, catalogue = cast("Any", None), cast("Any", NothingRecorded()), cast("Any", Catalogue())
    registry = cast("Any", SimpleNamespace(table=None, configured_rules=None, rules_in_force=catalogue.rules_in_force))
    wallet = cast("Any", SimpleNamespace(get_first_answer=None))
    return TableService(
        cast("Any", SimpleNamespace(name=GAME)),
        registry,
        catalogue,
        nothing,
        none,
        nothing,
        wallet,
        none,
        cast("Any", SimpleNamespace(now=lambda: AT, advance=None)),
        len,
        NO_KEYS,
    )


async def refusal(call: Awaitable[object]) -> dict[str, str]:
    with pytest.raises(TableRefused) as refused:
        await call
    return {"reason": refused.value.reason} | refused.value.facts


OF_A_GAME: dict[str, Callable[[TableService[Any, Any], str], Awaitable[object]]] = {
    "list_tables": lambda asked, game: asked.list_tables(table_pb2.ListTablesRequest(game=game), ANA),
    "list_player_rounds": lambda asked, game: asked.list_player_rounds(
        table_pb2.ListPlayerRoundsRequest(game=game, player_id="ana"), ANA
    ),
    "replay_round": lambda asked, game: asked.replay_round(table_pb2.ReplayRoundRequest(game=game), OLGA),
    "set_switch": lambda asked, game: asked.set_switch(table_pb2.SetSwitchRequest(game=game), OLGA),
    "list_switches": lambda asked, game: asked.list_switches(table_pb2.ListSwitchesRequest(game=game), OLGA),
    "advance_table_clock": lambda asked, game: asked.advance_table_clock(
        table_pb2.AdvanceTableClockRequest(game=game), OLGA
    ),
}


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("method", OF_A_GAME)
async def test_g12_a_call_that_is_meant_for_another_game_is_refused(method: str) -> None:
    for game in ("", "poker"):
        assert await refusal(OF_A_GAME[method](service(), game)) == {"reason": "INVALID", "field": "game"}


async def listed(
    mode: wallet_types.Mode.ValueType = wallet_types.MODE_UNSPECIFIED, page_size: int = 0, page_token: str = ""
) -> table_pb2.ListTablesResponse:
    request = table_pb2.ListTablesRequest(game=GAME, mode=mode, page_size=page_size, page_token=page_token)
    return await service().list_tables(request, ANA)


async def test_tables_are_listed_by_mode_and_without_tournaments() -> None:
    everything = await listed()
    assert [each.table_id for each in everything.tables] == ["a-real", "b-demo", "d-closed"]
    assert [each.enabled for each in everything.tables] == [True, True, False]
    assert [each.seated for each in everything.tables] == [6, 6, 8]
    assert {each.configuration_version for each in everything.tables} == {3}
    assert everything.at.ToDatetime(UTC) == AT
    assert [each.table_id for each in (await listed(mode=REAL)).tables] == ["a-real", "d-closed"]
    assert [each.table_id for each in (await listed(mode=DEMO_MODE)).tables] == ["b-demo"]
    assert await refusal(listed(mode=cast("Any", 9))) == {"reason": "INVALID", "field": "mode"}
    first = await listed(page_size=2)
    rest = await listed(page_size=2, page_token=first.next_page_token)
    assert [len(each.tables) for each in (first, rest)] == [2, 1]
    assert rest.next_page_token == ""


@pytest.mark.guarantee("G12")
async def test_g12_what_is_not_on_record_is_unknown() -> None:
    unknown = service().replay_round(table_pb2.ReplayRoundRequest(game=GAME, round_id="t.1"), OLGA)
    assert await refusal(unknown) == {"reason": "ROUND_UNKNOWN", "round_id": "t.1"}
    nothing = service().list_configurations(table_pb2.ListConfigurationsRequest(table_id="t"), OLGA)
    assert await refusal(nothing) == {"reason": "TABLE_UNKNOWN", "table_id": "t"}


@pytest.mark.guarantee("G12")
async def test_g12_a_switch_that_does_not_say_on_or_off_is_not_set() -> None:
    request = table_pb2.SetSwitchRequest(game=GAME, request_id="1", scope=types_pb2.SWITCH_SCOPE_GAME, reason="why")
    assert await refusal(service().set_switch(request, OLGA)) == {"reason": "INVALID", "field": "enabled"}


@pytest.mark.guarantee("G7")
async def test_g7_a_player_sees_no_other_players_rounds() -> None:
    for player_id, expected in (
        ("rui", {"reason": "NOT_YOURS"}),
        ("ru i", {"reason": "INVALID", "field": "player_id"}),
        ("", {"reason": "INVALID", "field": "player_id"}),
    ):
        request = table_pb2.ListPlayerRoundsRequest(game=GAME, player_id=player_id)
        assert await refusal(service().list_player_rounds(request, ANA)) == expected


@pytest.mark.rule("804/2015:30")
@pytest.mark.guarantee("G12")
async def test_g12_a_guest_enters_no_table_for_money() -> None:
    request = table_pb2.EnterTableRequest(request_id="1", table_id="a-real")
    assert await refusal(service().enter_table(request, GUEST)) == {"reason": "SCOPE_MISSING", "needed": PLAYER}
    for seat in (-1, 1_001):
        request = table_pb2.EnterTableRequest(request_id="1", table_id="b-demo", seat=seat)
        assert await refusal(service().enter_table(request, GUEST)) == {"reason": "INVALID", "field": "seat"}


async def test_a_clock_goes_forward_by_a_time_that_has_an_end() -> None:
    for by_ms in (0, -1, 3660 * 24 * 3_600_000 + 1):
        request = table_pb2.AdvanceTableClockRequest(game=GAME, by_ms=by_ms)
        assert await refusal(service().advance_table_clock(request, OLGA)) == {"reason": "INVALID", "field": "by_ms"}


@pytest.mark.rule("804/2015:21")
async def test_no_round_is_declared_void_without_a_reason() -> None:
    for reason in ("", "  ", "x" * 10_000):
        request = table_pb2.VoidOpenRoundRequest(table_id="a-real", round_id="a-real.1", reason=reason)
        assert await refusal(service().void_open_round(request, OLGA)) == {"reason": "INVALID", "field": "reason"}
