"""The checks of specific rules, at both sides of each bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.configuration.specific_rules import ARTICLES, CONFIGURATION_BYTES_LIMIT, verify
from services.kit.table.game import Game
from services.kit.table.refusals import TableRefused

REGULATIONS = tuple(ARTICLES)


@dataclass(frozen=True)
class _KindOfGame:
    """What of a game decides about its times."""

    name: str
    has_cards: bool = False
    has_decisions: bool = False


WHEEL = cast("Game[Any, Any]", _KindOfGame("wheel"))
CARDS = cast("Game[Any, Any]", _KindOfGame("cards", has_cards=True))
DECISIONS = cast("Game[Any, Any]", _KindOfGame("decisions", has_cards=True, has_decisions=True))


def configuration(**changes: object) -> types_pb2.TableConfiguration:
    rules: dict[str, Any] = {
        "game": "roulette",
        "regulation": "804/2015",
        "mode": wallet_types.MODE_REAL,
        "play": wallet_types.PLAY_MULTI_PLAYER,
        "name": types_pb2.LocalizedText(pt="Mesa 1", en="Table 1"),
        "betting_window_ms": 20_000,
        "result_shown_ms": 5_000,
        "seats": 50,
    }
    rules.update(changes)
    return types_pb2.TableConfiguration(**rules)


def verify_accepted(
    table_id: str = "t1", approval: str = "SRIJ 2026/17", kind: Game[Any, Any] = WHEEL, **changes: object
) -> None:
    verify(table_id, configuration(**changes), kind, approval_reference=approval)


def refusal(
    table_id: str = "t1", approval: str = "SRIJ 2026/17", kind: Game[Any, Any] = WHEEL, **changes: object
) -> dict[str, str]:
    with pytest.raises(TableRefused) as refused:
        verify_accepted(table_id, approval, kind, **changes)
    return {"reason": refused.value.reason} | refused.value.facts


def policy(field: str, value: int) -> session_pb2.InactivityPolicy:
    changed = session_pb2.InactivityPolicy(invite=True)
    setattr(changed, field, value)
    return changed


def path_of(field: str) -> str:
    """The path of a field from the request: most are fields of the configuration."""
    return field if field in {"table_id", "approval_reference"} else f"configuration.{field}"


def violated(field: str, bound: object, rule: str) -> dict[str, str]:
    return {"reason": "RULE_VIOLATED", "field": path_of(field), "bound": str(bound), "rule": rule}


def invalid(field: str) -> dict[str, str]:
    return {"reason": "INVALID", "field": path_of(field)}


@pytest.mark.guarantee("G12")
def test_g12_a_policy_that_says_nothing_of_invitations_is_refused() -> None:
    """Read as the protos' false it would switch them off."""
    silent = session_pb2.InactivityPolicy(idle_seconds=600)
    assert refusal(inactivity=silent) == invalid("inactivity.invite")
    verify_accepted(inactivity=session_pb2.InactivityPolicy(invite=False))


@pytest.mark.parametrize("table_id", ["t", "A-b_9", "x" * 40])
def test_valid_table_ids_are_accepted(table_id: str) -> None:
    verify_accepted(table_id)


@pytest.mark.parametrize("table_id", ["", "x" * 41, "mesa 1", "t.1", "ação", "t1\n", "*", ">"])
def test_table_ids_that_cannot_be_part_of_a_subject_are_refused(table_id: str) -> None:
    assert refusal(table_id) == invalid("table_id")


@pytest.mark.rule("903-B/2015:6.1.4")
def test_the_betting_window_is_at_least_three_seconds() -> None:
    verify_accepted(betting_window_ms=3_000)
    for window in (2_999, 0, -1):
        assert refusal(betting_window_ms=window) == violated("betting_window_ms", 3_000, "903-B/2015:6.1.4")
    verify_accepted(betting_window_ms=600_000)
    assert refusal(betting_window_ms=600_001) == invalid("betting_window_ms")


def test_cards_take_their_time_to_be_dealt() -> None:
    for allowed in (0, 5_000):
        verify_accepted(kind=CARDS, dealing_ms=allowed)
    for outside in (-1, 5_001):
        assert refusal(kind=CARDS, dealing_ms=outside) == invalid("dealing_ms")
    assert refusal(kind=WHEEL, dealing_ms=1) == invalid("dealing_ms")


@pytest.mark.rule("903-B/2015:6.1.4")
def test_players_have_three_seconds_to_decide() -> None:
    for allowed in (3_000, 120_000):
        verify_accepted(kind=DECISIONS, decision_ms=allowed)
    for short in (-1, 0, 2_999):
        assert refusal(kind=DECISIONS, decision_ms=short) == violated("decision_ms", 3_000, "903-B/2015:6.1.4")
    assert refusal(kind=DECISIONS, decision_ms=120_001) == invalid("decision_ms")
    assert refusal(kind=CARDS, decision_ms=3_000) == invalid("decision_ms")
    assert refusal(kind=DECISIONS, decision_ms=3_000, open_hand_hours=1) == invalid("open_hand_hours")


