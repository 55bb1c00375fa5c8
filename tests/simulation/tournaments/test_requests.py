"""What a director is asked: refusals, repetitions, what comes at one moment, and payments that the end overtakes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from google.protobuf.message import Message

from feltro.poker.v1 import tournament_pb2
from feltro.wallet.v1 import tournament_pb2 as wallet_tournament
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.refusal import Refused
from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.tournament_entries import JournalledRequest
from services.poker.directing.books import BooksDiffer
from services.poker.directing.director import WAITING_LIMIT
from services.poker.tournament.levels import Level
from services.poker.tournament.money.entries import EntryState, Purchase
from services.poker.tournament.price import Price
from services.poker.tournament.running.facts import CancelOrdered, HandVoided, Unregistered, WentAway
from services.poker.tournament.running.state import Phase, entropy_bytes
from services.poker.tournament.specific_rules import default_rules
from services.poker.variant import Variant
from services.wallet.ledger.tickets import SETTLED_TICKETS_LIMIT
from services.wallet.model.state import Mode, TicketState
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.virtual_time import Process
from tests.simulation.tournaments.environment import DEPOSIT_CENTS, TOURNAMENT_ID, World
from tests.simulation.tournaments.test_tickets import ENTRY_CENTS, SATELLITE, award

RULES = default_rules(
    Variant.HOLDEM,
    Price(1000, 100),
    seats=3,
    levels=(Level(50, 100, 60), Level(500, 1000, 600)),
    late_reg_until_level=1,
)
CLOSING = "before close_tournament"


def reason_of(answer: object) -> str:
    """Returns why a call was refused; nothing if it was not."""
    return answer.reason if isinstance(answer, Refused) else ""


def run(script: Callable[[World], Awaitable[None]]) -> World:
    return World(3, RULES).run(script)


async def register(world: World, *players: str) -> None:
    for player_id in players:
        world.deposit(player_id)
        assert not reason_of(await world.buy(Purchase.ENTRY, player_id, "enter"))


def facts_of(world: World, kind: type) -> int:
    return sum(isinstance(step.event.fact, kind) for step in world.steps())


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:24", "810/2015:27", "810/2015:31")
def test_who_is_not_in_the_tournament_is_refused_with_the_rule() -> None:
    refused: list[Refused] = []

    async def script(world: World) -> None:
        await register(world, "ana", "rui")
        left = await world.unregister("eva", "leave")
        away = await world.ask(lambda director: director.set_presence("eva", is_away=True))
        declined = await world.ask(lambda director: director.decline_rebuy("eva"))
        refused.extend(each for each in (left, away, declined) if isinstance(each, Refused))

    world = run(script)
    assert [each.reason for each in refused] == ["NOT_REGISTERED"] * 3
    assert [each.facts["rule"] for each in refused] == ["810/2015:24", "810/2015:27", "810/2015:31"]
    assert not facts_of(world, Unregistered)
    assert not facts_of(world, WentAway)


@pytest.mark.rule("810/2015:27")
def test_who_sits_out_before_the_start_is_away_once() -> None:
    shown: list[bool] = []

    async def script(world: World) -> None:
        await register(world, "ana", "rui", "eva")
        for _ in range(2):
            seen = await world.ask(lambda director: director.set_presence("ana", is_away=True))
            assert isinstance(seen, tournament_pb2.TournamentPlayer)
            shown.append(seen.own)
        assert world.course().state.away == {"ana"}

    world = run(script)
    assert shown == [True, True]
    assert facts_of(world, WentAway) == 1


@pytest.mark.guarantee("G3")
def test_g3_a_request_id_is_for_one_command_alone() -> None:
    async def script(world: World) -> None:
        await register(world, "ana", "rui")
        assert reason_of(await world.unregister("ana", "enter")) == "REQUEST_REUSED"
        assert reason_of(await world.buy(Purchase.REBUY, "ana", "enter")) == "REQUEST_REUSED"

    world = run(script)
    assert len(world.wallet.pay_ins) == 2
    assert not facts_of(world, Unregistered)


@pytest.mark.guarantee("G3", "G12")
def test_g12_a_player_without_an_account_enters_nothing() -> None:
    async def script(world: World) -> None:
        await register(world, "ana", "rui")
        assert reason_of(await world.buy(Purchase.ENTRY, "nobody", "enter")) == "ACCOUNT_UNKNOWN"
        # The account is opened, and the very command is sent again.
        world.deposit("nobody")
        assert not reason_of(await world.buy(Purchase.ENTRY, "nobody", "enter"))

    world = run(script)
    assert [entry.player for entry in world.course().state.entries.values()] == ["ana", "rui", "nobody"]


@pytest.mark.guarantee("G11")
def test_g11_a_director_with_too_much_to_write_refuses_more() -> None:
    async def script(world: World) -> None:
        await register(world, "ana", "rui")
        director = world.owners[-1].director
        for number in range(WAITING_LIMIT):
            director.went_away(f"visitor {number}")
        with pytest.raises(Refused) as refused:
            await director.cancel("a power cut")
        assert refused.value.reason == "OVERLOADED"
        # All of it is written soon: visitors have no presence.
        assert not reason_of(await world.ask(lambda director: director.set_presence("ana", is_away=True)))

    assert facts_of(run(script), WentAway) == 1


@pytest.mark.guarantee("G8", "G12")
def test_g12_nothing_is_sold_before_the_next_owner_is_ready() -> None:
    async def script(world: World) -> None:
        await register(world, "ana", "rui")
        world.owners[-1].process.kill()
        director = world.start_owner().director
        with pytest.raises(Refused) as refused:
            await director.buy(Purchase.ENTRY, "eva", "enter", b"digest")
        assert refused.value.reason == "UNAVAILABLE"
        await register(world, "eva")

    assert len(run(script).wallet.pay_ins) == 3


# -- at one moment ----------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G3")
@pytest.mark.rule("810/2015:23")
def test_g3_one_command_that_comes_twice_at_once_is_carried_out_once() -> None:
    async def script(world: World) -> None:
        await register(world, "rui")
        world.deposit("ana")
        bought = await _at_once(*(world.buy(Purchase.ENTRY, "ana", request) for request in ("enter", "enter", "other")))
        assert isinstance(bought[0], Message)
        assert bought[1] == bought[0]
        assert reason_of(bought[2]) == "ALREADY_REGISTERED"
        assert world.wallet.balance_cents("ana") == DEPOSIT_CENTS - ENTRY_CENTS
        left = await _at_once(*(world.unregister("ana", "leave") for _ in range(2)))
        assert left[0] == left[1]
        assert isinstance(left[0], bytes)

    world = run(script)
    assert world.wallet.balance_cents("ana") == DEPOSIT_CENTS
    assert facts_of(world, Unregistered) == 1


async def _at_once(*calls: Awaitable[object]) -> list[object]:
    return list(await asyncio.gather(*calls))


@pytest.mark.rule("810/2015:26", "810/2015:27")
def test_of_a_presence_that_changes_twice_before_it_is_written_the_last_one_counts() -> None:
    async def script(world: World) -> None:
        await register(world, "ana", "rui", "eva")
        director = world.owners[-1].director
        director.went_away("ana")
        director.came_back("ana")
        director.came_back("rui")
        director.went_away("rui")
        await asyncio.sleep(0.1)
        assert world.course().state.away == {"rui"}

    assert facts_of(run(script), WentAway) == 1


@pytest.mark.guarantee("G4", "G6")
@pytest.mark.rule("810/2015:55", "806/2015:72")
def test_g4_a_void_hand_is_played_again_and_its_own_end_changes_nothing() -> None:
    voided: list[int] = []

    async def script(world: World) -> None:
        await register(world, "ana", "rui", "eva")
        await world.until(62)
        (table,) = world.course().state.tables.values()
        assert table.hand is not None
        number = table.hand.number
        # It is reported again, as after a takeover, and so is one that nobody plays.
        for reported in (number, number, 999):
            await world.ask(lambda director, reported=reported: director.hand_voided(table.number, reported))  # type: ignore[misc]
        again = world.course().state.tables[table.number].hand
        assert again is not None
        assert again.positions == table.hand.positions
        voided.extend((number, again.number))

    world = run(script)
    assert facts_of(world, HandVoided) == 1
    assert voided[0] != voided[1]
    # Both were dealt, and the void one has ended, too: its end is no fact.
    assert set(voided) <= set(world.hands)
    ended = [step.event.fact for step in world.steps() if getattr(step.event.fact, "number", 0) == voided[0]]
    assert [type(fact) for fact in ended] == [HandVoided]


class UnusableFirstBytes(World):
    """What is drawn first for the start tells none of so many players apart: every byte of it is discarded."""

    players = 129
    is_read = False

    def entropy(self, count: int) -> bytes:
        drawn = super().entropy(2 * count)
        if len(self.stored.facts) != self.players or self.is_read:
            return drawn[:count]
        self.is_read = True
        return bytes(byte | 0x81 for byte in drawn[:count])


@pytest.mark.guarantee("G6", "G10")
@pytest.mark.rule("810/2015:39")
def test_g6_entropy_that_does_not_decide_a_draw_is_drawn_on_and_not_replaced() -> None:
    async def script(world: World) -> None:
        await register(world, *(f"p{number}" for number in range(UnusableFirstBytes.players)))
        needed = entropy_bytes(world.course().state)
        await world.until(60.1)
        start = world.stored.facts[UnusableFirstBytes.players]
        assert len(start.entropy) > needed
        assert min(start.entropy[:needed]) >= 129
        # A replay of the facts seats every player where the director has seated them.
        state = world.course().state
        assert state.tables == world.owners[-1].director.course.state.tables
        assert len(state.chips()) == UnusableFirstBytes.players
        await world.ask(lambda director: director.cancel("the end of the test"))

    world = UnusableFirstBytes(3, RULES).run(script)
    assert world.course().state.phase is Phase.CANCELLED


# -- cancelling -------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G3", "G4")
@pytest.mark.rule("810/2015:35", "810/2015:36.a")
def test_g4_a_tournament_is_cancelled_once_and_its_money_goes_back_once() -> None:
    async def script(world: World) -> None:
        await register(world, "ana", "rui")
        cancelled = await _at_once(*(world.ask(lambda director: director.cancel("a storm")) for _ in range(2)))
        phases = [getattr(each, "phase", None) for each in cancelled]
        assert phases == [tournament_pb2.TOURNAMENT_PHASE_CANCELLED] * 2

    world = run(script)
    assert facts_of(world, CancelOrdered) == 1
    assert [world.wallet.balance_cents(each) for each in ("ana", "rui")] == [DEPOSIT_CENTS] * 2


class ClosingWorld(World):
    """Does something when everybody is paid, and the tournament is about to be closed for the first time."""

    before_closing: Callable[[], Awaitable[None]]

    async def moment(self, process: Process, kind: str) -> None:
        await super().moment(process, kind)
        if kind == CLOSING and self.moments[kind] == 1:
            await self.before_closing()


@pytest.mark.guarantee("G4")
@pytest.mark.rule("810/2015:35")
def test_g4_a_tournament_that_is_over_is_not_cancelled() -> None:
    world, refused = ClosingWorld(3, RULES), list[str]()

    async def cancel() -> None:
        with pytest.raises(Refused) as caught:
            await world.owners[-1].director.cancel("a storm")
        refused.append(caught.value.reason)

    world.before_closing = cancel
    world.run(lambda playing: register(playing, "ana", "rui"))
    assert refused == ["TOURNAMENT_OVER"]
    assert world.course().state.phase is Phase.FINISHED
    assert not facts_of(world, CancelOrdered)


@pytest.mark.guarantee("G1")
@pytest.mark.rule("810/2015:29")
def test_g1_a_ticket_that_is_won_while_the_tournament_is_closed_ends_before_it_is() -> None:
    world = ClosingWorld(3, RULES)

    async def win() -> None:
        award(world, SATELLITE, "eva", TOURNAMENT_ID, ENTRY_CENTS)

    async def script(playing: World) -> None:
        playing.wallet.open_tournament(SATELLITE)
        await register(playing, "ana", "rui")

    world.before_closing = win
    world.run(script)
    (ticket,) = world.wallet.tickets_to(TOURNAMENT_ID)
    assert ticket.state is TicketState.EXPIRED
    assert world.moments[CLOSING] == 2
    assert world.wallet.tables[TOURNAMENT_ID].closed
    assert world.wallet.tickets_cents(TOURNAMENT_ID) == 0


@pytest.mark.guarantee("G1", "G3")
@pytest.mark.rule("810/2015:23", "810/2015:36.a")
def test_g1_an_entry_that_is_paid_while_the_tournament_is_cancelled_is_given_back_before_it_is_closed() -> None:
    async def script(world: World) -> None:
        await register(world, "rui")
        buying = await _cancel_during_payment(world)
        await buying

    world = run(script)
    late = next(entry for entry in world.course().state.entries.values() if entry.player == "ana")
    assert late.state is EntryState.WITHDRAWN
    assert [each.paid.refunded for each in world.wallet.pay_ins] == [True, True]
    assert [world.wallet.balance_cents(each) for each in ("ana", "rui")] == [DEPOSIT_CENTS] * 2
    assert world.wallet.tables[TOURNAMENT_ID].closed


@pytest.mark.guarantee("G1", "G3", "G8")
@pytest.mark.rule("810/2015:23", "810/2015:36.a")
def test_g3_the_next_owner_gives_back_what_was_paid_while_the_former_one_died_after_a_cancellation() -> None:
    async def script(world: World) -> None:
        await register(world, "rui")
        buying = await _cancel_during_payment(world)
        world.owners[-1].process.kill()
        while len(world.wallet.pay_ins) < 2:
            await asyncio.sleep(0.01)
        assert world.wallet.balance_cents("ana") == DEPOSIT_CENTS - ENTRY_CENTS
        world.start_owner()
        await buying

    world = run(script)
    assert [each.paid.refunded for each in world.wallet.pay_ins] == [True, True]
    assert [world.wallet.balance_cents(each) for each in ("ana", "rui")] == [DEPOSIT_CENTS] * 2
    assert world.wallet.tables[TOURNAMENT_ID].closed


async def _cancel_during_payment(world: World) -> asyncio.Task[object]:
    """Cancels the tournament while Ana's money is on its way, which takes longer than a cancellation."""
    world.deposit("ana")
    slow = Delivery(request_delay_s=0.5)
    world.network.delivery_of = lambda _, method: slow if method == "PayIn" else Delivery()
    buying = asyncio.get_running_loop().create_task(_buy(world))
    while world.moments["before pay_in"] < 2:
        await asyncio.sleep(0.0001)
    await world.ask(lambda director: director.cancel("a storm"))
    return buying


