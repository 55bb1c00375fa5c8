"""Applies the regulations' rules of inactivity: invitation to leave, warning, and end of a session.

Pure: no I/O and no clock. Each function takes a session as it is under the lock, changes it, and returns the notices
for its player.

    ACTIVE ──invitation──▶ INVITED ──warning──▶ WARNED ──no bet──▶ ENDING ──nothing left in play──▶ ENDED
       ▲                      │                    │
       └──────── any bet ─────┴────────────────────┘

The invitation is a permission (`804/2015:28`), the warning is a duty towards a player who was invited and stays
(`804/2015:29`), and no other path leads to an end that the player did not ask for (T14, T15). The other regulations
say the same under other numbers; see `ARTICLES`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from services.wallet.model import refusals
from services.wallet.model.state import EndCause, InactivityPolicy, Notice, Play, Session, SessionState

INVITATION, WARNING, WITHDRAWN = "INVITATION", "WARNING", "WITHDRAWN"

# The earliest moments that the law allows (T14). "More than" is strict in the first two.
IDLE_SECONDS = 180
MISSED_ROUNDS = 5
MINUTE_SECONDS = 60
# Poker's specific rules may set as few as this (`806/2015:70.b` expressly allows a lower number).
MIN_MISSED_HANDS = 1
# Our choice: the regulations give no number (rulebook, key rebuy_grace_s).
REBUY_GRACE_SECONDS = range(15, 300 + 1)
# An operator who wants more than these switches invitations off (G11).
SECONDS_LIMIT = 30 * 24 * 3600
ROUNDS_LIMIT = 1_000_000

# The smallest step of PostgreSQL's clock: with it "more than" three minutes begins.
_CLOCK_STEP = timedelta(microseconds=1)
# How often a session that waits for a round or a cave is checked again. The ledger advances it when that ends; the
# check is for a session that no command touches.
IN_PLAY_RECHECK_INTERVAL = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Articles:
    """A regulation's articles on inactivity: cases a and b of the invitation, and the warning."""

    case_a: str
    case_b: str
    warning: str


# Case a is the time without a bet, case b the rounds without one. In poker a is the cave and b the hands without a bet.
# Regulations not listed invite nobody; in tournaments, for one, inactivity must not remove a player (810/2015).
ARTICLES = {
    "803/2015": Articles("803/2015:41.a", "803/2015:41.b", "803/2015:42"),
    "804/2015": Articles("804/2015:28.a", "804/2015:28.b", "804/2015:29"),
    "805/2015": Articles("805/2015:35.a", "805/2015:35.b", "805/2015:36"),
    "806/2015": Articles("806/2015:70.a", "806/2015:70.b", "806/2015:71"),
    "807/2015": Articles("807/2015:30.a", "807/2015:30.b", "807/2015:31"),
    "811/2015": Articles("811/2015:70.a", "811/2015:70.b", "811/2015:71"),
    "812/2015": Articles("812/2015:35.a", "812/2015:35.b", "812/2015:36"),
}


# -- by the player --------------------------------------------------------------------------------------------------


def after_bet(session: Session, now: datetime) -> list[Notice]:
    """Resets the session after any bet, and withdraws invitation and warning (T14)."""
    if session.state >= SessionState.ENDING:
        return []
    return _reset_by_bet(session, now)


def after_buy_in(session: Session, now: datetime) -> list[Notice]:
    """Withdraws an invitation because of the cave, and only that one, after a *reposição* (`806/2015:71`).

    Missed hands stay counted: a top-up may be the player's standing instruction (A-24) and shows no presence. If the
    cave is still too small, the next hand's report says so and the player is invited again.
    """
    if session.state >= SessionState.ENDING:
        return []
    session.last_activity_at = max(session.last_activity_at, now)
    return _withdraw_invitation(session, now) if session.cave_short_since is not None else []


# -- rounds and hands -----------------------------------------------------------------------------------------------


