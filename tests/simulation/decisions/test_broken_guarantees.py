"""Breaks each promise about decisions on purpose: the scenario that makes it has to fail, and so has the check."""

from __future__ import annotations

import dataclasses
import itertools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from prometheus_client import REGISTRY, Counter
from prometheus_client.core import Metric

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import events_pb2
from services.blackjack import messages as blackjack_messages
from services.blackjack.dealt_round import DealtBlackjack
from services.blackjack.engine import Option
from services.blackjack.engine import Round as DealtCards
from services.blackjack.messages import Bets
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand, PlayerCommands
from services.kit.table.banked.round import Round
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.encoding import packed
from services.kit.table.game import Turn, Wanted
from services.kit.table.journal.entries import ActedBy, Drawn, Ended, JournalStake, Moved, Paid, UnfinishedRound
from services.kit.table.live.seating import Seating
from services.kit.table.live.table import LiveTable, _TableForTurns
from services.kit.table.owned import recovery
from services.kit.table.owned.recovery import RoundRecovery
from services.kit.table.turns import hand, resuming
from services.kit.table.turns.hand import Hand
from services.kit.table.turns.resuming import ResumedRound
from services.kit.table.turns.turn_clock import TurnClock
from services.kit.table.wallet.table_wallet import TableWallet
from tests.simulation.decisions import (
    test_early_payments,
    test_hidden_cards,
    test_moves,
    test_open_hands,
    test_turn_clock,
)
from tests.simulation.decisions.owners import test_kept_seats, test_takeover
from tests.simulation.decisions.players import DOUBLE, DRAW
from tests.simulation.decisions.scenario import DOUBLE_ON_ELEVEN
from tests.simulation.environment.journal import InMemoryJournal
from tests.simulation.environment.own_views import ToldOwnViews

BreakPromise = Callable[[pytest.MonkeyPatch], None]


# -- 1: a decision counts once ----------------------------------------------------------------------------------------


def _gives_stakes_back(patch: pytest.MonkeyPatch) -> None:
    """The next owner adopts no decision that was staked and not journalled."""
    patch.setattr(resuming, "_decision_of", lambda *_: None)


def _forgets_who_has_asked(patch: pytest.MonkeyPatch) -> None:
    """A decision that is sent again is another one."""
    names = itertools.count()
    patch.setattr(Hand, "_earlier", lambda *_: None)
    patch.setattr(PlayerCommands, "once", lambda _self, _player_id, _command, begin: begin())
    patch.setattr(BetCommand, "wallet_request_id", lambda *_: f"{next(names)}")


def _forgets_request_ids(patch: pytest.MonkeyPatch) -> None:
    """A request id is remembered for one round alone."""
    patch.setattr(InMemoryJournal, "has_command", lambda *_: False)


def _tells_first(patch: pytest.MonkeyPatch) -> None:
    """A decision is told before it is journalled."""
    apply = Hand._apply

    async def early(
        self: Hand[Any, Any],
        seat: int,
        move: bytes,
        acted_by: ActedBy,
        asked: hand._Asked | None = None,
        stake: JournalStake | None = None,
    ) -> Moved:
        moved = Moved(self.round_id, self.position + 1, seat, move, acted_by, self._clock.now(), stake=stake)
        self._publish(self._moved_event(moved, packed(self.view())))
        return await apply(self, seat, move, acted_by, asked, stake)

    patch.setattr(Hand, "_apply", early)


def _stakes_nothing(patch: pytest.MonkeyPatch) -> None:
    """The journal records a decision without its stake."""
    write = InMemoryJournal.write_moved

    def without(self: InMemoryJournal, epoch: int, entry: Moved) -> None:
        write(self, epoch, dataclasses.replace(entry, stake=None))

    patch.setattr(InMemoryJournal, "write_moved", without)


def _takes_any_turn(patch: pytest.MonkeyPatch) -> None:
    """A decision counts for whatever turn is under way."""
    patch.setattr(Hand, "_verify_turn", lambda *_: None)
    patch.setattr(Hand, "_verify_still", lambda *_: None)


# -- 2: the same shoe -------------------------------------------------------------------------------------------------