async def _buy(world: World) -> object:
    return await world.buy(Purchase.ENTRY, "ana", "enter")


@pytest.mark.guarantee("G1", "G11")
@pytest.mark.rule("810/2015:37")
def test_g11_more_tickets_than_the_wallet_ends_at_once_end_in_several_batches() -> None:
    tickets = SETTLED_TICKETS_LIMIT + 1

    async def script(world: World) -> None:
        world.wallet.open_tournament(SATELLITE)
        await register(world, "ana", "rui")
        prize = wallet_tournament.TicketPrize(tournament_id=TOURNAMENT_ID)
        awards = [
            wallet_tournament.Award(
                account_id=world.wallet.open_account(f"won-{number}", Mode.REAL).account_id,
                reason=wallet_tournament.AWARD_REASON_PRIZE,
                amount_cents=ENTRY_CENTS,
                ticket=prize,
            )
            for number in range(tickets)
        ]
        request = wallet_tournament.PayOutRequest(
            request_id="prizes",
            tournament=wallet_types.TableRef(table_id=SATELLITE, epoch=1),
            awards=awards,
            overlay_cents=tickets * ENTRY_CENTS,
        )
        world.wallet.handle("PayOut", request.SerializeToString())
        await world.ask(lambda director: director.cancel("a storm"))

    world = run(script)
    assert {each.state for each in world.wallet.tickets_to(TOURNAMENT_ID)} == {TicketState.REIMBURSED}
    assert (world.moments["before settle_tickets"], world.moments[CLOSING]) == (2, 1)
    assert world.wallet.balance_cents(f"won-{tickets - 1}") == ENTRY_CENTS
    assert world.wallet.tickets_cents(TOURNAMENT_ID) == 0