def after_round(
    session: Session,
    policy: InactivityPolicy,
    *,
    round_id: str,
    bet: bool,
    excused: bool,
    cave_below_minimum: bool,
    now: datetime,
) -> list[Notice]:
    """Counts a settled round for a session that was present; also called with `bet` when a stake is returned.

    `excused`: the round does not count for the player. At a banked table it neither counts nor resets. At a poker table
    the player acted in person, came back, or rests on request: it resets and withdraws like a bet (A-25,
    `inactive_requires_absence`), but leaves an invitation because of the cave as it is.
    """
    if session.state >= SessionState.ENDING:
        return []
    if session.play is Play.POKER:
        return _after_hand(
            session, policy, round_id, bet=bet, excused=excused, cave_below_minimum=cave_below_minimum, now=now
        )
    if bet:
        # At an individual table the three minutes start here: while a round is in play, its bet counts (B24).
        return _reset_by_bet(session, now)
    if excused or session.play is Play.INDIVIDUAL:
        return []
    return _count_missed_round(session, policy, round_id, now)


def round_announced(session: Session, round_id: str, now: datetime) -> list[Notice]:
    """Warns an invited player who is still at the table that the round about to open is the one to bet in.

    It replaces the round of an earlier warning if that round was void or never played: the player was warned already.
    """
    if not _is_counted_in_rounds(session):
        return []
    if session.state is SessionState.WARNED:
        session.warned_round_id = round_id
        return []
    articles = ARTICLES.get(session.regulation)
    if session.state is not SessionState.INVITED or articles is None:
        return []
    session.state = SessionState.WARNED
    session.warned_at = now
    session.warned_round_id = round_id
    return [Notice(session, WARNING, articles.warning, now, round_id=round_id)]


def _after_hand(
    session: Session,
    policy: InactivityPolicy,
    round_id: str,
    *,
    bet: bool,
    excused: bool,
    cave_below_minimum: bool,
    now: datetime,
) -> list[Notice]:
    notices: list[Notice] = []
    if bet:
        notices += _reset_by_bet(session, now)
    elif session.cave_short_since is not None:
        # The player may not be dealt in (`806/2015:15`), so it is not a missed hand.
        notices += [] if cave_below_minimum else _withdraw_invitation(session, now)
    elif excused:
        session.missed_rounds = 0
        notices += _withdraw_invitation(session, now)
    else:
        notices += _count_missed_round(session, policy, round_id, now)
    if cave_below_minimum and session.cave_short_since is None:
        notices += _invite_for_cave(session, policy, now)
    return notices


def _count_missed_round(session: Session, policy: InactivityPolicy, round_id: str, now: datetime) -> list[Notice]:
    """Counts a round without a bet (case b): invites after more than the allowed number, ends after the warned one."""
    session.missed_rounds += 1
    articles = ARTICLES.get(session.regulation)
    if not policy.invite or articles is None:
        return []
    if session.state is SessionState.WARNED and session.warned_round_id == round_id:
        end(session, EndCause.INACTIVITY, now)
    elif session.state is SessionState.ACTIVE and session.missed_rounds > policy.missed_rounds:
        session.state = SessionState.INVITED
        return [Notice(session, INVITATION, articles.case_b, now)]
    return []


# -- time -----------------------------------------------------------------------------------------------------------


def session_started(session: Session, policy: InactivityPolicy, now: datetime) -> None:
    """Starts the three minutes of a new session at an individual table."""
    session.idle_since = now
    _schedule_invitation(session, policy)


def take_due_step(session: Session, policy: InactivityPolicy, now: datetime) -> list[Notice]:
    """Takes the one step that is due by now, if any, and sets when to check again (`next_step_at`).

    Not for a session with a stake in an open round: the player is playing (B24).
    """
    articles = ARTICLES.get(session.regulation)
    if session.state >= SessionState.ENDING:
        return []
    if articles is None or not policy.invite or _is_counted_in_rounds(session):
        session.next_step_at = None
        return []
    if session.state is SessionState.ACTIVE:
        return _invite_if_idle(session, policy, articles, now)
    if session.next_step_at is not None and now < session.next_step_at:
        return []
    if session.state is SessionState.INVITED:
        return _warn_timed(session, policy, articles, now)
    if session.warned_at is not None and now >= session.warned_at + _min_time_after_warning(session):
        end(session, EndCause.INACTIVITY, now)
    return []


def _invite_if_idle(session: Session, policy: InactivityPolicy, articles: Articles, now: datetime) -> list[Notice]:
    """Invites a player without a bet for more than three minutes (case a); exactly three minutes are not more (A9)."""
    _schedule_invitation(session, policy)
    if session.next_step_at is None or now < session.next_step_at:
        return []
    session.state = SessionState.INVITED
    session.next_step_at = now + timedelta(seconds=policy.warn_after_seconds)
    return [Notice(session, INVITATION, articles.case_a, now)]


