"""Inactivity as the regulations have it: who is invited to leave, who is warned, and when a session may be ended.

Pure: no I/O and no clock. Each function takes a session as it stands under the lock, changes it, and returns what its
player has to be told.

    ACTIVE ──invitation──▶ INVITED ──warning──▶ WARNED ──no bet──▶ ENDING ──nothing left in play──▶ ENDED
       ▲                      │                    │
       └──────── any bet ─────┴────────────────────┘

The invitation is a permission (`804/2015:28`), the warning is a duty towards whoever was invited and stays
(`804/2015:29`), and there is no other way to an end that the player did not ask for (T14, T15). The other regulations
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
# What poker's specific rules may choose (`806/2015:70.b`: a lower number is expressly allowed).
MIN_MISSED_HANDS = 1
# Ours, where the regulations give no number (rulebook, key rebuy_grace_s).
REBUY_GRACE_SECONDS = range(15, 300 + 1)
# Whoever wants more than these wants no invitations at all (G11).
SECONDS_LIMIT = 30 * 24 * 3600
ROUNDS_LIMIT = 1_000_000

# The smallest step of PostgreSQL's clock: what comes first after "not yet more than".
_TICK = timedelta(microseconds=1)
# How often a session that waits for the end of a round or for its cave is looked at again. The ledger itself brings it
# on when that happens; the look is for what nothing else touches.
IN_PLAY_RECHECK_INTERVAL = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Articles:
    """Where a regulation speaks of inactivity: cases a and b of the invitation, and the warning."""

    case_a: str
    case_b: str
    warning: str


# Case a is the time without a bet, case b the rounds without one. In poker a is the cave and b the hands without a bet.
# A regulation that is not here invites nobody; in tournaments, for one, inactivity must not remove a player (810/2015).
ARTICLES = {
    "803/2015": Articles("803/2015:41.a", "803/2015:41.b", "803/2015:42"),
    "804/2015": Articles("804/2015:28.a", "804/2015:28.b", "804/2015:29"),
    "805/2015": Articles("805/2015:35.a", "805/2015:35.b", "805/2015:36"),
    "806/2015": Articles("806/2015:70.a", "806/2015:70.b", "806/2015:71"),
    "807/2015": Articles("807/2015:30.a", "807/2015:30.b", "807/2015:31"),
    "811/2015": Articles("811/2015:70.a", "811/2015:70.b", "811/2015:71"),
    "812/2015": Articles("812/2015:35.a", "812/2015:35.b", "812/2015:36"),
}


# -- what the player does -------------------------------------------------------------------------------------------


def after_bet(session: Session, now: datetime) -> list[Notice]:
    """Any bet puts everything back to the beginning; invitation and warning are withdrawn (T14)."""
    if session.state >= SessionState.ENDING:
        return []
    session.last_activity_at = max(session.last_activity_at, now)
    return _play_on(session, now)


def after_buy_in(session: Session, now: datetime) -> list[Notice]:
    """A *reposição* answers an invitation on account of the cave, and only that one (`806/2015:71`).

    Missed hands stay counted: a top-up may be the player's standing instruction (A-24) and shows no presence. If the
    cave is still too small, the next hand's report says so and the invitation comes again.
    """
    if session.state >= SessionState.ENDING:
        return []
    session.last_activity_at = max(session.last_activity_at, now)
    return _withdraw(session, now) if session.cave_short_since is not None else []


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
    """A round was settled at which this session was present. Also to be called with `bet` when a stake was given back.

    `excused`: the round does not count for him. At a banked table it neither counts nor resets. At a poker table it
    says that he decided for himself, came back, or rests because he asked to: it resets and withdraws like a bet (A-25,
    `inactive_requires_absence`), but leaves an invitation on account of his cave as it is.
    """
    if session.state >= SessionState.ENDING:
        return []
    if session.play is Play.POKER:
        return _after_hand(
            session, policy, round_id, bet=bet, excused=excused, cave_below_minimum=cave_below_minimum, now=now
        )
    if bet:
        # At an individual table the three minutes start here: a round in play is not "no bet" (B24).
        return _play_on(session, now)
    if excused or session.play is Play.INDIVIDUAL:
        return []
    return _missed(session, policy, round_id, now)


def round_announced(session: Session, round_id: str, now: datetime) -> list[Notice]:
    """A round is about to open: whoever was invited and is still there is warned that it is the one to bet in.

    The round of an earlier warning that came to nothing (void, or never played) is replaced by this one: he was warned.
    """
    if not _counted_in_rounds(session):
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
        notices += _play_on(session, now)
    elif session.cave_short_since is not None:
        # He may not be dealt in (`806/2015:15`), so the hand was none that he missed.
        notices += [] if cave_below_minimum else _withdraw(session, now)
    elif excused:
        session.missed_rounds = 0
        notices += _withdraw(session, now)
    else:
        notices += _missed(session, policy, round_id, now)
    if cave_below_minimum and session.cave_short_since is None:
        notices += _invite_for_cave(session, policy, now)
    return notices


def _missed(session: Session, policy: InactivityPolicy, round_id: str, now: datetime) -> list[Notice]:
    """Case b: no bet in more than so many consecutive rounds, and after the warning in one more."""
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
    """A new session: at an individual table the three minutes run from the start."""
    session.idle_since = now
    _schedule(session, policy)


def take_due_step(session: Session, policy: InactivityPolicy, now: datetime) -> list[Notice]:
    """Takes the one step that is due by now, if any, and says when to look again (`next_step_at`).

    Not for a session with a stake in an open round: he is playing (B24).
    """
    articles = ARTICLES.get(session.regulation)
    if session.state >= SessionState.ENDING:
        return []
    if articles is None or not policy.invite or _counted_in_rounds(session):
        session.next_step_at = None
        return []
    if session.state is SessionState.ACTIVE:
        return _invite_if_idle(session, policy, articles, now)
    if session.next_step_at is not None and now < session.next_step_at:
        return []
    if session.state is SessionState.INVITED:
        return _warn_in_time(session, policy, articles, now)
    if session.warned_at is not None and now >= session.warned_at + _least_after_warning(session):
        end(session, EndCause.INACTIVITY, now)
    return []


def _invite_if_idle(session: Session, policy: InactivityPolicy, articles: Articles, now: datetime) -> list[Notice]:
    """Case a: no bet for more than three minutes. Three minutes sharp are not more (A9)."""
    _schedule(session, policy)
    if session.next_step_at is None or now < session.next_step_at:
        return []
    session.state = SessionState.INVITED
    session.next_step_at = now + timedelta(seconds=policy.warn_after_seconds)
    return [Notice(session, INVITATION, articles.case_a, now)]


def _invite_for_cave(session: Session, policy: InactivityPolicy, now: datetime) -> list[Notice]:
    """Poker's case a: the cave is below the minimum after the hand. He is invited at once (A-24, C-29)."""
    articles = ARTICLES.get(session.regulation)
    if session.state >= SessionState.ENDING or not policy.invite or articles is None:
        return []
    session.state = SessionState.INVITED
    session.warned_at = None
    session.warned_round_id = None
    session.cave_short_since = now
    session.next_step_at = now + _half_grace(policy)
    return [Notice(session, INVITATION, articles.case_a, now)]