# -- former owners ----------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G8")
def test_g8_a_former_owner_that_is_still_alive_writes_nothing_and_ends() -> None:
    facts: list[int] = []

    async def script(world: World) -> None:
        await register(world, "ana", "rui")
        former = world.owners[-1].director
        next_owner = world.start_owner()
        await next_owner.director.ready.wait()
        facts.append(len(world.stored.facts))
        with pytest.raises(StaleOwner):
            await former.set_presence("ana", is_away=True)
        await asyncio.sleep(0.1)
        facts.append(len(world.stored.facts))
        assert former.has_ended
        with pytest.raises(Refused):
            await former.set_presence("ana", is_away=True)

    with pytest.raises(StaleOwner):
        run(script)
    assert facts[0] == facts[1]


@pytest.mark.guarantee("G3", "G8")
def test_g3_what_the_journal_has_under_a_request_id_is_what_was_asked() -> None:
    """A former owner may have written it as the last thing it did."""

    async def script(world: World) -> None:
        await register(world, "rui")
        world.deposit("ana")
        asked = JournalledRequest("ana", "enter", b"another command", "", "", b"")
        world.stored.asked["ana", "enter"] = asked
        assert reason_of(await world.buy(Purchase.ENTRY, "ana", "enter")) == "REQUEST_REUSED"
        assert world.wallet.balance_cents("ana") == DEPOSIT_CENTS
        del world.stored.asked["ana", "enter"]
        await register(world, "eva")

    assert len(run(script).wallet.pay_ins) == 2


