"""What is shown of a tournament: what a player alone sees of their own, and what nobody else does (G7)."""

from __future__ import annotations

import pytest

from feltro.poker.v1 import tournament_pb2
from feltro.wallet.v1 import ticket_pb2
from services.poker.directing import views
from services.poker.directing.course import Course
from services.poker.directing.fact_messages import Payment
from services.poker.tournament.levels import Level
from services.poker.tournament.money.entries import PaidBy
from services.poker.tournament.price import Price
from services.poker.tournament.running.facts import Event, Fact, Paid, TimePassed, Unregistered
from services.poker.tournament.running.state import entropy_bytes
from services.poker.tournament.specific_rules import default_rules
from services.poker.variant import Variant
from tests.engine.poker.tournament.builders import entropy

STARTS_AT_MS = 3_600_000
RULES = default_rules(
    Variant.HOLDEM, Price(1000, 100), seats=3, levels=(Level(50, 100, 600), Level(100, 200, 600)),
    late_reg_until_level=1, cancel_until_seconds=60,
)  # fmt: skip
TICKET = ticket_pb2.Ticket(ticket_id="won", value_cents=1_100, from_freeroll=True)


def after(course: Course, fact: Fact, at_ms: int = 1, payment: Payment | None = None) -> Course:
    event = Event(at_ms, fact, entropy(course.facts, entropy_bytes(course.state)))
    return course.after(event, payment)[0]


def entered() -> Course:
    """Three are in, Rui by a ticket, and Eva has taken it back."""
    course = Course.begin("sunday", RULES, STARTS_AT_MS)
    course = after(course, Paid("ana"), payment=Payment("account-ana", "in-1"))
    course = after(course, Paid("rui", PaidBy.TICKET, "ticket"), payment=Payment("account-rui", "in-2", "ticket"))
    course = after(course, Paid("eva"), payment=Payment("account-eva", "in-3"))
    course = after(course, Unregistered("eva"))
    return after(course, Paid("tia"), payment=Payment("account-tia", "in-4"))


def own(course: Course, player_id: str, now_ms: int = 1, *tickets: ticket_pb2.Ticket) -> tournament_pb2.OwnTournament:
    message = views.own(course, player_id, now_ms, tickets)
    assert message is not None
    return message


def test_who_has_neither_an_entry_nor_a_ticket_sees_nothing_of_their_own() -> None:
    course = entered()
    assert views.own(course, "visitor", 1) is None
    shown = own(course, "visitor", 1, TICKET)
    assert [(each.ticket_id, each.value_cents, each.from_freeroll) for each in shown.tickets] == [("won", 1_100, True)]
    assert not shown.HasField("entry")


@pytest.mark.rule("810/2015:24")
def test_a_player_is_shown_that_a_registration_can_be_taken_back_while_it_can() -> None:
    course = entered()
    assert own(course, "ana").can_unregister
    closes_at_ms = STARTS_AT_MS - 60_000
    assert own(course, "ana", closes_at_ms - 1).can_unregister
    assert not own(course, "ana", closes_at_ms).can_unregister
    assert not own(after(course, TimePassed(), STARTS_AT_MS), "ana", STARTS_AT_MS).can_unregister
    # Who has taken it back has nothing to take back, and may come again.
    assert not own(course, "eva").can_unregister
    assert own(course, "eva").reentry.prize_cents == 1_000


@pytest.mark.guarantee("G7")
def test_g7_a_list_names_players_to_the_operator_alone_and_marks_the_callers_own_entry() -> None:
    course = entered()

    def listed(*, shows_player: bool, own_player_id: str) -> list[tuple[int, str, bool, bool]]:
        shown = views.players(course, shows_player=shows_player, own_player_id=own_player_id)
        return [(each.entry_no, each.player_id, each.own, each.by_ticket) for each in shown]

    # An entry that was taken back comes last.
    assert listed(shows_player=False, own_player_id="rui") == [
        (1, "", False, False),
        (2, "", True, True),
        (4, "", False, False),
        (3, "", False, False),
    ]
    assert listed(shows_player=True, own_player_id="") == [
        (1, "ana", False, False),
        (2, "rui", False, True),
        (4, "tia", False, False),
        (3, "eva", False, False),
    ]
    assert not any(is_own for _, _, is_own, _ in listed(shows_player=False, own_player_id=""))
