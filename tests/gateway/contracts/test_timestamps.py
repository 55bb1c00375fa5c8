"""Every moment that crosses the edge is RFC 3339 with its offset, whatever message it is in (`903-B/2015:2.1.3`)."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib import import_module

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

import feltro
from feltro.table.v1 import table_pb2
from gateway.contracts import json_codec

pytestmark = pytest.mark.rule("903-B/2015:2.1.3")

# A moment to the nanosecond, and how everybody writes it.
MOMENT = Timestamp(seconds=1_795_000_000, nanos=120_000_000)
WRITTEN = "2026-11-18T11:06:40.120Z"
# What is called a moment in our protos.
CALLED_A_MOMENT = re.compile(r"(^|_)(at|now|since|until)$")


def _messages() -> Iterator[Descriptor]:
    for module in pkgutil.walk_packages(feltro.__path__, "feltro."):
        if module.name.endswith("_pb2"):
            waiting = list(import_module(module.name).DESCRIPTOR.message_types_by_name.values())
            while waiting:
                message = waiting.pop()
                waiting.extend(message.nested_types)
                yield message


def _is_moment(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.full_name == Timestamp.DESCRIPTOR.full_name


def test_what_is_called_a_moment_is_one_and_nothing_else_is() -> None:
    """Never a number of seconds, and never a text of its own kind."""
    fields = [field for message in _messages() for field in message.fields]
    wrong = [field.full_name for field in fields if _is_moment(field) != bool(CALLED_A_MOMENT.search(field.name))]
    assert wrong == []
    assert sum(map(_is_moment, fields)) > 50


def test_every_moment_of_every_message_is_written_with_its_offset() -> None:
    for message in _messages():
        for field in filter(_is_moment, message.fields):
            made = GetMessageClass(message)()
            if field.is_repeated:
                getattr(made, field.name).append(MOMENT)
            else:
                getattr(made, field.name).CopyFrom(MOMENT)
            said = json_codec.to_json(made)
            assert isinstance(said, dict)
            written = said[field.name][0] if field.is_repeated else said[field.name]
            assert written == WRITTEN, field.full_name
    assert datetime.fromisoformat(WRITTEN).utcoffset() == timedelta(0)


def test_a_moment_without_an_offset_is_not_understood() -> None:
    """Nobody has to guess whose time it is; with any offset it is the same moment."""
    for same in (WRITTEN, "2026-11-18T11:06:40.120+00:00", "2026-11-18T12:06:40.12+01:00"):
        read = json_codec.from_json({"effective_at": same}, table_pb2.ConfigureTableRequest)
        assert read.effective_at == MOMENT
    for guess in ("2026-11-18T11:06:40.120", "2026-11-18 11:06:40", "2026-11-18", "1795000000"):
        with pytest.raises(json_codec.JsonMismatch, match="effective_at"):
            json_codec.from_json({"effective_at": guess}, table_pb2.ConfigureTableRequest)