def _shuffles_again(patch: pytest.MonkeyPatch) -> None:
    """The next owner deals other cards."""
    dealt_from = resuming.dealt_from
    patch.setattr(
        resuming, "dealt_from", lambda rules, drawn: dealt_from(rules, dataclasses.replace(drawn, entropy=bytes(4096)))
    )


def _loses_the_decisions(patch: pytest.MonkeyPatch) -> None:
    """The next owner deals the same cards and forgets what was decided."""
    deal_again = resuming.deal_again
    patch.setattr(
        recovery, "deal_again", lambda left, drawn, rules: deal_again(dataclasses.replace(left, moves=()), drawn, rules)
    )


def _remembers_bets_it_never_had(patch: pytest.MonkeyPatch) -> None:
    """The next owner answers for bets that a former owner has taken."""
    commands_of = LiveTable.commands_of

    def all_commands(self: LiveTable[Any, Any], round_id: str) -> PlayerCommands | None:
        self._taken_up_round_id = ""
        return commands_of(self, round_id)

    patch.setattr(LiveTable, "commands_of", all_commands)


def _voids_dealt_rounds(patch: pytest.MonkeyPatch) -> None:
    """The next owner gives the stakes of a dealt round back."""
    end_round = RoundRecovery._end_round

    async def void(
        self: RoundRecovery[Any, Any], unfinished: UnfinishedRound, wallet: TableWallet, reason: str
    ) -> object:
        if unfinished.drawn is not None and unfinished.drawn.outcome is None:
            unfinished = dataclasses.replace(unfinished, drawn=None)
        return await end_round(self, unfinished, wallet, reason)

    patch.setattr(RoundRecovery, "_end_round", void)
    patch.setattr(InMemoryJournal, "write_ended", _write_any_end)


def _write_any_end(self: InMemoryJournal, epoch: int, entry: Ended) -> None:
    self._round(epoch, entry.round_id).ended = entry


def _gives_seats_out_anew(patch: pytest.MonkeyPatch) -> None:
    """The next owner forgets where players sit."""
    patch.setattr(Seating, "want_seat", lambda *_: None)


def _gives_a_seat_to_two(patch: pytest.MonkeyPatch) -> None:
    """Two players may ask for the same seat while neither sits there."""
    patch.setattr(Seating, "is_free_for", lambda self, player_id, number: self.holder_of(number) in {None, player_id})


def _tells_seats_of_former_owners_again(patch: pytest.MonkeyPatch) -> None:
    """The next owner says of those who sit there that they have sat down."""
    patch.setattr(LiveTable, "_publish_seat", lambda self, event: self._publish(event))


# -- 3: the clock -----------------------------------------------------------------------------------------------------


def _never_stands_still(patch: pytest.MonkeyPatch) -> None:
    """The clock runs on while money is asked for."""
    patch.setattr(TurnClock, "standing_still", lambda *_: nullcontext())


def _decides_too_early(patch: pytest.MonkeyPatch) -> None:
    """The clock takes half a second from everybody."""
    is_up = TurnClock.is_up
    patch.setattr(TurnClock, "is_up", lambda self, now: is_up(self, now + timedelta(seconds=0.5)))


def _takes_late_clicks(patch: pytest.MonkeyPatch) -> None:
    """A click that comes after the time counts, if the clock has not been heard yet."""

    def verify(self: Hand[Any, Any], turn: int) -> None:
        if turn != self._turn_clock.number:
            raise refusals.turn_over(self.round_id, turn, self._turn_clock.number, (), None)

    def default_due(self: Hand[Any, Any], turn: Turn) -> tuple[int, bytes, ActedBy] | None:
        late = self._clock.now() - timedelta(seconds=0.3)
        return (turn.defaults[0].seat, turn.defaults[0].move, ActedBy.CLOCK) if self._turn_clock.is_up(late) else None

    patch.setattr(Hand, "_verify_turn", verify)
    patch.setattr(Hand, "_default_due", default_due)
    patch.setattr(Hand, "_seconds_left", lambda _: 0.4)


def _forgets_the_dealing(patch: pytest.MonkeyPatch) -> None:
    """The time to decide begins before the cards lie."""
    begin = TurnClock._begin

    def at_once(self: TurnClock, at: datetime, bank: timedelta | None = None) -> None:
        begin(self, at - self._pace.dealing * 4, bank)

    patch.setattr(TurnClock, "_begin", at_once)


