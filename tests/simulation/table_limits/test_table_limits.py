"""The prize cap of a table holds at every commit, whatever becomes of stakes that others lean on (`812/2015:43`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from services.baccarat.game import BaccaratRules
from services.kit.table.banked.felt import Felt
from services.kit.table.journal.entries import Ending
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.environment.world import World
from tests.simulation.scenario import STARTING_CENTS, Scenario, placed_stake, refusal_reason
from tests.simulation.table_limits.macau import CAP_CENTS, MACAU, PrizeCapWatch, RandomMacauRun, configuration

RUNS = 25


class MacauScenario(Scenario):
    """One table of Macau, whose prize cap is watched."""

    def __init__(self) -> None:
        self.world = World(0, MACAU)
        self.configuration = configuration()
        self.watch = PrizeCapWatch(self.world)

    async def take_back(self, player: Player, round_id: str) -> str:
        """Has a player take everything back; returns why that was refused, if it was."""
        return refusal_reason(await player.cancel_bets(round_id))


@pytest.mark.guarantee("G9", "G12")
@pytest.mark.rule("812/2015:13", "812/2015:43.a")
def test_nobody_leans_on_a_stake_that_the_wallet_may_refuse() -> None:
    """A stake on the other side makes room when it counts and not before; its refusal concerns its player alone."""

    async def script(scenario: MacauScenario) -> None:
        ana, rui, eva = await scenario.open_table("ana", "rui", "eva", cents=8_000)
        scenario.world.deposit("rui", 50_000)
        round_id = await ana.wait_for_open_round()
        scenario.set_deliveries(PlaceStakes=Delivery(request_delay_s=1.0))
        # More than ana has, which the wallet alone knows.
        asking = asyncio.create_task(ana.prepare_bet(round_id, {"banca": 9_000})[1]())
        await asyncio.sleep(0.1)
        # Possible only if ana's counts, and only if it does not.
        assert refusal_reason(await rui.bet(round_id, {"ponto": 15_000})) == "ABOVE_TABLE_LIMIT"
        assert refusal_reason(await eva.bet(round_id, {"banca": 5_000})) == "ABOVE_TABLE_LIMIT"
        assert refusal_reason(await asking) == "INSUFFICIENT_FUNDS"
        # Of other amounts, by which the checks find them in the ledger.
        placed_stake(await eva.bet(round_id, {"banca": 5_020}))
        placed_stake(await rui.bet(round_id, {"ponto": 14_980}))
        await scenario.wait_for_end(round_id)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    MacauScenario().run(script)


@pytest.mark.guarantee("G9", "G12")
@pytest.mark.rule("812/2015:13", "812/2015:43.a")
def test_a_stake_that_others_lean_on_stays_until_they_have_gone() -> None:
    async def script(scenario: MacauScenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"ponto": 9_000}))
        # Only with ana's.
        placed_stake(await rui.bet(round_id, {"banca": 15_000}))
        assert await scenario.take_back(ana, round_id) == "ABOVE_TABLE_LIMIT"
        assert scenario.free_cents("ana") == STARTING_CENTS - 9_000
        assert await scenario.take_back(rui, round_id) == ""
        assert await scenario.take_back(ana, round_id) == ""
        assert scenario.watch.closest_cents == 9_000
        await scenario.wait_for_end(round_id)

    MacauScenario().run(script)


@pytest.mark.guarantee("G9", "G12")
@pytest.mark.rule("812/2015:43.a")
def test_nobody_leans_on_a_stake_that_is_being_taken_back() -> None:
    async def script(scenario: MacauScenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"ponto": 9_000}))
        scenario.set_deliveries(CancelStakes=Delivery(request_delay_s=1.0))
        taking = asyncio.create_task(scenario.take_back(ana, round_id))
        await asyncio.sleep(0.1)
        assert refusal_reason(await rui.bet(round_id, {"banca": 15_000})) == "ABOVE_TABLE_LIMIT"
        assert await taking == ""
        placed_stake(await rui.bet(round_id, {"banca": CAP_CENTS}))
        await scenario.wait_for_end(round_id)

    MacauScenario().run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.rule("812/2015:43.a")
def test_the_next_owner_begins_with_an_empty_table() -> None:
    """The owner dies with stakes that lean on each other: all go back, and the next round has all the room."""

    async def script(scenario: MacauScenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"ponto": 9_000}))
        placed_stake(await rui.bet(round_id, {"banca": 19_000}))
        await scenario.kill_owner()
        await scenario.wait_for_end(round_id)
        assert (scenario.free_cents("ana"), scenario.free_cents("rui")) == (STARTING_CENTS, STARTING_CENTS)
        next_round_id = await ana.wait_for_open_round()
        assert next_round_id != round_id
        placed_stake(await rui.bet(next_round_id, {"banca": CAP_CENTS}))
        await scenario.wait_for_end(next_round_id)

    MacauScenario().run(script)


@pytest.mark.guarantee("G1", "G3", "G4", "G8", "G9", "G12")
@pytest.mark.rule("812/2015:43.a", "812/2015:43.b", "812/2015:43.c")
def test_random_runs_keep_within_the_prize_cap() -> None:
    closest_cents = 0
    for seed in range(RUNS):
        run = RandomMacauRun(seed)
        violations = run.run()
        assert not violations, f"seed {seed}:\n" + "\n".join(violations)
        closest_cents = max(closest_cents, run.watch.closest_cents)
    assert closest_cents > 0.9 * CAP_CENTS


# -- these can fail ----------------------------------------------------------------------------------------------------


def _forget(*names: str) -> Callable[[pytest.MonkeyPatch], None]:
    """Returns a break in which the table judges without knowing some of its stakes."""

    def forget(patch: pytest.MonkeyPatch) -> None:
        fits = BaccaratRules.fits

        def forgetful(self: BaccaratRules, **totals: Mapping[str, int]) -> None:
            fits(self, **{name: {} if name in names else each for name, each in totals.items()})

        def named(self: BaccaratRules, counted: Any, coming: Any, going: Any, change: Any) -> None:  # noqa: ANN401
            forgetful(self, counted=counted, coming=coming, going=going, change=change)

        patch.setattr(BaccaratRules, "fits", named)

    return forget


def _lets_go(patch: pytest.MonkeyPatch) -> None:
    """Takes back whatever a player asks for."""
    choose = Felt.choose

    def freely(self: Felt[Any, Any], player_id: str, bets: object) -> object:
        with pytest.MonkeyPatch.context() as unjudged:
            unjudged.setattr(BaccaratRules, "fits", lambda *_: None)
            return choose(self, player_id, bets)

    patch.setattr(Felt, "choose", freely)


# Each break with the scenario that has to fail, and whether random runs come upon it, too.
BREAKS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Callable[[], None], bool]] = {
    "what counts": (_forget("counted"), test_a_stake_that_others_lean_on_stays_until_they_have_gone, True),
    "what is on its way": (_forget("coming"), test_nobody_leans_on_a_stake_that_the_wallet_may_refuse, True),
    "what is being taken back": (_forget("going"), test_nobody_leans_on_a_stake_that_is_being_taken_back, False),
    "taking back": (_lets_go, test_a_stake_that_others_lean_on_stays_until_they_have_gone, False),
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_forgotten_stake_is_found(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate, scenario, in_random_runs = BREAKS[what]
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        scenario()
    if in_random_runs:
        violations = (violation for seed in range(RUNS) for violation in RandomMacauRun(seed).run())
        assert any(violation.startswith("812/2015:43") for violation in violations)
