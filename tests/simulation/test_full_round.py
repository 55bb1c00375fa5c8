"""Players who bet without end: none takes the round from the others, and a round that is full ends like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.kit.refusal import Refused
from services.kit.round_limits import STAKES_LIMIT
from services.kit.table.banked import limits, stake_batcher
from services.kit.table.banked.settlement import OWNER_LOST
from services.kit.table.journal.entries import Ending
from services.kit.table.live.owned_tables import RETRY_ENDING_EVERY_S
from services.wallet.model import refusals
from services.wallet.model.state import StakeState
from services.wallet.store.queries import STAKES_PAGE_SIZE
from tests.simulation.environment import wallet as ledger_in_memory
from tests.simulation.environment.players import Player
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario, TableOptions, placed_stake, refusal_reason

# A table with so many seats that everybody has the least there is, and time enough.
CROWDED: TableOptions = {"seats": 1_000, "window_ms": 120_000}
# How many of one player's bets are under way at once.
CONCURRENT_BETS = 20


def facts(answer: object) -> tuple[str, dict[str, str]]:
    assert isinstance(answer, Refused), answer
    return answer.reason, answer.facts


@pytest.mark.guarantee("G11")
def test_g11_placing_and_taking_back_endlessly_exhausts_only_that_players_limit() -> None:
    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        share = limits.STAKES_PER_PLAYER_MIN
        for _ in range(share):
            placed_stake(await ana.bet(round_id, {"red": 100}))
            assert not refusal_reason(await ana.cancel_bets(round_id))
        too_many = "TOO_MANY_BETS", {"round_id": round_id, "limit": str(share)}
        assert facts(await ana.bet(round_id, {"red": 100})) == too_many
        assert facts(await ana.cancel_bets(round_id)) == too_many
        assert stage.free_cents("ana") == STARTING_CENTS
        placed_stake(await rui.bet(round_id, {"black": 500}))

        while stage.round_entries(round_id).ended is None:
            await asyncio.sleep(5.0)
        drawn = stage.round_entries(round_id).drawn
        assert drawn is not None
        assert (len(drawn.stakes), len(drawn.cancelled_stakes)) == (1, share)
        # The next round is another one.
        placed_stake(await ana.bet(await ana.wait_for_open_round(), {"red": 100}))

    Scenario(**CROWDED).run(story)


@pytest.mark.guarantee("G11")
@pytest.mark.guarantee("G12")
def test_g12_a_partial_take_back_without_room_for_the_rest_changes_nothing() -> None:
    """A part is taken back by putting the rest down again, which is one more stake: it is refused before it begins."""

    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        for _ in range(limits.STAKES_PER_PLAYER_MIN - 1):
            placed_stake(await ana.bet(round_id, {"red": 100}))
        placed_stake(await ana.bet(round_id, {"red": 250}))
        free_cents = stage.free_cents("ana")
        assert refusal_reason(await ana.cancel_bets(round_id, {"red": 100})) == "TOO_MANY_BETS"
        assert stage.free_cents("ana") == free_cents
        # As a whole it goes, and so do all the others.
        assert not refusal_reason(await ana.cancel_bets(round_id, {"red": 250}))
        assert stage.free_cents("ana") == free_cents + 250
        assert not refusal_reason(await ana.cancel_bets(round_id))
        assert stage.free_cents("ana") == STARTING_CENTS

    Scenario(**CROWDED).run(story)


async def fill(players: list[Player], round_id: str, stakes: int) -> list[object]:
    """Everybody bets as often as he may, and somebody once more when nothing fits."""
    each = stakes // len(players)
    for first in range(0, each, CONCURRENT_BETS):
        # An amount of its own for each, by which it is known again in the ledger.
        amounts = range(100 + first, 100 + first + CONCURRENT_BETS)
        answers = await asyncio.gather(
            *(player.bet(round_id, {"red": cents}) for player in players for cents in amounts)
        )
        assert not any(map(refusal_reason, answers))
    return [await player.bet(round_id, {"red": 100 + each}) for player in players[:2]]


def full_round(stakes: int, *, killed: bool) -> Callable[[Scenario], Awaitable[None]]:
    """A crowd fills a round of so many stakes; its owner ends it, or dies and the next one does."""

    async def story(stage: Scenario) -> None:
        players = await stage.open_table(*(f"p{number}" for number in range(stakes // limits.STAKES_PER_PLAYER_MIN)))
        late = Player(stage.world, "late", TABLE_ID)
        stage.world.deposit("late", STARTING_CENTS)
        assert await late.enter()
        round_id = await players[0].wait_for_open_round()
        for answer in await fill(players, round_id, stakes):
            assert refusal_reason(answer) == "TOO_MANY_BETS"
        # Somebody who has not bet at all finds no room any more, and is told so in time.
        full = "ROUND_FULL", {"round_id": round_id, "limit": str(stakes)}
        assert facts(await late.bet(round_id, {"red": 100})) == full
        assert stage.free_cents("late") == STARTING_CENTS
        if killed:
            stage.world.current_owners[TABLE_ID].process.kill()
        while stage.round_entries(round_id).ended is None:
            await asyncio.sleep(5.0)

        ended = stage.round_entries(round_id).ended
        assert ended is not None
        states = {state for _, state in stage.stakes(round_id)}
        if killed:
            assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
            assert (len(ended.returned_stakes), states) == (stakes, {StakeState.RETURNED})
            assert stage.free_cents("p0") == STARTING_CENTS
        else:
            assert (ended.ending, states) == (Ending.SETTLED, {StakeState.SETTLED})
            assert len(ended.payouts) == stakes
        placed_stake(await late.bet(await late.wait_for_open_round(), {"red": 100}))

    return story


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("killed", [False, True], ids=["paid by its owner", "given back by the next owner"])
def test_g4_a_full_round_ends(monkeypatch: pytest.MonkeyPatch, killed: bool) -> None:  # noqa: FBT001 - how it ends
    # A tenth of it, for everything is held against everything in the end.
    smaller = STAKES_LIMIT // 10
    monkeypatch.setattr(limits, "STAKES_LIMIT", smaller)
    Scenario(**CROWDED).run(full_round(smaller, killed=killed))


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
def test_g4_the_largest_possible_round_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    # As the wallet has them: the ledger in memory looks at everything for each page.
    monkeypatch.setattr(ledger_in_memory, "PAGE_SIZE", STAKES_PAGE_SIZE)
    stage = Scenario(**CROWDED)
    # And so does the witness for each event.
    setattr(stage.world.durability, "check_event", lambda _: None)  # noqa: B010 - of this story alone
    stage.world.run(lambda: full_round(STAKES_LIMIT, killed=True)(stage))
    assert stage.world.durability.violations == []


@pytest.mark.guarantee("G11")
def test_g11_a_batch_of_stakes_fits_into_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bets on all places of the board, by many players at once, are more than what may travel together."""
    monkeypatch.setattr(stake_batcher, "BATCH_BYTES_LIMIT", 64 * 1024)
    sent: list[int] = []

    async def story(stage: Scenario) -> None:
        players = await stage.open_table(*(f"p{number}" for number in range(50)), cents=10**9)
        round_id = await players[0].wait_for_open_round()
        ledger = stage.world.wallet
        answer = ledger.handle

        def weigh(asked: str, payload: bytes) -> bytes:
            if asked == "PlaceStakes":
                sent.append(len(payload))
            return answer(asked, payload)

        setattr(ledger, "handle", weigh)  # noqa: B010 - the method of this one ledger
        places = dict.fromkeys(players[0].rules.offered_places, 100)
        answers = await asyncio.gather(
            *(player.bet(round_id, {**places, "red": 100 + n}) for player in players for n in range(10))
        )
        assert not any(map(refusal_reason, answers))
        assert len(stage.stakes(round_id)) == len(answers)

    Scenario(**CROWDED).run(story)
    # The rest of an order is far less than what it says of these bets.
    assert max(sent) < 80 * 1024 < sum(sent)