@pytest.mark.rule("903-B/2015:6.3.2")
def test_a_hand_of_an_individual_table_stays_open_for_90_days_at_most() -> None:
    alone = {"kind": DECISIONS, "play": wallet_types.PLAY_INDIVIDUAL, "betting_window_ms": 0, "seats": 0}
    for allowed in (1, 2_160):
        verify_accepted(**alone, open_hand_hours=allowed)  # type: ignore[arg-type]
    for outside, bound in ((-1, 1), (0, 1), (2_161, 2_160)):
        refused = refusal(**alone, open_hand_hours=outside)  # type: ignore[arg-type]
        assert refused == violated("open_hand_hours", bound, "903-B/2015:6.3.2")
    assert refusal(**alone, open_hand_hours=1, decision_ms=3_000) == invalid("decision_ms")  # type: ignore[arg-type]
    assert refusal(**(alone | {"kind": CARDS}), open_hand_hours=1) == invalid("open_hand_hours")  # type: ignore[arg-type]


def test_individual_tables_need_no_window_and_no_seats() -> None:
    verify_accepted(play=wallet_types.PLAY_INDIVIDUAL, betting_window_ms=0, seats=0)
    assert refusal(play=wallet_types.PLAY_INDIVIDUAL, betting_window_ms=-1) == invalid("betting_window_ms")
    assert refusal(play=wallet_types.PLAY_INDIVIDUAL, seats=-1) == invalid("seats")


@pytest.mark.parametrize(
    ("field", "lowest", "highest"), [("result_shown_ms", 0, 60_000), ("seats", 1, 1_000)], ids=["shown", "seats"]
)
def test_limits_of_the_platform(field: str, lowest: int, highest: int) -> None:
    for allowed in (lowest, highest):
        verify("t1", configuration(**{field: allowed}), WHEEL, approval_reference="x")
    for outside in (lowest - 1, highest + 1):
        with pytest.raises(TableRefused) as refused:
            verify("t1", configuration(**{field: outside}), WHEEL, approval_reference="x")
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": f"configuration.{field}"})


def test_names_are_required_in_both_languages() -> None:
    verify_accepted(name=types_pb2.LocalizedText(pt="é" * 80, en="e" * 80))
    assert refusal(name=types_pb2.LocalizedText(en="Table 1")) == invalid("name.pt")
    assert refusal(name=types_pb2.LocalizedText(pt="Mesa 1", en=" ")) == invalid("name.en")
    assert refusal(name=types_pb2.LocalizedText(pt="Mesa 1", en="e" * 81)) == invalid("name.en")


@pytest.mark.rule("804/2015:P.3")
@pytest.mark.rule("805/2015:P.3")
@pytest.mark.rule("807/2015:P.3")
@pytest.mark.rule("812/2015:P.3")
@pytest.mark.rule("806/2015:R3", "811/2015:R3")
@pytest.mark.parametrize("regulation", REGULATIONS)
def test_nothing_takes_effect_without_the_approval(regulation: str) -> None:
    for missing in ("", " \n"):
        refused = refusal(approval=missing, regulation=regulation)
        assert refused == violated("approval_reference", "given", ARTICLES[regulation].approval)
    # Of the rules of tournaments, those are not at hand that speak of approval: 34 names what specific rules set.
    clauses = {"810/2015:34"} if regulation == "810/2015" else {f"{regulation}:P.3", f"{regulation}:R3"}
    assert ARTICLES[regulation].approval in clauses
    verify_accepted(approval="x" * 200, regulation=regulation)
    assert refusal(approval="x" * 201, regulation=regulation) == invalid("approval_reference")


def test_required_fields_are_checked() -> None:
    assert refusal(game="") == invalid("game")
    assert refusal(regulation="") == invalid("regulation")
    assert refusal(regulation="999/2015") == invalid("regulation")
    for mode in (wallet_types.MODE_UNSPECIFIED, 9):
        assert refusal(mode=mode) == invalid("mode")
    for play in (wallet_types.PLAY_UNSPECIFIED, 9):
        assert refusal(play=play) == invalid("play")


@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("game", "blackjack"),
        ("regulation", "807/2015"),
        ("mode", wallet_types.MODE_DEMO),
        ("play", wallet_types.PLAY_INDIVIDUAL),
    ],
)
def test_the_kind_of_a_table_never_changes(field: str, changed: object) -> None:
    with pytest.raises(TableRefused) as refused:
        verify("t1", configuration(**{field: changed}), WHEEL, approval_reference="x", existing=configuration())
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": f"configuration.{field}"})
    verify("t1", configuration(seats=7), WHEEL, approval_reference="x", existing=configuration())


