"""Whole tournaments with players who act at random, checked after every fact, and logged for the reference."""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Callable, Mapping

from services.poker.tournament.levels import Level
from services.poker.tournament.money.awards import PayOut, Why
from services.poker.tournament.money.entries import EntryState, PaidBy, Purchase
from services.poker.tournament.price import Price
from services.poker.tournament.refusals import TournamentRefused
from services.poker.tournament.running import director, requests
from services.poker.tournament.running.facts import (
    AddedOn,
    CameBack,
    CancelOrdered,
    Event,
    Fact,
    HandEnded,
    HandVoided,
    Paid,
    Rebought,
    RebuyDeclined,
    TimePassed,
    Unregistered,
    WentAway,
)
from services.poker.tournament.running.orders import (
    AddChips,
    AskRebuy,
    BreakBegins,
    Eliminate,
    HandForHand,
    Order,
    Pay,
    StartHand,
)
from services.poker.tournament.running.state import Phase, Tournament, entropy_bytes, next_due_ms
from services.poker.tournament.specific_rules import (
    Approval,
    CancelPolicy,
    InitialButton,
    PayWhen,
    Start,
    TicketPrize,
    TournamentRules,
    default_rules,
)
from services.poker.tournament.tables.balancing import is_one_too_many
from services.poker.tournament.tables.lineup import RunningHand
from services.poker.variant import Variant
from tests.engine.poker.tournament.reference import Log, LoggedEntry, LostHand, Offer

START_MS = 60_000
MOST_FACTS = 200_000

# Plays a hand: gives the chips by seat that it leaves, and who took the last ones of those who lost all.
PlayHand = Callable[
    [random.Random, TournamentRules, RunningHand], tuple[Mapping[int, int], Mapping[int, tuple[int, ...]]]
]


def drawn_hand(
    chance: random.Random,
    rules: TournamentRules,
    hand: RunningHand,
) -> tuple[Mapping[int, int], Mapping[int, tuple[int, ...]]]:
    """Plays a hand by lot: one or two winners take from some of the others what those could match, often everything."""
    stacks = dict(zip(hand.positions.seats, hand.positions.stacks, strict=True))
    seats = list(hand.positions.seats)
    chance.shuffle(seats)
    winners = sorted(seats[: 2 if len(seats) > 2 and chance.random() < 0.1 else 1], key=hand.positions.seats.index)
    losers = [seat for seat in seats if seat not in winners][: chance.choice((1, 1, 1, 2, 3))]
    most = min(stacks[winner] for winner in winners)
    chips, takers = dict(stacks), {}
    for loser in losers:
        lost = min(most, stacks[loser])
        if chance.random() < 0.4:
            lost = chance.randint(0, lost)
        chips[loser] -= lost
        for at, winner in enumerate(winners):
            chips[winner] += lost // len(winners) + (at < lost % len(winners))
        if not chips[loser]:
            takers[loser] = tuple(winners)
    return chips, takers


def drawn_rules(chance: random.Random) -> TournamentRules:
    """Draws specific rules of any kind of tournament."""
    fee, bounty = chance.choice((0, 100)), chance.choice((0, 0, 333))
    price = Price(chance.choice((1000, 777)), fee, bounty)
    level_count = chance.randint(3, 6)
    levels = tuple(
        Level(10 * number, 20 * number, 60, chance.choice((0, 30)) if number != 2 else 30)
        for number in range(1, level_count + 1)
    )
    chosen: dict[str, object] = {
        "levels": levels,
        "seats": chance.randint(2, 9),
        "starting_stack": chance.choice((500, 1500)),
        "late_reg_until_level": chance.choice((0, 1, 2)),
        "reentries_max": chance.choice((0, 0, 1, 2)),
        "reentry_until_level": chance.choice((1, 2)),
        "rebuys_max": chance.choice((0, 0, 1, 3)),
        "rebuy_price": Price(chance.choice((1000, 555)), chance.choice((0, 50))),
        "rebuy_chips": 1000,
        "rebuy_until_level": chance.choice((1, 2)),
        "rebuy_decision_seconds": 10,
        "addons_max": chance.choice((0, 0, 1)),
        "addon_after_level": 2,
        "addon_price": Price(901),
        "addon_chips": 700,
        "guarantee_cents": chance.choice((0, 0, 20_001)),
        "pay_when": chance.choice(tuple(PayWhen)),
        "initial_button": chance.choice(tuple(InitialButton)),
        "timed_minutes": chance.choice((None, None, 4)),
        "replacement_tournament": "another",
        "approvals": frozenset(Approval),
        "cancel_policy": chance.choice(tuple(CancelPolicy)),
    }
    if chance.random() < 0.2:
        chosen["satellite"] = TicketPrize("target", 3001, chance.choice(((10_000,), (6000, 4000))))
        chosen["satellite_stops_early"] = chance.random() < 0.5
    if chance.random() < 0.1:
        price = Price(0)
        chosen["guarantee_cents"] = 12_345
    if chance.random() < 0.2:
        chosen |= {"start": Start.ON_FULL, "max_players": chance.randint(2, 12), "late_reg_until_level": 0}
    return default_rules(Variant.HOLDEM, price, **chosen)


