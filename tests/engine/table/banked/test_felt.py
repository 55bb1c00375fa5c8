"""The felt: one refusal is one player's own, and a limit of the table as a whole holds whatever the wallet answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from google.protobuf.wrappers_pb2 import StringValue
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from services.kit.table.banked.felt import Felt, Stake, TakenBack
from services.kit.table.game import Totals
from services.kit.table.refusals import TableRefused
from services.kit.table.seat import Seat

Bets = Mapping[str, int]
AT = datetime(2026, 1, 2, tzinfo=UTC)
# The two sides of the table may differ by so much at the most.
DIFFERENCE_LIMIT = 500
PLAYERS = ("ana", "rui", "eva")


class TwoSides:
    """A game of two sides whose bets may not differ by more than a limit, over all players."""

    judges_everything = False

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:
        if self.judges_everything:
            raise TableRefused("ABOVE_MAXIMUM", "Nothing more.")
        together = self.together([on_felt or {}, added])
        assert together is not None
        return together

    def take(self, on_felt: Bets, taken: Bets) -> Bets | None:
        if self.judges_everything or any(on_felt.get(side, 0) < cents for side, cents in taken.items()):
            raise TableRefused("NOT_ON_FELT", "There is not so much.")
        return self.divide(on_felt, taken)[1]

    def together(self, bets: Iterable[Bets]) -> Bets | None:
        felt: dict[str, int] = {}
        for each in bets:
            for side, cents in each.items():
                felt[side] = felt.get(side, 0) + cents
        return felt or None

    def divide(self, bets: Bets, wanted: Bets) -> tuple[Bets | None, Bets | None]:
        held = {side: min(cents, wanted[side]) for side, cents in bets.items() if wanted.get(side)}
        rest = {side: cents - held.get(side, 0) for side, cents in bets.items() if cents > held.get(side, 0)}
        return held or None, rest or None

    def total_cents(self, bets: Bets) -> int:
        return sum(bets.values())

    def totals(self, bets: Bets) -> Totals:
        return bets

    def fits(self, counted: Totals, coming: Totals, going: Totals, change: Totals) -> None:
        """Whatever is on its way may be refused, and whatever is being taken back may stay or go."""
        for side, other in (("left", "right"), ("right", "left")):
            most = counted.get(side, 0) + coming.get(side, 0) + max(change.get(side, 0), 0)
            least = counted.get(other, 0) - going.get(other, 0) + min(change.get(other, 0), 0)
            if most - least > DIFFERENCE_LIMIT:
                raise TableRefused("ABOVE_TOTAL", "The sides differ too much.")

    def bets_message(self, bets: Bets) -> StringValue:
        return StringValue(value=str(sorted(bets.items())))


def stake_of(player_id: str, bets: Bets, number: int = 0) -> Stake[Bets]:
    seat = Seat(PLAYERS.index(player_id) + 1, player_id, player_id, player_id)
    return Stake(f"stake-{number}", f"request-{number}", seat, bets, b"", sum(bets.values()))


def felt_of(rules: TwoSides) -> Felt[Bets, Any]:
    return Felt(cast("Any", rules))


def add(felt: Felt[Bets, Any], stake: Stake[Bets]) -> None:
    """Adds a stake, as a round does: it is judged, and lies there on its way to the wallet."""
    felt.add(stake, felt.judge(stake.seat.player_id, stake.bets))


@pytest.mark.guarantee("G9")
def test_g9_lifting_and_showing_never_judge_what_was_accepted() -> None:
    """Rules that refuse everything from now on make nobody's round a fault."""
    rules = TwoSides()
    felt = felt_of(rules)
    counted, refused = stake_of("ana", {"left": 100}, 1), stake_of("ana", {"left": 50, "right": 10}, 2)
    other = stake_of("rui", {"right": 30}, 3)
    for stake in (counted, refused, other):
        add(felt, stake)
    felt.accept(counted, AT)
    felt.accept(other, AT)
    chosen = felt.choose("ana", {"left": 40})
    felt.begin_taking_back(chosen)
    rules.judges_everything = True
    assert [(seat.player_id, bets, cents) for seat, bets, cents in felt.bets_by_seat()] == [
        ("ana", {"left": 100}, 100),
        ("rui", {"right": 30}, 30),
    ]
    felt.remove(refused)
    felt.take_back(chosen)
    assert felt.accepted_bets_of("ana") == {"left": 60}
    assert (counted.amount_cents, counted.bets) == (60, {"left": 60})


