"""The tournaments of one process: what they may promise as prizes (32, 37), who has a ticket, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import pytest

from feltro.poker.v1 import tournament_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import ticket_pb2, wallet_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.table.journal.tournament_entries import JournalledFact
from services.kit.table.owned.demo_credits import DEMO_CREDITS_CENTS
from services.kit.table.refusals import TableRefused
from services.kit.table.wallet.client import WalletUnanswered
from services.poker.directing.fact_messages import fact_message
from services.poker.directing.purchases import account_of
from services.poker.directing.service import PokerTournaments
from services.poker.game import PokerGame
from services.poker.tournament.price import Price
from services.poker.tournament.running.facts import CancelOrdered
from services.poker.tournament.specific_rules import FreerollTicket, Start, TicketPrize, TournamentRules, default_rules
from services.poker.tournament.specific_rules_message import message_of
from services.poker.variant import Variant
from services.wallet.model.state import Mode
from tests.simulation.environment.virtual_time import STARTS_AT
from tests.simulation.tournaments.environment import World
from tests.simulation.tournaments.test_tickets import SATELLITE, award
from tests.simulation.tournaments.wallet import GAME, PoolWallet

PHASES = {
    "FINISHED": tournament_pb2.TOURNAMENT_PHASE_FINISHED,
    "CANCELLED": tournament_pb2.TOURNAMENT_PHASE_CANCELLED,
}
PRICE = Price(1000, 100)
HOUR = timedelta(hours=1)
REAL, DEMO = wallet_types.MODE_REAL, wallet_types.MODE_DEMO
T = TypeVar("T")


@dataclass(slots=True)
class Clock:
    """Stands still until a test moves it."""

    at: datetime = STARTS_AT

    def now(self) -> datetime:
        return self.at


@dataclass(slots=True)
class Wallet:
    """The wallet without a network between."""

    wallet: PoolWallet
    is_away: bool = False

    async def find_account(self, request: wallet_pb2.FindAccountRequest) -> wallet_pb2.FindAccountResponse:
        return wallet_pb2.FindAccountResponse.FromString(self._handle("FindAccount", request.SerializeToString()))

    async def list_tickets(self, request: ticket_pb2.ListTicketsRequest) -> ticket_pb2.ListTicketsResponse:
        return ticket_pb2.ListTicketsResponse.FromString(self._handle("ListTickets", request.SerializeToString()))

    async def refill_demo_account(
        self, request: wallet_pb2.RefillDemoAccountRequest
    ) -> wallet_pb2.RefillDemoAccountResponse:
        answer = self._handle("RefillDemoAccount", request.SerializeToString())
        return wallet_pb2.RefillDemoAccountResponse.FromString(answer)

    def _handle(self, method: str, request: bytes) -> bytes:
        if self.is_away:
            raise WalletUnanswered("the wallet is away")
        return self.wallet.handle(method, request)


@dataclass(slots=True)
class Catalogue:
    """The tournaments that were created: `services.kit.table.configuration`, as far as tournaments ask it."""

    created: dict[str, types_pb2.ConfigurationVersion] = field(default_factory=dict)
    # The phases of those that nobody runs any more.
    over: dict[str, tournament_pb2.TournamentPhase.ValueType] = field(default_factory=dict)

    def create(
        self,
        tournament_id: str,
        rules: TournamentRules,
        starts_at: datetime | None,
        mode: wallet_types.Mode.ValueType = REAL,
    ) -> types_pb2.TableConfiguration:
        configuration = types_pb2.TableConfiguration(
            game=GAME, regulation="810/2015", mode=mode, play=wallet_types.PLAY_TOURNAMENT
        )
        configuration.rules.Pack(message_of(rules, starts_at))
        self.created[tournament_id] = types_pb2.ConfigurationVersion(
            table_id=tournament_id, version=1, configuration=configuration
        )
        return configuration

    async def version(self, table_id: str, number: int) -> types_pb2.ConfigurationVersion | None:
        assert number == 1
        return self.created.get(table_id)

    def placement_ids(self) -> set[str]:
        return set(self.created)

    def rules_in_force(self, table_id: str) -> SimpleNamespace:
        if table_id not in self.created:
            raise TableRefused("TABLE_UNKNOWN", "There is no such table.")
        return SimpleNamespace(version=self.created[table_id])

    async def closed(self) -> dict[str, int]:
        return dict(self.over)

    async def closed_summary(self, tournament_id: str) -> bytes | None:
        phase = self.over.get(tournament_id)
        return None if phase is None else tournament_pb2.TournamentSummary(phase=phase).SerializeToString()

    async def facts(self, tournament_id: str) -> list[JournalledFact]:
        """Returns that each tournament was cancelled as soon as it was created."""
        assert tournament_id in self.created
        return [JournalledFact(1, 1, fact_message(CancelOrdered("a storm")).SerializeToString(), bytes(512))]


@dataclass(slots=True)
class Platform:
    """The tournaments of a process at the wallet in memory."""

    clock: Clock = field(default_factory=Clock)
    catalogue: Catalogue = field(default_factory=Catalogue)
    wallet: Wallet = field(init=False)
    tournaments: PokerTournaments = field(init=False)

    def __post_init__(self) -> None:
        self.wallet = Wallet(PoolWallet(self.clock))
        parts = SimpleNamespace(
            game=PokerGame(), facts=self.catalogue, wallet=self.wallet, clock=self.clock, randomness=None,
            own_views=None, catalogue=self.catalogue, configurations=self.catalogue, address_of=lambda _: None,
        )  # fmt: skip
        self.tournaments = PokerTournaments(cast("Any", parts))

    def create(
        self,
        tournament_id: str,
        rules: TournamentRules,
        starts_at: datetime | None,
        mode: wallet_types.Mode.ValueType = REAL,
    ) -> None:
        """Creates a tournament as `CreateTournament` does: refused before anybody sees it."""
        before = dict(self.catalogue.created)
        configuration = self.catalogue.create(tournament_id, rules, starts_at, mode)
        try:
            self.run(self.tournaments.verify_new(tournament_id, configuration))
        except Refused:
            self.catalogue.created = before
            raise

    @staticmethod
    def run(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    def usable(self, tournament_id: str, player_id: str) -> list[str]:
        found = self.run(self.tournaments.won_entries.usable(tournament_id, player_id, REAL))
        return [each.ticket_id for each in found]


def rules(price: Price = PRICE, **chosen: object) -> TournamentRules:
    return default_rules(Variant.HOLDEM, price, **chosen)


def satellite(
    target: str = "sunday", value_cents: int = 1_100, price: Price = PRICE, **chosen: object
) -> TournamentRules:
    return rules(price, satellite=TicketPrize(target, value_cents), **chosen)


def with_target(rules_of_target: TournamentRules | None = None, **chosen: Any) -> Platform:  # noqa: ANN401 - of `create`
    platform = Platform()
    starts_at = chosen.pop("starts_at", STARTS_AT + 2 * HOUR)
    platform.create("sunday", rules_of_target or rules(), starts_at, **chosen)
    return platform


def refusal(platform: Platform, made: TournamentRules, starts_at: datetime | None = STARTS_AT + HOUR) -> dict[str, str]:
    with pytest.raises(TableRefused) as refused:
        platform.create("saturday", made, starts_at)
    assert refused.value.reason == "RULE_VIOLATED"
    return dict(refused.value.facts)


def facts(field_: str, bound: str | int, paragraph: str) -> dict[str, str]:
    return {"field": f"configuration.rules.{field_}", "bound": str(bound), "rule": f"810/2015:{paragraph}"}


# -- what may be promised ---------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:32")
def test_an_entry_is_promised_to_a_later_tournament_at_its_price() -> None:
    platform = with_target()
    platform.create("saturday", satellite(), STARTS_AT + HOUR)
    platform.create("sit-and-go", satellite(start=Start.ON_FULL, seats=6), None)
    # The second before it begins is early enough.
    platform.create("late", satellite(), STARTS_AT + 2 * HOUR - timedelta(seconds=1))
    assert set(platform.catalogue.created) == {"sunday", "saturday", "sit-and-go", "late"}


@pytest.mark.rule("810/2015:32")
def test_a_ticket_is_worth_the_entry_that_it_pays() -> None:
    assert refusal(with_target(), satellite(value_cents=1_101)) == facts("satellite.value_cents", 1_100, "32")


@pytest.mark.rule("810/2015:32")
@pytest.mark.parametrize("target", ["saturday", "nowhere", "table"])
def test_an_entry_is_promised_to_another_tournament_which_exists(target: str) -> None:
    platform = with_target()
    table = types_pb2.TableConfiguration(game=GAME, play=wallet_types.PLAY_POKER)
    platform.catalogue.created["table"] = types_pb2.ConfigurationVersion(table_id="table", configuration=table)
    assert refusal(platform, satellite(target)) == facts("satellite.tournament_id", target, "32")


@pytest.mark.rule("810/2015:32")
def test_no_entry_to_a_demonstration_is_won_with_money() -> None:
    platform = with_target(mode=DEMO)
    assert refusal(platform, satellite()) == facts("satellite.tournament_id", "sunday", "32")


@pytest.mark.rule("810/2015:32")
def test_an_entry_is_promised_to_a_tournament_at_a_later_time() -> None:
    sunday = facts("satellite.tournament_id", "sunday", "32")
    assert refusal(with_target(), satellite(), STARTS_AT + 2 * HOUR) == sunday
    # A sit & go has no time, and one that is over has no entries any more.
    assert refusal(with_target(rules(start=Start.ON_FULL, seats=6), starts_at=None), satellite()) == sunday
    over = with_target()
    over.catalogue.over["sunday"] = PHASES["FINISHED"]
    assert refusal(over, satellite()) == sunday


@pytest.mark.rule("810/2015:30", "810/2015:37")
def test_a_freeroll_promises_entries_alone_that_a_cancellation_would_replace() -> None:
    free = satellite(price=Price(0), guarantee_cents=2_200)
    assert refusal(with_target(), free) == facts("satellite.tournament_id", "sunday", "37")
    in_money = with_target(rules(freeroll_ticket=FreerollTicket.CASH))
    in_money.create("saturday", free, STARTS_AT + HOUR)
    replaced = Platform()
    replaced.create("monday", rules(), STARTS_AT + 9 * HOUR)
    replaced.create("sunday", rules(replacement_tournament="monday"), STARTS_AT + 2 * HOUR)
    replaced.create("saturday", free, STARTS_AT + HOUR)


@pytest.mark.rule("810/2015:37")
def test_a_ticket_that_replaces_another_is_for_a_later_tournament_of_the_same_price() -> None:
    replacing = rules(Price(900, 200), replacement_tournament="sunday")
    assert refusal(with_target(), replacing) == facts("replacement_tournament_id", 1_100, "37")
    missing = rules(replacement_tournament="nowhere")
    assert refusal(with_target(), missing) == facts("replacement_tournament_id", "nowhere", "32")
    with_target().create("saturday", rules(replacement_tournament="sunday"), STARTS_AT + HOUR)


@pytest.mark.rule("810/2015:23", "810/2015:32")
def test_nobody_enters_a_satellite_whose_prizes_nobody_could_use() -> None:
    platform = with_target()
    made = satellite()
    verify_open = platform.tournaments.won_entries.verify_open
    platform.run(verify_open(made))
    platform.run(verify_open(rules()))
    platform.catalogue.over["sunday"] = PHASES["FINISHED"]
    with pytest.raises(Refused) as refused:
        platform.run(verify_open(made))
    assert (refused.value.reason, refused.value.facts["rule"]) == ("REGISTRATION_CLOSED", "810/2015:23")
    platform.catalogue.over.clear()
    platform.clock.at += 2 * HOUR
    with pytest.raises(Refused, match="has begun"):
        platform.run(verify_open(made))
    del platform.catalogue.created["sunday"]
    with pytest.raises(Refused, match="has begun, or is over"):
        platform.run(verify_open(made))


# -- who has one ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:28", "810/2015:32")
def test_a_player_is_shown_the_tickets_that_are_open_and_their_own() -> None:
    platform = with_target()
    platform.create("saturday", satellite(), STARTS_AT + HOUR)
    for table_id in ("sunday", SATELLITE):
        platform.wallet.wallet.open_tournament(table_id)
    won = award(cast("World", platform.wallet), SATELLITE, "ana", "sunday", 1_100)
    award(cast("World", platform.wallet), SATELLITE, "rui", "sunday", 1_100)

    assert platform.usable("sunday", "ana") == [won]
    assert platform.usable("sunday", "nobody") == [], "without an account there is no ticket"
    # Nobody promises entries to it, so that the wallet is not asked.
    assert platform.usable("saturday", "ana") == []
    platform.wallet.is_away = True
    assert platform.usable("sunday", "ana") == [], "the tournament can be looked at all the same"


# -- accounts ---------------------------------------------------------------------------------------------------------


def test_an_account_for_demonstration_is_opened_and_refilled_when_it_lacks_the_price() -> None:
    platform = Platform()
    wallet = platform.wallet.wallet

    def cents_after_entering(player_id: str, price_cents: int) -> int:
        request_id = f"{player_id}:{price_cents}"
        found = platform.run(account_of(cast("Any", platform.wallet), player_id, DEMO, price_cents, request_id))
        assert found == wallet.open_account(player_id, Mode.DEMO).account_id
        return wallet.balance_cents(player_id, Mode.DEMO)

    assert cents_after_entering("guest", 1_100) == DEMO_CREDITS_CENTS
    wallet.open_account("poor", Mode.DEMO, 1_100)
    assert cents_after_entering("poor", 1_100) == 1_100, "there is enough"
    assert cents_after_entering("poor", 1_101) == DEMO_CREDITS_CENTS


def test_money_is_never_given_to_an_account() -> None:
    platform = Platform()
    with pytest.raises(Refused) as refused:
        platform.run(account_of(cast("Any", platform.wallet), "nobody", REAL, 1_100, "enter"))
    assert refused.value.reason == "ACCOUNT_UNKNOWN"
    platform.wallet.wallet.open_account("poor", Mode.REAL, 500)
    platform.run(account_of(cast("Any", platform.wallet), "poor", REAL, 1_100, "enter"))
    assert platform.wallet.wallet.balance_cents("poor") == 500


# -- what is asked of the service -------------------------------------------------------------------------------------

OPERATOR = Caller("op", frozenset({"operator"}), 0)


def test_what_no_tournament_could_be_asked_is_invalid_or_unknown() -> None:
    platform = with_target()
    service = platform.tournaments.service
    platform.catalogue.created["table"] = types_pb2.ConfigurationVersion(
        table_id="table", configuration=types_pb2.TableConfiguration(game=GAME, play=wallet_types.PLAY_POKER)
    )

    def refused(call: Coroutine[Any, Any, object]) -> tuple[str, str]:
        with pytest.raises(TableRefused) as caught:
            platform.run(call)
        return caught.value.reason, caught.value.facts.get("field", "")

    listed = tournament_pb2.ListTournamentsRequest
    assert refused(service.list_tournaments(listed(mode=cast("Any", 99)), OPERATOR)) == ("INVALID", "mode")
    assert refused(service.list_tournaments(listed(phase=cast("Any", 99)), OPERATOR)) == ("INVALID", "phase")
    named = tournament_pb2.GetTournamentRequest
    assert refused(service.get_tournament(named(tournament_id="a b"), OPERATOR)) == ("INVALID", "tournament_id")
    for unknown in ("nowhere", "table"):
        assert refused(service.get_tournament(named(tournament_id=unknown), OPERATOR))[0] == "TOURNAMENT_UNKNOWN"
    # It exists, and another process runs it.
    assert refused(service.get_tournament(named(tournament_id="sunday"), OPERATOR))[0] == "TABLE_ELSEWHERE"
    for reason in ("", " ", "a" * 201):
        cancel = tournament_pb2.CancelTournamentRequest(tournament_id="sunday", reason=reason)
        assert refused(service.cancel_tournament(cancel, OPERATOR)) == ("INVALID", "reason")


def test_a_caller_who_is_no_player_has_no_tournaments_of_their_own() -> None:
    platform = with_target()
    mine = tournament_pb2.ListTournamentsRequest(mine=True)
    listed = platform.run(platform.tournaments.service.list_tournaments(mine, OPERATOR))
    assert (list(listed.tournaments), listed.next_page_token) == ([], "")
    assert listed.HasField("at")


@pytest.mark.guarantee("G3", "G4")
@pytest.mark.rule("810/2015:35")
def test_g4_a_tournament_that_is_over_is_over_in_every_process() -> None:
    platform = with_target()
    tournaments = platform.tournaments
    tournaments.verify_not_over("sunday")
    cancel = tournament_pb2.CancelTournamentRequest(tournament_id="sunday", reason="a flood")
    for phase, number in PHASES.items():
        platform.catalogue.over["sunday"] = number
        assert platform.run(tournaments.closed()) == {"sunday"}
        with pytest.raises(TableRefused) as refused:
            tournaments.verify_not_over("sunday")
        over = ("TOURNAMENT_OVER", {"tournament_id": "sunday", "phase": f"TOURNAMENT_PHASE_{phase}"})
        assert (refused.value.reason, refused.value.facts) == over
        if phase == "FINISHED":
            with pytest.raises(TableRefused) as refused:
                platform.run(tournaments.service.cancel_tournament(cancel, OPERATOR))
            assert (refused.value.reason, refused.value.facts) == over
    # It was cancelled: to order that again changes nothing, and its first reason stays.
    again = platform.run(tournaments.service.cancel_tournament(cancel, OPERATOR)).tournament
    assert (again.phase, again.cancelled_reason, again.cancelled_rule) == (
        PHASES["CANCELLED"],
        "a storm",
        "810/2015:36.a",
    )