class Simulation:
    """One tournament from its registration to its end; everything follows from the seed."""

    def __init__(
        self,
        seed: object,
        rules: TournamentRules,
        players: int,
        *,
        cancel: bool = False,
        play: PlayHand = drawn_hand,
        begun: Tournament | None = None,
    ) -> None:
        """`begun` is the tournament before its first fact, of one whose facts are told by `happen` alone."""
        self.chance = random.Random(str(seed))
        self.rules = rules
        is_scheduled = rules.start is Start.SCHEDULED
        self.state = self.begun = begun or director.create("t", rules, START_MS if is_scheduled else None)
        self.play = play
        self.events: list[Event] = []
        self.orders: list[Order] = []
        self.log = Log()
        # Where the money is: with players and the bank, by what they have paid in less what they got.
        self.collected = self.from_bank = 0
        self.paid: dict[tuple[int, str], int] = defaultdict(int)
        self.keys: set[str] = set()
        self._chips: dict[int, int] = {}
        self._waiting: dict[int, int] = defaultdict(int)
        self._moment = 0
        self._is_hand_for_hand = False
        # The log of a hand-for-hand step counts as one moment.
        self._step_of: dict[int, int] = {}
        self._agenda: list[tuple[int, int, Fact]] = []
        self._added = 0
        for number in range(1, players + 1):
            latest = (
                START_MS - 1 if not rules.late_reg_until_level or self.chance.random() < 0.8 else START_MS + 150_000
            )
            at_ms = self.chance.randint(0, latest)
            means = self.chance.choice((PaidBy.CASH, PaidBy.CASH, PaidBy.TICKET, PaidBy.FREEROLL_TICKET))
            self._plan(at_ms, Paid(f"p{number}", means, f"#{number}" if means is not PaidBy.CASH else ""))
            if self.chance.random() < 0.1:
                self._plan(at_ms + 1, Unregistered(f"p{number}"))
            if self.chance.random() < 0.2:
                self._plan(at_ms + 2, WentAway(f"p{number}"))
                self._plan(at_ms + 99_999, CameBack(f"p{number}"))
        if cancel:
            self._plan(self.chance.randint(0, START_MS + 300_000), CancelOrdered("a test"))

    def run(self) -> Simulation:
        """Plays until the tournament is over."""
        while self.state.phase in {Phase.REGISTERING, Phase.RUNNING} and len(self.events) < MOST_FACTS:
            due = next_due_ms(self.state)
            if due is not None and (not self._agenda or due <= self._agenda[0][0]):
                self._tell(due, TimePassed())
                continue
            if not self._agenda:
                # A sit & go that is not full.
                self._tell(self.state.now_ms, CancelOrdered("nobody comes"))
                continue
            at_ms, _, fact = heapq.heappop(self._agenda)
            if self._is_possible(fact):
                self._tell(at_ms, self._played(fact))
        return self

    # -- facts -------------------------------------------------------------------------------------------------------

    def _plan(self, at_ms: int, fact: Fact) -> None:
        self._added += 1
        heapq.heappush(self._agenda, (at_ms, self._added, fact))

    def _is_possible(self, fact: Fact) -> bool:
        """Judges what a player asks before it is paid; now and then it is paid nevertheless, too late."""
        if isinstance(fact, HandEnded):
            table = self.state.tables.get(fact.table)
            return table is not None and table.hand is not None and table.hand.number == fact.number
        if self.chance.random() < 0.05:
            return not isinstance(fact, Rebought | AddedOn) or bool(self.state.entries_of(fact.player))
        try:
            if isinstance(fact, Paid):
                requests.verify_entry(
                    self.state,
                    requests.entry(self.state, fact.player)._replace(paid_by=fact.paid_by, ticket=fact.ticket),
                )
            elif isinstance(fact, Rebought):
                requests.rebuy(self.state, fact.player)
            elif isinstance(fact, AddedOn):
                requests.addon(self.state, fact.player)
        except TournamentRefused:
            return False
        return True

    def _played(self, fact: Fact) -> Fact:
        """Plays the hand that a fact is about; now and then it is void."""
        if not isinstance(fact, HandEnded):
            return fact
        hand = self.state.tables[fact.table].hand
        assert hand is not None
        if self.chance.random() < 0.01:
            return HandVoided(fact.table, fact.number)
        chips, takers = self.play(self.chance, self.rules, hand)
        return HandEnded(fact.table, fact.number, chips, takers)

    def _tell(self, at_ms: int, fact: Fact) -> None:
        self.happen(Event(at_ms, fact, self.chance.randbytes(entropy_bytes(self.state))))

    def happen(self, event: Event) -> None:
        """Applies a fact, logs what follows from it, and asserts what is always true."""
        before, fact = self.state, event.fact
        self.events.append(event)
        self.state, ordered = director.apply(before, event)
        self.orders.extend(ordered)
        self._log_fact(before, fact)
        for order in ordered:
            self._follow(before, order)
        self._verify()
        # A void hand is played again by the same players.
        if self.state.phase is Phase.RUNNING and not isinstance(fact, HandVoided):
            self._verify_balance({order.table for order in ordered if isinstance(order, StartHand)})

    def _log_fact(self, before: Tournament, fact: Fact) -> None:
        match fact:
            case Paid(player, means, _):
                self.collected += self.rules.price.total_cents
                entry = self.state.entry_in(player)
                if entry is not None and entry.number not in before.entries:
                    name = {PaidBy.CASH: "cash", PaidBy.TICKET: "ticket", PaidBy.FREEROLL_TICKET: "freeroll"}[means]
                    self.log.entries[entry.number] = LoggedEntry(entry.number, *entry.price, means=name)
            case Unregistered():
                for entry in self.state.entries.values():
                    if entry.state is EntryState.WITHDRAWN:
                        self.log.entries.pop(entry.number, None)
            case Rebought():
                self.collected += self.rules.rebuy_price.total_cents
            case AddedOn():
                self.collected += self.rules.addon_price.total_cents
            case HandEnded():
                self._log_hand(before, fact)
            case _:
                pass

    def _log_hand(self, before: Tournament, fact: HandEnded) -> None:
        table = before.tables[fact.table]
        assert table.hand is not None
        self._moment += 1
        moment = self._step_of.get(table.number, self._moment)
        stacks = dict(zip(table.hand.positions.seats, table.hand.positions.stacks, strict=True))
        for seat, chips in fact.chips.items():
            entry = table.seated[seat].entry
            assert self._chips[entry] == stacks[seat]
            self._chips[entry] = chips + self._waiting.pop(entry, 0)
            if not self._chips[entry]:
                takers = tuple(table.seated[taker].entry for taker in fact.takers[seat])
                self.log.lost[entry] = LostHand(moment, stacks[seat], takers)

    # -- orders ------------------------------------------------------------------------------------------------------

    def _follow(self, before: Tournament, order: Order) -> None:
        now_ms = self.state.now_ms
        match order:
            case StartHand(table, hand):
                self._log_step(before, table, hand)
                self._plan(now_ms + self.chance.randint(5_000, 20_000), HandEnded(table, hand.number, {}, {}))
            case HandForHand(begins):
                self._is_hand_for_hand = begins
            case AddChips(entry, table, seat, chips):
                self._log_more(before, entry, table, seat, chips)
            case Pay(pay_out):
                self._log_payment(pay_out)
            case _:
                self._answer(order)

    def _answer(self, order: Order) -> None:
        """Lets players rebuy, enter again, and add on, or not."""
        now_ms = self.state.now_ms
        match order:
            case AskRebuy(entry, _):
                player = self.state.entries[entry].player
                answer = self.chance.choice((Rebought(player), Rebought(player), RebuyDeclined(player), None))
                if answer is not None:
                    self._plan(now_ms + self.chance.randint(1, 12_000), answer)
            case Eliminate(entry):
                if self.rules.reentries_max and self.chance.random() < 0.6:
                    self._plan(now_ms + self.chance.randint(1, 9_000), Paid(self.state.entries[entry].player))
            case BreakBegins():
                for each in self.state.playing:
                    if self.chance.random() < 0.5:
                        self._plan(now_ms + self.chance.randint(1, 20_000), AddedOn(each.player))
            case _:
                pass

    def _log_step(self, before: Tournament, table: int, hand: RunningHand) -> None:
        again = before.tables.get(table)
        if again is not None and again.hand is not None and again.hand.positions == hand.positions:
            # A void hand that is played again belongs to the same step.
            return
        self._step_of.pop(table, None)
        if self._is_hand_for_hand:
            # All hands of a step begin before the next one ends, and count as that one.
            self._step_of[table] = self._moment + 1

    def _log_payment(self, pay_out: PayOut) -> None:
        self.from_bank += pay_out.from_bank_cents - pay_out.to_bank_cents
        for award in pay_out.awards:
            assert award.cents > 0
            assert award.key not in self.keys, "an award is paid once"
            self.keys.add(award.key)
            if award.why in {Why.UNREGISTERED, Why.TOO_LATE}:
                # Given back whole: for the reference it was never paid.
                self.collected -= award.cents
            else:
                self.paid[award.entry, str(award.form)] += award.cents

    def _log_more(self, before: Tournament, entry: int, table: int, seat: int, chips: int) -> None:
        bought = self.state.entries[entry].more_chips[-1]
        self.log.entries[entry].more_prize += bought.price.prize_cents
        self.log.entries[entry].more_fee += bought.price.fee_cents
        hand = before.tables[table].hand
        if hand is not None and seat in hand.positions.seats:
            self._waiting[entry] += chips
        else:
            self._chips[entry] = self._chips.get(entry, 0) + chips
            self.log.lost.pop(entry, None)
        assert bought.purchase in {Purchase.REBUY, Purchase.ADDON}

    # -- what is always true -----------------------------------------------------------------------------------------

    def _verify(self) -> None:
        state = self.state
        assert state.pool_cents == self.collected + self.from_bank - sum(self.paid.values())
        assert state.pool_cents >= 0
        if state.phase is Phase.REGISTERING or not state.started_at_ms:
            return
        self.log.has_started = True
        for entry in state.playing:
            if entry.number not in self._chips:
                self._chips[entry.number] = self.rules.starting_stack
        chips = state.chips()
        mine = {entry.number: self._chips[entry.number] + self._waiting.get(entry.number, 0) for entry in state.playing}
        assert {number: chips[number] for number in mine} == mine
        entered = [entry for entry in state.entries.values() if entry.number in self._chips]
        bought = sum(
            self.rules.rebuy_chips if more.purchase is Purchase.REBUY else self.rules.addon_chips
            for entry in entered
            for more in entry.more_chips
        )
        assert sum(chips.values()) == len(entered) * self.rules.starting_stack + bought
        self.log.chips = {number: held for number, held in mine.items() if held}
        if state.phase is Phase.RUNNING:
            self._verify_tables()

    def _verify_tables(self) -> None:
        state = self.state
        seated = [each.entry for table in state.tables.values() for each in table.seated.values()]
        assert sorted(seated) == sorted(entry.number for entry in state.playing), "everybody has one seat"
        assert state.is_hand_running or state.awaited or state.is_break, "somebody always goes on"
        if state.is_hand_for_hand and not state.is_step_running:
            assert not any(table.hand is None and number not in state.held for number, table in state.tables.items())

    def _verify_balance(self, started: set[int]) -> None:
        """Asserts that tables are as equal as can be (47): what is between hands, or begins one, has nobody to move."""
        state = self.state
        if state.lap is not None or is_one_too_many(self.rules, state.tables):
            return
        sizes = {number: table.size for number, table in state.tables.items()}
        most, fewest = max(sizes.values()), min(sizes.values())
        for number, table in state.tables.items():
            if number in started or (table.hand is None and not state.is_step_running):
                assert sizes[number] < most or most - fewest <= 1

    # -- what the reference is asked ---------------------------------------------------------------------------------

    def offer(self) -> Offer:
        rules = self.rules
        satellite = rules.satellite
        return Offer(
            payouts=[(row.entries_up_to, row.bps) for row in rules.payouts],
            guarantee=rules.guarantee_cents,
            ticket=0 if satellite is None else satellite.value_cents,
            leftover=(10_000,) if satellite is None else satellite.leftover_bps,
            stops_early=rules.satellite_stops_early,
            is_timed=self.state.lap is not None,
            net_of_awarded=rules.cancel_policy is CancelPolicy.NET_OF_AWARDED,
        )

    def settled(self) -> dict[tuple[int, str], int]:
        """Returns what each entry was paid, by form, what was given back at once left out."""
        return {what: cents for what, cents in self.paid.items() if cents}
