"""Players who bet without end: nobody uses up the round of the others, and a full round ends like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.kit.refusal import Refused
from services.kit.round_limits import STAKES_LIMIT
from services.kit.table.banked import limits, stake_batcher
from services.kit.table.banked.settlement import OWNER_LOST
from services.kit.table.journal.entries import Ending
from services.kit.table.owned.retries import LONGEST_RETRY_AFTER
from services.wallet.model import refusals
from services.wallet.model.state import StakeState
from services.wallet.store.queries import STAKES_PAGE_SIZE
from tests.simulation.environment import wallet as in_memory_wallet
from tests.simulation.environment.players import Player
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario, TableOptions, placed_stake, refusal_reason

# A table with so many seats that every player has the smallest limit, and with time enough to reach it.
CROWDED: TableOptions = {"seats": 1_000, "window_ms": 120_000}
# Bets of one player that are under way at once.
CONCURRENT_BETS = 20


def facts(answer: object) -> tuple[str, dict[str, str]]:
    """Returns the reason and the facts of a refusal."""
    assert isinstance(answer, Refused), answer
    return answer.reason, answer.facts


@pytest.mark.guarantee("G11")
def test_g11_placing_and_cancelling_endlessly_exhausts_only_that_players_limit() -> None:
    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        limit = limits.STAKES_PER_PLAYER_MIN
        for _ in range(limit):
            placed_stake(await ana.bet(round_id, {"red": 100}))
            assert not refusal_reason(await ana.cancel_bets(round_id))
        too_many = "TOO_MANY_BETS", {"round_id": round_id, "limit": str(limit)}
        assert facts(await ana.bet(round_id, {"red": 100})) == too_many
        assert facts(await ana.cancel_bets(round_id)) == too_many
        assert scenario.free_cents("ana") == STARTING_CENTS
        placed_stake(await rui.bet(round_id, {"black": 500}))

        while scenario.round_entries(round_id).ended is None:
            await asyncio.sleep(5.0)
        drawn = scenario.round_entries(round_id).drawn
        assert drawn is not None
        assert (len(drawn.stakes), len(drawn.cancelled_stakes)) == (1, limit)
        # The next round counts anew.
        placed_stake(await ana.bet(await ana.wait_for_open_round(), {"red": 100}))

    Scenario(**CROWDED).run(script)


@pytest.mark.guarantee("G11")
@pytest.mark.guarantee("G12")
def test_g12_a_partial_cancellation_without_room_for_its_record_changes_nothing() -> None:
    """A part that is taken back is recorded like one more stake: without room it is refused before it begins."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        for _ in range(limits.STAKES_PER_PLAYER_MIN - 1):
            placed_stake(await ana.bet(round_id, {"red": 100}))
        placed_stake(await ana.bet(round_id, {"red": 250}))
        free_cents = scenario.free_cents("ana")
        assert refusal_reason(await ana.cancel_bets(round_id, {"red": 100})) == "TOO_MANY_BETS"
        assert scenario.free_cents("ana") == free_cents
        # A whole stake can be cancelled, and so can all of them.
        assert not refusal_reason(await ana.cancel_bets(round_id, {"red": 250}))
        assert scenario.free_cents("ana") == free_cents + 250
        assert not refusal_reason(await ana.cancel_bets(round_id))
        assert scenario.free_cents("ana") == STARTING_CENTS

    Scenario(**CROWDED).run(script)


async def fill(players: list[Player], round_id: str, stakes: int) -> list[object]:
    """Has every player bet as often as they may, and two of them once more; returns the answers of these two."""
    each = stakes // len(players)
    for first in range(0, each, CONCURRENT_BETS):
        # Every bet has an amount of its own, by which the checks find it in the ledger.
        amounts = range(100 + first, 100 + first + CONCURRENT_BETS)
        answers = await asyncio.gather(
            *(player.bet(round_id, {"red": cents}) for player in players for cents in amounts)
        )
        assert not any(map(refusal_reason, answers))
    return [await player.bet(round_id, {"red": 100 + each}) for player in players[:2]]