# -- a round that cannot be ended ------------------------------------------------------------------------------------


def refusing(stage: Scenario, method: str, about: Callable[[bytes], bool]) -> Callable[[], None]:
    """From now on the wallet refuses these calls, as it would what is too large; until what is returned is called."""
    ledger = stage.world.wallet
    answer = ledger.handle

    def refuse(asked: str, payload: bytes) -> bytes:
        if asked == method and about(payload):
            raise refusals.invalid("payouts", "cannot be.")
        return answer(asked, payload)

    setattr(ledger, "handle", refuse)  # noqa: B010 - the method of this one ledger
    return lambda: setattr(ledger, "handle", answer)


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G9")
def test_g4_stakes_are_returned_before_anything_is_read_for_the_record() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        heal = refusing(stage, "GetRound", lambda _: True)
        stage.world.current_owners[TABLE_ID].process.kill()
        await asyncio.sleep(10.0)
        assert stage.stakes(round_id) == [(500, StakeState.RETURNED)]
        assert stage.free_cents("ana") == STARTING_CENTS
        # The record is still owed, and until it is there no other round is played at this table.
        assert stage.round_entries(round_id).ended is None
        assert refusal_reason(await ana.send_enter()) == "UNAVAILABLE"
        heal()
        await asyncio.sleep(RETRY_ENDING_EVERY_S + 1.0)
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, len(ended.returned_stakes)) == (Ending.VOID, 1)
        assert await ana.enter()
        placed_stake(await ana.bet(await ana.wait_for_open_round(), {"red": 100}))

    Scenario().run(story)


@pytest.mark.guarantee("G9")
def test_g9_a_round_that_cannot_end_closes_only_its_own_table() -> None:
    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        other = await rui.wait_for_open_round()
        placed_stake(await rui.bet(other, {"black": 100}))
        heal = refusing(stage, "SettleRound", lambda payload: round_id.encode() in payload)
        await ana.spin(round_id)
        await asyncio.sleep(20.0)
        # Its number stands, and it is tried again; everybody else plays on, in the very round that he had bet in.
        assert stage.round_entries(round_id).drawn is not None
        assert stage.stakes(round_id) == [(500, StakeState.OPEN)]
        assert refusal_reason(await ana.send_enter()) == "UNAVAILABLE"
        placed_stake(await rui.bet(other, {"black": 200}))
        assert not refusal_reason(await rui.spin(other))
        assert stage.round_entries(other).ended is not None
        heal()
        await asyncio.sleep(RETRY_ENDING_EVERY_S + 1.0)
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        assert await ana.enter()
        placed_stake(await ana.bet(await ana.wait_for_open_round(), {"red": 100}))

    Scenario(individual=True).run(story)