def _deals_no_more_after_a_takeover(patch: pytest.MonkeyPatch) -> None:
    """The next owner counts cards as dealt that are being dealt."""
    patch.setattr(resuming, "dealing_time", lambda *_: timedelta())


# -- 4: hidden cards --------------------------------------------------------------------------------------------------


def _shows_the_hole_card(patch: pytest.MonkeyPatch) -> None:
    """The public view names the hole card."""
    bank_message = blackjack_messages._bank_message

    def shown(round_: DealtCards) -> blackjack_pb2.BankHand:
        message = bank_message(round_)
        message.cards[1] = round_.bank[1].name
        return message

    patch.setattr(blackjack_messages, "_bank_message", shown)


def _refuses_with_the_hole_card(patch: pytest.MonkeyPatch) -> None:
    """A refusal explains itself with the hole card."""
    judge = DealtBlackjack.judge

    def talkative(self: DealtBlackjack, seat: int, move: bytes) -> Wanted[Bets] | None:
        try:
            return judge(self, seat, move)
        except Refused as refused:
            raise Refused(refused.reason, refused.sentence, {"hole": self.round.bank[1].name}) from None

    patch.setattr(DealtBlackjack, "judge", talkative)


def _logs_the_hole_card(patch: pytest.MonkeyPatch) -> None:
    """What is logged of a decision has the cards of the bank."""
    _judges_with(
        patch,
        lambda dealt: logging.getLogger("services.blackjack").debug(
            "a decision", extra={"bank": [card.name for card in dealt.round.bank]}
        ),
    )


def _counts_the_hole_card(patch: pytest.MonkeyPatch) -> None:
    """A metric of decisions has the hole card as a label."""
    counted = Counter("feltro_test_decisions", "Decisions by the bank's second card.", ["card"], registry=None)
    patch.setattr(REGISTRY, "collect", _and_then(REGISTRY.collect, counted.collect))
    _judges_with(patch, lambda dealt: counted.labels(dealt.round.bank[1].name).inc())


def _and_then(
    first: Callable[[], Iterable[Metric]], then: Callable[[], Iterable[Metric]]
) -> Callable[[], list[Metric]]:
    return lambda: [*first(), *then()]


def _judges_with(patch: pytest.MonkeyPatch, more: Callable[[DealtBlackjack], None]) -> None:
    judge = DealtBlackjack.judge

    def talkative(self: DealtBlackjack, seat: int, move: bytes) -> Wanted[Bets] | None:
        more(self)
        return judge(self, seat, move)

    patch.setattr(DealtBlackjack, "judge", talkative)


def _insures_only_against_a_blackjack(patch: pytest.MonkeyPatch) -> None:
    """What a player is offered depends on the hole card."""
    options = DealtBlackjack._options

    def telling(self: DealtBlackjack, seat: int, free_cents: int) -> Iterator[tuple[int, Option]]:
        for place, option in options(self, seat, free_cents):
            yield place, Option(option.decision, option.cost_cents + (self.round.bank[1].rank >= 10))

    patch.setattr(DealtBlackjack, "_options", telling)


def _tells_everybody(patch: pytest.MonkeyPatch) -> None:
    """What one player may decide is sent to another."""
    publish = ToldOwnViews.publish

    def careless(self: ToldOwnViews, changed: events_pb2.OwnViewChanged) -> None:
        changed.player_id = {"ana": "rui", "rui": "ana"}.get(changed.player_id, changed.player_id)
        publish(self, changed)

    patch.setattr(ToldOwnViews, "publish", careless)


# -- 6: early payments ------------------------------------------------------------------------------------------------


def _pays_at_the_end_only(patch: pytest.MonkeyPatch) -> None:
    """A blackjack waits for the end of the round."""

    async def nothing(self: Hand[Any, Any]) -> None: ...

    patch.setattr(Hand, "_pay_due", nothing)


def _journals_first(patch: pytest.MonkeyPatch) -> None:
    """A payment is journalled before it is made."""
    pay_due = Hand._pay_due

    async def early(self: Hand[Any, Any]) -> None:
        due = {} if self.dealt.turn is None else dict(self.dealt.due_cents())
        due = {stake_id: cents for stake_id, cents in due.items() if stake_id not in self.paid}
        if due:
            entry = Paid(self.round_id, self.position, tuple(due.items()), self._clock.now())
            await self._journal.write_paid(self._epoch, entry)
        await pay_due(self)

    patch.setattr(Hand, "_pay_due", early)