def _invite_for_cave(session: Session, policy: InactivityPolicy, now: datetime) -> list[Notice]:
    """Invites a poker player at once whose cave is below the minimum after the hand (case a; A-24, C-29)."""
    articles = ARTICLES.get(session.regulation)
    if session.state >= SessionState.ENDING or not policy.invite or articles is None:
        return []
    session.state = SessionState.INVITED
    session.warned_at = None
    session.warned_round_id = None
    session.cave_short_since = now
    session.next_step_at = now + _half_grace(policy)
    return [Notice(session, INVITATION, articles.case_a, now)]


def _warn_timed(session: Session, policy: InactivityPolicy, articles: Articles, now: datetime) -> list[Notice]:
    """Warns, and sets the end: a whole minute later, in poker after the second half of the time to refill the cave.

    The time runs from now and not from when the step was due: a player who is warned late has as long as any other.
    """
    session.state = SessionState.WARNED
    session.warned_at = now
    session.next_step_at = now + _time_after_warning(session, policy)
    return [Notice(session, WARNING, articles.warning, now, ends_at=session.next_step_at)]


def postpone_while_in_play(session: Session, now: datetime) -> None:
    """Postpones the step of a player with a stake in an open round; the end of either restarts the clock."""
    session.next_step_at = now + IN_PLAY_RECHECK_INTERVAL


def restart_warning(session: Session, policy: InactivityPolicy, now: datetime) -> list[Notice]:
    """Restarts the time after the warning if an outage of ours took away part of it (G9)."""
    articles = ARTICLES.get(session.regulation)
    if session.state is not SessionState.WARNED or _is_counted_in_rounds(session) or articles is None:
        return []
    return _warn_timed(session, policy, articles, now)


def policy_changed(session: Session, policy: InactivityPolicy, now: datetime) -> list[Notice]:
    """Applies a changed policy; notices already given stand, unless it invites nobody any more."""
    if session.state >= SessionState.ENDING:
        return []
    notices = [] if policy.invite else _withdraw_invitation(session, now)
    if session.state is SessionState.ACTIVE:
        _schedule_invitation(session, policy)
        if session.next_step_at is not None:
            session.next_step_at = max(session.next_step_at, now)
    return notices


# -- the end --------------------------------------------------------------------------------------------------------


def end(session: Session, cause: EndCause, now: datetime) -> None:
    """Stops accepting bets; `close` follows when no stake and no cave is left. The first cause stays."""
    if session.state >= SessionState.ENDING:
        return
    session.state = SessionState.ENDING
    session.end_cause = cause
    session.next_step_at = now + IN_PLAY_RECHECK_INTERVAL


def close(session: Session, version: int, now: datetime) -> None:
    """Ends the session for good; `version` is the account's after the session's last transfer."""
    if session.state is not SessionState.ENDING:
        raise ValueError(
            f"session {session.session_id} is {session.state.name}: it has to be ENDING before it is closed"
        )
    session.state = SessionState.ENDED
    session.ended_at = max(now, session.started_at)
    session.ended_version = version
    session.next_step_at = None


# -- the operator's numbers -----------------------------------------------------------------------------------------


