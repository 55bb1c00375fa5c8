"""Breaks each promise of a table with caves on purpose: the scenario that makes it has to fail."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY, Counter
from prometheus_client.core import Metric

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit.bus.connections import Line
from services.kit.refusal import Refused
from services.kit.table.caves.rules import Decisions
from services.kit.table.caves.table import CaveTable
from services.kit.table.hands.table import _PlayersTime
from services.kit.table.journal.entries import ActedBy, Moved
from services.kit.table.live.table import LiveTable
from services.kit.table.turns import resuming
from services.kit.table.turns.hand import Hand
from services.poker.dealt_hand import DealtPoker
from services.poker.game import PokerRules
from services.poker.hand import views
from services.poker.hand.state import Hand as PokerHand
from services.poker.hand.views import View
from services.poker.messages import Outcome
from services.poker.seated_lineup import SeatedLineup
from services.wallet.ledger import caves, commands, decisions
from services.wallet.ledger.book import Book
from tests.simulation.caves import test_clocks, test_conservation, test_hidden_cards
from tests.simulation.caves.seated import test_caves, test_leaving_folded, test_presence, test_sessions
from tests.simulation.environment.journal import InMemoryJournal
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.own_views import ToldOwnViews

BreakPromise = Callable[[pytest.MonkeyPatch], None]


# -- 2: the same cards ------------------------------------------------------------------------------------------------


def _shuffles_again(patch: pytest.MonkeyPatch) -> None:
    """The next owner deals other cards."""
    dealt_from = resuming.dealt_from
    patch.setattr(
        resuming, "dealt_from", lambda rules, drawn: dealt_from(rules, dataclasses.replace(drawn, entropy=bytes(4096)))
    )


# -- 4: hidden cards --------------------------------------------------------------------------------------------------


def _shows_folded_cards(patch: pytest.MonkeyPatch) -> None:
    """Everybody sees the cards of who has folded, when the hand is over."""
    view = views.view

    def all_cards(hand: PokerHand) -> View:
        seen = view(hand)
        if not hand.is_over:
            return seen
        shown = (dataclasses.replace(each, cards=hand.deal.holes[at]) for at, each in enumerate(seen.seats))
        return dataclasses.replace(seen, seats=tuple(shown))

    patch.setattr(views, "view", all_cards)


def _refuses_with_a_card(patch: pytest.MonkeyPatch) -> None:
    """A refusal names everybody's cards."""
    judge = DealtPoker.judge

    def talkative(self: DealtPoker, seat: int, move: bytes) -> None:
        try:
            judge(self, seat, move)
        except Refused as refused:
            names = " ".join(card.name for hole in self.hand.deal.holes for card in hole)
            raise Refused(refused.reason, refused.sentence, {**refused.facts, "cards": names}) from None

    patch.setattr(DealtPoker, "judge", talkative)


def _logs_a_card(patch: pytest.MonkeyPatch) -> None:
    """What is logged of a decision has everybody's cards."""
    _judges_with(
        patch,
        lambda dealt: logging.getLogger("services.poker").debug(
            "a decision", extra={"holes": [card.name for hole in dealt.hand.deal.holes for card in hole]}
        ),
    )


def _counts_a_card(patch: pytest.MonkeyPatch) -> None:
    """A metric of decisions has everybody's first card as a label."""
    counter = Counter("feltro_test_poker", "Decisions by the cards of a hand.", ["cards"], registry=None)
    collect = REGISTRY.collect

    def more() -> Iterable[Metric]:
        return [*collect(), *counter.collect()]

    patch.setattr(REGISTRY, "collect", more)
    _judges_with(patch, lambda dealt: counter.labels("".join(hole[0].name for hole in dealt.hand.deal.holes)).inc())


def _judges_with(patch: pytest.MonkeyPatch, more: Callable[[DealtPoker], None]) -> None:
    judge = DealtPoker.judge

    def talkative(self: DealtPoker, seat: int, move: bytes) -> None:
        more(self)
        judge(self, seat, move)

    patch.setattr(DealtPoker, "judge", talkative)


def _tells_another_player(patch: pytest.MonkeyPatch) -> None:
    """The private view of one player is sent to another."""
    publish = ToldOwnViews.publish

    def careless(self: ToldOwnViews, changed: events_pb2.OwnViewChanged) -> None:
        changed.player_id = {"ana": "rui", "rui": "eva", "eva": "ana"}.get(changed.player_id, changed.player_id)
        publish(self, changed)

    patch.setattr(ToldOwnViews, "publish", careless)


def _says_too_early_who_wins(patch: pytest.MonkeyPatch) -> None:
    """While the streets of an all-in are dealt, the view says whose combination wins."""
    patch.setattr(DealtPoker, "_before_end", lambda _self, view, _cards: view)