CITED = {
    "804/2015": ("804/2015:28.a", "804/2015:28.b", "804/2015:29"),
    "805/2015": ("805/2015:35.a", "805/2015:35.b", "805/2015:36"),
    "806/2015": ("806/2015:70.a", "806/2015:70.b", "806/2015:71"),
    "807/2015": ("807/2015:30.a", "807/2015:30.b", "807/2015:31"),
    "811/2015": ("811/2015:70.a", "811/2015:70.b", "811/2015:71"),
    "812/2015": ("812/2015:35.a", "812/2015:35.b", "812/2015:36"),
}


@pytest.mark.rule("804/2015:28.a")
@pytest.mark.rule("804/2015:28.b")
@pytest.mark.rule("804/2015:29")
@pytest.mark.rule("807/2015:30.a")
@pytest.mark.rule("807/2015:30.b")
@pytest.mark.rule("807/2015:31")
@pytest.mark.rule("805/2015:35.a", "805/2015:35.b", "805/2015:36")
@pytest.mark.rule("812/2015:35.a", "812/2015:35.b", "812/2015:36")
@pytest.mark.rule("806/2015:70.b", "811/2015:70.b")
@pytest.mark.parametrize("regulation", CITED)
def test_inactivity_limits_are_never_shorter_than_the_regulation_allows(regulation: str) -> None:
    # Of hands, specific rules may say fewer than five (`806/2015:70.b`).
    missed = 1 if regulation in {"806/2015", "811/2015"} else 5
    bounds = (("idle_seconds", 180), ("missed_rounds", missed), ("end_after_seconds", 60))
    for (field, earliest), rule in zip(bounds, CITED[regulation], strict=True):
        for allowed in (0, earliest, earliest + 1):
            verify_accepted(regulation=regulation, inactivity=policy(field, allowed))
        for early in {earliest - 1, 1, -1} - {0, earliest}:
            refused = refusal(regulation=regulation, inactivity=policy(field, early))
            assert refused == violated(f"inactivity.{field}", earliest, rule)


@pytest.mark.rule("810/2015:27")
def test_nobody_is_invited_to_leave_a_tournament() -> None:
    made = {"regulation": "810/2015", "play": wallet_types.PLAY_TOURNAMENT, "betting_window_ms": 0}
    verify_accepted(**made)  # type: ignore[arg-type]
    refused = refusal(**made, inactivity=session_pb2.InactivityPolicy(invite=True))  # type: ignore[arg-type]
    assert refused == violated("inactivity", "absent", "810/2015:27")


@pytest.mark.rule("810/2015:34")
def test_a_tournament_that_players_may_have_registered_for_never_changes() -> None:
    tournament = configuration(regulation="810/2015", play=wallet_types.PLAY_TOURNAMENT, betting_window_ms=0)
    for changed in (tournament, configuration(regulation="810/2015")):
        with pytest.raises(TableRefused) as refused:
            verify("t1", changed, WHEEL, approval_reference="SRIJ 2026/17", existing=tournament)
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "configuration"})


def test_platform_inactivity_limits_are_not_negative() -> None:
    for field in ("warn_after_seconds", "rebuy_grace_seconds"):
        assert refusal(inactivity=policy(field, -1)) == invalid(f"inactivity.{field}")


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("field", "largest"),
    [
        ("idle_seconds", 2_592_000),
        ("missed_rounds", 1_000_000),
        ("warn_after_seconds", 2_592_000),
        ("end_after_seconds", 2_592_000),
        ("rebuy_grace_seconds", 300),
    ],
)
def test_g12_inactivity_is_within_what_the_wallet_takes(field: str, largest: int) -> None:
    """A policy that the wallet refuses would keep every round of the table from opening."""
    verify_accepted(inactivity=policy(field, largest))
    for beyond in (largest + 1, 2**31 - 1):
        assert refusal(inactivity=policy(field, beyond)) == invalid(f"inactivity.{field}")
    assert refusal(inactivity=policy("rebuy_grace_seconds", 14)) == invalid("inactivity.rebuy_grace_seconds")


@pytest.mark.guarantee("G11")
def test_g11_a_configuration_is_small_enough_for_every_snapshot() -> None:
    made = configuration()
    made.rules.value = bytes(CONFIGURATION_BYTES_LIMIT)
    with pytest.raises(TableRefused) as refused:
        verify("t1", made, WHEEL, approval_reference="x")
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "configuration"})


def test_a_reference_that_the_database_cannot_hold_is_invalid() -> None:
    assert refusal(approval="SRIJ\0") == invalid("approval_reference")
