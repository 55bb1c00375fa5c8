"""A round of a shoe that goes on is explained by the shoe, and by where the round before has left it (G10)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.baccarat.game import BaccaratGame, BaccaratRules
from services.kit.randomness.tape import Tape
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.journal.entries import Drawn, DrawTrigger, Ended, Ending, Opened, ShoePosition
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.replay.computation import RoundReplay
from services.kit.table.journal.replay.report import describe_round, round_report
from tests.engine.baccarat.tables import configuration, specific_rules

AT = datetime(2026, 11, 2, 20, 0, tzinfo=UTC)
RULES: BaccaratRules = BaccaratGame().rules(configuration(specific_rules(packs=6, cut_card=100)))


def _entropy() -> bytes:
    random_bytes = Random(5).randbytes(6 * 1024)
    tape = Tape(random_bytes)
    RULES.draw(tape)
    return random_bytes[: tape.used]


ENTROPY = _entropy()


def record(number: int, taken: int) -> RoundRecord:
    """Returns a round without bets that was dealt after so many cards of the shoe of the first one."""
    round_id = f"t1.{number}"
    outcome = RULES.outcome_message(RULES.draw(Tape(ENTROPY), taken)).SerializeToString()
    shoe = ShoePosition("t1.1", taken)
    return RoundRecord(
        Opened(round_id, "t1", "t1", number, 1, AT, AT + timedelta(seconds=20)),
        Drawn(round_id, AT, AT, ENTROPY, outcome, (), (), DrawTrigger.CLOCK, hides_cards=True, shoe=shoe),
        Ended(round_id, Ending.SETTLED, AT + timedelta(seconds=30), "", (), ()),
    )


def cards(taken: int) -> int:
    return RULES.deal([], Tape(ENTROPY), taken).cards_shown


def replay(record: RoundRecord) -> table_pb2.ReplayRoundResponse:
    outcome = b"" if record.outcome is None else record.outcome
    ledger = wallet_pb2.Round(round_id=record.opened.round_id, state=wallet_types.ROUND_STATE_SETTLED, outcome=outcome)
    return RoundReplay(record, types_pb2.ConfigurationVersion(), RULES, ledger).compute()


def report(record: RoundRecord) -> str:
    version = types_pb2.ConfigurationVersion(configuration=configuration(specific_rules(packs=6, cut_card=100)))
    return "\n".join(round_report(describe_round(record, VersionedRules(version, RULES), replay(record))))


SECOND = replace(record(2, cards(0)), before=record(1, 0))


@pytest.mark.guarantee("G10")
def test_g10_each_round_of_a_shoe_agrees() -> None:
    assert list(replay(record(1, 0)).differences) == []
    assert list(replay(SECOND).differences) == []


@pytest.mark.guarantee("G6", "G10")
@pytest.mark.parametrize(
    ("altered", "difference"),
    [
        (replace(record(3, cards(0)), before=record(2, 1)), "begins after"),
        (replace(record(2, cards(0) + 1), before=record(1, 0)), "begins after"),
        (
            replace(SECOND, before=replace(record(1, 0), opened=replace(record(1, 0).opened, configuration_version=2))),
            "under other rules",
        ),
        (
            replace(
                SECOND,
                before=replace(
                    record(1, 0),
                    drawn=replace(record(1, 0).drawn, shoe=ShoePosition("t1.0", 0)),  # type: ignore[type-var]
                ),
            ),
            "had another one",
        ),
        (replace(record(9, 98 + cards(98)), before=record(8, 98)), "the cut card comes after 100"),
        # Another card of the same shoe than the one that came.
        (replace(SECOND, drawn=replace(SECOND.drawn, outcome=record(1, 0).outcome)), "another outcome"),  # type: ignore[type-var]
    ],
)
def test_g10_what_does_not_follow_from_the_shoe_is_named(altered: RoundRecord, difference: str) -> None:
    (found,) = replay(altered).differences
    assert difference in found


@pytest.mark.guarantee("G7", "G10")
def test_g7_a_replay_tells_the_order_of_a_shoe_when_none_of_it_can_come_any_more() -> None:
    """Before that it tells what the round has shown, and computes it by the order all the same."""
    going_on = replace(SECOND, shoe_goes_on=True)
    answer = replay(going_on)
    assert (answer.entropy, list(answer.differences)) == (b"", [])
    assert answer.computed_outcome == replay(SECOND).computed_outcome
    assert replay(SECOND).entropy == ENTROPY
    sealed, told = report(going_on), report(SECOND)
    assert f"shuffled for t1.1; {cards(0)} cards were taken before" in sealed
    assert "sealed until the table is dealt from another shoe" in sealed
    assert ENTROPY[:4].hex(" ") not in sealed
    assert ENTROPY.hex(" ") in told
    assert "gives" in sealed