# -- 7: conservation --------------------------------------------------------------------------------------------------


def _keeps_the_commission(patch: pytest.MonkeyPatch) -> None:
    """The commission of a hand reaches nobody."""
    transfer_hand = caves.transfer_hand

    def lossy(book: Book, command: commands.TransferHand, no: int) -> wallet_pb2.TransferHandResponse:
        answer = transfer_hand(book, command, no)
        book.accounts[book.tables[command.table_no].bank_no].free_cents -= command.commission_cents
        return answer

    patch.setitem(decisions.DECISIONS, commands.TransferHand, lossy)


def _pays_twice(patch: pytest.MonkeyPatch) -> None:
    """The winner of a hand is paid once more."""
    transfer_hand = caves.transfer_hand

    def generous(book: Book, command: commands.TransferHand, no: int) -> wallet_pb2.TransferHandResponse:
        answer = transfer_hand(book, command, no)
        for seat in command.seats:
            caves._cave_of(book, book.tables[command.table_no], seat).free_cents += seat.won_cents
        return answer

    patch.setitem(decisions.DECISIONS, commands.TransferHand, generous)


def _forgets_what_was_lost(patch: pytest.MonkeyPatch) -> None:
    """Who has folded and leaves gets what they have bet, too."""
    lost_cents = DealtPoker.lost_cents
    patch.setattr(DealtPoker, "lost_cents", lambda self, seat: None if lost_cents(self, seat) is None else 0)


def _cashes_out_at_the_end_only(patch: pytest.MonkeyPatch) -> None:
    """Who has folded and leaves waits for the end of the hand."""
    patch.setattr(CaveTable, "_folded_to_go", lambda _: [])


# -- 8: seats, button and blinds --------------------------------------------------------------------------------------


def _draws_the_button_again(patch: pytest.MonkeyPatch) -> None:
    """The next owner draws the button by lot."""
    lineup = PokerRules.lineup
    patch.setattr(PokerRules, "lineup", lambda self, _last, dealt_in: lineup(self, None, dealt_in))


def _forgets_who_waits(patch: pytest.MonkeyPatch) -> None:
    """The next owner deals everybody in who is there."""
    take_seat = SeatedLineup.take_seat

    def established(self: SeatedLineup, seat: int, cave_cents: int, kept: bytes = b"") -> SeatedLineup:
        known = self if not self.established else dataclasses.replace(self, established=frozenset(range(1, 11)))
        return take_seat(known, seat, cave_cents, b"" if self.established else kept)

    patch.setattr(SeatedLineup, "take_seat", established)


# -- 10: absent is not clicked ----------------------------------------------------------------------------------------


def _blames_the_player(patch: pytest.MonkeyPatch) -> None:
    """The journal names the player for what the clock has decided."""
    write = InMemoryJournal.write_moved

    def player(self: InMemoryJournal, epoch: int, entry: Moved) -> None:
        write(self, epoch, dataclasses.replace(entry, acted_by=ActedBy.PLAYER))

    patch.setattr(InMemoryJournal, "write_moved", player)


def _counts_the_clock_as_a_click(patch: pytest.MonkeyPatch) -> None:
    """A player who leaves hands to the clock is taken for present."""
    _counts(patch, lambda each: Decisions(each.in_person + each.left_to_clock, 0))


def _counts_a_click_as_the_clock(patch: pytest.MonkeyPatch) -> None:
    """A player who folds in person is taken for absent."""
    _counts(patch, lambda each: Decisions(0, each.in_person + each.left_to_clock))


def _counts(patch: pytest.MonkeyPatch, change: Callable[[Decisions], Decisions]) -> None:
    after_hand = SeatedLineup.after_hand

    def counted(self: SeatedLineup, outcome: Outcome, decided: Mapping[int, Decisions]) -> object:
        return after_hand(self, outcome, {seat: change(each) for seat, each in decided.items()})

    patch.setattr(SeatedLineup, "after_hand", counted)


# -- 11: the platform's lines and the players' ------------------------------------------------------------------------


def _runs_on_without_the_gateway(patch: pytest.MonkeyPatch) -> None:
    """The clock runs while the platform cannot reach the player in turn."""
    _takes_for(patch, Line.UNKNOWN, Line.CONNECTED)


def _stands_still_for_a_players_line(patch: pytest.MonkeyPatch) -> None:
    """A line that is the player's own stops the clock."""
    _takes_for(patch, Line.AWAY, Line.UNKNOWN)


def _stands_still_for_anybodys_line(patch: pytest.MonkeyPatch) -> None:
    """The clock stands still while anybody at the table cannot be reached."""
    line_of = _PlayersTime.line_of

    def any_line(self: _PlayersTime, seat: int) -> Line:
        lines = {line_of(self, each.number) for each in self._table._seating.seats()}
        return Line.UNKNOWN if Line.UNKNOWN in lines else line_of(self, seat)

    patch.setattr(_PlayersTime, "line_of", any_line)


