"""Serves tournaments that a test directs, with their tables, to a player who is logged in at the operator's."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from google.protobuf.message import Message

from feltro.poker.v1 import tournament_pb2
from feltro.table.v1 import events_pb2, table_pb2
from feltro.wallet.v1 import ticket_pb2
from services.kit.table.refusals import TableRefused
from tests.browser.driver.rest import Json
from tests.browser.driver.served import served
from tests.browser.recorded.directed.messages import json_of, now, packed
from tests.browser.recorded.directed.page import Answers, Page
from tests.browser.recorded.directed.platform import Directed
from tests.browser.recorded.poker.platform import PokerPage, PokerPlatform
from tests.browser.recorded.poker.table import Options, ScriptedTable
from tests.browser.recorded.tournaments.tournament import DirectedTournament, make_satellite, scheduled
from tests.browser.recorded.tournaments.tournament_table import TournamentTable

TIMEOUT_S = 60
PHASES = tournament_pb2.TournamentPhase


class _TournamentPage(PokerPage):
    def __init__(
        self,
        tables: Mapping[str, ScriptedTable],
        tournaments: Mapping[str, DirectedTournament],
        asked: list[tuple[str, Json]],
    ) -> None:
        super().__init__(tables)
        self._tournaments = tournaments
        self._asked = asked

    def result(self, method: str, params: Json) -> object:
        self._asked.append((method, params))
        return super().result(method, params)

    def answers(self) -> Answers:
        return {
            **super().answers(),
            # The lobby asks for rounds that are not concluded.
            "TableService.ListPlayerRounds": lambda _: json_of(table_pb2.ListPlayerRoundsResponse()),
            "TournamentService.ListTournaments": self._list,
            "TournamentService.GetTournament": self._get,
            "TournamentService.ListTournamentPlayers": self._players,
            "TableService.ListTables": self._listed,
            "TournamentService.SetTournamentPresence": self._set_presence,
            "TournamentService.Rebuy": lambda params: json_of(self._of(params).rebuy()),
            "TournamentService.DeclineRebuy": lambda params: json_of(self._of(params).decline()),
            "TournamentService.AddOn": lambda params: json_of(self._of(params).buy_addon()),
            "TournamentService.Register": lambda params: json_of(
                self._of(params).register(params.get("ticket_id", ""))
            ),
            "TicketService.ListTickets": self._list_tickets,
            "TournamentService.Unregister": lambda params: json_of(self._of(params).unregister()),
        }

    def _of(self, params: Json) -> DirectedTournament:
        tournament = self._tournaments.get(params["tournament_id"])
        if tournament is None:
            raise TableRefused("TOURNAMENT_UNKNOWN", "There is none.", tournament_id=params["tournament_id"])
        return tournament

    def _list(self, params: Json) -> object:
        answer = tournament_pb2.ListTournamentsResponse(at=now())
        for each in self._tournaments.values():
            if params.get("mine") and (each.own is None or not each.own.HasField("entry")):
                continue
            if params.get("phase") in {None, PHASES.Name(each.summary.phase)} and params["mode"] == "MODE_REAL":
                answer.tournaments.append(each.summary)
        return json_of(answer)

    def _list_tickets(self, params: Json) -> object:
        """The player's tickets to all tournaments."""
        assert params["account_id"]
        assert params["open_only"]
        answer = ticket_pb2.ListTicketsResponse()
        for tournament in self._tournaments.values():
            for ticket in [] if tournament.own is None else tournament.own.tickets:
                answer.tickets.add(
                    ticket_id=ticket.ticket_id,
                    tournament_id=tournament.tournament_id,
                    value_cents=ticket.value_cents,
                    state=ticket_pb2.TICKET_STATE_ISSUED,
                )
        return json_of(answer)

    def _get(self, params: Json) -> object:
        tournament = self._of(params)
        return json_of(
            tournament_pb2.GetTournamentResponse(tournament=tournament.summary, own=tournament.own, at=now())
        )

    def _listed(self, params: Json) -> object:
        """Nobody enters the tables of tournaments, and they are not listed."""
        answer = table_pb2.ListTablesResponse(at=now())
        for table in self._tables.values():
            configuration = table.configuration()
            if configuration.game == params["game"] and not isinstance(table, TournamentTable):
                answer.tables.add(table_id=table.table_id, configuration=configuration, enabled=True)
        return json_of(answer)

    def _set_presence(self, params: Json) -> object:
        tournament = self._of(params)
        answer = tournament.set_presence(away=params["away"])
        table = self._tables[answer.entry.table_id]
        assert isinstance(table, TournamentTable)
        table.mark(table.seat, away=params["away"])
        return json_of(answer)

    def _players(self, params: Json) -> object:
        return json_of(tournament_pb2.ListTournamentPlayersResponse(players=self._of(params).players))


@dataclass
class TournamentPlatform(PokerPlatform):
    """Tournaments that tests make, and one player for each page."""

    tournaments: dict[str, DirectedTournament] = field(default_factory=dict)
    # What pages have asked for, by their methods.
    asked: list[tuple[str, Json]] = field(default_factory=list)
    tournament_numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def new_page(self) -> Page[ScriptedTable]:
        return _TournamentPage(self.tables, self.tournaments, self.asked)

    def tournament(self) -> DirectedTournament:
        """Makes a tournament."""
        made = scheduled(f"rehearsed-{next(self.tournament_numbers)}")
        self.tournaments[made.tournament_id] = made
        return made

    def satellite(self, target: DirectedTournament) -> DirectedTournament:
        """Makes a satellite to another tournament."""
        made = self.tournament()
        make_satellite(made, target)
        return made

    def inner_table(self, tournament: DirectedTournament, number: int = 1, *, seat: int = 1) -> Directed[ScriptedTable]:
        """Makes a table of a tournament, where the page's player has a seat; 0 for nobody's."""
        table_id = f"{tournament.tournament_id}-t{number}"
        options = Options(seat=seat, caves=dict.fromkeys(range(1, 7), 1500), button=6)
        self.tables[table_id] = TournamentTable(
            table_id=table_id, notify=self._notify(table_id), options=options, tournament=tournament
        )
        return Directed(self.tables[table_id], self._running_loop)

    def do(self, act: Callable[[], None]) -> None:
        """Does something in the thread of the connections."""

        async def run() -> None:
            act()

        asyncio.run_coroutine_threadsafe(run(), self._running_loop()).result(TIMEOUT_S)

    def tell(self, tournament: DirectedTournament, notice: Message) -> None:
        """Tells the players of the pages what concerns them alone."""
        own = events_pb2.OwnViewChanged(table_id=tournament.tournament_id, notice=packed(notice))

        def notify() -> None:
            for page in self.pages:
                page.notify("own_view", own)

        self.do(notify)

    def sent(self, method: str) -> list[Json]:
        """What pages have asked with a method, until now."""
        return [params for asked, params in self.asked if asked == method]


@contextmanager
def tournament_platform() -> Iterator[TournamentPlatform]:
    """Serves in a thread of its own until the end."""
    platform = TournamentPlatform()
    with served(platform.application(), platform.socket):
        yield platform