# -- money that no fact explains --------------------------------------------------------------------------------------


@pytest.mark.guarantee("G1", "G12")
def test_g12_the_next_owner_plays_nothing_on_where_somebody_has_paid_who_has_asked_for_nothing() -> None:
    async def script(world: World) -> None:
        await register(world, "ana", "rui")
        owner = world.owners[-1]
        account = world.wallet.open_account("ana", Mode.REAL)
        request = wallet_tournament.PayInRequest(
            request_id="by-hand",
            tournament=wallet_types.TableRef(table_id=TOURNAMENT_ID, epoch=owner.epoch),
            account_id=account.account_id,
            kind=wallet_tournament.PAY_IN_KIND_ENTRY,
            prize_cents=1000,
            fee_cents=100,
            command_digest=b"digest",
        )
        world.wallet.handle("PayIn", request.SerializeToString())
        owner.process.kill()
        world.start_owner()

    with pytest.raises(BooksDiffer, match="by-hand was paid in, and nobody has asked for it"):
        run(script)


@pytest.mark.guarantee("G1", "G12")
def test_g12_the_next_owner_plays_nothing_on_where_the_pool_is_not_what_the_facts_say() -> None:
    async def script(world: World) -> None:
        await register(world, "ana", "rui")
        owner = world.owners[-1]
        account = world.wallet.open_account("ana", Mode.REAL)
        award = wallet_tournament.Award(
            account_id=account.account_id, reason=wallet_tournament.AWARD_REASON_PRIZE, amount_cents=400
        )
        request = wallet_tournament.PayOutRequest(
            request_id="by-hand",
            tournament=wallet_types.TableRef(table_id=TOURNAMENT_ID, epoch=owner.epoch),
            awards=[award],
        )
        world.wallet.handle("PayOut", request.SerializeToString())
        owner.process.kill()
        world.start_owner()

    with pytest.raises(BooksDiffer, match="the pool holds 1600 cents, and 2000 by the facts"):
        run(script)
