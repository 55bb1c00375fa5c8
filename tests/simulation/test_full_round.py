"""Players who bet without end: none takes the round from the others, and a round that is full ends like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.kit.full_round import STAKES_LIMIT
from services.kit.refusal import Refused
from services.kit.table import carrier, fair_share
from services.kit.table.house import END_AGAIN_EVERY_S
from services.kit.table.journal import Ending
from services.kit.table.settlement import OWNER_LOST
from services.wallet import refusals
from services.wallet.state import StakeState
from services.wallet.statements import STAKES_PAGE
from tests.simulation import ledger as ledger_in_memory
from tests.simulation.players import Player
from tests.simulation.stage import HOUSE, MONEY_CENTS, Laid, Stage, placed, refused

# A table with so many seats that everybody has the least there is, and time enough.
MANY: Laid = {"seats": 1_000, "window_ms": 120_000}
# How many of one player's bets are under way at once.
AT_ONCE = 20


def facts(answer: object) -> tuple[str, dict[str, str]]:
    assert isinstance(answer, Refused), answer
    return answer.reason, answer.facts


@pytest.mark.guarantee("G11")
def test_g11_a_player_who_places_and_takes_back_without_end_uses_up_his_share_alone() -> None:
    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        round_id = await ana.open_round()
        share = fair_share.SHARE_AT_LEAST
        for _ in range(share):
            placed(await ana.bet(round_id, {"red": 100}))
            assert not refused(await ana.take_back(round_id))
        too_many = "TOO_MANY_BETS", {"round_id": round_id, "limit": str(share)}
        assert facts(await ana.bet(round_id, {"red": 100})) == too_many
        assert facts(await ana.take_back(round_id)) == too_many
        assert stage.free_cents("ana") == MONEY_CENTS
        placed(await rui.bet(round_id, {"black": 500}))

        while stage.written(round_id).ended is None:
            await asyncio.sleep(5.0)
        drawn = stage.written(round_id).drawn
        assert drawn is not None
        assert (len(drawn.stakes), len(drawn.taken_back)) == (1, share)
        # The next round is another one.
        placed(await ana.bet(await ana.open_round(), {"red": 100}))

    Stage(**MANY).tell(story)


@pytest.mark.guarantee("G11")
@pytest.mark.guarantee("G12")
def test_g12_what_would_stay_of_a_bet_never_goes_for_want_of_room() -> None:
    """A part is taken back by putting the rest down again, which is one more stake: it is refused before it begins."""

    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        for _ in range(fair_share.SHARE_AT_LEAST - 1):
            placed(await ana.bet(round_id, {"red": 100}))
        placed(await ana.bet(round_id, {"red": 250}))
        free_cents = stage.free_cents("ana")
        assert refused(await ana.take_back(round_id, {"red": 100})) == "TOO_MANY_BETS"
        assert stage.free_cents("ana") == free_cents
        # As a whole it goes, and so do all the others.
        assert not refused(await ana.take_back(round_id, {"red": 250}))
        assert stage.free_cents("ana") == free_cents + 250
        assert not refused(await ana.take_back(round_id))
        assert stage.free_cents("ana") == MONEY_CENTS

    Stage(**MANY).tell(story)


async def fill(players: list[Player], round_id: str, stakes: int) -> list[object]:
    """Everybody bets as often as he may, and somebody once more when nothing fits."""
    each = stakes // len(players)
    for first in range(0, each, AT_ONCE):
        # An amount of its own for each, by which it is known again in the ledger.
        amounts = range(100 + first, 100 + first + AT_ONCE)
        answers = await asyncio.gather(
            *(player.bet(round_id, {"red": cents}) for player in players for cents in amounts)
        )
        assert not any(map(refused, answers))
    return [await player.bet(round_id, {"red": 100 + each}) for player in players[:2]]


def full_round(stakes: int, *, killed: bool) -> Callable[[Stage], Awaitable[None]]:
    """A crowd fills a round of so many stakes; its owner ends it, or dies and the next one does."""

    async def story(stage: Stage) -> None:
        players = await stage.open(*(f"p{number}" for number in range(stakes // fair_share.SHARE_AT_LEAST)))
        late = Player(stage.world, "late", HOUSE)
        stage.world.give("late", MONEY_CENTS)
        assert await late.enter()
        round_id = await players[0].open_round()
        for answer in await fill(players, round_id, stakes):
            assert refused(answer) == "TOO_MANY_BETS"
        # Somebody who has not bet at all finds no room any more, and is told so in time.
        full = "ROUND_FULL", {"round_id": round_id, "limit": str(stakes)}
        assert facts(await late.bet(round_id, {"red": 100})) == full
        assert stage.free_cents("late") == MONEY_CENTS
        if killed:
            stage.world.current[HOUSE].process.kill()
        while stage.written(round_id).ended is None:
            await asyncio.sleep(5.0)

        ended = stage.written(round_id).ended
        assert ended is not None
        states = {state for _, state in stage.stakes(round_id)}
        if killed:
            assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
            assert (len(ended.returned_stakes), states) == (stakes, {StakeState.RETURNED})
            assert stage.free_cents("p0") == MONEY_CENTS
        else:
            assert (ended.ending, states) == (Ending.SETTLED, {StakeState.SETTLED})
            assert len(ended.payouts) == stakes
        placed(await late.bet(await late.open_round(), {"red": 100}))

    return story


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("killed", [False, True], ids=["paid by its owner", "given back by the next owner"])
def test_g4_a_full_round_ends(monkeypatch: pytest.MonkeyPatch, killed: bool) -> None:  # noqa: FBT001 - how it ends
    # A tenth of it, for everything is held against everything in the end.
    smaller = STAKES_LIMIT // 10
    monkeypatch.setattr(fair_share, "STAKES_LIMIT", smaller)
    Stage(**MANY).tell(full_round(smaller, killed=killed))


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G11")
def test_g4_the_largest_round_that_there_can_be_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    # As the wallet has them: the ledger in memory looks at everything for each page.
    monkeypatch.setattr(ledger_in_memory, "PAGE", STAKES_PAGE)
    stage = Stage(**MANY)
    # And so does the witness for each event.
    setattr(stage.world.witness, "said", lambda _: None)  # noqa: B010 - of this story alone
    stage.world.run(lambda: full_round(STAKES_LIMIT, killed=True)(stage))
    assert stage.world.witness.breaches == []


@pytest.mark.guarantee("G11")
def test_g11_stakes_that_travel_together_fit_into_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bets on all places of the board, by many players at once, are more than what may travel together."""
    monkeypatch.setattr(carrier, "TOGETHER_BYTES_LIMIT", 64 * 1024)
    sent: list[int] = []

    async def story(stage: Stage) -> None:
        players = await stage.open(*(f"p{number}" for number in range(50)), cents=10**9)
        round_id = await players[0].open_round()
        ledger = stage.world.ledger
        answer = ledger.answer

        def weigh(asked: str, payload: bytes) -> bytes:
            if asked == "PlaceStakes":
                sent.append(len(payload))
            return answer(asked, payload)

        setattr(ledger, "answer", weigh)  # noqa: B010 - the method of this one ledger
        places = dict.fromkeys(players[0].rules.offers, 100)
        answers = await asyncio.gather(
            *(player.bet(round_id, {**places, "red": 100 + n}) for player in players for n in range(10))
        )
        assert not any(map(refused, answers))
        assert len(stage.stakes(round_id)) == len(answers)

    Stage(**MANY).tell(story)
    # The rest of an order is far less than what it says of these bets.
    assert max(sent) < 80 * 1024 < sum(sent)