@pytest.mark.guarantee("G12")
def test_g12_bets_that_another_player_leans_on_stay() -> None:
    felt = felt_of(TwoSides())
    support, leaning = stake_of("ana", {"left": 400}, 1), stake_of("rui", {"right": 900}, 2)
    add(felt, support)
    with pytest.raises(TableRefused):
        # The stake on the other side may still be refused.
        felt.judge("rui", leaning.bets)
    felt.accept(support, AT)
    add(felt, leaning)
    felt.accept(leaning, AT)
    with pytest.raises(TableRefused):
        felt.choose("ana", {"left": 1})
    (taken,) = felt.choose("rui", {"right": 900})
    assert taken.rest is None


class AnyOrder(RuleBasedStateMachine):
    """Players bet and take back, and the wallet accepts and refuses, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.felt = felt_of(TwoSides())
        self.coming: list[Stake[Bets]] = []
        self.going: list[list[TakenBack[Bets]]] = []
        self.number = 0

    @rule(
        player=st.sampled_from(PLAYERS),
        bets=st.dictionaries(st.sampled_from(["left", "right"]), st.integers(1, 400), min_size=1),
    )
    def bet(self, player: str, bets: dict[str, int]) -> None:
        self.number += 1
        stake = stake_of(player, bets, self.number)
        try:
            add(self.felt, stake)
        except TableRefused:
            return
        self.coming.append(stake)

    @precondition(lambda self: self.coming)
    @rule(data=st.data(), accepted=st.booleans())
    def answer_bet(self, data: st.DataObject, accepted: bool) -> None:  # noqa: FBT001 - drawn
        stake = self.coming.pop(data.draw(st.integers(0, len(self.coming) - 1)))
        if accepted:
            self.felt.accept(stake, AT)
        else:
            self.felt.remove(stake)

    @rule(
        player=st.sampled_from(PLAYERS),
        bets=st.none() | st.dictionaries(st.sampled_from(["left", "right"]), st.integers(1, 400), min_size=1),
    )
    def take_back(self, player: str, bets: dict[str, int] | None) -> None:
        # One at a time for each player, as in a round.
        if any(taken.stake.seat.player_id == player for chosen in self.going for taken in chosen):
            return
        try:
            chosen = self.felt.choose(player, bets)
        except TableRefused:
            return
        assert bets is None or TwoSides().together(taken.bets for taken in chosen) == bets
        self.felt.begin_taking_back(chosen)
        self.going.append(chosen)

    @precondition(lambda self: self.going)
    @rule(data=st.data(), given_back=st.booleans())
    def answer_take_back(self, data: st.DataObject, given_back: bool) -> None:  # noqa: FBT001 - drawn
        chosen = self.going.pop(data.draw(st.integers(0, len(self.going) - 1)))
        if given_back:
            self.felt.take_back(chosen)
        else:
            self.felt.keep(chosen)

    @invariant()
    def what_counts_is_within_the_limit_and_adds_up(self) -> None:
        stakes = list(self.felt.accepted_stakes())
        rules = TwoSides()
        counted = rules.together(stake.bets for stake in stakes) or {}
        assert abs(counted.get("left", 0) - counted.get("right", 0)) <= DIFFERENCE_LIMIT
        assert all(stake.amount_cents == sum(stake.bets.values()) for stake in stakes)
        for player in PLAYERS:
            own = rules.together(stake.bets for stake in self.felt.accepted_stakes_of(player))
            assert self.felt.accepted_bets_of(player) == own


def test_the_limit_of_the_table_holds_in_any_order_of_bets_and_answers() -> None:
    run_state_machine_as_test(AnyOrder, settings=settings(max_examples=100, stateful_step_count=40, deadline=None))
