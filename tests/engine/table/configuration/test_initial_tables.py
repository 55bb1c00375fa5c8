"""The file of a deployment's first tables: read as a whole, or refused with its name and what is wrong in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.configuration import initial_tables
from services.kit.table.configuration.initial_tables import InvalidInitialTables
from services.kit.table.configuration.versions import InitialTable

TABLE: dict[str, object] = {
    "table_id": "roulette-1",
    "approval_reference": "SRIJ 2026/17",
    "configuration": {"game": "roulette", "mode": "MODE_REAL", "seats": 20},
}


def read(tmp_path: Path, text: str) -> list[InitialTable]:
    path = tmp_path / "tables.json"
    path.write_text(text)
    return initial_tables.read(path)


def test_tables_are_read_with_their_ids_and_approvals(tmp_path: Path) -> None:
    (table,) = read(tmp_path, json.dumps([TABLE]))
    assert (table.table_id, table.approval_reference) == ("roulette-1", "SRIJ 2026/17")
    assert (table.configuration.mode, table.configuration.seats) == (wallet_types.MODE_REAL, 20)
    assert read(tmp_path, "[]") == []


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    "text",
    [
        "no tables",
        "3",
        json.dumps([TABLE, "roulette-2"]),
        json.dumps([{name: value for name, value in TABLE.items() if name != "approval_reference"}]),
        json.dumps([TABLE | {"configuration": {"croupiers": 2}}]),
        json.dumps([TABLE | {"configuration": {"seats": "many"}}]),
    ],
    ids=["no JSON", "no list", "no table", "no approval", "unknown field", "no number"],
)
def test_g12_no_table_is_read_from_a_file_that_holds_anything_else(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInitialTables, match=r"tables\.json does not hold tables: "):
        read(tmp_path, text)
