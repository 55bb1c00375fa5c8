"""Answers the gRPC calls of TournamentService, by the directors of this process or by what is on record."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import UTC

from feltro.poker.v1 import tournament_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import ticket_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.access.identity import OPERATOR, Caller
from services.kit.command_digest import digest
from services.kit.paging import PageRequest
from services.kit.table import refusals as table_refusals
from services.kit.table.paging import page_request
from services.kit.table.refusals import TableRefused
from services.kit.table.server import validation
from services.kit.table.server.tournaments import TournamentParts
from services.kit.wire_format import timestamp
from services.poker.directing import views
from services.poker.directing.course import Course
from services.poker.directing.director import DirectorDependencies, TournamentDirector, tournament_over
from services.poker.directing.replaying import replay_beside
from services.poker.directing.won_entries import WonEntries
from services.poker.tournament import specific_rules_message
from services.poker.tournament.money.entries import Purchase
from services.poker.tournament.refusals import REGULATION

REASON_CHARACTERS_LIMIT = 200
# Courses of tournaments that are over, which are kept for those who look at their results (G11).
OVER_LIMIT = 100


class PokerTournaments:
    """Implements `services.kit.table.server.tournaments.TournamentHost`: the directors of one process."""

    def __init__(self, parts: TournamentParts) -> None:
        self.parts = parts
        self._dependencies = DirectorDependencies(
            journal=parts.facts,
            wallet=parts.wallet,
            clock=parts.clock,
            randomness=parts.randomness,
            notices=parts.own_views,
            game=parts.game.name,
        )
        self._directors: dict[str, TournamentDirector] = {}
        self._over: OrderedDict[str, Course] = OrderedDict()
        # The phases of tournaments that nobody runs any more, as they were read last.
        self._closed: Mapping[str, int] = {}
        self.won_entries = WonEntries(parts)
        self.service = TournamentService(self)

    async def closed(self) -> frozenset[str]:
        self._closed = await self.parts.facts.closed()
        return frozenset(self._closed)

    async def verify_new(self, tournament_id: str, configuration: types_pb2.TableConfiguration) -> None:
        await self.won_entries.verify(tournament_id, configuration)

    def verify_not_over(self, tournament_id: str) -> None:
        phase = self._closed.get(tournament_id)
        director = self._directors.get(tournament_id)
        if phase is None and director is not None and director.is_closed:
            phase = views.PHASES[director.course.state.phase]
        if phase is not None:
            raise tournament_over(tournament_id, phase)

    def director_of(self, tournament_id: str) -> TournamentDirector:
        director = TournamentDirector(tournament_id, self.configuration_of(tournament_id), self._dependencies)
        self._directors = {each: kept for each, kept in self._directors.items() if not kept.has_ended}
        self._directors[tournament_id] = director
        return director

    def wake(self) -> None:
        for director in self._directors.values():
            director.wake()

    def configuration_of(self, tournament_id: str) -> types_pb2.TableConfiguration:
        """Returns what a tournament was created with; refused if there is no such tournament."""
        return self.version_of(tournament_id).configuration

    def version_of(self, tournament_id: str) -> types_pb2.ConfigurationVersion:
        try:
            version = self.parts.catalogue.rules_in_force(tournament_id).version
        except TableRefused:
            raise tournament_unknown(tournament_id) from None
        if version.configuration.play != wallet_types.PLAY_TOURNAMENT:
            raise tournament_unknown(tournament_id)
        return version

    async def director(self, tournament_id: str) -> TournamentDirector:
        """Returns the director of a tournament that this process runs; refused if it is over, or runs elsewhere."""
        found = self._directors.get(tournament_id)
        if found is not None and found.ready.is_set():
            return found
        self.version_of(tournament_id)
        kept = await self.parts.facts.closed_summary(tournament_id)
        if kept is not None:
            raise tournament_over(tournament_id, tournament_pb2.TournamentSummary.FromString(kept).phase)
        raise TableRefused(
            "TABLE_ELSEWHERE",
            "Another process runs the tournament, or it is just changing hands: ask there, or again in a moment.",
            table_id=tournament_id,
            address=self.parts.address_of(tournament_id) or "",
        )

    async def course(self, tournament_id: str) -> Course:
        """Returns the course of a tournament: of one that is over, from the journal."""
        try:
            return (await self.director(tournament_id)).course
        except TableRefused as refused:
            if refused.reason != "TOURNAMENT_OVER":
                raise
        course = self._over.get(tournament_id)
        if course is None:
            course = await read_course(tournament_id, self.configuration_of(tournament_id), self.parts)
            self._over[tournament_id] = course
            if len(self._over) > OVER_LIMIT:
                self._over.popitem(last=False)
        return course

    def summary(self, course: Course) -> tournament_pb2.TournamentSummary:
        configuration = self.configuration_of(course.state.id)
        rules, starts_at = specific_rules_message.read(configuration)
        return views.summary(course, configuration, specific_rules_message.message_of(rules, starts_at))

    def now_ms(self) -> int:
        return round(self.parts.clock.now().timestamp() * 1000)


async def read_course(
    tournament_id: str, configuration: types_pb2.TableConfiguration, parts: TournamentParts
) -> Course:
    """Replays the facts of a tournament from the journal."""
    rules, starts_at = specific_rules_message.read(configuration)
    starts_at_ms = None if starts_at is None else round(starts_at.timestamp() * 1000)
    begun = Course.begin(tournament_id, rules, starts_at_ms)
    course, _ = await replay_beside(begun, await parts.facts.facts(tournament_id))
    return course


class TournamentService:
    """Implements TournamentService; tournament.proto says what each method does."""

    descriptor = tournament_pb2.DESCRIPTOR.services_by_name["TournamentService"]

    def __init__(self, tournaments: PokerTournaments) -> None:
        self._tournaments = tournaments
        self._parts = tournaments.parts

    # -- the lobby ---------------------------------------------------------------------------------------------------

    async def list_tournaments(
        self, request: tournament_pb2.ListTournamentsRequest, caller: Caller
    ) -> tournament_pb2.ListTournamentsResponse:
        if request.mode not in wallet_types.Mode.values():
            raise table_refusals.invalid("mode", "has to be MODE_REAL or MODE_DEMO, or not given.")
        if request.phase not in tournament_pb2.TournamentPhase.values():
            raise table_refusals.invalid("phase", "has to be one of the phases, or not given.")
        requested = page_request(request.page_size, request.page_token)
        player_id = (caller.player_id or "") if request.mine else ""
        if request.mine and not player_id:
            return tournament_pb2.ListTournamentsResponse(at=timestamp(self._parts.clock.now()))
        page = await self._parts.facts.summaries(request.mode, request.phase, player_id, requested)
        return tournament_pb2.ListTournamentsResponse(
            tournaments=[tournament_pb2.TournamentSummary.FromString(each) for each in page.items],
            at=timestamp(self._parts.clock.now()),
            next_page_token=page.next_page_token,
        )

    async def get_tournament(
        self, request: tournament_pb2.GetTournamentRequest, caller: Caller
    ) -> tournament_pb2.GetTournamentResponse:
        course = await self._tournaments.course(tournament_id(request.tournament_id))
        player_id = caller.player_id
        own = None
        if player_id is not None:
            tickets: Sequence[ticket_pb2.Ticket] = ()
            if views.can_enter(course.state, player_id):
                mode = self._tournaments.configuration_of(course.state.id).mode
                tickets = await self._tournaments.won_entries.usable(course.state.id, player_id, mode)
            own = views.own(course, player_id, self._tournaments.now_ms(), tickets)
        return tournament_pb2.GetTournamentResponse(
            tournament=self._tournaments.summary(course),
            own=own,
            at=timestamp(self._parts.clock.now()),
        )

    async def list_tournament_players(
        self, request: tournament_pb2.ListTournamentPlayersRequest, caller: Caller
    ) -> tournament_pb2.ListTournamentPlayersResponse:
        requested: PageRequest = page_request(request.page_size, request.page_token)
        course = await self._tournaments.course(tournament_id(request.tournament_id))
        shown = views.players(course, shows_player=OPERATOR in caller.scopes, own_player_id=caller.player_id or "")
        first = requested.position or 0
        following = list(enumerate(shown, start=1))[first : first + requested.row_limit]
        page = requested.page(following)
        return tournament_pb2.ListTournamentPlayersResponse(players=page.items, next_page_token=page.next_page_token)

    # -- what players ask --------------------------------------------------------------------------------------------

    async def register(self, request: tournament_pb2.RegisterRequest, caller: Caller) -> bytes:
        director = await self._tournaments.director(tournament_id(request.tournament_id))
        request_id, content = validation.request_id(request.request_id), digest(request)
        known = director.answered(caller.subject, request_id, content)
        if known is not None:
            return known
        await self._tournaments.won_entries.verify_open(director.course.state.rules)
        return await director.buy(Purchase.ENTRY, caller.subject, request_id, content, request.ticket_id)

    async def rebuy(self, request: tournament_pb2.RebuyRequest, caller: Caller) -> bytes:
        return await self._buy(Purchase.REBUY, request, caller)

    async def add_on(self, request: tournament_pb2.AddOnRequest, caller: Caller) -> bytes:
        return await self._buy(Purchase.ADDON, request, caller)

    async def _buy(
        self,
        what: Purchase,
        request: tournament_pb2.RebuyRequest | tournament_pb2.AddOnRequest,
        caller: Caller,
    ) -> bytes:
        director = await self._tournaments.director(tournament_id(request.tournament_id))
        request_id = validation.request_id(request.request_id)
        return await director.buy(what, caller.subject, request_id, digest(request))

    async def unregister(self, request: tournament_pb2.UnregisterRequest, caller: Caller) -> bytes:
        director = await self._tournaments.director(tournament_id(request.tournament_id))
        request_id = validation.request_id(request.request_id)
        return await director.unregister(caller.subject, request_id, digest(request))

    async def decline_rebuy(
        self, request: tournament_pb2.DeclineRebuyRequest, caller: Caller
    ) -> tournament_pb2.DeclineRebuyResponse:
        director = await self._tournaments.director(tournament_id(request.tournament_id))
        return tournament_pb2.DeclineRebuyResponse(entry=await director.decline_rebuy(caller.subject))

    async def set_tournament_presence(
        self, request: tournament_pb2.SetTournamentPresenceRequest, caller: Caller
    ) -> tournament_pb2.SetTournamentPresenceResponse:
        director = await self._tournaments.director(tournament_id(request.tournament_id))
        entry = await director.set_presence(caller.subject, is_away=request.away)
        return tournament_pb2.SetTournamentPresenceResponse(entry=entry)

    # -- what operators ask ------------------------------------------------------------------------------------------

    async def create_tournament(
        self, request: tournament_pb2.CreateTournamentRequest, caller: Caller
    ) -> tournament_pb2.CreateTournamentResponse:
        parts, asked = self._parts, request.configuration
        rules, starts_at = specific_rules_message.read_message(asked.rules)
        configuration = types_pb2.TableConfiguration(
            game=parts.game.name,
            regulation=REGULATION,
            mode=asked.mode,
            play=wallet_types.PLAY_TOURNAMENT,
            name=asked.name,
            seats=rules.seats,
            decision_ms=rules.decision_time_seconds * 1000,
            result_shown_ms=RESULT_SHOWN_MS,
            dealing_ms=DEALING_MS,
        )
        configuration.rules.Pack(specific_rules_message.message_of(rules, starts_at), deterministic=True)
        version = await parts.configurations.add_version(
            request_id=validation.request_id(request.request_id),
            table_id=tournament_id(request.tournament_id),
            configuration=configuration,
            approval_reference=request.approval_reference,
            effective_at=None,
            entered_by=caller.subject,
            game=parts.game,
            register=parts.registrar.register,
        )
        await parts.catalogue.refresh()
        starts_at_ms = None if starts_at is None else round(starts_at.astimezone(UTC).timestamp() * 1000)
        course = Course.begin(version.table_id, rules, starts_at_ms)
        return tournament_pb2.CreateTournamentResponse(tournament=self._tournaments.summary(course))

    async def cancel_tournament(
        self,
        request: tournament_pb2.CancelTournamentRequest,
        caller: Caller,
    ) -> tournament_pb2.CancelTournamentResponse:
        reason = request.reason.strip()
        if not 0 < len(reason) <= REASON_CHARACTERS_LIMIT:
            raise table_refusals.invalid("reason", f"has to be 1 to {REASON_CHARACTERS_LIMIT} characters.")
        try:
            director = await self._tournaments.director(tournament_id(request.tournament_id))
        except TableRefused as refused:
            # Repeating it changes nothing.
            cancelled = tournament_pb2.TournamentPhase.Name(tournament_pb2.TOURNAMENT_PHASE_CANCELLED)
            if refused.facts.get("phase") != cancelled:
                raise
            course = await self._tournaments.course(request.tournament_id)
            return tournament_pb2.CancelTournamentResponse(tournament=self._tournaments.summary(course))
        return tournament_pb2.CancelTournamentResponse(tournament=await director.cancel(reason))

    async def get_tournament_report(
        self,
        request: tournament_pb2.GetTournamentReportRequest,
        caller: Caller,
    ) -> tournament_pb2.GetTournamentReportResponse:
        course = await self._tournaments.course(tournament_id(request.tournament_id))
        approval = self._tournaments.version_of(course.state.id).approval_reference
        return views.report(course, self._tournaments.summary(course), approval)


# How the tables of a tournament show cards and results, as those for cash do by default.
RESULT_SHOWN_MS, DEALING_MS = 4_000, 250


def tournament_id(value: str) -> str:
    try:
        return validation.table_id(value)
    except TableRefused:
        raise table_refusals.invalid("tournament_id", "has to be 1 to 40 letters, digits, `_` or `-`.") from None


def tournament_unknown(value: str) -> TableRefused:
    return TableRefused("TOURNAMENT_UNKNOWN", "There is no such tournament.", tournament_id=value)
