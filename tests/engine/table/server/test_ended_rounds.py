"""Rounds that are over, as a game's own services read them: only with their cards, and only after they were paid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from feltro.table.v1 import types_pb2
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.journal.entries import Ending
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.sealing import KEY_BYTES, NO_KEYS, EntropyKey, EntropyKeys
from services.kit.table.refusals import TableRefused
from services.kit.table.server.game_commands import EndedRounds
from tests.card_guess import Bets, GuessRound
from tests.card_guess_records import RULES, entropy_where, recorded_round

KEYS = EntropyKeys([EntropyKey("1", b"k" * KEY_BYTES)])
BETS = {1: 200}
ENTROPY = entropy_where(BETS, lambda round_: round_.turn is not None)


@pytest.fixture
def record() -> RoundRecord:
    """A round as the journal keeps it, its entropy sealed."""
    played = recorded_round(ENTROPY, BETS, [(1, "decline"), (1, "lower")])
    assert played.drawn is not None
    return replace(played, drawn=KEYS.seal(played.drawn))


async def read(record: RoundRecord | None, table_id: str = "guess", keys: EntropyKeys = KEYS) -> RoundRecord:
    async def read_round(_round_id: str) -> RoundRecord | None:
        return record

    async def rules_of_version(placement_id: str, version: int) -> VersionedRules[Bets, GuessRound]:
        assert (placement_id, version) == ("guess", 1)
        return VersionedRules(types_pb2.ConfigurationVersion(), cast("Any", RULES))

    return (await EndedRounds(read_round, rules_of_version, keys).read(table_id, "guess.1")).record


async def reason(record: RoundRecord | None, table_id: str = "guess", keys: EntropyKeys = KEYS) -> str:
    with pytest.raises(TableRefused) as refused:
        await read(record, table_id, keys)
    return refused.value.reason


async def test_a_round_that_is_over_is_read_with_its_cards(record: RoundRecord) -> None:
    assert record.drawn is not None
    assert record.drawn.is_sealed
    found = (await read(record)).drawn
    assert found is not None
    assert (found.is_sealed, found.entropy) == (False, ENTROPY)


@pytest.mark.guarantee("G7")
async def test_g7_a_round_of_another_table_or_without_an_outcome_is_unknown(record: RoundRecord) -> None:
    assert record.ended is not None
    assert await reason(None) == "ROUND_UNKNOWN"
    assert await reason(record, "other") == "ROUND_UNKNOWN"
    assert await reason(replace(record, ended=None)) == "ROUND_UNKNOWN"
    void = replace(record.ended, ending=Ending.VOID, outcome=None)
    assert await reason(replace(record, ended=void)) == "ROUND_UNKNOWN"


@pytest.mark.guarantee("G12")
async def test_g12_a_round_whose_key_is_missing_may_be_asked_for_again(
    record: RoundRecord,
) -> None:
    assert await reason(record, keys=NO_KEYS) == "UNAVAILABLE"
