"""A tournament that a test directs, and what its pages ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from feltro.poker.v1 import poker_pb2, tournament_pb2, tournament_rules_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.refusals import TableRefused
from tests.browser.recorded.directed.messages import in_ms, moment

LEVELS = (
    tournament_rules_pb2.TournamentLevel(small_blind=10, big_blind=20, seconds=600),
    tournament_rules_pb2.TournamentLevel(small_blind=15, big_blind=30, seconds=600, break_seconds=300),
    tournament_rules_pb2.TournamentLevel(small_blind=25, big_blind=50, seconds=600),
)
STARTS_IN = timedelta(hours=48)


@dataclass(slots=True, kw_only=True)
class DirectedTournament:
    """One tournament, and the place of the page's player in it."""

    tournament_id: str
    summary: tournament_pb2.TournamentSummary
    own: tournament_pb2.OwnTournament | None = None
    players: list[tournament_pb2.TournamentPlayer] = field(default_factory=list)
    # The next command is refused like this.
    refusal: tuple[str, Mapping[str, str]] | None = None

    def refuse_if_told(self) -> None:
        if self.refusal is not None:
            (reason, facts), self.refusal = self.refusal, None
            raise TableRefused(reason, "Refused by the test.", **facts)

    def register(self, ticket_id: str = "") -> tournament_pb2.RegisterResponse:
        self.refuse_if_told()
        entry = tournament_pb2.TournamentPlayer(
            entry_no=len(self.players) + 1,
            standing=tournament_pb2.ENTRY_STANDING_REGISTERED,
            own=True,
            by_ticket=bool(ticket_id),
        )
        self.players.append(entry)
        self.own = tournament_pb2.OwnTournament(entry=entry, can_unregister=True)
        self.summary.entries += 1
        self.summary.players_left += 1
        return tournament_pb2.RegisterResponse(entry=entry)

    def unregister(self) -> tournament_pb2.UnregisterResponse:
        self.refuse_if_told()
        entry = self.players[-1]
        entry.standing = tournament_pb2.ENTRY_STANDING_WITHDRAWN
        self.own = tournament_pb2.OwnTournament(entry=entry)
        if entry.by_ticket:
            self.give_ticket()
        self.summary.entries -= 1
        self.summary.players_left -= 1
        return tournament_pb2.UnregisterResponse(entry=entry)

    def give_ticket(self) -> None:
        """The page's player has a ticket to it, or has it again."""
        if self.own is None:
            self.own = tournament_pb2.OwnTournament()
        self.own.tickets.add(ticket_id=f"ticket-to-{self.tournament_id}", value_cents=1100)

    def start(self, table_id: str, seat: int) -> None:
        """Starts it, with the page's player at a table."""
        self.summary.phase = tournament_pb2.TOURNAMENT_PHASE_RUNNING
        self.summary.started_at.CopyFrom(moment(in_ms(-1000)))
        self.summary.level, self.summary.tables = 1, 1
        entry = tournament_pb2.TournamentPlayer(
            entry_no=1,
            standing=tournament_pb2.ENTRY_STANDING_PLAYING,
            rank=2,
            rank_to=2,
            chips=1500,
            table_id=table_id,
            seat=seat,
            own=True,
        )
        self.own = tournament_pb2.OwnTournament(entry=entry)

    @property
    def entry(self) -> tournament_pb2.TournamentPlayer:
        """The entry of the page's player."""
        assert self.own is not None
        return self.own.entry

    def ask_to_rebuy(self, within_ms: int) -> None:
        """The player has lost all chips, and may rebuy."""
        self.entry.standing, self.entry.chips = tournament_pb2.ENTRY_STANDING_ASKED_TO_REBUY, 0
        assert self.own is not None
        self.own.decide_by.CopyFrom(moment(in_ms(within_ms)))
        self.own.rebuy.CopyFrom(self.summary.configuration.rules.rebuy_price)

    def rebuy(self) -> tournament_pb2.RebuyResponse:
        self.refuse_if_told()
        self.own = tournament_pb2.OwnTournament(entry=self.entry)
        self.entry.standing, self.entry.chips = tournament_pb2.ENTRY_STANDING_PLAYING, 1500
        return tournament_pb2.RebuyResponse(entry=self.entry)

    def decline(self) -> tournament_pb2.DeclineRebuyResponse:
        self.own = tournament_pb2.OwnTournament(entry=self.entry)
        self.entry.standing, self.entry.table_id = tournament_pb2.ENTRY_STANDING_OUT, ""
        self.entry.rank, self.entry.rank_to, self.entry.rank_final = 5, 6, True
        return tournament_pb2.DeclineRebuyResponse(entry=self.entry)

    def offer_addon(self) -> None:
        assert self.own is not None
        self.own.addon.CopyFrom(tournament_rules_pb2.TournamentPrice(prize_cents=500))

    def buy_addon(self) -> tournament_pb2.AddOnResponse:
        self.refuse_if_told()
        self.own = tournament_pb2.OwnTournament(entry=self.entry)
        return tournament_pb2.AddOnResponse(entry=self.entry, given_back=True)

    def set_presence(self, *, away: bool) -> tournament_pb2.SetTournamentPresenceResponse:
        self.refuse_if_told()
        self.entry.away = away
        return tournament_pb2.SetTournamentPresenceResponse(entry=self.entry)


