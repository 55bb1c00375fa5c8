"""Dealt rounds whose cards cannot be read: they wait, and in the end what was not paid goes back (B18)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from feltro.table.v1 import table_pb2
from services.kit.table.journal.entries import Ending, UnfinishedRound
from services.kit.table.owned import recovery
from services.kit.table.owned.retries import LONGEST_RETRY_AFTER
from services.kit.table.owned.unreadable_rounds import CARDS_UNREADABLE, READABLE_WITHIN
from tests.simulation.decisions.players import DECLINE, DRAW, EVEN_MONEY, INSURE, STAND, DecidingPlayer
from tests.simulation.decisions.scenario import BlackjackScenario, acted
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import STARTING_CENTS, refusal_reason

# Against an ace: ana has a blackjack, rui draws too much, eva has fifteen.
L11 = "As Ts Td Ah Kd 6d 5c 9c Th"
REASON = "the key of the shoe is lost"


async def _play_l11(scenario: BlackjackScenario) -> tuple[str, DecidingPlayer]:
    """Plays until eva has to decide, with even money paid to ana; then the owner dies, and the cards are lost."""
    ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")
    round_id = await scenario.bet_all(ana, rui, eva)
    acted(await ana.decide(EVEN_MONEY))
    acted(await rui.decide(DECLINE))
    acted(await eva.decide(INSURE, 500))
    acted(await rui.decide(DRAW))
    await eva.wait_for_turn()
    assert [scenario.free_cents(name) - STARTING_CENTS for name in ("ana", "rui", "eva")] == [1_000, -1_000, -1_500]
    scenario.seal(round_id)
    await scenario.kill_owner()
    await asyncio.sleep(1.0)
    return round_id, eva


def _verify_void(scenario: BlackjackScenario, round_id: str, reason: str) -> None:
    """Everything that was not paid is back, what was busted and insured included; what was paid stays."""
    assert [scenario.free_cents(name) - STARTING_CENTS for name in ("ana", "rui", "eva")] == [1_000, 0, 0]
    ended = scenario.round_entries(round_id).ended
    assert ended is not None
    assert (ended.ending, ended.void_reason, ended.outcome) == (Ending.VOID, reason, None)
    results = {result.player_id: (result.staked_cents, result.payout_cents) for result in ended.player_results}
    assert results == {"ana": (1_000, 2_000), "rui": (1_000, 1_000), "eva": (1_500, 1_500)}
    (told,) = scenario.published("round_voided")
    assert (told.round_id, told.reason) == (round_id, reason)


@pytest.mark.guarantee("G4", "G12")
@pytest.mark.rule("805/2015:27", "805/2015:28", "805/2015:20.b")
def test_l11_a_round_whose_cards_stay_unreadable_is_void_after_a_day() -> None:
    """L11: A took even money and keeps 2000; B bust and gets 1000 back; C live and insured gets 1500 back."""

    async def script(scenario: BlackjackScenario) -> None:
        round_id, _ = await _play_l11(scenario)
        await asyncio.sleep(READABLE_WITHIN.total_seconds() - 3_600.0)
        assert scenario.round_entries(round_id).ended is None
        assert not scenario.published("round_voided")
        await asyncio.sleep(7_200.0)
        _verify_void(scenario, round_id, CARDS_UNREADABLE)

    BlackjackScenario(L11, decision_ms=60_000).run(script)


@pytest.mark.guarantee("G11")
@pytest.mark.rule("805/2015:27")
def test_g11_a_round_that_stays_unreadable_is_tried_ever_more_rarely_and_logged_once_per_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    causes: list[str] = []
    monkeypatch.setattr(recovery._log, "error", lambda _, extra: causes.append(extra["error"]))

    async def script(scenario: BlackjackScenario) -> None:
        round_id, _ = await _play_l11(scenario)
        longest_s = LONGEST_RETRY_AFTER.total_seconds()
        await asyncio.sleep(10 * longest_s)
        attempts = _count_attempts(scenario)
        await asyncio.sleep(10 * longest_s)
        assert 8 <= len(attempts) <= 10
        assert len(causes) == 1
        # Another reason is worth another line: now a decision is none of the game's.
        entries = scenario.round_entries(round_id)
        scenario.unseal(round_id)
        made = entries.moves
        entries.moves = [replace(made[0], move=b"\xff"), *made[1:]]
        await asyncio.sleep(3 * longest_s)
        assert len(set(causes)) == len(causes) == 2
        entries.moves = made
        await scenario.wait_until(lambda: entries.ended)

    BlackjackScenario(L11, decision_ms=60_000).run(script)


def _count_attempts(scenario: BlackjackScenario) -> list[str]:
    """Returns what grows by one with every attempt from now on."""
    attempts: list[str] = []
    journal = scenario.world.journal
    read = journal.unfinished_rounds

    def count(placement_id: str) -> list[UnfinishedRound]:
        attempts.append(placement_id)
        return read(placement_id)

    setattr(journal, "unfinished_rounds", count)  # noqa: B010 - the method of this one journal
    return attempts


@pytest.mark.guarantee("G4", "G12")
@pytest.mark.rule("805/2015:27", "805/2015:28", "805/2015:20.b")
def test_l11_an_operator_declares_a_round_void_whose_cards_are_lost() -> None:
    """At once, and the table plays on."""

    async def script(scenario: BlackjackScenario) -> None:
        round_id, eva = await _play_l11(scenario)
        assert refusal_reason(await scenario.void(f"{round_id}9", REASON)) == "UNAVAILABLE"
        assert isinstance(await scenario.void(round_id, REASON), table_pb2.VoidOpenRoundResponse)
        _verify_void(scenario, round_id, REASON)
        assert await eva.wait_for_open_round() != round_id

    BlackjackScenario(L11, decision_ms=60_000).run(script)


@pytest.mark.guarantee("G4", "G8")
@pytest.mark.rule("805/2015:28")
def test_g4_an_owner_that_dies_in_the_middle_of_such_a_void_voids_once() -> None:
    """The wallet has returned the stakes, and the journal learns of it from the next owner, even with the key back."""

    async def script(scenario: BlackjackScenario) -> None:
        round_id, _ = await _play_l11(scenario)
        scenario.set_deliveries(write_ended=Delivery(request_lost=True))
        voiding = asyncio.create_task(scenario.void(round_id, REASON))
        await scenario.wait_until(lambda: scenario.free_cents("eva") == STARTING_CENTS)
        assert scenario.round_entries(round_id).ended is None
        scenario.unseal(round_id)
        scenario.restore_network()
        await scenario.kill_owner()
        voiding.cancel()
        await asyncio.gather(voiding, return_exceptions=True)
        await scenario.wait_until(lambda: scenario.published("round_voided"))
        _verify_void(scenario, round_id, REASON)

    BlackjackScenario(L11, decision_ms=60_000).run(script)


@pytest.mark.guarantee("G6", "G12")
@pytest.mark.rule("805/2015:27")
@pytest.mark.parametrize("individual", [False, True])
def test_g6_a_round_goes_on_with_its_cards_when_they_can_be_read_again(*, individual: bool) -> None:
    """The key is found: nobody has decided anything meanwhile, and the table was closed."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await (ana.bet_and_deal(1_000) if individual else scenario.bet_all(ana))
        await ana.wait_for_turn()
        draws = scenario.world.draws
        scenario.seal(round_id)
        await scenario.kill_owner()
        await asyncio.sleep(600.0)
        assert scenario.round_entries(round_id).ended is None
        scenario.unseal(round_id)
        acted(await ana.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.is_settled(round_id)
        assert scenario.world.draws == draws
        assert refusal_reason(await scenario.void(round_id, REASON)) == "ROUND_DECIDED"

    BlackjackScenario("Ts 9h 6d 8c Td", individual=individual).run(script)
