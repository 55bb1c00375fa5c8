"""Every action that may not be: refused with its reason and the legal bounds, at a table where nothing has changed.

By brute force, at each decision of a hand: every seat, every action, amounts at, just below and just above each bound,
and the wrong turn, hand, table and player. What is compared is all that anybody sees, and all that is on record.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2
from services.kit.refusal import Refused
from services.kit.table.encoding import packed
from services.kit.table.turns.hand import Hand, _Asked
from services.poker.dealt_hand import DealtPoker
from tests.simulation.caves.players import CALL, CHECK, FOLD, RAISE, OwnTurn, PokerPlayer
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID

FIRST = f"{TABLE_ID}.1"
NAMES = ("ana", "rui", "eva")
UNSPECIFIED, UNKNOWN_ACTION = 0, 99
ACTIONS = (FOLD, CHECK, CALL, RAISE, UNSPECIFIED, UNKNOWN_ACTION)
FAR_TOO_MUCH = 2**62
# At each decision: the round is checked to its end after a raise by each bound, a call, and a short all-in.
SCRIPT = ("least", "call", "most", "call", "call", "check", "least", "fold", "call")


class Asked(NamedTuple):
    """An action as a client sends it."""

    player: PokerPlayer
    table_id: str
    round_id: str
    turn: int
    action: int
    to_cents: int


async def send(scenario: PokerScenario, asked: Asked, request_id: str) -> object:
    """Sends an action; returns its answer, which may be a refusal."""
    move = poker_pb2.Move(action=poker_pb2.Action.ValueType(asked.action), to_cents=asked.to_cents)
    request = table_pb2.ActRequest(
        request_id=request_id,
        table_id=asked.table_id,
        round_id=asked.round_id,
        turn=asked.turn,
        move=packed(move),
    )
    owner = scenario.world.current_owners[TABLE_ID]
    try:
        return await scenario.world.call(owner, lambda owner: owner.tables.act(request, asked.player.caller))
    except Refused as refused:
        return refused


async def everything(scenario: PokerScenario, players: list[PokerPlayer]) -> list[object]:
    """Returns all that each player can read, all that was told, and all that is on record; but for the time of day."""
    seen: list[object] = []
    for player in players:
        table = await player.get_table()
        if table is not None:
            table.table.ClearField("at")
        seen.append(table)
    world = scenario.world
    wallet = world.wallet
    seen += [event.SerializeToString(deterministic=True) for event in scenario.events()]
    seen += [view for views in world.own_views.by_player.values() for view in views]
    seen += [copy.deepcopy(world.journal.rounds), len(wallet.movements), len(wallet.rounds)]
    seen += [(each.account_id, each.free_cents, each.locked_cents) for each in wallet.book.accounts.values()]
    seen += [(each.session_id, each.state, each.next_step_at) for each in wallet.book.sessions.values()]
    return seen


def bounds(turn: OwnTurn) -> list[int]:
    """Returns amounts at, just below and just above each bound, and some that are far from all of them."""
    legal = turn.legal
    near = {legal.to_call_cents, legal.min_to_cents, legal.max_to_cents, 100, 10_000}
    amounts = {each + step for each in near for step in (-1, 0, 1)}
    return sorted(amounts | {-FAR_TOO_MUCH, FAR_TOO_MUCH})


def wrong_actions(players: list[PokerPlayer], stranger: PokerPlayer, turn: OwnTurn) -> Iterator[Asked]:
    """Yields what each may send now, right or wrong; and the wrong turn, hand and table, with what would be right."""
    for player, action in itertools.product([*players, stranger], ACTIONS):
        for to_cents in bounds(turn) if action == RAISE else (0, 1, -1):
            yield Asked(player, TABLE_ID, turn.round_id, turn.turn, action, to_cents)
    elsewhere = [
        ("other", turn.round_id, turn.turn),
        (TABLE_ID, f"{TABLE_ID}.2", turn.turn),
        (TABLE_ID, "other.1", turn.turn),
        (TABLE_ID, turn.round_id, turn.turn + 1),
        (TABLE_ID, turn.round_id, 2**31 - 1),
        (TABLE_ID, turn.round_id, turn.turn - 1),
        (TABLE_ID, turn.round_id, -1),
    ]
    for player, place in itertools.product([*players, stranger], elsewhere):
        yield Asked(player, *place, FOLD, 0)
        yield Asked(player, *place, RAISE, turn.legal.min_to_cents)


def expected(asked: Asked, actor: PokerPlayer, stranger: PokerPlayer, turn: OwnTurn) -> str:
    """Returns the reason of the refusal; nothing if the action is possible."""
    legal, is_raise = turn.legal, asked.action == RAISE
    reasons = (
        ("INVALID", asked.turn < 1),
        ("TABLE_UNKNOWN", asked.table_id != TABLE_ID),
        ("NOT_SEATED", asked.player is stranger),
        ("TURN_OVER", (asked.round_id, asked.turn) != (turn.round_id, turn.turn)),
        ("INVALID", asked.action in {UNSPECIFIED, UNKNOWN_ACTION} or bool(asked.to_cents and not is_raise)),
        ("NOT_YOUR_TURN", asked.player is not actor),
        ("DECISION_ILLEGAL", asked.action == CHECK and legal.to_call_cents > 0),
        ("DECISION_ILLEGAL", asked.action == CALL and not legal.to_call_cents),
        ("DECISION_ILLEGAL", is_raise and not legal.max_to_cents),
        ("BELOW_MINIMUM", is_raise and asked.to_cents < legal.min_to_cents),
        ("ABOVE_MAXIMUM", is_raise and asked.to_cents > legal.max_to_cents),
    )
    return next((reason for reason, holds in reasons if holds), "")


def facts(reason: str, asked: Asked, actor: PokerPlayer, turn: OwnTurn) -> Mapping[str, object]:
    """Returns what a refusal has to say besides its reason: the bounds, or whose turn it is."""
    legal, seat = turn.legal, 1 + NAMES.index(actor.player_id)
    match reason:
        case "NOT_YOUR_TURN":
            return {"turn_of": seat}
        case "BELOW_MINIMUM" | "ABOVE_MAXIMUM":
            return {
                "amount_cents": asked.to_cents,
                "minimum_cents": legal.min_to_cents,
                "maximum_cents": legal.max_to_cents,
            }
        case "DECISION_ILLEGAL":
            return {
                "to_call_cents": legal.to_call_cents,
                "min_to_cents": legal.min_to_cents,
                "max_to_cents": legal.max_to_cents,
            }
        case "TURN_OVER" if asked.round_id == turn.round_id:
            return {"current_turn": turn.turn, "seats": seat}
    return {}


async def try_everything(
    scenario: PokerScenario, players: list[PokerPlayer], stranger: PokerPlayer, actor: PokerPlayer, turn: OwnTurn
) -> set[str]:
    """Sends every wrong action, each of them twice; returns the reasons."""
    reasons = set[str]()
    before = await everything(scenario, [*players, stranger])
    for number, asked in enumerate(wrong_actions(players, stranger, turn)):
        reason = expected(asked, actor, stranger, turn)
        if not reason:
            continue
        reasons.add(reason)
        # A refused command may be sent again, and is judged again.
        for _ in range(2):
            refused = await send(scenario, asked, f"wrong:{turn.turn}:{number}")
            assert isinstance(refused, Refused), (asked, refused)
            assert refused.reason == reason, (asked, refused)
            wanted = facts(reason, asked, actor, turn)
            assert {name: refused.facts[name] for name in wanted} == {
                name: str(value) for name, value in wanted.items()
            }
            if reason in {"BELOW_MINIMUM", "ABOVE_MAXIMUM", "DECISION_ILLEGAL"}:
                assert refused.facts["rule"].startswith(scenario.configuration.regulation)
                assert refused.facts["decide_by"]
        assert await everything(scenario, [*players, stranger]) == before, asked
    return reasons


def next_action(word: str, turn: OwnTurn) -> tuple[int, int]:
    legal = turn.legal
    if word in {"least", "most"} and legal.max_to_cents:
        return RAISE, legal.min_to_cents if word == "least" else legal.max_to_cents
    if word == "fold":
        return FOLD, 0
    return (CALL if legal.to_call_cents else CHECK), 0


def play(regulation: str = "806/2015", limit: poker_pb2.Limit.ValueType = poker_pb2.LIMIT_NO_LIMIT) -> set[str]:
    """Plays a hand in which everything wrong is tried at each decision; returns the reasons of the refusals."""

    async def script(scenario: PokerScenario) -> set[str]:
        players = await scenario.seat_players(*NAMES)
        stranger = PokerPlayer(scenario.world, "ivo", TABLE_ID)
        scenario.world.deposit("ivo", STARTING_CENTS)
        reasons, last = set[str](), None
        words = iter(SCRIPT)
        while scenario.round_entries(FIRST).ended is None:
            actor = await in_turn(*players)
            turn = await actor.wait_for_turn()
            if turn.round_id != FIRST:
                break
            reasons |= await try_everything(scenario, players, stranger, actor, turn)
            asked = Asked(actor, TABLE_ID, FIRST, turn.turn, *next_action(next(words, "call"), turn))
            # The bounds themselves are possible, and a command that is sent twice acts once.
            command, act = actor.prepare_act(turn, poker_pb2.Action.ValueType(asked.action), asked.to_cents)
            done = await act()
            assert isinstance(done, table_pb2.ActResponse), (asked, done)
            after = await everything(scenario, [*players, stranger])
            assert await act() == done
            other = await send(scenario, asked._replace(action=RAISE, to_cents=FAR_TOO_MUCH), command.request_id)
            assert isinstance(other, Refused)
            assert other.reason == "REQUEST_REUSED"
            late = await send(scenario, asked, f"late:{turn.turn}")
            assert isinstance(late, Refused)
            assert late.reason == "TURN_OVER"
            if scenario.round_entries(FIRST).ended is None:
                assert await everything(scenario, [*players, stranger]) == after
            last = asked
            if scenario.table().snapshot().round.round_id != FIRST:
                break
            if not scenario.table().snapshot().round.HasField("turn"):
                await scenario.wait_for_end(FIRST)
        await scenario.wait_for_end(FIRST)
        assert last is not None
        refused = await send(scenario, last, "after:the:end")
        assert isinstance(refused, Refused)
        assert refused.reason == "TURN_OVER"
        return reasons

    scenario = PokerScenario(
        regulation=regulation, limit=limit, min_players=3, decision_ms=120_000, result_shown_ms=60_000
    )
    return scenario.run(script)


@pytest.mark.guarantee("G3", "G12")
@pytest.mark.rule("806/2015:9", "806/2015:23", "806/2015:24.a", "806/2015:24.b", "806/2015:24.c", "806/2015:34.b")
@pytest.mark.rule("806/2015:34.c", "806/2015:37", "806/2015:38", "806/2015:43", "903-B/2015:6.2.2")
@pytest.mark.rule("811/2015:9", "811/2015:23", "811/2015:24.a", "811/2015:24.b", "811/2015:24.c", "811/2015:34.b")
@pytest.mark.rule("811/2015:34.c", "811/2015:37", "811/2015:38", "811/2015:43")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
@pytest.mark.parametrize("limit", ["NO_LIMIT", "POT", "HALF_POT", "FIXED_RAISES"])
def test_every_wrong_action_is_refused_with_its_reason_and_bounds_and_changes_nothing(
    regulation: str, limit: str
) -> None:
    reasons = play(regulation=regulation, limit=poker_pb2.Limit.Value(f"LIMIT_{limit}"))

    assert reasons == {
        "ABOVE_MAXIMUM",
        "BELOW_MINIMUM",
        "DECISION_ILLEGAL",
        "INVALID",
        "NOT_SEATED",
        "NOT_YOUR_TURN",
        "TABLE_UNKNOWN",
        "TURN_OVER",
    }


@pytest.mark.parametrize("broken", ["judges nothing", "takes any turn", "counts refusals"])
def test_an_action_that_is_wrong_and_counts_is_found(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if broken == "judges nothing":
        monkeypatch.setattr(DealtPoker, "judge", lambda *_: None)
    elif broken == "takes any turn":
        monkeypatch.setattr(Hand, "_verify_turn", lambda *_: None)
        monkeypatch.setattr(Hand, "_verify_still", lambda *_: None)
    else:
        refuse = Hand._refuse

        def counting(self: Hand[Any, Any], asked: _Asked, refused: Refused) -> None:
            self._turn_clock.number += 1
            refuse(self, asked, refused)

        monkeypatch.setattr(Hand, "_refuse", counting)

    with pytest.raises(AssertionError):
        play()
