"""A poker table with one player at the page: the engine deals from a given deck, and the test says what others do.

Everything that a page gets is a message of the protos, in the JSON of the gateway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.cards.card import Card, cards_named
from services.kit.cards.shoe import PACK
from services.kit.table.game import Street
from services.poker import messages, specific_rules_message
from services.poker.dealt_hand import DealtPoker
from services.poker.engine import Table
from services.poker.hand.state import Hand, Kind, Move
from services.poker.history.hand_history import HandFacts, for_player
from services.poker.lineup.entry import Positions
from tests.browser.recorded.directed.messages import in_ms, moment, now, packed
from tests.browser.recorded.directed.table import DirectedTable

PLAYING = types_pb2.CAVE_STANDING_PLAYING
CREDITS_CENTS = 50_000
# The test says when the next hand is dealt.
NEXT_HAND_MS = 60_000
# How long a seat is kept for the player who waits.
SEAT_KEPT_MS = 90_000


@dataclass(frozen=True, slots=True)
class Options:
    """How a table is configured."""

    seats: int = 6
    # What is in the caves, by seats; the seats that are not named are free.
    caves: Mapping[int, int] = field(default_factory=lambda: dict.fromkeys(range(1, 7), 10_000))
    # The page's player sits there; 0 if they have to choose a seat first.
    seat: int = 1
    # Who has the button in the first hand.
    button: int = 6
    omaha: bool = False
    limit: poker_pb2.Limit.ValueType = poker_pb2.LIMIT_NO_LIMIT
    # Longer than any test looks: a slow machine still finds the usual time of the turn running.
    decision_ms: int = 90_000
    time_bank_ms: int = 30_000
    dealing_ms: int = 20
    mode: wallet_types.Mode.ValueType = wallet_types.MODE_REAL
    # Fields of the specific rules besides the usual ones.
    rules: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class ScriptedTable(DirectedTable):
    """One table. Its methods are called in the thread of the connection."""

    options: Options
    number: int = 0
    phase: types_pb2.Phase.ValueType = types_pb2.PHASE_IDLE
    caves: dict[int, int] = field(default_factory=dict)
    standings: dict[int, types_pb2.CaveStanding.ValueType] = field(default_factory=dict)
    disconnected: set[int] = field(default_factory=set)
    dealt: DealtPoker | None = None
    moves: list[table_pb2.RecordedMove] = field(default_factory=list)
    turn_number: int = 0
    opened_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    shown_at: datetime | None = None
    decide_by: datetime | None = None
    # The turn's clock stands still since then.
    paused_since: datetime | None = None
    # The streets of a hand in which nobody decides any more, which the test deals, and what is seen until then.
    streets: list[Street] = field(default_factory=list)
    shown: Message | None = None
    outcome: poker_pb2.Outcome | None = None
    past: list[types_pb2.PastOutcome] = field(default_factory=list)
    free_cents: int = CREDITS_CENTS
    version: int = 1
    waiting_cents: int = 0
    waiting: int = 0
    # The test deals the common cards that come after the last decision, street by street.
    hold_streets: bool = False
    # The seat that the player has chosen, and the one that is kept for them.
    chosen: int = 0
    kept: int = 0
    # What the player may buy in, where it is not the usual cave.
    bounds: tuple[int, int] | None = None
    fill_by: datetime | None = None
    begun: Hand | None = None
    # Who is registered for the period of a table in session mode.
    registration: poker_pb2.PeriodRegistration = field(default_factory=poker_pb2.PeriodRegistration)
    # How long a card takes from now on; 0 for as long as the table is configured.
    pace_ms: int = 0

    def __post_init__(self) -> None:
        self.caves = dict(self.options.caves)
        self.standings = dict.fromkeys(self.caves, PLAYING)

    # -- what it is ---------------------------------------------------------------------------------------------------

    def configuration(self) -> types_pb2.TableConfiguration:
        rules = Any()
        rules.Pack(poker_pb2.SpecificRules(big_blind_cents=100, limit=self.options.limit, **self.options.rules))  # type: ignore[arg-type]
        return types_pb2.TableConfiguration(
            game="poker",
            regulation="811/2015" if self.options.omaha else "806/2015",
            mode=self.options.mode,
            play=wallet_types.PLAY_POKER,
            name=types_pb2.LocalizedText(pt="Mesa de ensaio", en="Rehearsal table"),
            result_shown_ms=4000,
            seats=self.options.seats,
            rules=rules,
            dealing_ms=self.options.dealing_ms,
            decision_ms=self.options.decision_ms,
        )

    @property
    def engine(self) -> Table:
        return Table(specific_rules_message.read(self.configuration()))

    @property
    def round_id(self) -> str:
        return f"{self.table_id}.{self.number}"

    @property
    def seat(self) -> int:
        return self.options.seat or self.chosen

    def snapshot(self) -> types_pb2.TableSnapshot:
        snapshot = types_pb2.TableSnapshot(
            table_id=self.table_id,
            seq=self.seq,
            at=now(),
            phase=self.phase,
            configuration=self.configuration(),
            configuration_version=1,
            past_outcomes=self.past,
            seated=len(self.caves),
            caves=self.caves_at_seats(),
            waiting=self.waiting,
        )
        for seat in range(1, self.options.seats + 1):
            snapshot.seats.add(seat=seat, taken=seat in self.caves)
        if self.dealt is not None:
            snapshot.round.CopyFrom(self.round())
        return snapshot

    def caves_at_seats(self) -> list[types_pb2.CaveAtSeat]:
        return [
            types_pb2.CaveAtSeat(
                seat=seat,
                cave_cents=cents,
                standing=self.standings[seat],
                disconnected=seat in self.disconnected,
            )
            for seat, cents in sorted(self.caves.items())
        ]

    def round(self) -> types_pb2.RoundOnTable:
        assert self.dealt is not None
        round_ = types_pb2.RoundOnTable(
            round_id=self.round_id,
            configuration_version=1,
            opened_at=moment(self.opened_at),
            draw_trigger=types_pb2.DRAW_TRIGGER_CLOCK,
        )
        if self.outcome is not None:
            round_.outcome.Pack(self.outcome)
        else:
            round_.view.Pack(self.view())
            if (turn := self.turn()) is not None:
                round_.turn.CopyFrom(turn)
        if self.shown_at is not None:
            round_.shown_at.CopyFrom(moment(self.shown_at))
        return round_

    def view(self) -> Message:
        """What everybody may see of the hand now."""
        assert self.dealt is not None
        return self.dealt.view() if self.shown is None else self.shown

    def own_seat(self) -> table_pb2.OwnSeat | None:
        if not self.seat:
            return None
        usual = max(0, 10_000 - self.caves.get(self.seat, 0))
        least, most = self.bounds or (usual, usual)
        seat = table_pb2.OwnSeat(
            seat=self.seat,
            session_id=f"session-{self.table_id}",
            account_id="account",
            cave=table_pb2.OwnCave(
                cave_cents=self.caves.get(self.seat, 0),
                waiting_cents=self.waiting_cents,
                buy_in_min_cents=least,
                buy_in_max_cents=most,
                time_bank_ms=self.options.time_bank_ms,
                rests_left=1,
            ),
        )
        if self.fill_by is not None:
            seat.cave.fill_by.CopyFrom(moment(self.fill_by))
        if (view := self.own_view()) is not None:
            seat.own_view.Pack(view)
        return seat

    def own_view(self) -> poker_pb2.OwnView | None:
        return None if self.dealt is None or self.outcome is not None else self.dealt.own_view(self.seat, 0)

    def turn(self) -> types_pb2.Turn | None:
        turn = None if self.dealt is None else self.dealt.turn
        if turn is None or self.decide_by is None:
            return None
        bank = timedelta(milliseconds=self.options.time_bank_ms)
        message = types_pb2.Turn(turn=self.turn_number, seats=turn.seats, decide_by=moment(self.decide_by + bank))
        if self.options.time_bank_ms:
            message.extra_time_from.CopyFrom(moment(self.decide_by))
        if self.paused_since is not None:
            message.paused_since.CopyFrom(moment(self.paused_since))
        return message

    def balance(self) -> wallet_types.Balance:
        return wallet_types.Balance(
            account_id="account",
            mode=self.options.mode,
            free_cents=self.free_cents,
            version=self.version,
        )

    # -- a hand -------------------------------------------------------------------------------------------------------

    def deal(self, holes: str = "", board: str = "", *, button: int = 0) -> None:
        """Deals to everybody who plays; `holes` are those of the seats in their numbers' order: `AsAd KsKd`."""
        seats = [seat for seat in sorted(self.caves) if self.standings[seat] == PLAYING and self.caves[seat] >= 100]
        button = button or self._next_button(seats)
        order = [*(seat for seat in seats if seat > button), *(seat for seat in seats if seat <= button)]
        by_seat = dict(zip(seats, holes.split(), strict=True)) if holes else {}
        deck = _deck([by_seat[seat] for seat in order] if by_seat else [], board)
        engine = self.engine
        positions = Positions(tuple(order), tuple(self.caves[seat] for seat in order))
        self.dealt = DealtPoker(engine, engine.deal(positions, deck))
        self.begun = self.dealt.hand
        self.number += 1
        self.opened_at = datetime.now(UTC)
        self.moves, self.outcome, self.shown_at, self.streets, self.shown = [], None, None, [], None
        self.phase, self.turn_number = types_pb2.PHASE_PLAYING, 1
        self._show(self.dealt.cards_shown)
        dealt = events_pb2.RoundDealt(
            round_id=self.round_id,
            view=packed(self.dealt.view()),
            turn=self.turn(),
            shown_at=self._shown_at(),
            draw_trigger=types_pb2.DRAW_TRIGGER_CLOCK,
        )
        self.event("round_dealt", dealt)
        self._tell_own()

    def _next_button(self, seats: list[int]) -> int:
        last = self.dealt.hand.deal.seats[-1] if self.dealt is not None else self.options.button - 1
        return next((seat for seat in seats if seat > last), seats[0])

    def decide(self, request: table_pb2.ActRequest) -> table_pb2.ActResponse:
        return self.move(self.seat, messages.read_move(request.move.value), types_pb2.ACTED_BY_PLAYER)

    def act(self, word: str, by: types_pb2.ActedBy.ValueType = types_pb2.ACTED_BY_PLAYER) -> table_pb2.ActResponse:
        """Has the player in turn act: `r300`, `c`, `x`, `f`, and `t` for time that has run out."""
        hand = self._hand()
        seat = hand.deal.seats[hand.actor]
        if word == "t":
            return self.move(seat, Table.default(hand), types_pb2.ACTED_BY_CLOCK)
        kind = {"c": Kind.CALL, "x": Kind.CHECK, "f": Kind.FOLD}.get(word, Kind.RAISE)
        return self.move(seat, Move(kind, int(word[1:]) if kind is Kind.RAISE else 0), by)

    def play(self, script: str) -> None:
        """Has those in turn act one after the other: `r300 c f`."""
        for word in script.split():
            self.act(word)

    def move(self, seat: int, move: Move, by: types_pb2.ActedBy.ValueType) -> table_pb2.ActResponse:
        """Makes a decision as the runtime does: judged, told, and the end of the hand."""
        assert self.dealt is not None
        message = messages.move_message(move)
        before, raw = self.dealt, message.SerializeToString()
        before.judge(seat, raw)
        self.dealt = before.after(seat, raw, "")
        position = len(self.moves) + 1
        self.moves.append(
            table_pb2.RecordedMove(position=position, seat=seat, move=packed(message), acted_by=by, made_at=now())
        )
        self.turn_number, self.paused_since = position + 1, None
        run_out = [] if self.dealt.turn is not None else list(self.dealt.run_out(before.cards_shown))
        if run_out:
            (self.shown, cards), self.streets = (run_out[0].view, run_out[0].cards), run_out[1:]
        else:
            cards = self.dealt.cards_shown - before.cards_shown
        self._show(cards)
        made = events_pb2.MoveMade(
            round_id=self.round_id,
            position=position,
            seat=seat,
            move=packed(message),
            acted_by=by,
            view=packed(self.view()),
            turn=self.turn(),
            shown_at=self._shown_at(),
        )
        self.event("move_made", made)
        if self.dealt.turn is None:
            if not self.hold_streets:
                self.show_streets()
            if not self.streets:
                self._end()
        self._tell_own()
        return table_pb2.ActResponse(round_id=self.round_id, position=position)

    def show_streets(self) -> None:
        """Deals the common cards that are still to come."""
        while self.streets:
            self.show_street()

    def show_street(self) -> None:
        """Deals the next street of a hand in which nobody decides any more; the last one is followed by the result."""
        street = self.streets.pop(0)
        self.shown = street.view
        self._show(street.cards)
        shown = events_pb2.CardsShown(round_id=self.round_id, view=packed(street.view), shown_at=self._shown_at())
        self.event("cards_shown", shown)

    def end(self) -> None:
        """Ends a hand whose cards all lie."""
        self._end()
        self._tell_own()

    def pause(self) -> None:
        """Stops the clock of the turn: the platform's line to its player has failed."""
        self.paused_since = datetime.now(UTC)
        self._tell_turn()

    def resume(self) -> None:
        """Lets the clock of the turn go on: the time that it stood still is added."""
        assert self.paused_since is not None
        assert self.decide_by is not None
        self.decide_by += datetime.now(UTC) - self.paused_since
        self.paused_since = None
        self._tell_turn()

    def begin_time_bank(self) -> None:
        """Lets the usual time of the turn be over: the player's time bank runs."""
        self.decide_by = datetime.now(UTC)
        self._tell_turn()

    def _tell_turn(self) -> None:
        self.event("turn_changed", events_pb2.TurnChanged(round_id=self.round_id, turn=self.turn()))

    def publish(self) -> None:
        """Publishes the table's whole state."""
        self.event("snapshot_published", events_pb2.SnapshotPublished(snapshot=self.snapshot()))

    def void(self) -> None:
        """Declares the hand void: caves are as before it."""
        self.phase, self.dealt, self.decide_by = types_pb2.PHASE_RESULT_SHOWN, None, None
        phrase = types_pb2.LocalizedText(pt="Jogada nula: falha da plataforma.", en="Void hand: a fault.")
        self.event(
            "round_voided",
            events_pb2.RoundVoided(
                round_id=self.round_id,
                reason="a fault",
                phrase=phrase,
                next_round_opens_at=moment(in_ms(NEXT_HAND_MS)),
            ),
        )

    def _hand(self) -> Hand:
        assert self.dealt is not None
        return self.dealt.hand

    def _show(self, cards: int) -> None:
        start = max(datetime.now(UTC), self.shown_at or datetime.now(UTC))
        self.shown_at = start + timedelta(milliseconds=cards * (self.pace_ms or self.options.dealing_ms))
        self.decide_by = self.shown_at + timedelta(milliseconds=self.options.decision_ms)

    def _shown_at(self) -> Timestamp:
        assert self.shown_at is not None
        return moment(self.shown_at)

    def _tell_own(self) -> None:
        own = events_pb2.OwnViewChanged(table_id=self.table_id, round_id=self.round_id, player_id=self.player_id)
        if self.dealt is not None and self.dealt.turn is not None:
            own.turn = self.turn_number
        if (view := self.own_view()) is not None:
            own.own_view.Pack(view)
        self.notify("own_view", own)

    def _end(self) -> None:
        assert self.dealt is not None
        before_cents = self.caves.get(self.seat, 0)
        self.outcome, self.decide_by = self.dealt.outcome.record, None
        outcome = packed(self.outcome)
        self.phase = types_pb2.PHASE_DRAWN
        drawn = events_pb2.OutcomeDrawn(
            round_id=self.round_id,
            outcome=outcome,
            draw_trigger=types_pb2.DRAW_TRIGGER_CLOCK,
            shown_at=self._shown_at(),
        )
        self.event("outcome_drawn", drawn)
        results = []
        for result in self.outcome.results:
            self.caves[result.seat] += result.won_cents - result.staked_cents
            if self.caves[result.seat] < 100:
                self.standings[result.seat] = types_pb2.CAVE_STANDING_SHORT
            results.append(
                events_pb2.SeatResult(seat=result.seat, staked_cents=result.staked_cents, payout_cents=result.won_cents)
            )
        self.past.insert(0, types_pb2.PastOutcome(round_id=self.round_id, drawn_at=now(), outcome=outcome))
        if self.dealt.hand.deal.position(self.seat) is not None:
            self.rounds.insert(0, self._played(before_cents))
        self.phase = types_pb2.PHASE_RESULT_SHOWN
        settled = events_pb2.RoundSettled(
            round_id=self.round_id, results=results, next_round_opens_at=moment(in_ms(NEXT_HAND_MS))
        )
        self.event("round_settled", settled)
        self.tell_caves()

    def _played(self, before_cents: int) -> table_pb2.PlayerRound:
        assert self.outcome is not None
        own = next(result for result in self.outcome.results if result.seat == self.seat)
        brought = poker_pb2.SeatInHand(seat=self.seat, cave_cents=before_cents)
        return table_pb2.PlayerRound(
            round=self.ended_round(self.round_id, self.opened_at, self.outcome, types_pb2.DRAW_TRIGGER_CLOCK),
            table_id=self.table_id,
            regulation=self.configuration().regulation,
            mode=self.options.mode,
            session_id=f"session-{self.table_id}",
            staked_cents=own.staked_cents,
            payout_cents=own.won_cents,
            stakes=[
                table_pb2.PlayerStake(
                    stake_id=f"{self.round_id}.{self.seat}",
                    placed_at=moment(self.opened_at),
                    amount_cents=own.staked_cents,
                    payout_cents=own.won_cents,
                    bets=packed(brought),
                    results=packed(own),
                )
            ],
            moves=self.moves,
        )

    # -- caves --------------------------------------------------------------------------------------------------------

    def buy_in(self, cents: int) -> poker_pb2.BuyInResponse:
        """Fills the player's cave; during a hand the chips wait for its end."""
        if self.phase == types_pb2.PHASE_PLAYING:
            self.waiting_cents += cents
        else:
            self.caves[self.seat] = self.caves.get(self.seat, 0) + cents
            self.standings[self.seat] = types_pb2.CAVE_STANDING_WAITING
        self.free_cents -= cents
        self.version += 1
        self.fill_by = None
        self.tell_caves()
        return poker_pb2.BuyInResponse(amount_cents=cents, balance=self.balance())

    def stand(self, seat: int, standing: types_pb2.CaveStanding.ValueType) -> types_pb2.CaveAtSeat:
        """Tells how a player takes part from now on."""
        self.standings[seat] = standing
        self.tell_caves()
        return next(cave for cave in self.caves_at_seats() if cave.seat == seat)

    def enter(self, seat: int) -> None:
        """Seats the page's player, without a cave."""
        if self.seat:
            return
        self.chosen = seat or next(free for free in range(1, self.options.seats + 1) if free not in self.caves)
        self.caves[self.chosen], self.standings[self.chosen] = 0, types_pb2.CAVE_STANDING_SHORT
        self.event("seat_taken", events_pb2.SeatTaken(seat=self.chosen))

    def exported(self) -> str:
        """Returns the last hand as its player gets it."""
        assert self.begun is not None
        hand = self._hand()
        facts = HandFacts(self.round_id, self.table_id, self.opened_at, "credits", [""] * len(hand.deal.seats))
        return for_player(self.begun, hand, facts, self.seat)

    def lose_connection(self, seat: int) -> None:
        """Tells that a player's connection is lost."""
        self.disconnected.add(seat)
        self.tell_caves()

    def sit(self, seat: int, cents: int) -> None:
        """Tells that a player has sat down with a cave."""
        self.caves[seat], self.standings[seat] = cents, types_pb2.CAVE_STANDING_WAITING
        self.event("seat_taken", events_pb2.SeatTaken(seat=seat))
        self.tell_caves()

    def leave(self, seat: int) -> None:
        """Tells that a player has left."""
        del self.caves[seat]
        self.event("seat_left", events_pb2.SeatLeft(seat=seat))
        self.tell_caves()

    def tell_caves(self) -> None:
        self.event("caves_changed", events_pb2.CavesChanged(caves=self.caves_at_seats(), waiting=self.waiting))

    def register(self, *, registered: bool) -> poker_pb2.PeriodRegistration:
        """Registers the player for the table's period, or takes the registration back."""
        self.registration.players += registered - self.registration.registered
        self.registration.registered = registered
        return self.registration

    def tell_place(self, position: int, seat: int = 0) -> None:
        """Tells the page's player their place on the waiting list, and the seat that is kept for them."""
        self.kept = seat
        place = events_pb2.WaitingPlace(position=position, seat=seat)
        if seat:
            place.kept_until.CopyFrom(moment(in_ms(SEAT_KEPT_MS)))
        own = events_pb2.OwnViewChanged(table_id=self.table_id, player_id=self.player_id, waiting=place)
        self.notify("own_view", own)


def _deck(holes: list[str], board: str) -> tuple[Card, ...]:
    """Builds a deck that deals these cards, the first hand to the left of the button."""
    hands = [cards_named(" ".join(hole[at : at + 2] for at in range(0, len(hole), 2))) for hole in holes]
    dealt = [card for lap in zip(*hands, strict=True) for card in lap]
    common = cards_named(board)
    rest = [card for card in PACK if card not in {*dealt, *common}]
    return (*dealt, *common, *rest) if hands else (*rest, *common)