def _warn_in_time(session: Session, policy: InactivityPolicy, articles: Articles, now: datetime) -> list[Notice]:
    """The warning, with the moment of the end: a whole minute later, in poker the second half of the time to refill.

    It runs from now and not from when the step was due: whoever is warned late has as long as anybody.
    """
    session.state = SessionState.WARNED
    session.warned_at = now
    session.next_step_at = now + _time_after_warning(session, policy)
    return [Notice(session, WARNING, articles.warning, now, ends_at=session.next_step_at)]


def postpone_while_in_play(session: Session, now: datetime) -> None:
    """He has a stake in an open round: no step is due. The end of the round, or of the stake, starts the clock anew."""
    session.next_step_at = now + IN_PLAY_RECHECK_INTERVAL


def restart_warning(session: Session, policy: InactivityPolicy, now: datetime) -> list[Notice]:
    """A fault of ours took a part of the time after the warning in which he could have bet: it runs anew (G9)."""
    articles = ARTICLES.get(session.regulation)
    if session.state is not SessionState.WARNED or _counted_in_rounds(session) or articles is None:
        return []
    return _warn_in_time(session, policy, articles, now)


def policy_changed(session: Session, policy: InactivityPolicy, now: datetime) -> list[Notice]:
    """Another policy holds from now on. What a player was told stays told, unless nobody is invited any more."""
    if session.state >= SessionState.ENDING:
        return []
    notices = [] if policy.invite else _withdraw(session, now)
    if session.state is SessionState.ACTIVE:
        _schedule(session, policy)
        if session.next_step_at is not None:
            session.next_step_at = max(session.next_step_at, now)
    return notices


# -- the end --------------------------------------------------------------------------------------------------------


def end(session: Session, cause: EndCause, now: datetime) -> None:
    """Nothing new is accepted; it is over when no stake and no cave is left (`close`). The first cause stays."""
    if session.state >= SessionState.ENDING:
        return
    session.state = SessionState.ENDING
    session.end_cause = cause
    session.next_step_at = now + IN_PLAY_RECHECK_INTERVAL


