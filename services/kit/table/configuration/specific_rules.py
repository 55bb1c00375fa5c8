"""Checks the part of a table's specific rules that every game has. Pure.

A value that breaks the regulation is refused as RULE_VIOLATED with the rule; a value beyond a limit of the platform's
own is INVALID. The game checks its own part (`Game.rules`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from feltro.access.v1 import bounds_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.game import Game
from services.kit.table.refusals import invalid, rule_violated

# `903-B/2015:6.1.4` sets the shortest times to bet and to decide, the platform the longest (G11).
SHORTEST_BETTING_MS, LONGEST_BETTING_MS = 3_000, 600_000
SHORTEST_DECISION_MS, LONGEST_DECISION_MS = 3_000, 120_000
DECISION_TIME_RULE = "903-B/2015:6.1.4"
# A hand of an individual table stays open for 90 days at most.
LONGEST_OPEN_HAND_HOURS = 90 * 24
OPEN_HAND_RULE = "903-B/2015:6.3.2"
# Limits of the platform (G11).
LONGEST_SHOWN_MS = 60_000
LONGEST_DEALING_MS = 5_000
SEATS_LIMIT = 1_000
NAME_CHARACTERS_LIMIT = 80
APPROVAL_CHARACTERS_LIMIT = 200
CONFIGURATION_BYTES_LIMIT = 16 * 1024

# The earliest moments that the regulations allow; a setting of 0 means exactly these.
IDLE_SECONDS, MISSED_ROUNDS, END_AFTER_SECONDS = 180, 5, 60
SHORTEST_REBUY_GRACE_S = 15
# Of hands, which go by more quickly, specific rules may say fewer (`806/2015:70.b`).
MISSED_HANDS = 1

_TABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_MODES = frozenset({wallet_types.MODE_REAL, wallet_types.MODE_DEMO})
_PLAYS = frozenset(
    {
        wallet_types.PLAY_INDIVIDUAL,
        wallet_types.PLAY_MULTI_PLAYER,
        wallet_types.PLAY_POKER,
        wallet_types.PLAY_TOURNAMENT,
    }
)
_UNCHANGEABLE_FIELDS = ("game", "regulation", "mode", "play")


@dataclass(frozen=True, slots=True)
class Articles:
    """The articles of one regulation that are checked here."""

    approval: str
    idle: str
    missed_rounds: str
    warning: str
    fewest_missed_rounds: int = MISSED_ROUNDS
    """Rounds without a bet that have to pass before an invitation, if specific rules may say fewer than usual."""


ARTICLES = {
    "804/2015": Articles("804/2015:P.3", "804/2015:28.a", "804/2015:28.b", "804/2015:29"),
    "805/2015": Articles("805/2015:P.3", "805/2015:35.a", "805/2015:35.b", "805/2015:36"),
    "806/2015": Articles("806/2015:R3", "806/2015:70.a", "806/2015:70.b", "806/2015:71", MISSED_HANDS),
    "807/2015": Articles("807/2015:P.3", "807/2015:30.a", "807/2015:30.b", "807/2015:31"),
    # A tournament invites nobody to leave: there are no rules about it (`810/2015:26`, `810/2015:27`).
    "810/2015": Articles("810/2015:34", "810/2015:27", "810/2015:27", "810/2015:27"),
    "811/2015": Articles("811/2015:R3", "811/2015:70.a", "811/2015:70.b", "811/2015:71", MISSED_HANDS),
    "812/2015": Articles("812/2015:P.3", "812/2015:35.a", "812/2015:35.b", "812/2015:36"),
}


def verify(
    table_id: str,
    configuration: types_pb2.TableConfiguration,
    game: Game[Any, Any],
    *,
    approval_reference: str,
    existing: types_pb2.TableConfiguration | None = None,
) -> None:
    """Refuses rules that no game of this kind may allow; `existing` is an earlier configuration of the table."""
    if _TABLE_ID.fullmatch(table_id) is None:
        raise invalid("table_id", "has to be 1 to 40 letters, digits, `_` or `-`.")
    articles = ARTICLES.get(configuration.regulation)
    if articles is None:
        raise invalid("configuration.regulation", f"has to be one of {', '.join(ARTICLES)}.")
    if not configuration.game:
        raise invalid("configuration.game", "has to be given.")
    if configuration.mode not in _MODES:
        raise invalid("configuration.mode", "has to be real or demonstration money.")
    if configuration.play not in _PLAYS:
        sentence = "has to say whether one player starts each round or many are bound by one result."
        raise invalid("configuration.play", sentence)
    if existing is not None:
        _verify_unchanged(configuration, existing)
    _verify_approval(approval_reference, articles)
    _verify_name(configuration.name)
    _verify_times(configuration)
    _verify_dealing(configuration, game)
    _verify_decisions(configuration, game)
    _verify_seats(configuration)
    if configuration.ByteSize() > CONFIGURATION_BYTES_LIMIT:
        # Every snapshot of the table holds it, and a snapshot has to fit into a message of the bus.
        raise invalid("configuration", f"is larger than {CONFIGURATION_BYTES_LIMIT} bytes.")
    if configuration.HasField("inactivity"):
        if configuration.play == wallet_types.PLAY_TOURNAMENT:
            sentence = f"Nobody is invited to leave a tournament ({articles.idle}): leave this out."
            raise rule_violated("configuration.inactivity", "absent", articles.idle, sentence)
        _verify_inactivity(configuration.inactivity, articles)


def _verify_unchanged(configuration: types_pb2.TableConfiguration, existing: types_pb2.TableConfiguration) -> None:
    """Refuses another kind of table: accounts, the ledger's table and open sessions depend on it."""
    if existing.play == wallet_types.PLAY_TOURNAMENT:
        # Players may have registered for what was published (`810/2015:34`).
        raise invalid("configuration", "of a tournament never changes: cancel it, and create another one.")
    for field in _UNCHANGEABLE_FIELDS:
        if getattr(configuration, field) != getattr(existing, field):
            raise invalid(
                f"configuration.{field}", f"never changes: a table with another {field} needs another table_id."
            )