def full_round(stakes: int, *, killed: bool) -> Callable[[Scenario], Awaitable[None]]:
    """Fills a round with stakes; its owner ends it, or dies and the next one does."""

    async def script(scenario: Scenario) -> None:
        players = await scenario.open_table(*(f"p{number}" for number in range(stakes // limits.STAKES_PER_PLAYER_MIN)))
        late = Player(scenario.world, "late", TABLE_ID)
        scenario.world.deposit("late", STARTING_CENTS)
        assert await late.enter()
        round_id = await players[0].wait_for_open_round()
        for answer in await fill(players, round_id, stakes):
            assert refusal_reason(answer) == "TOO_MANY_BETS"
        # A player who has not bet yet finds no room either, and nothing is charged.
        full = "ROUND_FULL", {"round_id": round_id, "limit": str(stakes)}
        assert facts(await late.bet(round_id, {"red": 100})) == full
        assert scenario.free_cents("late") == STARTING_CENTS
        if killed:
            scenario.world.current_owners[TABLE_ID].process.kill()
        while scenario.round_entries(round_id).ended is None:
            await asyncio.sleep(5.0)

        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        states = {state for _, state in scenario.stakes(round_id)}
        if killed:
            assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
            assert (len(ended.returned_stakes), states) == (stakes, {StakeState.RETURNED})
            assert scenario.free_cents("p0") == STARTING_CENTS
        else:
            assert (ended.ending, states) == (Ending.SETTLED, {StakeState.SETTLED})
            assert len(ended.payouts) == stakes
        placed_stake(await late.bet(await late.wait_for_open_round(), {"red": 100}))

    return script


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("killed", [False, True], ids=["paid by its owner", "returned by the next owner"])
def test_g4_a_full_round_ends(monkeypatch: pytest.MonkeyPatch, killed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    # A tenth of the real limit, for the checks compare everything with everything.
    smaller = STAKES_LIMIT // 10
    monkeypatch.setattr(limits, "STAKES_LIMIT", smaller)
    Scenario(**CROWDED).run(full_round(smaller, killed=killed))


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
def test_g4_the_largest_possible_round_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    # The real page size: the wallet in memory searches everything for each page.
    monkeypatch.setattr(in_memory_wallet, "PAGE_SIZE", STAKES_PAGE_SIZE)
    scenario = Scenario(**CROWDED)
    # The durability checker does so for each event.
    setattr(scenario.world.durability, "check_event", lambda _: None)  # noqa: B010 - of this script alone
    scenario.world.run(lambda: full_round(STAKES_LIMIT, killed=True)(scenario))
    assert scenario.world.durability.violations == []


@pytest.mark.guarantee("G11")
def test_g11_a_batch_of_stakes_fits_into_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bets of many players on all places of the board are more than what may travel together."""
    monkeypatch.setattr(stake_batcher, "BATCH_BYTES_LIMIT", 64 * 1024)
    sent: list[int] = []

    async def script(scenario: Scenario) -> None:
        players = await scenario.open_table(*(f"p{number}" for number in range(50)), cents=10**9)
        round_id = await players[0].wait_for_open_round()
        wallet = scenario.world.wallet
        answer = wallet.handle

        def weigh(method: str, payload: bytes) -> bytes:
            if method == "PlaceStakes":
                sent.append(len(payload))
            return answer(method, payload)

        setattr(wallet, "handle", weigh)  # noqa: B010 - the method of this one wallet
        places = dict.fromkeys(players[0].rules.offered_places, 100)
        answers = await asyncio.gather(
            *(player.bet(round_id, {**places, "red": 100 + n}) for player in players for n in range(10))
        )
        assert not any(map(refusal_reason, answers))
        assert len(scenario.stakes(round_id)) == len(answers)

    Scenario(**CROWDED).run(script)
    # What an order holds besides its bets is small.
    assert max(sent) < 80 * 1024 < sum(sent)


# -- a round that cannot be ended ------------------------------------------------------------------------------------


def refusing(scenario: Scenario, method: str, concerns: Callable[[bytes], bool]) -> Callable[[], None]:
    """Has the wallet refuse these calls as invalid, until the returned function is called."""
    wallet = scenario.world.wallet
    answer = wallet.handle

    def refuse(called: str, payload: bytes) -> bytes:
        if called == method and concerns(payload):
            raise refusals.invalid("payouts", "cannot be.")
        return answer(called, payload)

    setattr(wallet, "handle", refuse)  # noqa: B010 - the method of this one wallet
    return lambda: setattr(wallet, "handle", answer)


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G9")
def test_g4_stakes_are_returned_before_anything_is_read_for_the_record() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        restore = refusing(scenario, "GetRound", lambda _: True)
        scenario.world.current_owners[TABLE_ID].process.kill()
        await asyncio.sleep(10.0)
        assert scenario.stakes(round_id) == [(500, StakeState.RETURNED)]
        assert scenario.free_cents("ana") == STARTING_CENTS
        # The journal still lacks the end, and until it is there this table plays no other round.
        assert scenario.round_entries(round_id).ended is None
        assert refusal_reason(await ana.send_enter()) == "UNAVAILABLE"
        restore()
        await asyncio.sleep(LONGEST_RETRY_AFTER.total_seconds() + 2.0)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, len(ended.returned_stakes)) == (Ending.VOID, 1)
        assert await ana.enter()
        placed_stake(await ana.bet(await ana.wait_for_open_round(), {"red": 100}))

    Scenario().run(script)


@pytest.mark.guarantee("G9")
def test_g9_a_round_that_cannot_end_closes_only_its_own_table() -> None:
    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        other = await rui.wait_for_open_round()
        placed_stake(await rui.bet(other, {"black": 100}))
        restore = refusing(scenario, "SettleRound", lambda payload: round_id.encode() in payload)
        await ana.spin(round_id)
        await asyncio.sleep(20.0)
        # The outcome stands, and settling is tried again; the other player plays on in the round that was open.
        assert scenario.round_entries(round_id).drawn is not None
        assert scenario.stakes(round_id) == [(500, StakeState.OPEN)]
        assert refusal_reason(await ana.send_enter()) == "UNAVAILABLE"
        placed_stake(await rui.bet(other, {"black": 200}))
        assert not refusal_reason(await rui.spin(other))
        assert scenario.round_entries(other).ended is not None
        restore()
        await asyncio.sleep(LONGEST_RETRY_AFTER.total_seconds() + 2.0)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        assert await ana.enter()
        placed_stake(await ana.bet(await ana.wait_for_open_round(), {"red": 100}))

    Scenario(individual=True).run(script)
