"""The specific rules of tables, version after version, on a real PostgreSQL."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.round_limits import STAKE_LIMIT_CENTS
from services.kit.table.configuration.versions import PLATFORM, Configurations, InitialTable
from services.kit.table.game import Rules
from services.kit.table.journal.history import RoundHistory
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.rows.entry_rows import JournalContradiction
from services.kit.table.paging import page_request
from services.kit.table.refusals import TableRefused
from tests.service.table.configurations import NOON, EvenSeatsGame, ManualClock, configuration, register_anything
from tests.service.table.entries import drawn, opened, settled

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

GAME = EvenSeatsGame()


async def entered(configurations: Configurations, request_id: str, **changes: object) -> types_pb2.ConfigurationVersion:
    command: dict[str, Any] = {
        "request_id": request_id,
        "table_id": "t1",
        "configuration": configuration(),
        "approval_reference": "SRIJ 2026/17",
        "effective_at": None,
        "entered_by": "olga",
        "game": GAME,
        "register": register_anything,
    }
    command.update(changes)
    return await configurations.add_version(**command)


async def refusal(configurations: Configurations, request_id: str = "refused", **changes: object) -> dict[str, str]:
    with pytest.raises(TableRefused) as refused:
        await entered(configurations, request_id, **changes)
    return {"reason": refused.value.reason} | refused.value.facts


def seats(versions: list[types_pb2.ConfigurationVersion]) -> list[tuple[str, int, int]]:
    return [(version.table_id, version.version, version.configuration.seats) for version in versions]


def effective_at(version: types_pb2.ConfigurationVersion) -> datetime:
    return version.effective_at.ToDatetime(UTC)


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_each_change_is_a_version_with_author_time_and_content(
    configurations: Configurations, clock: ManualClock
) -> None:
    first = await entered(configurations, "1")
    clock.advance(hours=1)
    second = await entered(
        configurations, "2", configuration=configuration(20), entered_by="rita", approval_reference="SRIJ 2026/18"
    )
    assert (first.version, first.entered_by, first.approval_reference) == (1, "olga", "SRIJ 2026/17")
    assert first.entered_at == first.effective_at
    assert effective_at(first) == NOON
    assert (second.version, second.entered_by, second.approval_reference) == (2, "rita", "SRIJ 2026/18")
    assert effective_at(second) == NOON + timedelta(hours=1)
    # Both versions are kept, and read as they were entered.
    assert await configurations.versions("t1") == [second, first]
    assert await configurations.version("t1", 1) == first
    assert await configurations.version("t1", 3) is None
    assert await configurations.versions("t2") == []


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_a_version_replaces_the_one_in_force_before_it(
    configurations: Configurations, clock: ManualClock
) -> None:
    await entered(configurations, "1")
    await entered(configurations, "2", effective_at=NOON + timedelta(days=1))
    clock.advance(hours=1)
    await entered(configurations, "3")
    # Of two for the same moment the first never holds.
    await entered(configurations, "4", effective_at=NOON + timedelta(days=1))
    first = await configurations.page("t1", page_request(3, ""))
    second = await configurations.page("t1", page_request(3, first.next_page_token))
    listed = [*first.items, *second.items]
    assert [(change.version, change.replaces) for _, change in listed] == [(4, 2), (3, 1), (2, 3), (1, 0)]
    assert [version for version, _ in listed] == await configurations.versions("t1")
    assert (len(first.items), second.next_page_token) == (3, "")
    assert (await configurations.page("t2", page_request(0, ""))).items == []


async def test_a_version_holds_from_its_effective_time(configurations: Configurations, clock: ManualClock) -> None:
    await entered(configurations, "1")
    tomorrow = NOON + timedelta(days=1)
    await entered(configurations, "2", configuration=configuration(20), effective_at=tomorrow)
    clock.advance(hours=1)
    await entered(configurations, "3", configuration=configuration(30))

    async def in_force(at: datetime) -> int:
        version = await configurations.in_force("t1", at)
        return 0 if version is None else version.version

    just_before = timedelta(microseconds=1)
    assert await in_force(NOON - just_before) == 0
    assert await in_force(NOON) == 1
    assert await in_force(clock.now() - just_before) == 1
    assert await in_force(clock.now()) == 3
    assert await in_force(tomorrow - just_before) == 3
    assert await in_force(tomorrow) == 2
    assert await in_force(tomorrow + timedelta(days=365)) == 2


@pytest.mark.rule("903-B/2015:6.1.5")
async def test_a_round_keeps_the_rules_it_opened_under(
    configurations: Configurations, journal: PostgresJournal, engine: AsyncEngine, clock: ManualClock
) -> None:
    first = await entered(configurations, "1")
    epoch = await journal.take_ownership("t1")
    await journal.write_opened(epoch, opened("t1", 1, version=first.version))
    clock.advance(seconds=1)
    second = await entered(configurations, "2", configuration=configuration(20))
    assert await configurations.in_force("t1", clock.now()) == second

    with pytest.raises(JournalContradiction):
        await journal.write_opened(epoch, opened("t1", 1, version=second.version))
    await journal.write_drawn(epoch, drawn("t1.1"))
    await journal.write_ended(epoch, settled(drawn("t1.1")))
    record = await RoundHistory(engine).round_for_replay("t1.1")
    assert record is not None
    assert await configurations.version("t1", record.opened.configuration_version) == first


async def test_the_rules_in_force_are_listed_for_all_tables(configurations: Configurations, clock: ManualClock) -> None:
    later = NOON + timedelta(minutes=5)
    await entered(configurations, "b1", table_id="b")
    await entered(configurations, "b2", table_id="b", configuration=configuration(20), effective_at=later)
    await entered(configurations, "a1", table_id="a", configuration=configuration(40))
    await entered(configurations, "c1", table_id="c", effective_at=later)
    assert seats(await configurations.all_in_force(NOON)) == [("a", 1, 40), ("b", 1, 10)]
    assert seats(await configurations.upcoming(NOON)) == [("b", 2, 20), ("c", 1, 10)]
    assert seats(await configurations.all_in_force(later)) == [("a", 1, 40), ("b", 2, 20), ("c", 1, 10)]
    assert await configurations.upcoming(later) == []


async def test_no_version_takes_effect_in_the_past(
    configurations: Configurations, service_connection: Connection
) -> None:
    past = NOON - timedelta(microseconds=1)
    assert await refusal(configurations, effective_at=past) == {"reason": "INVALID", "field": "effective_at"}
    version = await entered(configurations, "now", effective_at=NOON)
    assert effective_at(version) == NOON
    with pytest.raises(asyncpg.CheckViolationError, match="configurations_not_in_the_past"):
        await service_connection.execute(
            "INSERT INTO configurations"
            " SELECT table_id, 2, configuration, 'x', $1, 'x', $2, 'x', '' FROM configurations",
            past,
            NOON,
        )


@pytest.mark.rule("804/2015:P.3")
@pytest.mark.rule("807/2015:P.3")
@pytest.mark.parametrize("regulation", ["804/2015", "807/2015"])
async def test_without_approval_nothing_takes_effect(
    regulation: str, configurations: Configurations, service_connection: Connection
) -> None:
    rules = configuration(regulation=regulation)
    assert await refusal(configurations, approval_reference="", configuration=rules) == {
        "reason": "RULE_VIOLATED", "field": "approval_reference", "bound": "given", "rule": f"{regulation}:P.3",
    }  # fmt: skip
    assert await configurations.all_in_force(NOON + timedelta(days=365)) == []
    with pytest.raises(asyncpg.CheckViolationError, match="approval_reference"):
        await service_connection.execute(
            "INSERT INTO configurations VALUES ('t1', 1, '', '', now(), 'x', now(), 'x', '')"
        )


async def test_rules_refused_by_kit_or_game_are_not_stored(configurations: Configurations) -> None:
    assert await refusal(configurations, configuration=configuration(11)) == {
        "reason": "RULE_VIOLATED", "field": "seats", "bound": "even", "rule": "0/2015:1",
    }  # fmt: skip
    short = configuration(betting_window_ms=2_999)
    assert (await refusal(configurations, configuration=short))["rule"] == "903-B/2015:6.1.4"
    another = configuration(game="blackjack")
    assert await refusal(configurations, configuration=another) == {"reason": "INVALID", "field": "configuration.game"}
    assert await configurations.versions("t1") == []

    await entered(configurations, "1")
    changed = configuration(regulation="807/2015")
    assert await refusal(configurations, configuration=changed) == {
        "reason": "INVALID",
        "field": "configuration.regulation",
    }
    assert len(await configurations.versions("t1")) == 1


class RichGame(EvenSeatsGame):
    """A game whose players may stake one cent more than the wallet takes of one stake."""

    def rules(self, configuration: types_pb2.TableConfiguration) -> Rules[Any, Any]:
        rules = super().rules(configuration)
        setattr(rules, "largest_stake_cents", STAKE_LIMIT_CENTS + 1)  # noqa: B010 - of rules that tests made up
        return rules


@pytest.mark.guarantee("G12")
async def test_g12_rules_that_tables_could_not_play_are_not_stored(configurations: Configurations) -> None:
    poker = configuration(regulation="806/2015", play=wallet_types.PLAY_POKER)
    assert await refusal(configurations, configuration=poker) == {"reason": "INVALID", "field": "configuration.play"}
    assert await refusal(configurations, game=RichGame()) == {"reason": "INVALID", "field": "configuration.rules"}
    assert await configurations.versions("t1") == []


@pytest.mark.guarantee("G3")
async def test_g3_repeated_rules_are_stored_once(configurations: Configurations, clock: ManualClock) -> None:
    first = await entered(configurations, "1", effective_at=NOON)
    clock.advance(hours=1)
    second = await entered(configurations, "2", configuration=configuration(20))
    clock.advance(hours=1)
    # The same answer, although the moment has passed and other rules are in force.
    assert await entered(configurations, "1", effective_at=NOON) == first
    assert await entered(configurations, "2", configuration=configuration(20), entered_by="rita") == second
    reused = {"reason": "REQUEST_REUSED", "request_id": "1"}
    for changes in (
        {"effective_at": None},
        {"effective_at": NOON, "table_id": "t2"},
        {"effective_at": NOON, "configuration": configuration(20)},
        {"effective_at": NOON, "approval_reference": "SRIJ 2026/18"},
    ):
        assert await refusal(configurations, "1", **changes) == reused
    assert len(await configurations.versions("t1")) == 2


@pytest.mark.guarantee("G3")
async def test_g3_concurrent_rules_are_numbered_in_order(
    configurations: Configurations,
) -> None:
    sent = [(str(number), configuration(number * 2 + 2)) for number in range(5)] * 2
    answers = await asyncio.gather(*(entered(configurations, key, configuration=rules) for key, rules in sent))
    assert answers[:5] == answers[5:]
    assert sorted(version.version for version in answers[:5]) == [1, 2, 3, 4, 5]


async def test_initial_tables_never_replace_stored_rules(configurations: Configurations, clock: ManualClock) -> None:
    await entered(configurations, "1", table_id="b", configuration=configuration(20))
    tables = [InitialTable(table_id, configuration(), "SRIJ 2026/1") for table_id in ("a", "b")]
    assert seats(await configurations.add_initial_tables(tables, GAME, register_anything)) == [("a", 1, 10)]
    clock.advance(hours=1)
    tables = [InitialTable("a", configuration(30), "SRIJ 2026/1")]
    assert await configurations.add_initial_tables(tables, GAME, register_anything) == []
    assert seats(await configurations.all_in_force(clock.now())) == [("a", 1, 10), ("b", 1, 20)]
    assert [version.entered_by for version in await configurations.versions("a")] == [PLATFORM]


async def test_an_initial_table_whose_id_another_game_has_is_left_out_and_the_others_are_not(
    configurations: Configurations, caplog: pytest.LogCaptureFixture
) -> None:
    async def register(table_id: str, _: types_pb2.TableConfiguration, __: int) -> None:
        if table_id == "b":
            raise TableRefused("TABLE_TAKEN", "A table of the game poker has this id.", table_id="b", game="poker")

    tables = [InitialTable(table_id, configuration(), "SRIJ 2026/1") for table_id in ("a", "b", "c")]
    assert seats(await configurations.add_initial_tables(tables, GAME, register)) == [("a", 1, 10), ("c", 1, 10)]
    assert await configurations.versions("b") == []
    assert "a table of the deployment is left out" in caplog.text
    # It is entered as soon as its id is free.
    assert seats(await configurations.add_initial_tables(tables, GAME, register_anything)) == [("b", 1, 10)]


async def test_replicas_that_start_together_store_one_initial_version(engine: AsyncEngine, clock: ManualClock) -> None:
    tables = [InitialTable("a", configuration(), "SRIJ 2026/1")]
    replicas = [Configurations(engine, clock) for _ in range(4)]
    await asyncio.gather(*(replica.add_initial_tables(tables, GAME, register_anything) for replica in replicas))
    assert seats(await Configurations(engine, clock).versions("a")) == [("a", 1, 10)]
