"""A blackjack table with one player at the page: the engine deals from a given shoe, and the test says when.

Everything that a page gets is a message of the protos, in the JSON of the gateway.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from google.protobuf.any_pb2 import Any
from google.protobuf.timestamp_pb2 import Timestamp

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.blackjack import dealt_round, messages, specific_rules
from services.blackjack.dealt_round import DealtBlackjack
from services.blackjack.engine import Move, Table
from services.blackjack.game import BlackjackRules
from services.blackjack.messages import Bets
from services.kit.cards.card import cards_named
from services.kit.table.game import StakeOnTable
from services.kit.table.refusals import TableRefused
from tests.browser.recorded.directed.messages import in_ms, moment, now, packed
from tests.browser.recorded.directed.table import DirectedTable

CREDITS_CENTS = 100_000
# What no test reads lies behind the cards that it names.
REST_OF_SHOE = "2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc " * 20
BETS_CLOSED = types_pb2.LocalizedText(pt="Jogo feito, nada mais.", en="No more bets.")
BETS_OPEN = types_pb2.LocalizedText(pt="Façam as vossas apostas.", en="Place your bets.")


@dataclass(frozen=True, slots=True)
class Options:
    """How a table is configured."""

    individual: bool = True
    places: int = 1
    places_per_player: int = 0
    double_any_score: bool = False
    # The page's player sits there; 0 if they have to choose a seat first.
    seat: int = 1
    # The seats of other players.
    others: tuple[int, ...] = ()
    # The test says when either is over: no machine is too slow for them.
    decision_ms: int = 90_000
    dealing_ms: int = 30
    betting_window_ms: int = 90_000


@dataclass(slots=True, kw_only=True)
class ScriptedTable(DirectedTable):
    """One table. Its methods are called in the thread of the connection."""

    options: Options
    number: int = 1
    phase: types_pb2.Phase.ValueType = types_pb2.PHASE_BETTING
    opened_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    # The stakes of the round with their seats, in the order of placing.
    stakes: list[StakeOnTable[Bets]] = field(default_factory=list)
    dealt: DealtBlackjack | None = None
    moves: list[table_pb2.RecordedMove] = field(default_factory=list)
    turn_number: int = 0
    shown_at: datetime | None = None
    decide_by: datetime | None = None
    outcome: blackjack_pb2.Outcome | None = None
    past: list[types_pb2.PastOutcome] = field(default_factory=list)
    free_cents: int = CREDITS_CENTS
    version: int = 1
    # Names of cards: what is dealt next.
    shoe: str = ""
    # The seat of the page's player; 0 before they sit down.
    seat: int = 0
    taken: set[int] = field(default_factory=set)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.seat = self.options.seat
        self.taken = {*self.options.others, self.seat} - {0}

    # -- what it is ---------------------------------------------------------------------------------------------------

    def configuration(self) -> types_pb2.TableConfiguration:
        rules = Any()
        rules.Pack(
            blackjack_pb2.SpecificRules(
                packs=6,
                places=self.options.places,
                places_per_player=self.options.places_per_player,
                minimum_cents=500,
                maximum_cents=50_000,
                step_cents=50,
                splits_limit=3,
                double_any_score=self.options.double_any_score,
            )
        )
        individual = self.options.individual
        return types_pb2.TableConfiguration(
            game="blackjack",
            regulation="805/2015",
            mode=wallet_types.MODE_DEMO,
            play=wallet_types.PLAY_INDIVIDUAL if individual else wallet_types.PLAY_MULTI_PLAYER,
            name=types_pb2.LocalizedText(pt="Blackjack de ensaio", en="Blackjack rehearsal"),
            betting_window_ms=0 if individual else self.options.betting_window_ms,
            result_shown_ms=6000,
            seats=0 if individual else self.options.places,
            rules=rules,
            dealing_ms=self.options.dealing_ms,
            decision_ms=0 if individual else self.options.decision_ms,
            open_hand_hours=720 if individual else 0,
        )

    @property
    def rules(self) -> BlackjackRules:
        return BlackjackRules(specific_rules.read(self.configuration()))

    @property
    def round_id(self) -> str:
        return f"{self.table_id}.{self.number}"

    def snapshot(self) -> types_pb2.TableSnapshot:
        snapshot = types_pb2.TableSnapshot(
            table_id=self.table_id,
            seq=self.seq,
            at=now(),
            phase=self.phase,
            configuration=self.configuration(),
            configuration_version=1,
            round=self.round(),
            past_outcomes=self.past,
            seated=len(self.taken),
        )
        for seat in () if self.options.individual else range(1, self.options.places + 1):
            snapshot.seats.add(seat=seat, taken=seat in self.taken)
        for seat in dict.fromkeys(stake.seat for stake in self.stakes):
            bets = self.rules.together(stake.bets for stake in self.stakes if stake.seat == seat) or {}
            snapshot.bets.add(seat=seat, staked_cents=sum(bets.values()), bets=packed(messages.bets_message(bets)))
        return snapshot

    def round(self) -> types_pb2.RoundOnTable:
        round_ = types_pb2.RoundOnTable(
            round_id=self.round_id, configuration_version=1, opened_at=moment(self.opened_at)
        )
        if not self.options.individual:
            closes_at = self.opened_at + timedelta(milliseconds=self.options.betting_window_ms)
            round_.closes_at.CopyFrom(moment(closes_at))
        if self.outcome is not None:
            round_.outcome.Pack(self.outcome)
        elif self.dealt is not None:
            round_.view.Pack(self.dealt.view())
            if (turn := self.turn()) is not None:
                round_.turn.CopyFrom(turn)
        if self.shown_at is not None:
            round_.shown_at.CopyFrom(moment(self.shown_at))
        return round_

    def own_seat(self) -> table_pb2.OwnSeat | None:
        if not self.seat:
            return None
        seat = table_pb2.OwnSeat(seat=self.seat, session_id=f"session-{self.table_id}", account_id="account")
        for stake in self.own_stakes():
            bets = packed(messages.bets_message(stake.bets))
            seat.stakes.add(stake_id=stake.stake_id, amount_cents=sum(stake.bets.values()), bets=bets)
        if (view := self.own_view()) is not None:
            seat.own_view.Pack(view)
        return seat

    def own_stakes(self) -> list[StakeOnTable[Bets]]:
        return [stake for stake in self.stakes if stake.seat == self.seat]

    def own_view(self) -> blackjack_pb2.OwnView | None:
        return None if self.dealt is None else self.dealt.own_view(self.seat, self.free_cents)

    def turn(self) -> types_pb2.Turn | None:
        turn = None if self.dealt is None else self.dealt.turn
        if turn is None or self.decide_by is None:
            return None
        return types_pb2.Turn(turn=self.turn_number, seats=turn.seats, decide_by=moment(self.decide_by))

    def balance(self) -> wallet_types.Balance:
        locked = sum(sum(stake.bets.values()) for stake in self.own_stakes())
        return wallet_types.Balance(
            account_id="account",
            mode=wallet_types.MODE_DEMO,
            free_cents=self.free_cents,
            locked_cents=locked,
            version=self.version,
        )

    # -- seats --------------------------------------------------------------------------------------------------------

    def enter(self, wanted: int) -> None:
        """Seats the page's player, if the seat is free; 0 for any."""
        if self.seat:
            return
        free = [seat for seat in range(1, self.options.places + 1) if seat not in self.taken]
        if wanted in self.taken:
            raise TableRefused("SEAT_TAKEN", "Somebody sits there.", table_id=self.table_id, seat=wanted)
        self.seat = wanted or free[0]
        self.sit(self.seat)

    def sit(self, seat: int) -> None:
        """Tells that a player has sat down."""
        self.taken.add(seat)
        self.event("seat_taken", events_pb2.SeatTaken(seat=seat))

    def leave(self, seat: int) -> None:
        """Tells that a player has left."""
        self.taken.discard(seat)
        self.event("seat_left", events_pb2.SeatLeft(seat=seat))

    # -- bets ---------------------------------------------------------------------------------------------------------

    def stake(self, seat: int, bets: Bets) -> str:
        """Puts a stake on the felt, and tells it."""
        stake_id = f"{self.round_id}:{next(self._ids)}"
        self.stakes.append(StakeOnTable(stake_id, seat, bets))
        cents = sum(bets.values())
        if seat == self.seat:
            self.pay(-cents)
        placed = events_pb2.BetsPlaced(
            round_id=self.round_id,
            seat=seat,
            amount_cents=cents,
            bets=packed(messages.bets_message(bets)),
            stake_id=stake_id,
        )
        self.event("bets_placed", placed)
        return stake_id

    def place(self, bets: Bets) -> blackjack_pb2.PlaceBetsResponse:
        """Places the player's bet, as the service judges it."""
        on_felt = self.rules.together(stake.bets for stake in self.own_stakes())
        self.rules.add(on_felt, bets)
        stake_id = self.stake(self.seat, bets)
        answer = blackjack_pb2.PlaceBetsResponse(
            on_felt=messages.bets_message(self.rules.together(stake.bets for stake in self.own_stakes()) or {})
        )
        answer.stake.stake_id, answer.stake.round_id = stake_id, self.round_id
        answer.stake.amount_cents = sum(bets.values())
        answer.stake.placed_at.CopyFrom(now())
        answer.stake.balance.CopyFrom(self.balance())
        answer.stake.bets.CopyFrom(messages.bets_message(bets))
        return answer

    def cancel(self, bets: Bets) -> blackjack_pb2.CancelBetsResponse:
        """Takes whole stakes of the player back, the newest first; enough for a page that takes clicks back."""
        wanted, cancelled, cents = dict(bets), [], 0
        for stake in reversed(self.own_stakes()):
            if all(wanted.get(place, 0) >= value for place, value in stake.bets.items()):
                self.stakes.remove(stake)
                cancelled.append(stake.stake_id)
                cents += sum(stake.bets.values())
                wanted = {place: wanted[place] - stake.bets.get(place, 0) for place in wanted}
                taken = events_pb2.BetsCancelled(
                    round_id=self.round_id,
                    seat=stake.seat,
                    amount_cents=sum(stake.bets.values()),
                    bets=packed(messages.bets_message(stake.bets)),
                    stake_id=stake.stake_id,
                )
                self.event("bets_cancelled", taken)
        self.pay(cents)
        on_felt = self.rules.together(stake.bets for stake in self.own_stakes()) or {}
        return blackjack_pb2.CancelBetsResponse(
            cancelled_cents=cents,
            on_felt=messages.bets_message(on_felt),
            balance=self.balance(),
            cancelled_stake_ids=cancelled,
        )

    # -- the round ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes betting and deals: by the player's wish, or when the time is over."""
        self.phase = types_pb2.PHASE_CLOSED
        self.event("betting_closed", events_pb2.BettingClosed(round_id=self.round_id, phrase=BETS_CLOSED))
        table: Table = self.rules.table
        cards = cards_named(f"{self.shoe} {REST_OF_SHOE}")
        self.dealt = dealt_round.deal(table, self.stakes, cards)
        self.phase = types_pb2.PHASE_PLAYING
        self.turn_number = 1
        self._show(self.dealt.cards_shown)
        dealt = events_pb2.RoundDealt(
            round_id=self.round_id,
            view=packed(self.dealt.view()),
            turn=self.turn(),
            shown_at=self._shown_at(),
            draw_trigger=types_pb2.DRAW_TRIGGER_PLAYER if self.options.individual else types_pb2.DRAW_TRIGGER_CLOCK,
        )
        self.event("round_dealt", dealt)
        self._pay_due({})
        self._go_on()

    def decide(self, request: table_pb2.ActRequest) -> table_pb2.ActResponse:
        move = messages.read_move(request.move.value, self.options.places)
        return self.act(self.seat, move, types_pb2.ACTED_BY_PLAYER)

    def act(self, seat: int, move: Move, by: types_pb2.ActedBy.ValueType) -> table_pb2.ActResponse:
        """Makes a decision as the runtime does: judged, staked, told."""
        assert self.dealt is not None
        message = messages.move_message(move)
        before, raw = self.dealt, message.SerializeToString()
        wanted = before.judge(seat, raw)
        stake_id = self.stake(seat, wanted.bets) if wanted else ""
        self.dealt = before.after(seat, raw, stake_id)
        position = len(self.moves) + 1
        recorded = table_pb2.RecordedMove(
            position=position, seat=seat, move=packed(message), acted_by=by, stake_id=stake_id, made_at=now()
        )
        self.moves.append(recorded)
        turn = self.dealt.turn
        if turn is not None and not turn.at_once:
            self.turn_number = position + 1
        self._show(self.dealt.cards_shown - before.cards_shown)
        made = events_pb2.MoveMade(
            round_id=self.round_id,
            position=position,
            seat=seat,
            move=packed(message),
            acted_by=by,
            view=packed(self.dealt.view()),
            turn=self.turn(),
            shown_at=self._shown_at(),
        )
        self.event("move_made", made)
        self._pay_due(before.due_cents())
        self._go_on()
        return table_pb2.ActResponse(
            round_id=self.round_id, position=position, staked_cents=wanted.cents if wanted else 0, stake_id=stake_id
        )

    def run_out(self) -> None:
        """Takes the published default of every seat that has to decide: the time is over."""
        turn = None if self.dealt is None else self.dealt.turn
        for default in turn.defaults if turn else ():
            move = messages.read_move(default.move, self.options.places)
            self.act(default.seat, move, types_pb2.ACTED_BY_CLOCK)

    def open(self) -> None:
        """Opens the next round."""
        self.number += 1
        self.phase = types_pb2.PHASE_BETTING
        self.opened_at = datetime.now(UTC)
        self.stakes, self.moves = [], []
        self.version += 1
        self.dealt = self.outcome = self.shown_at = self.decide_by = None
        self.event("round_opened", events_pb2.RoundOpened(round=self.round(), phrase=BETS_OPEN))

    def void(self) -> None:
        """Declares the round void."""
        self.phase = types_pb2.PHASE_RESULT_SHOWN
        self.pay(sum(sum(stake.bets.values()) for stake in self.own_stakes()))
        self.stakes = []
        self.dealt = None
        phrase = types_pb2.LocalizedText(
            pt="Jogada nula: as apostas foram devolvidas.", en="Void round: bets returned."
        )
        self.event(
            "round_voided",
            events_pb2.RoundVoided(
                round_id=self.round_id, reason="a fault", phrase=phrase, next_round_opens_at=moment(in_ms(60_000))
            ),
        )

    def _show(self, cards: int) -> None:
        start = max(datetime.now(UTC), self.shown_at or datetime.now(UTC))
        self.shown_at = start + timedelta(milliseconds=cards * self.options.dealing_ms)
        wait = timedelta(hours=720) if self.options.individual else timedelta(milliseconds=self.options.decision_ms)
        self.decide_by = self.shown_at + wait

    def _shown_at(self) -> Timestamp:
        assert self.shown_at is not None
        return moment(self.shown_at)

    def _pay_due(self, paid_before: Mapping[str, int]) -> None:
        """Pays what is decided before the end of the round (805/2015:20.a)."""
        assert self.dealt is not None
        due = {stake: cents for stake, cents in self.dealt.due_cents().items() if stake not in paid_before}
        if not due:
            return
        seats = {stake.stake_id: stake for stake in self.stakes}
        results = [
            events_pb2.SeatResult(
                seat=seats[stake_id].seat, staked_cents=sum(seats[stake_id].bets.values()), payout_cents=cents
            )
            for stake_id, cents in due.items()
        ]
        self.pay(sum(cents for stake_id, cents in due.items() if seats[stake_id].seat == self.seat))
        self.event("stakes_paid", events_pb2.StakesPaid(round_id=self.round_id, results=results))

    def _go_on(self) -> None:
        """Tells the player what they may decide, or ends the round."""
        assert self.dealt is not None
        own = events_pb2.OwnViewChanged(table_id=self.table_id, round_id=self.round_id, player_id=self.player_id)
        if self.dealt.turn is not None:
            own.turn = self.turn_number
        if (view := self.own_view()) is not None:
            own.own_view.Pack(view)
        self.notify("own_view", own)
        if self.dealt.turn is None:
            self._end()

    def _end(self) -> None:
        assert self.dealt is not None
        self.outcome = self.dealt.outcome.record
        self.decide_by = None
        shown_at = self._shown_at()
        outcome = packed(self.outcome)
        self.phase = types_pb2.PHASE_DRAWN
        self.event(
            "outcome_drawn",
            events_pb2.OutcomeDrawn(
                round_id=self.round_id,
                outcome=outcome,
                draw_trigger=types_pb2.DRAW_TRIGGER_PLAYER,
                shown_at=shown_at,
            ),
        )
        before_cents = self.free_cents + sum(sum(stake.bets.values()) for stake in self.own_stakes())
        paid = self.dealt.due_cents()
        payouts = {stake.stake_id: self.rules.payout_cents(self.dealt.outcome, stake.bets) for stake in self.stakes}
        results: dict[int, events_pb2.SeatResult] = {}
        for stake in self.stakes:
            result = results.setdefault(stake.seat, events_pb2.SeatResult(seat=stake.seat))
            result.staked_cents += sum(stake.bets.values())
            result.payout_cents += payouts[stake.stake_id]
        own = [stake for stake in self.own_stakes() if stake.stake_id not in paid]
        self.pay(sum(payouts[stake.stake_id] for stake in own))
        self.past.insert(0, types_pb2.PastOutcome(round_id=self.round_id, drawn_at=now(), outcome=outcome))
        if self.own_stakes():
            self.rounds.insert(0, self._played(payouts, before_cents))
        self.phase = types_pb2.PHASE_RESULT_SHOWN
        self.event(
            "round_settled",
            events_pb2.RoundSettled(
                round_id=self.round_id, results=results.values(), next_round_opens_at=moment(in_ms(60_000))
            ),
        )
        if self.options.individual:
            self.open()

    def _played(self, payouts: Mapping[str, int], before_cents: int) -> table_pb2.PlayerRound:
        assert self.dealt is not None
        assert self.outcome is not None
        played = table_pb2.PlayerRound(
            round=self.ended_round(self.round_id, self.opened_at, self.outcome, types_pb2.DRAW_TRIGGER_PLAYER),
            table_id=self.table_id,
            regulation="805/2015",
            mode=wallet_types.MODE_DEMO,
            session_id=f"session-{self.table_id}",
            balance_before_cents=before_cents,
            balance_after_cents=self.free_cents,
            moves=self.moves,
        )
        for stake in self.own_stakes():
            cents, payout = sum(stake.bets.values()), payouts[stake.stake_id]
            played.stakes.add(
                stake_id=stake.stake_id,
                placed_at=now(),
                amount_cents=cents,
                payout_cents=payout,
                bets=packed(messages.bets_message(stake.bets)),
                results=packed(self.rules.results_message(self.dealt.outcome, stake.bets)),
            )
            played.staked_cents += cents
            played.payout_cents += payout
        return played

    # -- telling ------------------------------------------------------------------------------------------------------

    def pay(self, cents: int) -> None:
        """Moves the player's free credits, and tells the balance."""
        self.free_cents += cents
        self.version += 1


def bets_in(bets: Iterable[Mapping[str, str]]) -> Bets:
    return {bet["place"]: int(bet["amount_cents"]) for bet in bets}
