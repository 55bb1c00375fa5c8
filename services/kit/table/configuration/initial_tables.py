"""Reads the initial tables of a deployment from a JSON file of table ids, approvals and configurations."""

from __future__ import annotations

import json
from pathlib import Path

from google.protobuf import json_format

from feltro.table.v1 import types_pb2
from services.kit.table.configuration.versions import InitialTable


class InvalidInitialTables(Exception):
    """The file cannot be read as tables; the message says why."""


def read(path: Path) -> list[InitialTable]:
    """Reads `[{"table_id": …, "approval_reference": …, "configuration": {…}}, …]`, with protobuf's JSON inside."""
    try:
        return [
            InitialTable(
                str(entry["table_id"]),
                json_format.ParseDict(entry["configuration"], types_pb2.TableConfiguration()),
                str(entry["approval_reference"]),
            )
            for entry in json.loads(path.read_text())
        ]
    except (ValueError, KeyError, TypeError, json_format.ParseError) as wrong:
        raise InvalidInitialTables(f"{path} does not hold tables: {wrong}") from wrong