def scheduled(tournament_id: str, *, registered: int = 3) -> DirectedTournament:
    """A tournament for money that players register for: 10 € for prizes and 1 € for the operator, with a rebuy."""
    price = tournament_rules_pb2.TournamentPrice(prize_cents=1000, fee_cents=100)
    rules = tournament_rules_pb2.TournamentRules(
        regulation="806/2015",
        limit=poker_pb2.LIMIT_NO_LIMIT,
        price=price,
        start=tournament_rules_pb2.TOURNAMENT_START_SCHEDULED,
        seats=6,
        min_players=2,
        max_players=60,
        starting_stack=1500,
        levels=LEVELS,
        late_reg_until_level=2,
        rebuys_max=1,
        rebuy_until_level=2,
        rebuy_price=price,
        rebuy_chips=1500,
        rebuy_decision_seconds=30,
        decision_time_seconds=15,
        time_bank_seconds=30,
        hand_for_hand_from=4,
        starts_at=moment(in_ms(STARTS_IN // timedelta(milliseconds=1))),
    )
    players = [
        tournament_pb2.TournamentPlayer(entry_no=number, standing=tournament_pb2.ENTRY_STANDING_REGISTERED)
        for number in range(1, registered + 1)
    ]
    summary = tournament_pb2.TournamentSummary(
        tournament_id=tournament_id,
        configuration=tournament_pb2.TournamentConfiguration(
            name=types_pb2.LocalizedText(pt="Torneio de ensaio", en="Rehearsal tournament"),
            mode=wallet_types.MODE_REAL,
            rules=rules,
        ),
        phase=tournament_pb2.TOURNAMENT_PHASE_REGISTERING,
        entries=registered,
        players_left=registered,
        prizes=tournament_pb2.TournamentPrizes(
            pool_cents=1000 * registered, places_cents=[600 * registered, 400 * registered]
        ),
        decide_by=rules.starts_at,
        open_to_entries=True,
    )
    return DirectedTournament(tournament_id=tournament_id, summary=summary, players=players)


def finish(tournament: DirectedTournament) -> None:
    """Ends it: the last two were out in the same hand with equal chips, and share their places and prizes."""
    summary = tournament.summary
    summary.phase = tournament_pb2.TOURNAMENT_PHASE_FINISHED
    summary.open_to_entries = False
    summary.prizes.frozen = True
    summary.started_at.CopyFrom(moment(in_ms(-60_000)))
    summary.ended_at.CopyFrom(moment(in_ms(-1_000)))
    for player, (first, last, prize_cents) in zip(
        tournament.players, ((1, 1, 1800), (2, 3, 600), (2, 3, 600)), strict=True
    ):
        player.standing = tournament_pb2.ENTRY_STANDING_PLAYING if first == 1 else tournament_pb2.ENTRY_STANDING_OUT
        player.rank, player.rank_to, player.rank_final, player.prize_cents = first, last, True, prize_cents


def make_satellite(tournament: DirectedTournament, target: DirectedTournament) -> None:
    """Makes its prizes two entries to another tournament, and the rest in money for the third place."""
    summary = tournament.summary
    summary.configuration.name.pt, summary.configuration.name.en = "Satélite de ensaio", "Rehearsal satellite"
    summary.configuration.rules.satellite.CopyFrom(
        tournament_rules_pb2.SatellitePrize(tournament_id=target.tournament_id, value_cents=1100, leftover_bps=[10_000])
    )
    summary.prizes.CopyFrom(tournament_pb2.TournamentPrizes(pool_cents=3000, places_cents=[0, 0, 800], tickets=2))
