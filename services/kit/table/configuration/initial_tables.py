"""Reads the tables that a deployment brings along: a JSON file of table ids, approvals and configurations."""

from __future__ import annotations

import json
from pathlib import Path

from google.protobuf import json_format

from feltro.table.v1 import types_pb2
from services.kit.table.configuration.versions import InitialTable


class InvalidInitialTables(Exception):
    """The file does not hold tables; the message says where."""


def read(path: Path) -> list[InitialTable]:
    """`[{"table_id": …, "approval_reference": …, "configuration": {…}}, …]`, the configuration as in the protos."""
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
