"""Inactivity rule by rule: the rulebook's vectors, and that only the regulation's steps ever end a session."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.wallet.model import inactivity
from services.wallet.model.refusals import WalletRefused
from services.wallet.model.state import Device, EndCause, InactivityPolicy, Mode, Notice, Play, Session, SessionState

T0 = datetime(2026, 1, 5, 20, 0, tzinfo=UTC)
LAW = InactivityPolicy()
ALL_DEFAULTS = InactivityPolicy(
    idle_seconds=0, missed_rounds=0, warn_after_seconds=0, end_after_seconds=0, rebuy_grace_seconds=0
)
BANKED = ("804/2015", "807/2015", "805/2015", "812/2015")
POKER = ("806/2015", "811/2015")


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def session_at(play: Play, regulation: str = "804/2015", policy: InactivityPolicy = LAW) -> Session:
    """Returns a session that started at `T0`, with the last bet at the same time."""
    session = Session(
        no=1,
        session_id="s",
        player_id="ana",
        account_no=1,
        account_id="a",
        table_no=1,
        table_id="t",
        game="game",
        regulation=regulation,
        mode=Mode.REAL,
        play=play,
        state=SessionState.ACTIVE,
        device=Device(),
        started_at=T0,
        started_version=0,
        ended_at=None,
        ended_version=None,
        end_cause=None,
        last_activity_at=T0,
        idle_since=T0,
        missed_rounds=0,
        warned_at=None,
        warned_round_id=None,
        cave_short_since=None,
        next_step_at=None,
    )
    inactivity.session_started(session, policy, T0)
    return session


def settle(
    session: Session,
    round_id: str,
    *,
    bet: bool = False,
    excused: bool = False,
    short: bool = False,
    seconds: float = 0,
    policy: InactivityPolicy = LAW,
) -> list[Notice]:
    return inactivity.after_round(
        session, policy, round_id=round_id, bet=bet, excused=excused, cave_below_minimum=short, now=at(seconds)
    )


def state_of(session: Session) -> SessionState:
    """Returns the state: by a call, because the type checker keeps an attribute at its last asserted value."""
    return session.state


def kinds(notices: list[Notice]) -> list[str]:
    return [notice.kind for notice in notices]


def kinds_and_rules(notices: list[Notice]) -> list[tuple[str, str]]:
    return [(notice.kind, notice.rule) for notice in notices]


def miss_rounds(session: Session, rounds: int) -> list[Notice]:
    return [notice for number in range(1, rounds + 1) for notice in settle(session, f"r{number}")]


# -- individual tables ----------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:28")
@pytest.mark.rule("804/2015:28.a")
@pytest.mark.rule("807/2015:30")
@pytest.mark.rule("807/2015:30.a")
@pytest.mark.rule("805/2015:35")
@pytest.mark.rule("805/2015:35.a")
@pytest.mark.rule("812/2015:35")
@pytest.mark.rule("812/2015:35.a")
@pytest.mark.parametrize(
    ("regulation", "rule"),
    [
        ("804/2015", "804/2015:28.a"),
        ("807/2015", "807/2015:30.a"),
        ("805/2015", "805/2015:35.a"),
        ("812/2015", "812/2015:35.a"),
        ("803/2015", "803/2015:41.a"),
    ],
)
def test_a9_more_than_three_minutes_is_strict(regulation: str, rule: str) -> None:
    session = session_at(Play.INDIVIDUAL, regulation)

    assert inactivity.take_due_step(session, LAW, at(180.0)) == []
    assert state_of(session) is SessionState.ACTIVE
    assert kinds_and_rules(inactivity.take_due_step(session, LAW, at(180.1))) == [("INVITATION", rule)]
    assert state_of(session) is SessionState.INVITED


@pytest.mark.rule("804/2015:28.a")
def test_the_invitation_is_due_at_the_first_moment_that_is_more_than_three_minutes() -> None:
    session = session_at(Play.INDIVIDUAL)

    assert session.next_step_at == at(180) + timedelta(microseconds=1)
    assert kinds(inactivity.take_due_step(session, LAW, session.next_step_at)) == ["INVITATION"]


def warned_at_200() -> Session:
    session = session_at(Play.INDIVIDUAL)
    inactivity.take_due_step(session, LAW, at(180) + timedelta(microseconds=1))
    inactivity.take_due_step(session, LAW, at(200.1))
    assert state_of(session) is SessionState.WARNED
    return session


@pytest.mark.rule("804/2015:29")
@pytest.mark.rule("807/2015:31")
@pytest.mark.rule("805/2015:36")
@pytest.mark.rule("812/2015:36")
@pytest.mark.parametrize(
    ("regulation", "rule"),
    [
        ("804/2015", "804/2015:29"),
        ("807/2015", "807/2015:31"),
        ("805/2015", "805/2015:36"),
        ("812/2015", "812/2015:36"),
    ],
)
def test_a10_the_warning_gives_a_whole_minute(regulation: str, rule: str) -> None:
    session = session_at(Play.INDIVIDUAL, regulation)
    inactivity.take_due_step(session, LAW, at(180.1))

    assert inactivity.take_due_step(session, LAW, at(200.0)) == []
    (warning,) = inactivity.take_due_step(session, LAW, at(200.1))
    assert (warning.kind, warning.rule, warning.ends_at) == ("WARNING", rule, at(260.1))
    inactivity.take_due_step(session, LAW, at(260.0))
    assert state_of(session) is SessionState.WARNED
    assert inactivity.take_due_step(session, LAW, at(260.1)) == []
    assert (session.state, session.end_cause) == (SessionState.ENDING, EndCause.INACTIVITY)


@pytest.mark.rule("804/2015:29")
def test_a10_a_bet_in_the_last_second_withdraws_the_warning() -> None:
    session = warned_at_200()

    assert kinds_and_rules(inactivity.after_bet(session, at(259))) == [("WITHDRAWN", "804/2015:29")]
    assert inactivity.take_due_step(session, LAW, at(260.2)) == []
    assert state_of(session) is SessionState.ACTIVE
    assert session.warned_at is None
    assert inactivity.take_due_step(session, LAW, at(259 + 180)) == []
    assert kinds(inactivity.take_due_step(session, LAW, at(259 + 180.1))) == ["INVITATION"]


@pytest.mark.rule("804/2015:29")
def test_no_step_is_skipped_however_late_the_check() -> None:
    session = session_at(Play.INDIVIDUAL)

    assert kinds(inactivity.take_due_step(session, LAW, at(10_000))) == ["INVITATION"]
    assert inactivity.take_due_step(session, LAW, at(10_000)) == []
    (warning,) = inactivity.take_due_step(session, LAW, at(20_000))
    assert warning.ends_at == at(20_060)
    assert inactivity.take_due_step(session, LAW, at(20_059)) == []
    assert state_of(session) is SessionState.WARNED


@pytest.mark.rule("804/2015:29")
def test_a_wrong_next_step_cannot_shorten_the_minute() -> None:
    session = warned_at_200()
    session.next_step_at = at(210)

    inactivity.take_due_step(session, LAW, at(230))

    assert state_of(session) is SessionState.WARNED


@pytest.mark.rule("805/2015:35.a")
def test_b24_the_three_minutes_start_at_the_end_of_the_last_round() -> None:
    session = session_at(Play.INDIVIDUAL, "805/2015")
    inactivity.after_bet(session, at(10))

    assert settle(session, "r1", bet=True, seconds=500) == []
    assert inactivity.take_due_step(session, LAW, at(680)) == []
    assert kinds(inactivity.take_due_step(session, LAW, at(680.1))) == ["INVITATION"]


@pytest.mark.rule("805/2015:35.a")
def test_b24_a_round_in_play_postpones_the_next_step() -> None:
    session = session_at(Play.INDIVIDUAL, "805/2015")

    inactivity.postpone_while_in_play(session, at(200))

    assert session.next_step_at is not None
    assert session.next_step_at > at(200)
    assert state_of(session) is SessionState.ACTIVE


def test_missed_rounds_do_not_count_at_an_individual_table() -> None:
    session = session_at(Play.INDIVIDUAL)

    assert miss_rounds(session, 10) == []
    assert inactivity.round_announced(session, "r11", T0) == []
    assert state_of(session) is SessionState.ACTIVE


@pytest.mark.guarantee("G9")
def test_g9_an_outage_restarts_the_time_after_the_warning() -> None:
    session = warned_at_200()

    assert inactivity.restart_warning(session_at(Play.INDIVIDUAL), LAW, at(1000)) == [], "nobody was warned"
    (warning,) = inactivity.restart_warning(session, LAW, at(1000))

    assert (warning.kind, warning.ends_at) == ("WARNING", at(1060))
    inactivity.take_due_step(session, LAW, at(1059))
    assert state_of(session) is SessionState.WARNED
    inactivity.take_due_step(session, LAW, at(1060))
    assert state_of(session) is SessionState.ENDING


# -- multi-player tables --------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:28.b")
@pytest.mark.rule("807/2015:30.b")
@pytest.mark.rule("805/2015:35.b")
@pytest.mark.rule("812/2015:35.b")
@pytest.mark.parametrize(
    ("regulation", "rule"),
    [
        ("804/2015", "804/2015:28.b"),
        ("807/2015", "807/2015:30.b"),
        ("805/2015", "805/2015:35.b"),
        ("812/2015", "812/2015:35.b"),
        ("803/2015", "803/2015:41.b"),
    ],
)
def test_a11_more_than_five_rounds_is_strict(regulation: str, rule: str) -> None:
    session = session_at(Play.MULTI_PLAYER, regulation)

    assert miss_rounds(session, 5) == []
    assert state_of(session) is SessionState.ACTIVE
    assert kinds_and_rules(settle(session, "r6")) == [("INVITATION", rule)]
    assert state_of(session) is SessionState.INVITED


@pytest.mark.rule("804/2015:29")
@pytest.mark.rule("807/2015:31")
@pytest.mark.rule("805/2015:36")
@pytest.mark.rule("812/2015:36")
@pytest.mark.parametrize("regulation", BANKED)
def test_a11_the_warning_and_one_more_round(regulation: str) -> None:
    session = session_at(Play.MULTI_PLAYER, regulation)
    miss_rounds(session, 6)

    (warning,) = inactivity.round_announced(session, "r7", T0)
    assert (warning.kind, warning.round_id, warning.ends_at) == ("WARNING", "r7", None)
    assert warning.rule == inactivity.ARTICLES[regulation].warning
    assert settle(session, "r7") == []
    assert (session.state, session.end_cause) == (SessionState.ENDING, EndCause.INACTIVITY)


@pytest.mark.rule("804/2015:29")
def test_no_session_ends_without_the_warning() -> None:
    session = session_at(Play.MULTI_PLAYER)

    assert kinds(miss_rounds(session, 50)) == ["INVITATION"]
    assert state_of(session) is SessionState.INVITED


@pytest.mark.rule("804/2015:29")
def test_a_round_already_open_at_the_warning_does_not_end_the_session() -> None:
    session = session_at(Play.MULTI_PLAYER)
    miss_rounds(session, 6)
    inactivity.round_announced(session, "r8", T0)

    settle(session, "r7")

    assert state_of(session) is SessionState.WARNED


@pytest.mark.rule("804/2015:28.b")
def test_a_bet_restarts_the_count() -> None:
    session = session_at(Play.MULTI_PLAYER)
    miss_rounds(session, 5)

    assert settle(session, "bet", bet=True) == []
    assert miss_rounds(session, 5) == []
    assert kinds(settle(session, "r6")) == ["INVITATION"]


@pytest.mark.rule("804/2015:29")
def test_a_bet_in_the_warned_round_withdraws_the_warning() -> None:
    session = session_at(Play.MULTI_PLAYER)
    miss_rounds(session, 6)
    inactivity.round_announced(session, "r7", T0)

    assert kinds(inactivity.after_bet(session, at(1))) == ["WITHDRAWN"]
    assert settle(session, "r7", bet=True) == []
    assert (session.state, session.missed_rounds) == (SessionState.ACTIVE, 0)


def test_an_excused_round_neither_counts_nor_resets_at_a_banked_table() -> None:
    session = session_at(Play.MULTI_PLAYER)
    miss_rounds(session, 5)

    assert settle(session, "x", excused=True) == []
    assert session.missed_rounds == 5
    assert kinds(settle(session, "r6")) == ["INVITATION"]


@pytest.mark.rule("804/2015:29")
def test_a_warned_round_that_never_ended_is_replaced_without_a_second_notice() -> None:
    session = session_at(Play.MULTI_PLAYER)
    miss_rounds(session, 6)
    inactivity.round_announced(session, "void", T0)

    assert inactivity.round_announced(session, "r8", T0) == []
    assert session.warned_round_id == "r8"
    settle(session, "r8")
    assert state_of(session) is SessionState.ENDING


def test_an_announcement_warns_only_the_invited() -> None:
    session = session_at(Play.MULTI_PLAYER)

    assert inactivity.round_announced(session, "r1", T0) == []
    assert state_of(session) is SessionState.ACTIVE


def test_time_does_not_count_at_a_multi_player_table() -> None:
    session = session_at(Play.MULTI_PLAYER)

    assert session.next_step_at is None
    assert inactivity.take_due_step(session, LAW, at(1e6)) == []
    assert state_of(session) is SessionState.ACTIVE


# -- poker ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("806/2015:70")
@pytest.mark.rule("811/2015:70")
@pytest.mark.rule("806/2015:70.b")
@pytest.mark.rule("811/2015:70.b")
@pytest.mark.rule("806/2015:71")
@pytest.mark.rule("811/2015:71")
@pytest.mark.parametrize("regulation", POKER)
def test_c30_an_absent_player_is_invited_warned_and_ended(regulation: str) -> None:
    session = session_at(Play.POKER, regulation)

    assert miss_rounds(session, 5) == []
    assert kinds_and_rules(settle(session, "r6")) == [("INVITATION", f"{regulation}:70.b")]
    (warning,) = inactivity.round_announced(session, "r7", T0)
    assert (warning.kind, warning.rule, warning.round_id) == ("WARNING", f"{regulation}:71", "r7")
    settle(session, "r7")
    assert (session.state, session.end_cause) == (SessionState.ENDING, EndCause.INACTIVITY)


@pytest.mark.rule("806/2015:71")
def test_c30_a_return_during_the_warned_hand_withdraws_the_warning() -> None:
    session = session_at(Play.POKER, "806/2015")
    miss_rounds(session, 6)
    inactivity.round_announced(session, "r7", T0)

    assert kinds_and_rules(settle(session, "r7", excused=True)) == [("WITHDRAWN", "806/2015:71")]
    assert (session.state, session.missed_rounds, session.warned_round_id) == (SessionState.ACTIVE, 0, None)


@pytest.mark.rule("806/2015:70.b")
def test_c30_a_player_who_folds_in_person_is_never_invited() -> None:
    session = session_at(Play.POKER, "806/2015")

    assert [n for number in range(8) for n in settle(session, f"r{number}", excused=True)] == []
    assert session.missed_rounds == 0


@pytest.mark.rule("806/2015:70.b")
def test_a_blind_is_a_bet() -> None:
    session = session_at(Play.POKER, "806/2015")
    miss_rounds(session, 6)
    inactivity.round_announced(session, "r7", T0)

    assert kinds(settle(session, "r7", bet=True)) == ["WITHDRAWN"]
    assert session.missed_rounds == 0


@pytest.mark.rule("806/2015:70.b")
def test_specific_rules_may_set_fewer_hands() -> None:
    policy = inactivity.validated_policy(Play.POKER, "806/2015", replace(LAW, missed_rounds=1))
    session = session_at(Play.POKER, "806/2015", policy)

    assert settle(session, "r1", policy=policy) == []
    assert kinds(settle(session, "r2", policy=policy)) == ["INVITATION"]


@pytest.mark.rule("806/2015:70.a")
@pytest.mark.rule("811/2015:70.a")
@pytest.mark.rule("806/2015:71")
@pytest.mark.rule("811/2015:71")
@pytest.mark.parametrize("regulation", POKER)
def test_c29_a_cave_below_the_minimum_is_invited_warned_and_ended_by_time(regulation: str) -> None:
    session = session_at(Play.POKER, regulation)

    assert kinds_and_rules(settle(session, "r1", bet=True, short=True)) == [("INVITATION", f"{regulation}:70.a")]
    assert session.next_step_at == at(30)
    assert inactivity.take_due_step(session, LAW, at(29.9)) == []
    (warning,) = inactivity.take_due_step(session, LAW, at(30))
    assert (warning.kind, warning.rule, warning.ends_at) == ("WARNING", f"{regulation}:71", at(60))
    assert inactivity.take_due_step(session, LAW, at(59.9)) == []
    assert inactivity.take_due_step(session, LAW, at(60)) == []
    assert (session.state, session.end_cause) == (SessionState.ENDING, EndCause.INACTIVITY)


@pytest.mark.rule("806/2015:71")
@pytest.mark.parametrize("warned", [False, True])
def test_c29_a_top_up_withdraws_the_invitation_and_the_warning(*, warned: bool) -> None:
    session = session_at(Play.POKER, "806/2015")
    settle(session, "r1", bet=True, short=True)
    if warned:
        inactivity.take_due_step(session, LAW, at(30))

    assert kinds_and_rules(inactivity.after_buy_in(session, at(31))) == [("WITHDRAWN", "806/2015:71")]
    assert (session.state, session.cave_short_since, session.next_step_at) == (SessionState.ACTIVE, None, None)
    assert inactivity.take_due_step(session, LAW, at(61)) == []


def test_c29_with_exactly_the_minimum_nothing_happens() -> None:
    session = session_at(Play.POKER, "806/2015")

    assert settle(session, "r1", bet=True, short=False) == []
    assert session.next_step_at is None


def test_a_top_up_that_is_too_small_is_followed_by_another_invitation() -> None:
    session = session_at(Play.POKER, "806/2015")
    settle(session, "r1", bet=True, short=True)
    inactivity.after_buy_in(session, at(10))

    assert kinds(settle(session, "r2", short=True, seconds=20)) == ["INVITATION"]
    assert session.cave_short_since == at(20)


def test_hands_without_the_right_to_be_dealt_in_are_not_missed() -> None:
    session = session_at(Play.POKER, "806/2015")
    settle(session, "r0", bet=True, short=True)

    assert [n for number in range(1, 10) for n in settle(session, f"r{number}", short=True)] == []
    assert (session.missed_rounds, session.cave_short_since) == (0, T0)
    assert inactivity.round_announced(session, "r10", T0) == []


def test_a_report_of_a_sufficient_cave_withdraws_like_a_top_up() -> None:
    session = session_at(Play.POKER, "806/2015")
    settle(session, "r0", bet=True, short=True)

    assert kinds(settle(session, "r1")) == ["WITHDRAWN"]


def test_a_top_up_does_not_answer_missed_hands() -> None:
    session = session_at(Play.POKER, "806/2015")
    miss_rounds(session, 6)

    assert inactivity.after_buy_in(session, at(5)) == []
    assert (session.state, session.missed_rounds) == (SessionState.INVITED, 6)


def test_a_player_who_bets_in_the_warned_hand_and_loses_the_cave_is_invited_for_the_cave() -> None:
    session = session_at(Play.POKER, "806/2015")
    miss_rounds(session, 6)
    inactivity.round_announced(session, "r7", T0)

    assert kinds_and_rules(settle(session, "r7", bet=True, short=True)) == [
        ("WITHDRAWN", "806/2015:71"),
        ("INVITATION", "806/2015:70.a"),
    ]
    assert session.warned_at is None


# -- bounds of the policy --------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:28")
@pytest.mark.parametrize(
    ("play", "regulation", "earlier", "rule", "bound"),
    [
        (Play.INDIVIDUAL, "804/2015", {"idle_seconds": 179}, "804/2015:28.a", "180"),
        (Play.INDIVIDUAL, "807/2015", {"idle_seconds": 1}, "807/2015:30.a", "180"),
        (Play.INDIVIDUAL, "805/2015", {"end_after_seconds": 59}, "805/2015:36", "60"),
        (Play.MULTI_PLAYER, "804/2015", {"missed_rounds": 4}, "804/2015:28.b", "5"),
        (Play.MULTI_PLAYER, "812/2015", {"missed_rounds": -1}, "812/2015:35.b", "5"),
        (Play.MULTI_PLAYER, "807/2015", {"end_after_seconds": 1}, "807/2015:31", "60"),
        (Play.POKER, "806/2015", {"missed_rounds": -1}, "806/2015:70.b", "1"),
        (Play.POKER, "811/2015", {"missed_rounds": -5}, "811/2015:70.b", "1"),
    ],
)
def test_an_earlier_policy_is_refused_and_the_rule_cited(
    play: Play, regulation: str, earlier: dict[str, int], rule: str, bound: str
) -> None:
    with pytest.raises(WalletRefused) as refused:
        inactivity.validated_policy(play, regulation, replace(LAW, **earlier))  # type: ignore[arg-type]

    assert refused.value.reason == "RULE_VIOLATED"
    assert refused.value.facts == {"field": f"policy.{next(iter(earlier))}", "bound": bound, "rule": rule}
    assert rule in refused.value.sentence


@pytest.mark.parametrize(
    ("play", "regulation", "wrong"),
    [
        (Play.POKER, "806/2015", {"rebuy_grace_seconds": 14}),
        (Play.POKER, "806/2015", {"rebuy_grace_seconds": 301}),
        (Play.POKER, "806/2015", {"idle_seconds": 10}),
        (Play.INDIVIDUAL, "804/2015", {"warn_after_seconds": -1}),
        (Play.INDIVIDUAL, "804/2015", {"idle_seconds": 2**31 - 1}),
    ],
)
def test_a_number_without_a_rule_has_our_bounds(play: Play, regulation: str, wrong: dict[str, int]) -> None:
    with pytest.raises(WalletRefused) as refused:
        inactivity.validated_policy(play, regulation, replace(LAW, **wrong))  # type: ignore[arg-type]

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": f"policy.{next(iter(wrong))}"})


@pytest.mark.parametrize(("play", "regulation"), [(Play.INDIVIDUAL, "804/2015"), (Play.POKER, "806/2015")])
def test_an_empty_number_is_the_earliest_that_the_law_allows(play: Play, regulation: str) -> None:
    assert inactivity.validated_policy(play, regulation, ALL_DEFAULTS) == LAW


@pytest.mark.rule("804/2015:28")
def test_a_later_policy_and_no_invitations_are_accepted() -> None:
    later = InactivityPolicy(idle_seconds=600, missed_rounds=20, warn_after_seconds=60, end_after_seconds=120)

    assert inactivity.validated_policy(Play.INDIVIDUAL, "804/2015", later) == later
    assert not inactivity.validated_policy(Play.INDIVIDUAL, "804/2015", replace(later, invite=False)).invite


@pytest.mark.rule("804/2015:28")
@pytest.mark.parametrize("play", list(Play))
def test_without_invitations_no_session_ends(play: Play) -> None:
    off = replace(LAW, invite=False)
    session = session_at(play, "806/2015" if play is Play.POKER else "804/2015", off)

    notices = [n for number in range(20) for n in settle(session, f"r{number}", policy=off, short=True)]
    notices += inactivity.round_announced(session, "r21", T0)
    notices += inactivity.take_due_step(session, off, at(1e6))

    assert (notices, session.state, session.next_step_at) == ([], SessionState.ACTIVE, None)


def test_tournaments_have_no_end_for_inactivity() -> None:
    session = session_at(Play.POKER, "810/2015")

    assert miss_rounds(session, 20) == []
    assert settle(session, "r21", short=True) == []
    with pytest.raises(WalletRefused, match="810/2015"):
        inactivity.validated_policy(Play.POKER, "810/2015", LAW)
    without = replace(LAW, invite=False)
    assert inactivity.validated_policy(Play.POKER, "810/2015", without) == without


@pytest.mark.rule("804/2015:28")
def test_switching_invitations_off_withdraws_the_existing_ones() -> None:
    session = warned_at_200()

    assert kinds(inactivity.policy_changed(session, replace(LAW, invite=False), at(210))) == ["WITHDRAWN"]
    assert (session.state, session.next_step_at) == (SessionState.ACTIVE, None)
    inactivity.policy_changed(session, LAW, at(300))
    assert session.next_step_at == at(300)
    assert kinds(inactivity.take_due_step(session, LAW, at(300))) == ["INVITATION"]


@pytest.mark.rule("804/2015:29")
def test_a_shorter_policy_does_not_shorten_a_given_warning() -> None:
    later = replace(LAW, end_after_seconds=600)
    session = session_at(Play.INDIVIDUAL, policy=later)
    inactivity.take_due_step(session, later, at(180.1))
    (warning,) = inactivity.take_due_step(session, later, at(201))

    inactivity.policy_changed(session, LAW, at(210))
    inactivity.take_due_step(session, LAW, at(280))

    assert state_of(session) is SessionState.WARNED
    assert session.next_step_at == warning.ends_at


def test_a_later_policy_is_checked_later() -> None:
    later = replace(LAW, idle_seconds=600)
    session = session_at(Play.INDIVIDUAL, policy=later)
    inactivity.after_bet(session, at(10))

    assert inactivity.take_due_step(session, later, at(191)) == []
    assert session.next_step_at == at(610) + timedelta(microseconds=1)
    assert kinds(inactivity.take_due_step(session, later, at(610.1))) == ["INVITATION"]


# -- the end --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:27")
def test_the_first_cause_stays() -> None:
    session = session_at(Play.INDIVIDUAL)
    inactivity.end(session, EndCause.PLAYER, at(1))
    inactivity.end(session, EndCause.OPERATOR, at(2))

    assert session.end_cause is EndCause.PLAYER
    inactivity.close(session, 7, at(3))
    assert (session.state, session.ended_at, session.ended_version) == (SessionState.ENDED, at(3), 7)
    assert session.next_step_at is None


def test_nothing_changes_an_ending_session() -> None:
    session = session_at(Play.POKER, "806/2015")
    inactivity.end(session, EndCause.PLAYER, at(1))
    before = replace(session)

    assert inactivity.after_bet(session, at(2)) == []
    assert inactivity.after_buy_in(session, at(2)) == []
    assert settle(session, "r1", bet=True, short=True) == []
    assert inactivity.round_announced(session, "r2", at(2)) == []
    assert inactivity.take_due_step(session, LAW, at(1e6)) == []
    assert inactivity.policy_changed(session, replace(LAW, invite=False), at(2)) == []
    assert session == before


def test_only_an_ending_session_is_closed() -> None:
    with pytest.raises(ValueError, match="ENDING"):
        inactivity.close(session_at(Play.INDIVIDUAL), 1, at(1))


# -- random events ----------------------------------------------------------------------------------------------------

seconds_between = st.floats(min_value=0, max_value=400, allow_nan=False).map(lambda s: round(s, 3))
timed_events = st.lists(
    st.tuples(seconds_between, st.sampled_from(["check", "check", "check", "bet", "settle"])), max_size=40
)
policies = st.builds(
    InactivityPolicy,
    invite=st.just(value=True),
    idle_seconds=st.integers(180, 400),
    missed_rounds=st.integers(5, 8),
    warn_after_seconds=st.integers(1, 60),
    end_after_seconds=st.integers(60, 120),
    rebuy_grace_seconds=st.integers(15, 300),
)


@pytest.mark.rule("804/2015:29")
@given(timed_events, policies)
def test_at_an_individual_table_only_the_steps_of_the_law_end_a_session(
    events: list[tuple[float, str]], policy: InactivityPolicy
) -> None:
    session = session_at(Play.INDIVIDUAL, policy=policy)
    now, idle_since = T0, T0
    invited_at: datetime | None = None
    warned_at: datetime | None = None
    for wait, event in events:
        now += timedelta(seconds=wait)
        was = session.state
        if event == "check":
            notices = inactivity.take_due_step(session, policy, now)
        elif event == "bet":
            notices = inactivity.after_bet(session, now)
        else:
            notices = settle(session, "r", bet=True, seconds=(now - T0).total_seconds(), policy=policy)
        if was >= SessionState.ENDING:
            assert notices == []
            continue
        if event != "check":
            assert state_of(session) is SessionState.ACTIVE
            assert kinds(notices) == (["WITHDRAWN"] if was in (SessionState.INVITED, SessionState.WARNED) else [])
            idle_since, invited_at, warned_at = now, None, None
        for notice in notices if event == "check" else []:
            if notice.kind == "INVITATION":
                assert invited_at is None
                assert now - idle_since > timedelta(seconds=180)
                invited_at = now
            else:
                assert notice.kind == "WARNING"
                assert invited_at is not None
                assert notice.ends_at is not None
                assert notice.ends_at - now >= timedelta(seconds=60)
                warned_at = now
        if session.state is SessionState.ENDING:
            assert invited_at is not None
            assert warned_at is not None
            assert now - warned_at >= timedelta(seconds=60)
        elif session.state is not SessionState.ENDED:
            # Every running session is checked again.
            assert session.next_step_at is not None


rounds = st.lists(
    st.tuples(
        # Announced, announced for another round, or not announced.
        st.sampled_from(["announced", "other", "silent"]),
        st.sampled_from(["missed", "missed", "missed", "missed", "bet", "excused", "void"]),
    ),
    max_size=40,
)


@pytest.mark.rule("804/2015:29")
@pytest.mark.rule("806/2015:71")
@given(rounds, policies, st.sampled_from([Play.MULTI_PLAYER, Play.POKER]))
def test_counted_in_rounds_only_the_steps_of_the_law_end_a_session(
    events: list[tuple[str, str]], policy: InactivityPolicy, play: Play
) -> None:
    session = session_at(play, "806/2015" if play is Play.POKER else "804/2015", policy)
    in_a_row = 0
    invited, warned_for = False, ""
    for number, (announcement, outcome) in enumerate(events):
        round_id = f"r{number}"
        if announcement != "silent":
            announced_id = round_id if announcement == "announced" else f"x{number}"
            for notice in inactivity.round_announced(session, announced_id, T0):
                assert notice.kind == "WARNING"
                assert invited
            warned_for = announced_id if session.state is SessionState.WARNED else ""
        if outcome == "void":
            continue
        notices = settle(session, round_id, bet=outcome == "bet", excused=outcome == "excused", policy=policy)
        if outcome == "bet" or (outcome == "excused" and play is Play.POKER):
            assert state_of(session) is SessionState.ACTIVE
            in_a_row, invited, warned_for = 0, False, ""
        elif outcome == "missed":
            in_a_row += 1
        if "INVITATION" in kinds(notices):
            assert in_a_row > policy.missed_rounds >= 5
            invited = True
        if session.state is SessionState.ENDING:
            assert invited
            assert outcome == "missed"
            assert warned_for == round_id
            return


@given(
    st.builds(
        InactivityPolicy,
        invite=st.booleans(),
        idle_seconds=st.integers(-10, 1000),
        missed_rounds=st.integers(-10, 100),
        warn_after_seconds=st.integers(-10, 1000),
        end_after_seconds=st.integers(-10, 1000),
        rebuy_grace_seconds=st.integers(-10, 1000),
    ),
    st.sampled_from([Play.INDIVIDUAL, Play.MULTI_PLAYER]),
    st.sampled_from(BANKED),
)
def test_no_accepted_policy_is_earlier_than_the_law(requested: InactivityPolicy, play: Play, regulation: str) -> None:
    try:
        policy = inactivity.validated_policy(play, regulation, requested)
    except WalletRefused:
        return
    assert policy.idle_seconds >= 180
    assert policy.missed_rounds >= 5
    assert policy.end_after_seconds >= 60
    assert policy.invite is requested.invite