def _pays_under_new_names(patch: pytest.MonkeyPatch) -> None:
    """Each owner pays early under a request id of its own, and the wallet does not notice."""
    names = itertools.count()
    patch.setattr(hand, "paying_request_id", lambda *_: f"{next(names)}")


def _forgets_what_was_paid(patch: pytest.MonkeyPatch) -> None:
    """The next owner does not read what was paid."""
    deal_again = resuming.deal_again

    def unpaid(left: UnfinishedRound, drawn: Drawn, rules: VersionedRules[Any, Any]) -> ResumedRound[Any, Any]:
        return dataclasses.replace(deal_again(left, drawn, rules), paid={})

    patch.setattr(recovery, "deal_again", unpaid)


def _pays_too_much(patch: pytest.MonkeyPatch) -> None:
    """What is due is two cents more than the rules say."""
    due_cents = DealtBlackjack.due_cents

    def more(self: DealtBlackjack) -> Mapping[str, int]:
        return {stake_id: cents - 2 for stake_id, cents in due_cents(self).items()}

    patch.setattr(DealtBlackjack, "due_cents", more)


# -- 10: open hands ---------------------------------------------------------------------------------------------------


def _decides_for_single_players(patch: pytest.MonkeyPatch) -> None:
    """Who leaves a hand that nobody else waits for is decided for."""

    def is_away(self: LiveTable[Any, Any], player_id: str) -> bool:
        return self._seating.seat_of(player_id) is None or self._seating.is_ending(player_id)

    patch.setattr(LiveTable, "_is_away", is_away)


def _waits_for_the_absent(patch: pytest.MonkeyPatch) -> None:
    """Everybody waits for a player who has left."""
    patch.setattr(LiveTable, "_is_away", lambda *_: False)


def _blames_the_clock(patch: pytest.MonkeyPatch) -> None:
    """The journal names the clock for a decision for somebody who was away."""
    write = InMemoryJournal.write_moved

    def clock(self: InMemoryJournal, epoch: int, entry: Moved) -> None:
        acted_by = ActedBy.CLOCK if entry.acted_by is ActedBy.AWAY else entry.acted_by
        write(self, epoch, dataclasses.replace(entry, acted_by=acted_by))

    patch.setattr(InMemoryJournal, "write_moved", clock)


def _starts_the_deadline_anew(patch: pytest.MonkeyPatch) -> None:
    """Every owner gives an open hand its hours again."""
    new_hand = LiveTable._new_hand

    def anew(self: LiveTable[Any, Any], round_: Round[Any, Any], drawn: Drawn, *rest: object) -> Hand[Any, Any]:
        now = self._clock.now()
        begun: Hand[Any, Any] = cast("Any", new_hand)(self, round_, dataclasses.replace(drawn, drawn_at=now), *rest)
        return begun

    patch.setattr(LiveTable, "_new_hand", anew)


def _plays_on_while_leaving(patch: pytest.MonkeyPatch) -> None:
    """An owner that hands over waits for the players of open hands."""
    patch.setattr(_TableForTurns, "is_leaving", property(lambda _: False))


def _lets_decisions_wait(patch: pytest.MonkeyPatch) -> None:
    """An owner that has left a hand lets its players wait."""
    abandon = Hand.abandon

    def quiet(self: Hand[Any, Any], refusal: Refused) -> None:
        abandon(self, refusal)
        self._left = None

    patch.setattr(Hand, "abandon", quiet)


