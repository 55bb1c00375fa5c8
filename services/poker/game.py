"""Connects the engine to the table runtime: caves as what lies at stake, the deal, and what a hand moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2, ticket_pb2, tournament_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.randomness.tape import Tape
from services.kit.table.caves.period import Period
from services.kit.table.caves.rules import CaveTimes, HandResult
from services.kit.table.caves.rules import Lineup as CaveLineup
from services.kit.table.game import NoBets, StakeOnTable
from services.kit.table.journal.tournament_entries import JournalledFact
from services.kit.table.refusals import invalid
from services.poker import commission, dealt_hand, messages, specific_rules_message
from services.poker.dealt_hand import DealtPoker
from services.poker.directing.course import Course
from services.poker.directing.explaining import Explanation, explain
from services.poker.engine import Table
from services.poker.lineup.lineup import Lineup
from services.poker.messages import Brought, Outcome
from services.poker.rules import text as rules_text
from services.poker.rules import tournament_text
from services.poker.seated_lineup import SeatedLineup
from services.poker.specific_rules import MOST_SEATS, SpecificRules
from services.poker.tournament import specific_rules_message as tournament_rules
from services.poker.tournament_hands import TournamentHands


class PokerGame:
    """Implements `services.kit.table.game.Game`."""

    name = "poker"
    plays = frozenset({wallet_types.PLAY_POKER, wallet_types.PLAY_TOURNAMENT})
    has_cards = True
    has_decisions = True

    def rules(self, configuration: types_pb2.TableConfiguration) -> PokerRules | TournamentHands:
        if configuration.game != self.name:
            raise invalid("configuration.game", f"has to be `{self.name}` here")
        if configuration.play == wallet_types.PLAY_TOURNAMENT:
            rules, _ = tournament_rules.read(configuration)
            return TournamentHands(rules)
        return PokerRules(specific_rules_message.read(configuration))

    def explain_tournament(
        self,
        tournament_id: str,
        configuration: types_pb2.TableConfiguration,
        facts: Sequence[JournalledFact],
        money: tournament_pb2.GetTournamentMoneyResponse,
        pay_ins: Sequence[tournament_pb2.TournamentPayIn],
        awards: Sequence[tournament_pb2.TournamentAward],
        tickets: Sequence[ticket_pb2.Ticket],
    ) -> Explanation:
        """Replays the facts of a tournament, and holds what they pay against the ledger (`feltro replay`)."""
        rules, starts_at = tournament_rules.read(configuration)
        starts_at_ms = None if starts_at is None else round(starts_at.timestamp() * 1000)
        return explain(Course.begin(tournament_id, rules, starts_at_ms), facts, money, pay_ins, awards, tickets)

    def rules_text(self, configuration: types_pb2.TableConfiguration, language: str) -> str:
        if configuration.play == wallet_types.PLAY_TOURNAMENT:
            rules, _ = tournament_rules.read(configuration)
            return tournament_text.render(configuration, rules, language)
        return rules_text.render(configuration, specific_rules_message.read(configuration), language)


class PokerRules(NoBets[Brought, Outcome]):
    """Implements `services.kit.table.caves.rules.CaveRules`."""

    move_type = poker_pb2.Move
    hides_cards = True
    cut_card = None

    def __init__(self, rules: SpecificRules) -> None:
        self.table = Table(rules)

    @property
    def minimum_cents(self) -> int:
        """The smallest cave: what a player brings at least (`806/2015:8`)."""
        return self.table.specific_rules.cave_min_cents

    @property
    def minimum_bet_cents(self) -> int:
        return self.table.specific_rules.big_blind_cents

    @property
    def largest_stake_cents(self) -> int:
        """The most that is bought into one cave."""
        return self.table.specific_rules.cave_max_cents

    @property
    def largest_payout_limit_cents(self) -> int:
        """The most that one cave can hold after a hand among caves that were all bought in to the most."""
        return self.table.specific_rules.cave_max_cents * MOST_SEATS

    @property
    def times(self) -> CaveTimes:
        rules = self.table.specific_rules
        return CaveTimes(
            lost_line_extra=timedelta(seconds=rules.disconnect_extra_s),
            gateway_pause=timedelta(seconds=rules.gateway_pause_s),
            recovery_limit=timedelta(seconds=rules.recovery_limit_s),
            longest_extra=timedelta(seconds=rules.time_bank_cap_s + rules.disconnect_extra_s),
            fill_cave=timedelta(seconds=rules.rebuy_grace_s),
            return_window=timedelta(minutes=rules.rathole_window_min),
        )

    @property
    def refuses_shared_devices(self) -> bool:
        return self.table.specific_rules.refuses_shared_devices

    @property
    def period(self) -> Period | None:
        return self.table.specific_rules.period

    @property
    def inactivity_policy(self) -> session_pb2.InactivityPolicy:
        rules = self.table.specific_rules
        return session_pb2.InactivityPolicy(
            invite=True, missed_rounds=rules.inactive_hands, rebuy_grace_seconds=rules.rebuy_grace_s
        )

    # -- caves --------------------------------------------------------------------------------------------------------

    def adopt(self, lineup: CaveLineup[Brought, Outcome]) -> SeatedLineup:
        if not isinstance(lineup, SeatedLineup):
            raise TypeError(f"a lineup of poker goes on under rules of poker, and not {type(lineup).__name__}")
        return lineup.under(self.table.specific_rules)

    def lineup(self, last: Outcome | None, dealt_in: Mapping[int, Brought] | None) -> SeatedLineup:
        lineup = Lineup(self.table.specific_rules)
        if dealt_in is not None:
            button = next(iter(dealt_in.values())).button or None
            return SeatedLineup(
                Lineup(self.table.specific_rules, button=button, dealt=frozenset(dealt_in)),
                frozenset(dealt_in),
                {seat: brought.cave_cents for seat, brought in dealt_in.items()},
            )
        if last is None:
            return SeatedLineup(lineup)
        view = last.record.view
        established = frozenset(seat.seat for seat in view.seats)
        return SeatedLineup(Lineup(self.table.specific_rules, button=view.button), established)

    def hand_result(self, outcome: Outcome) -> HandResult:
        return outcome.result

    def buy_in_commission_cents(self, cents: int) -> int:
        return commission.of_cave(self.table.specific_rules, cents).commission_cents

    def cave_growth_cents(self, cents: int) -> int:
        return commission.of_cave(self.table.specific_rules, cents).chips_cents

    def total_cents(self, bets: Brought) -> int:
        return bets.cave_cents

    def bets_message(self, bets: Brought) -> poker_pb2.SeatInHand:
        return messages.brought_message(bets)

    def read_bets(self, message: bytes) -> Brought:
        return messages.read_brought(message)

    # -- hands --------------------------------------------------------------------------------------------------------

    def deal(self, stakes: Sequence[StakeOnTable[Brought]], tape: Tape, cards_taken: int = 0) -> DealtPoker:  # noqa: ARG002
        """Shuffles the pack anew for each hand (`806/2015:2.j`), and deals from it."""
        return dealt_hand.deal(self.table, stakes, tape)

    def payout_cents(self, outcome: Outcome, bets: Brought) -> int:
        """Returns what is in a cave after the hand."""
        result = outcome.result.seats[bets.seat]
        return bets.cave_cents - result.staked_cents + result.won_cents

    def largest_payout_cents(self, bets: Brought) -> int:
        return bets.cave_cents * MOST_SEATS

    def outcome_message(self, outcome: Outcome) -> poker_pb2.Outcome:
        return outcome.record

    def read_outcome(self, message: bytes) -> Outcome:
        return Outcome.of(poker_pb2.Outcome.FromString(message))

    def results_message(self, outcome: Outcome, bets: Brought) -> poker_pb2.SeatResult:
        return messages.seat_result_message(outcome, bets)