def validated_policy(play: Play, regulation: str, requested: InactivityPolicy) -> InactivityPolicy:
    """Returns the policy with every number filled in; refuses one that acts earlier than the law allows.

    A number left at 0 stands for the earliest one allowed. Later is fine, and so is never (`invite` false).
    """
    articles = ARTICLES.get(regulation)
    if articles is None:
        if requested.invite:
            raise _rule_violated("invite", "false", regulation, "knows no invitation to leave for inactivity")
        articles = Articles(regulation, regulation, regulation)
    law = InactivityPolicy()
    policy = InactivityPolicy(
        invite=requested.invite,
        idle_seconds=requested.idle_seconds or law.idle_seconds,
        missed_rounds=requested.missed_rounds or law.missed_rounds,
        warn_after_seconds=requested.warn_after_seconds or law.warn_after_seconds,
        end_after_seconds=requested.end_after_seconds or law.end_after_seconds,
        rebuy_grace_seconds=requested.rebuy_grace_seconds or law.rebuy_grace_seconds,
    )
    fewest = MIN_MISSED_HANDS if play is Play.POKER else MISSED_ROUNDS
    _check_minimum("missed_rounds", policy.missed_rounds, fewest, articles.case_b)
    if play is Play.POKER:
        # Poker counts no minutes: no rule covers these two, so they keep their defaults.
        _check_range("idle_seconds", policy.idle_seconds, range(IDLE_SECONDS, IDLE_SECONDS + 1))
        _check_range("end_after_seconds", policy.end_after_seconds, range(MINUTE_SECONDS, MINUTE_SECONDS + 1))
    else:
        _check_minimum("idle_seconds", policy.idle_seconds, IDLE_SECONDS, articles.case_a)
        _check_minimum("end_after_seconds", policy.end_after_seconds, MINUTE_SECONDS, articles.warning)
    _check_range("idle_seconds", policy.idle_seconds, range(SECONDS_LIMIT + 1))
    _check_range("end_after_seconds", policy.end_after_seconds, range(SECONDS_LIMIT + 1))
    _check_range("missed_rounds", policy.missed_rounds, range(ROUNDS_LIMIT + 1))
    _check_range("warn_after_seconds", policy.warn_after_seconds, range(1, SECONDS_LIMIT + 1))
    _check_range("rebuy_grace_seconds", policy.rebuy_grace_seconds, REBUY_GRACE_SECONDS)
    return policy


def _check_minimum(field: str, value: int, bound: int, rule: str) -> None:
    if value < bound:
        raise _rule_violated(field, str(bound), rule, f"allows {bound} at the least, not {value}; later is fine")


def _check_range(field: str, value: int, allowed: range) -> None:
    if value not in allowed:
        raise refusals.invalid(
            f"policy.{field}", f"has to be between {allowed.start} and {allowed.stop - 1}, or 0 for the default."
        )


def _rule_violated(field: str, bound: str, rule: str, bound_in_words: str) -> refusals.WalletRefused:
    return refusals.WalletRefused(
        "RULE_VIOLATED", f"`policy.{field}`: {rule} {bound_in_words}.", field=f"policy.{field}", bound=bound, rule=rule
    )


# -- the parts ------------------------------------------------------------------------------------------------------


def _is_counted_in_rounds(session: Session) -> bool:
    """Returns whether the session is invited because of rounds without a bet, and not because of time."""
    return session.play is not Play.INDIVIDUAL and session.cave_short_since is None


def _reset_by_bet(session: Session, now: datetime) -> list[Notice]:
    session.last_activity_at = max(session.last_activity_at, now)
    session.missed_rounds = 0
    session.idle_since = max(session.idle_since, now)
    notices = _withdraw_invitation(session, now)
    if session.play is Play.INDIVIDUAL:
        # The earliest moment by law; a later policy postpones it when the step is checked.
        session.next_step_at = session.idle_since + timedelta(seconds=IDLE_SECONDS) + _CLOCK_STEP
    return notices


def _withdraw_invitation(session: Session, now: datetime) -> list[Notice]:
    was_invited = session.state in (SessionState.INVITED, SessionState.WARNED)
    session.state = SessionState.ACTIVE
    session.warned_at = None
    session.warned_round_id = None
    session.cave_short_since = None
    session.next_step_at = None
    articles = ARTICLES.get(session.regulation)
    return [Notice(session, WITHDRAWN, articles.warning, now)] if was_invited and articles is not None else []


def _schedule_invitation(session: Session, policy: InactivityPolicy) -> None:
    """Schedules the invitation of an active session: the first moment beyond the idle time (T14)."""
    timed = session.play is Play.INDIVIDUAL and policy.invite and session.regulation in ARTICLES
    session.next_step_at = session.idle_since + timedelta(seconds=policy.idle_seconds) + _CLOCK_STEP if timed else None


def _min_time_after_warning(session: Session) -> timedelta:
    """Returns the least time after a warning: no session ends before it, whatever its next step (`804/2015:29`)."""
    if session.cave_short_since is not None:
        return timedelta(seconds=REBUY_GRACE_SECONDS.start) / 2
    return timedelta(seconds=MINUTE_SECONDS)


def _half_grace(policy: InactivityPolicy) -> timedelta:
    return timedelta(seconds=policy.rebuy_grace_seconds) / 2


def _time_after_warning(session: Session, policy: InactivityPolicy) -> timedelta:
    if session.cave_short_since is not None:
        return _half_grace(policy)
    return timedelta(seconds=policy.end_after_seconds)