# The scenario that has to fail, for each break.
FOUND_BY: dict[BreakPromise, Callable[[], None]] = {
    _gives_stakes_back: lambda: test_moves.test_g3_a_decision_that_was_staked_and_not_journalled_counts_once(
        DOUBLE_ON_ELEVEN, DOUBLE, 1_000
    ),
    _forgets_who_has_asked: lambda: test_moves.test_g3_a_decision_whose_answer_was_lost_is_answered_by_the_next_owner(
        DOUBLE_ON_ELEVEN, DOUBLE, 1_000
    ),
    _forgets_request_ids: lambda: test_moves.test_g3_the_request_id_of_a_decision_makes_none_in_another_round(
        DRAW, taken_over=False
    ),
    _tells_first: test_moves.test_decisions_reach_nobody_before_they_are_durable,
    _stakes_nothing: test_moves.test_a_double_is_staked_journalled_and_paid,
    _takes_any_turn: test_moves.test_a_double_click_decides_once,
    _shuffles_again: test_takeover.test_a_round_that_was_dealt_and_not_shown_goes_on,
    _loses_the_decisions: lambda: test_takeover.test_the_same_cards_lie_after_every_takeover("killed", individual=True),
    _remembers_bets_it_never_had: lambda: test_takeover.test_g3_a_bet_is_answered_the_same_at_the_owner_that_goes_on(
        ended=False
    ),
    _voids_dealt_rounds: lambda: test_takeover.test_a_planned_handover_in_the_middle_of_a_hand_voids_nothing(
        individual=True
    ),
    _gives_seats_out_anew: test_takeover.test_players_keep_their_seats_after_a_takeover,
    _gives_a_seat_to_two: test_kept_seats.test_of_two_players_who_want_the_same_seat_at_once_one_is_refused,
    _tells_seats_of_former_owners_again: lambda: test_kept_seats.test_everybody_sees_which_seats_are_taken("killed"),
    _never_stands_still: test_turn_clock.test_the_clock_stands_for_all_while_money_of_one_is_asked_for,
    _decides_too_early: test_turn_clock.test_a_click_in_time_counts_although_the_wallet_is_slow,
    _takes_late_clicks: test_turn_clock.test_a_late_click_is_refused_and_locks_nothing,
    _forgets_the_dealing: test_turn_clock.test_the_clock_begins_when_the_cards_lie,
    _deals_no_more_after_a_takeover: lambda: (
        test_takeover.test_cards_that_are_being_dealt_at_a_takeover_lie_when_players_were_told("killed")
    ),
    _shows_the_hole_card: test_hidden_cards.test_g7_worlds_that_differ_in_hidden_cards_say_the_same,
    _refuses_with_the_hole_card: test_hidden_cards.test_g7_worlds_that_differ_in_hidden_cards_say_the_same,
    _logs_the_hole_card: test_hidden_cards.test_g7_worlds_that_differ_in_hidden_cards_say_the_same,
    _counts_the_hole_card: test_hidden_cards.test_g7_worlds_that_differ_in_hidden_cards_say_the_same,
    _insures_only_against_a_blackjack: test_hidden_cards.test_g7_worlds_that_differ_in_hidden_cards_say_the_same,
    _tells_everybody: test_hidden_cards.test_g7_nobody_is_told_the_decisions_of_another_player,
    _pays_at_the_end_only: test_early_payments.test_a_blackjack_is_paid_while_others_decide,
    _journals_first: lambda: test_early_payments.test_g4_an_owner_that_dies_around_an_early_payment_pays_once(
        "before the payment"
    ),
    _pays_under_new_names: lambda: test_early_payments.test_g4_an_owner_that_dies_around_an_early_payment_pays_once(
        "between payment and journal"
    ),
    _forgets_what_was_paid: test_early_payments.test_g4_what_was_paid_is_not_due_at_a_later_owner,
    _pays_too_much: test_early_payments.test_half_of_the_bet_comes_back_at_once_on_giving_up,
    _decides_for_single_players: test_open_hands.test_a_player_who_leaves_an_open_hand_comes_back_to_it,
    _waits_for_the_absent: test_open_hands.test_a_player_who_has_left_a_shared_table_is_decided_for_at_once,
    _blames_the_clock: test_open_hands.test_a_player_who_is_away_is_decided_for_among_questions_to_all,
    _starts_the_deadline_anew: test_open_hands.test_an_open_hand_is_ended_by_the_published_defaults_at_its_deadline,
    _plays_on_while_leaving: lambda: test_takeover.test_a_planned_handover_in_the_middle_of_a_hand_voids_nothing(
        individual=True
    ),
    _lets_decisions_wait: test_takeover.test_a_decision_at_an_owner_that_has_left_the_hand_is_refused_at_once,
}


@pytest.mark.parametrize("mutate", FOUND_BY, ids=lambda mutate: mutate.__name__.strip("_"))
def test_a_broken_promise_is_found(mutate: BreakPromise, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        FOUND_BY[mutate]()