def close(session: Session, version: int, now: datetime) -> None:
    """Over. `version` is the account's after the last transfer of the session."""
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
    """The policy with every number filled in; refused if it would invite, warn or end earlier than the law allows.

    A number left at 0 is the earliest that is allowed. Later is fine, and so is never (`invite` false).
    """
    articles = ARTICLES.get(regulation)
    if articles is None:
        if requested.invite:
            raise _violated("invite", "false", regulation, "knows no invitation to leave for inactivity")
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
    _not_below("missed_rounds", policy.missed_rounds, fewest, articles.case_b)
    if play is Play.POKER:
        # Poker counts no minutes, so no rule speaks of these two: they stay as they are.
        _within("idle_seconds", policy.idle_seconds, range(IDLE_SECONDS, IDLE_SECONDS + 1))
        _within("end_after_seconds", policy.end_after_seconds, range(MINUTE_SECONDS, MINUTE_SECONDS + 1))
    else:
        _not_below("idle_seconds", policy.idle_seconds, IDLE_SECONDS, articles.case_a)
        _not_below("end_after_seconds", policy.end_after_seconds, MINUTE_SECONDS, articles.warning)
    _within("idle_seconds", policy.idle_seconds, range(SECONDS_LIMIT + 1))
    _within("end_after_seconds", policy.end_after_seconds, range(SECONDS_LIMIT + 1))
    _within("missed_rounds", policy.missed_rounds, range(ROUNDS_LIMIT + 1))
    _within("warn_after_seconds", policy.warn_after_seconds, range(1, SECONDS_LIMIT + 1))
    _within("rebuy_grace_seconds", policy.rebuy_grace_seconds, REBUY_GRACE_SECONDS)
    return policy


def _not_below(field: str, value: int, bound: int, rule: str) -> None:
    if value < bound:
        raise _violated(field, str(bound), rule, f"allows {bound} at the least, not {value}; later is fine")


def _within(field: str, value: int, allowed: range) -> None:
    if value not in allowed:
        raise refusals.invalid(
            field, f"has to be between {allowed.start} and {allowed.stop - 1}, or 0 for the default."
        )


def _violated(field: str, bound: str, rule: str, what_it_says: str) -> refusals.WalletRefused:
    return refusals.WalletRefused(
        "RULE_VIOLATED", f"`{field}`: {rule} {what_it_says}.", field=field, bound=bound, rule=rule
    )


# -- the parts ------------------------------------------------------------------------------------------------------


def _counted_in_rounds(session: Session) -> bool:
    """Whether what he is or may be invited for is rounds without a bet, and not time."""
    return session.play is not Play.INDIVIDUAL and session.cave_short_since is None


def _play_on(session: Session, now: datetime) -> list[Notice]:
    session.missed_rounds = 0
    session.idle_since = max(session.idle_since, now)
    notices = _withdraw(session, now)
    if session.play is Play.INDIVIDUAL:
        # The earliest moment by law; where the policy is later, the first look there puts it off.
        session.next_step_at = session.idle_since + timedelta(seconds=IDLE_SECONDS) + _TICK
    return notices


def _withdraw(session: Session, now: datetime) -> list[Notice]:
    told = session.state in (SessionState.INVITED, SessionState.WARNED)
    session.state = SessionState.ACTIVE
    session.warned_at = None
    session.warned_round_id = None
    session.cave_short_since = None
    session.next_step_at = None
    articles = ARTICLES.get(session.regulation)
    return [Notice(session, WITHDRAWN, articles.warning, now)] if told and articles is not None else []


def _schedule(session: Session, policy: InactivityPolicy) -> None:
    """When an active session is to be looked at: the first moment that is more than the idle time (T14)."""
    timed = session.play is Play.INDIVIDUAL and policy.invite and session.regulation in ARTICLES
    session.next_step_at = session.idle_since + timedelta(seconds=policy.idle_seconds) + _TICK if timed else None


def _least_after_warning(session: Session) -> timedelta:
    """Whatever was written down as the next step: nobody is ended before this (`804/2015:29`)."""
    if session.cave_short_since is not None:
        return timedelta(seconds=REBUY_GRACE_SECONDS.start) / 2
    return timedelta(seconds=MINUTE_SECONDS)


def _half_grace(policy: InactivityPolicy) -> timedelta:
    return timedelta(seconds=policy.rebuy_grace_seconds) / 2


def _time_after_warning(session: Session, policy: InactivityPolicy) -> timedelta:
    if session.cave_short_since is not None:
        return _half_grace(policy)
    return timedelta(seconds=policy.end_after_seconds)