# -- a round that cannot be ended ------------------------------------------------------------------------------------


def refusing(stage: Stage, method: str, about: Callable[[bytes], bool]) -> Callable[[], None]:
    """From now on the wallet refuses these calls, as it would what is too large; until what is returned is called."""
    ledger = stage.world.ledger
    answer = ledger.answer

    def refuse(asked: str, payload: bytes) -> bytes:
        if asked == method and about(payload):
            raise refusals.invalid("payouts", "cannot be.")
        return answer(asked, payload)

    setattr(ledger, "answer", refuse)  # noqa: B010 - the method of this one ledger
    return lambda: setattr(ledger, "answer", answer)


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G9")
def test_g4_the_money_goes_back_before_anything_is_read_for_the_record() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"red": 500}))
        heal = refusing(stage, "GetRound", lambda _: True)
        stage.world.current[HOUSE].process.kill()
        await asyncio.sleep(10.0)
        assert stage.stakes(round_id) == [(500, StakeState.RETURNED)]
        assert stage.free_cents("ana") == MONEY_CENTS
        # The record is still owed, and until it is there no other round is played at this table.
        assert stage.written(round_id).ended is None
        assert refused(await ana.enter_again()) == "UNAVAILABLE"
        heal()
        await asyncio.sleep(END_AGAIN_EVERY_S + 1.0)
        ended = stage.written(round_id).ended
        assert ended is not None
        assert (ended.ending, len(ended.returned_stakes)) == (Ending.VOID, 1)
        assert await ana.enter()
        placed(await ana.bet(await ana.open_round(), {"red": 100}))

    Stage().tell(story)


@pytest.mark.guarantee("G9")
def test_g9_a_round_that_cannot_be_ended_closes_no_table_but_its_own() -> None:
    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"red": 500}))
        other = await rui.open_round()
        placed(await rui.bet(other, {"black": 100}))
        heal = refusing(stage, "SettleRound", lambda payload: round_id.encode() in payload)
        await ana.spin(round_id)
        await asyncio.sleep(20.0)
        # Its number stands, and it is tried again; everybody else plays on, in the very round that he had bet in.
        assert stage.written(round_id).drawn is not None
        assert stage.stakes(round_id) == [(500, StakeState.OPEN)]
        assert refused(await ana.enter_again()) == "UNAVAILABLE"
        placed(await rui.bet(other, {"black": 200}))
        assert not refused(await rui.spin(other))
        assert stage.written(other).ended is not None
        heal()
        await asyncio.sleep(END_AGAIN_EVERY_S + 1.0)
        ended = stage.written(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        assert await ana.enter()
        placed(await ana.bet(await ana.open_round(), {"red": 100}))

    Stage(individual=True).tell(story)