def _takes_for(patch: pytest.MonkeyPatch, line: Line, other: Line) -> None:
    line_of = _PlayersTime.line_of

    def changed(self: _PlayersTime, seat: int) -> Line:
        found = line_of(self, seat)
        return other if found is line else found

    patch.setattr(_PlayersTime, "line_of", changed)


def _waits_for_the_gateway_for_ever(patch: pytest.MonkeyPatch) -> None:
    """A hand waits for a gateway without end."""
    patch.setattr(_PlayersTime, "gateway_pause", property(lambda _: timedelta(days=1)))


def _gives_more_time_in_each_turn(patch: pytest.MonkeyPatch) -> None:
    """Who has lost the line has more time again and again."""
    follow_line = Hand._follow_line

    def forgetful(self: Hand[Any, Any], turn: Any) -> None:  # noqa: ANN401 - a turn
        self._helped.clear()
        follow_line(self, turn)

    patch.setattr(Hand, "_follow_line", forgetful)


# -- who has left -----------------------------------------------------------------------------------------------------


def _waits_for_who_has_left(patch: pytest.MonkeyPatch) -> None:
    """Everybody waits for the clock of a player who has left."""
    patch.setattr(LiveTable, "_is_away", lambda *_: False)


def _hidden() -> None:
    test_hidden_cards.test_g7_worlds_that_differ_in_folded_and_undealt_cards_say_the_same()


def _conserved() -> None:
    test_conservation.test_g1_leaving_all_in_top_up_and_cash_out_race_the_end_of_a_hand(Delivery(), dies=False)


# The scenario that has to fail, for each break.
FOUND_BY: dict[BreakPromise, Callable[[], None]] = {
    _shuffles_again: test_caves.test_a_hand_goes_on_with_the_very_cards_when_its_owner_dies,
    _shows_folded_cards: _hidden,
    _refuses_with_a_card: _hidden,
    _logs_a_card: _hidden,
    _counts_a_card: _hidden,
    _tells_another_player: _hidden,
    _says_too_early_who_wins: lambda: (
        test_clocks.test_who_looks_at_the_table_while_the_last_card_is_dealt_does_not_see_who_wins("806/2015")
    ),
    _keeps_the_commission: _conserved,
    _pays_twice: _conserved,
    _forgets_what_was_lost: lambda: (
        test_leaving_folded.test_who_has_folded_and_leaves_has_the_rest_of_the_cave_while_others_play_on(dies=False)
    ),
    _cashes_out_at_the_end_only: lambda: (
        test_leaving_folded.test_who_has_folded_and_leaves_has_the_rest_of_the_cave_while_others_play_on(dies=False)
    ),
    _draws_the_button_again: lambda: test_conservation.test_button_and_blinds_go_round_as_in_an_undisturbed_run(
        "handed over"
    ),
    _forgets_who_waits: lambda: test_conservation.test_button_and_blinds_go_round_as_in_an_undisturbed_run("killed"),
    _blames_the_player: test_sessions.test_absent_is_not_clicked_in_the_journal_and_for_the_session,
    _counts_the_clock_as_a_click: test_presence.test_hands_left_to_the_clock_are_counted_over_a_takeover,
    _counts_a_click_as_the_clock: test_sessions.test_who_folds_in_person_is_never_invited,
    _runs_on_without_the_gateway: (
        test_clocks.test_the_clock_stands_while_our_gateway_is_away_and_begins_anew_when_the_player_is_back
    ),
    _stands_still_for_a_players_line: (
        test_clocks.test_a_players_own_lost_line_gives_more_time_once_and_then_the_clock_decides
    ),
    _stands_still_for_anybodys_line: (
        test_clocks.test_the_clock_stands_while_our_gateway_is_away_and_begins_anew_when_the_player_is_back
    ),
    _waits_for_the_gateway_for_ever: (
        test_clocks.test_a_hand_is_void_when_our_gateway_is_away_for_longer_than_it_may_wait
    ),
    _gives_more_time_in_each_turn: (
        test_clocks.test_a_players_own_lost_line_gives_more_time_once_and_then_the_clock_decides
    ),
    _waits_for_who_has_left: test_caves.test_who_leaves_in_the_middle_of_a_hand_folds_and_takes_the_rest_of_the_cave,
}


@pytest.mark.parametrize("mutate", FOUND_BY, ids=lambda mutate: mutate.__name__.strip("_"))
def test_a_broken_promise_is_found(mutate: BreakPromise, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        FOUND_BY[mutate]()
