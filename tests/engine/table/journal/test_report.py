"""The report of a replay: hands for chips without money, what is known of a round without a draw, and the progress."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.journal.entries import Ending
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.replay import report
from services.kit.table.journal.replay.computation import RoundReplay
from services.kit.table.journal.replay.report import ReplayedRound, Summary, describe_round, round_report
from tests.card_guess_records import AT, RULES, entropy_where, ledger_round, recorded_round

BETS = {1: 200, 2: 400}
ENTROPY = entropy_where(BETS, lambda round_: round_.turn is not None and round_.turn.seats == (1, 2))


def replayed(record: RoundRecord, play: wallet_types.Play.ValueType) -> ReplayedRound:
    version = types_pb2.ConfigurationVersion(
        table_id="guess", version=1, configuration=types_pb2.TableConfiguration(game="guess", play=play)
    )
    ledger = None if play == wallet_types.PLAY_TOURNAMENT else ledger_round(record)
    answer = RoundReplay(record, version, RULES, ledger).compute()
    return describe_round(record, VersionedRules(version, RULES), answer)


@pytest.fixture
def record() -> RoundRecord:
    decided = [(1, "decline"), (2, "decline"), (1, "lower"), (2, "lower")]
    return recorded_round(ENTROPY, BETS, decided)


def test_a_hand_for_chips_is_reported_by_seats_and_names_no_money(record: RoundRecord) -> None:
    for_money = "\n".join(round_report(replayed(record, wallet_types.PLAY_MULTI_PLAYER)))
    assert "Stake guess.1:1: 2.00 € of player-1" in for_money
    for_chips = "\n".join(round_report(replayed(record, wallet_types.PLAY_TOURNAMENT)))
    assert "Seat 1: player-1, entry session-player-1" in for_chips
    assert "Seat 2: player-2, entry session-player-2" in for_chips
    assert "200 chips" in for_chips
    assert "€" not in for_chips


@pytest.mark.rule("GLI-19 2.8.2")
def test_a_round_that_was_never_drawn_is_reported_with_its_close(record: RoundRecord) -> None:
    assert record.ended is not None
    ended = replace(record.ended, ending=Ending.VOID, outcome=None, void_reason="the wheel was touched", payouts=())
    undrawn = RoundRecord(record.opened, None, replace(ended, closed_at=AT + timedelta(seconds=20)), [], [])
    lines = round_report(replayed(undrawn, wallet_types.PLAY_MULTI_PLAYER))
    assert "  closed      2026-11-02 20:00:20.000 UTC" in lines
    assert not [line for line in lines if line.startswith("  drawn")]
    never_closed = round_report(replayed(replace(undrawn, ended=ended), wallet_types.PLAY_MULTI_PLAYER))
    assert not [line for line in never_closed if line.startswith("  closed")]


def test_progress_counts_what_was_replayed_what_differs_and_what_could_not_be_checked(
    record: RoundRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "PROGRESS_EVERY_S", 0.0)
    told: list[str] = []
    summary = Summary(3, told.append)
    honest = replayed(record, wallet_types.PLAY_MULTI_PLAYER)
    summary.add("guess.1", honest)
    summary.add_unchecked("guess.2", "no key")
    honest.response.differences.append("other bets")
    summary.add("guess.3", honest)
    assert told == [
        "1 of 3 rounds, 0 of them differ",
        "2 of 3 rounds, 0 of them differ",
        "3 of 3 rounds, 1 of them differ",
    ]
    assert summary.lines()[:2] == ["guess.3 differs: other bets", "guess.2 could not be checked: no key"]


def test_progress_is_not_told_with_every_round(record: RoundRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "PROGRESS_EVERY_S", 3600.0)
    told: list[str] = []
    Summary(3, told.append).add("guess.1", replayed(record, wallet_types.PLAY_MULTI_PLAYER))
    assert told == []