def _verify_approval(reference: str, articles: Articles) -> None:
    if not reference.strip():
        sentence = f"No specific rules take effect without the regulator's approval ({articles.approval})."
        raise rule_violated("approval_reference", "given", articles.approval, sentence)
    if len(reference) > APPROVAL_CHARACTERS_LIMIT:
        raise invalid("approval_reference", f"is longer than {APPROVAL_CHARACTERS_LIMIT}.")
    if "\0" in reference:
        # The one character that the database's text cannot hold.
        raise invalid("approval_reference", "has to be without NUL characters.")


def _verify_name(name: types_pb2.LocalizedText) -> None:
    for language, text in (("pt", name.pt), ("en", name.en)):
        if not text.strip() or len(text) > NAME_CHARACTERS_LIMIT:
            raise invalid(f"configuration.name.{language}", f"has to be 1 to {NAME_CHARACTERS_LIMIT} characters.")


def _verify_times(configuration: types_pb2.TableConfiguration) -> None:
    window = configuration.betting_window_ms
    if configuration.play == wallet_types.PLAY_MULTI_PLAYER and window < SHORTEST_BETTING_MS:
        sentence = f"Players need at least {SHORTEST_BETTING_MS} ms to bet ({DECISION_TIME_RULE})."
        raise rule_violated("configuration.betting_window_ms", SHORTEST_BETTING_MS, DECISION_TIME_RULE, sentence)
    if not 0 <= window <= LONGEST_BETTING_MS:
        raise invalid("configuration.betting_window_ms", f"may be {LONGEST_BETTING_MS} at most.")
    if not 0 <= configuration.result_shown_ms <= LONGEST_SHOWN_MS:
        raise invalid("configuration.result_shown_ms", f"has to be from 0 to {LONGEST_SHOWN_MS}.")


