"""The cards that are still in a shoe are nowhere (G7): worlds that differ in them alone say the same, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest

from feltro.table.v1 import table_pb2
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.replay.computation import RoundReplay
from services.kit.table.journal.replay.report import describe_round, round_report
from tests.simulation.decisions.players import STAND
from tests.simulation.decisions.scenario import BlackjackScenario, acted
from tests.simulation.scenario import TABLE_ID
from tests.simulation.shoes.test_shoes import play
from tests.simulation.told import told, told_answers

# What two rounds show, and the up card and own cards of a third.
SEEN = "Ts 9h Td Tc Kc 8h 9d Qc Jc 7h 8d"
# The hole card of the third round, and what comes then: differing worlds.
NEXT = ("Jd 6s 9c 5d Th", "2c 2d 2h 2s 3c", "Kd 6s 9c 5d Th", "Jd 7s 8c 4d As")


def _said(following: str) -> list[bytes]:
    """Returns all that anybody is told up to the third round's first cards, and what a replay tells of the others."""

    async def script(scenario: BlackjackScenario) -> list[bytes]:
        ana = await scenario.seat_one()
        ended = [await play(scenario, ana)]
        await scenario.kill_owner()
        ended.append(await play(scenario, ana))
        round_id = await ana.bet_and_deal(1_000)
        await ana.wait_for_turn()
        await scenario.kill_owner()
        await ana.wait_for_turn()
        table = await ana.get_table()
        assert table is not None
        messages = [*scenario.events(ana.table_id), *scenario.world.own_views.by_player["ana"]]
        said = [told(table), *told_answers(scenario.world), *map(told, messages)]
        for each in (*ended, round_id):
            said += _replayed(scenario, each)
        acted(await ana.decide(STAND))
        await scenario.wait_for_end(round_id)
        return said

    return BlackjackScenario(f"{SEEN} {following}", individual=True, cut_card=150).run(script)


def _replayed(scenario: BlackjackScenario, round_id: str) -> list[bytes]:
    """Returns what is told to an operator who computes a round again, with the keys of the journal."""
    record, configured, answer = _computed(scenario, round_id)
    assert record.drawn is not None
    assert not answer.entropy
    report = "\n".join(round_report(describe_round(record, configured, answer)))
    assert "sealed until" in report
    assert record.drawn.entropy[:8].hex(" ") not in report
    return [answer.SerializeToString(deterministic=True), report.encode()]


def _computed(
    scenario: BlackjackScenario, round_id: str
) -> tuple[RoundRecord, VersionedRules[Any, Any], table_pb2.ReplayRoundResponse]:
    """Computes a round again from the journal, without the ledger; there is no other difference."""
    record = scenario.world.journal.record(round_id)
    assert record is not None
    configured = scenario.world.catalogue.rules_in_force(TABLE_ID, record.opened.configuration_version)
    answer = RoundReplay(record, configured.version, configured.rules, None).compute()
    assert set(answer.differences) <= {"the ledger does not know the round"}
    return record, configured, answer


@pytest.mark.guarantee("G6", "G7")
def test_g7_worlds_that_differ_in_the_cards_of_a_shoe_say_the_same() -> None:
    first, *others = [_said(following) for following in NEXT]
    assert len(first) > 30
    assert all(each == first for each in others)


@pytest.mark.guarantee("G7", "G10")
def test_g10_the_entropy_of_a_shoe_is_told_when_the_table_is_dealt_from_another_one() -> None:
    """Not before, although its cut card has come: then anybody can compute each of its rounds."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        rounds = [await play(scenario, ana) for _ in range(2)]
        assert [_computed(scenario, each)[2].entropy for each in rounds] == [b"", b""]
        rounds.append(await play(scenario, ana))
        drawn = scenario.round_entries(rounds[0]).drawn
        assert drawn is not None
        told = [_computed(scenario, each)[2].entropy for each in rounds]
        assert told == [drawn.entropy, drawn.entropy, b""]

    # The cut card comes in the second round.
    BlackjackScenario(f"{SEEN} {NEXT[0]}", individual=True, cut_card=8).run(script)
