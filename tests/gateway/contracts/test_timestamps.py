"""Every timestamp that the gateway reads or writes is RFC 3339 with its offset (`903-B/2015:2.1.3`)."""

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

# A timestamp, and its JSON.
TIMESTAMP = Timestamp(seconds=1_795_000_000, nanos=120_000_000)
WRITTEN = "2026-11-18T11:06:40.120Z"
# The names that timestamps have in the protos.
TIMESTAMP_NAME = re.compile(r"(^|_)(at|now|since|until)$|^(decide|fill)_by$|^extra_time_from$")


def _messages() -> Iterator[Descriptor]:
    for module in pkgutil.walk_packages(feltro.__path__, "feltro."):
        if module.name.endswith("_pb2"):
            waiting = list(import_module(module.name).DESCRIPTOR.message_types_by_name.values())
            while waiting:
                message = waiting.pop()
                waiting.extend(message.nested_types)
                yield message


def _is_timestamp(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.full_name == Timestamp.DESCRIPTOR.full_name


def test_fields_are_named_like_timestamps_exactly_if_they_are() -> None:
    """A time is never a number of seconds, nor a text of its own format."""
    fields = [field for message in _messages() for field in message.fields]
    wrong = [field.full_name for field in fields if _is_timestamp(field) != bool(TIMESTAMP_NAME.search(field.name))]
    assert wrong == []
    assert sum(map(_is_timestamp, fields)) > 50


def test_every_timestamp_is_written_with_its_offset() -> None:
    for message in _messages():
        for field in filter(_is_timestamp, message.fields):
            made = GetMessageClass(message)()
            if field.is_repeated:
                getattr(made, field.name).append(TIMESTAMP)
            else:
                getattr(made, field.name).CopyFrom(TIMESTAMP)
            content = json_codec.to_json(made)
            assert isinstance(content, dict)
            written = content[field.name][0] if field.is_repeated else content[field.name]
            assert written == WRITTEN, field.full_name
    assert datetime.fromisoformat(WRITTEN).utcoffset() == timedelta(0)


def test_a_timestamp_without_an_offset_is_refused() -> None:
    """Any offset will do, because none has to be guessed."""
    for same in (WRITTEN, "2026-11-18T11:06:40.120+00:00", "2026-11-18T12:06:40.12+01:00"):
        read = json_codec.from_json({"effective_at": same}, table_pb2.ConfigureTableRequest)
        assert read.effective_at == TIMESTAMP
    for incomplete in ("2026-11-18T11:06:40.120", "2026-11-18 11:06:40", "2026-11-18", "1795000000"):
        with pytest.raises(json_codec.JsonMismatch, match="effective_at"):
            json_codec.from_json({"effective_at": incomplete}, table_pb2.ConfigureTableRequest)