def _verify_dealing(configuration: types_pb2.TableConfiguration, game: Game[Any, Any]) -> None:
    if configuration.dealing_ms and not game.has_cards:
        raise invalid("configuration.dealing_ms", f"has to be 0: no cards are dealt at {game.name}.")
    if not 0 <= configuration.dealing_ms <= LONGEST_DEALING_MS:
        raise invalid("configuration.dealing_ms", f"has to be from 0 to {LONGEST_DEALING_MS}.")


def _verify_decisions(configuration: types_pb2.TableConfiguration, game: Game[Any, Any]) -> None:
    """Refuses times to decide that are too short or too long: a clock at tables for many, days at those for one."""
    individual = configuration.play == wallet_types.PLAY_INDIVIDUAL
    if not game.has_decisions or individual:
        _verify_unset(configuration, "decision_ms", "where nobody waits for a player's decisions")
    else:
        time_ms = configuration.decision_ms
        if time_ms < SHORTEST_DECISION_MS:
            sentence = f"Players need at least {SHORTEST_DECISION_MS} ms to decide ({DECISION_TIME_RULE})."
            raise rule_violated("configuration.decision_ms", SHORTEST_DECISION_MS, DECISION_TIME_RULE, sentence)
        if time_ms > LONGEST_DECISION_MS:
            raise invalid("configuration.decision_ms", f"may be {LONGEST_DECISION_MS} at most.")
    if not game.has_decisions or not individual:
        _verify_unset(configuration, "open_hand_hours", "where no hand waits for its player")
    elif not 1 <= (hours := configuration.open_hand_hours) <= LONGEST_OPEN_HAND_HOURS:
        bound = 1 if hours < 1 else LONGEST_OPEN_HAND_HOURS
        sentence = f"A hand stays open for 1 to {LONGEST_OPEN_HAND_HOURS} hours ({OPEN_HAND_RULE})."
        raise rule_violated("configuration.open_hand_hours", bound, OPEN_HAND_RULE, sentence)


def _verify_unset(configuration: types_pb2.TableConfiguration, field: str, why: str) -> None:
    if getattr(configuration, field):
        raise invalid(f"configuration.{field}", f"has to be 0 {why}.")


def _verify_seats(configuration: types_pb2.TableConfiguration) -> None:
    fewest = 0 if configuration.play == wallet_types.PLAY_INDIVIDUAL else 1
    if not fewest <= configuration.seats <= SEATS_LIMIT:
        raise invalid("configuration.seats", f"have to be from {fewest} to {SEATS_LIMIT}.")


def _verify_inactivity(policy: session_pb2.InactivityPolicy, articles: Articles) -> None:
    """Refuses limits that are earlier than the regulation allows; later, or never, is allowed."""
    if not policy.HasField("invite"):
        # Left out by mistake it would switch invitations off.
        raise invalid("configuration.inactivity.invite", "has to be given: true or false.")
    for field, value, earliest, rule in (
        ("idle_seconds", policy.idle_seconds, IDLE_SECONDS, articles.idle),
        ("missed_rounds", policy.missed_rounds, articles.fewest_missed_rounds, articles.missed_rounds),
        ("end_after_seconds", policy.end_after_seconds, END_AFTER_SECONDS, articles.warning),
    ):
        if value != 0 and value < earliest:
            sentence = f"`configuration.inactivity.{field}` has to be at least {earliest}, or 0 for just that ({rule})."
            raise rule_violated(f"configuration.inactivity.{field}", earliest, rule, sentence)
    for described in session_pb2.InactivityPolicy.DESCRIPTOR.fields:
        # The bounds that the contract declares, which the wallet keeps to when it receives the policy.
        bounds = described.GetOptions().Extensions[bounds_pb2.bounds]
        value = getattr(policy, described.name)
        if bounds.HasField("maximum") and not bounds.minimum <= value <= bounds.maximum:
            sentence = f"has to be from {bounds.minimum} to {bounds.maximum}."
            raise invalid(f"configuration.inactivity.{described.name}", sentence)
    if 0 < policy.rebuy_grace_seconds < SHORTEST_REBUY_GRACE_S:
        sentence = f"has to be at least {SHORTEST_REBUY_GRACE_S}, or 0 for the default."
        raise invalid("configuration.inactivity.rebuy_grace_seconds", sentence)
