"""The JSON codec agrees with protobuf's own for every message of the platform, and is stricter about wrong input."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, struct_pb2, wrappers_pb2
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass, GetMessageClassesForFiles
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2, wallet_pb2
from gateway.contracts import json_codec
from gateway.contracts.any_types import ANY_TOPIC
from gateway.contracts.descriptors import PACKAGE_PREFIX, descriptor_of
from gateway.contracts.methods import Contracts
from tests.gateway.random_messages import RandomMessages


def _all_types() -> Iterator[Descriptor]:
    contracts = Contracts()
    files = {method.descriptor.containing_service.file.name: None for method in contracts.methods}
    waiting, seen = [descriptor_pool.Default().FindFileByName(name) for name in files], set[str]()
    waiting.append(descriptor_pool.Default().FindFileByName("feltro/table/v1/events.proto"))
    waiting.append(descriptor_pool.Default().FindFileByName("feltro/wallet/v1/events.proto"))
    while waiting:
        file = waiting.pop()
        if file.name not in seen and file.package.startswith(PACKAGE_PREFIX):
            seen.add(file.name)
            waiting.extend(file.dependencies)
            yield from file.message_types_by_name.values()


def _unusual_type() -> Descriptor:
    """Makes a message with kinds of fields that no contract has yet."""
    file = descriptor_pb2.FileDescriptorProto(
        name="unusual.proto", package="unusual", syntax="proto3", dependency=["google/protobuf/wrappers.proto"]
    )
    message = file.message_type.add(name="Unusual")
    kinds = descriptor_pb2.FieldDescriptorProto.Type
    for number, (kind, value) in enumerate(kinds.items(), 1):
        if kind not in {"TYPE_GROUP", "TYPE_MESSAGE", "TYPE_ENUM"}:
            for label, name in ((1, "one"), (3, "many")):
                message.field.add(
                    name=f"{name}_{kind.lower()}", number=2 * number + label // 3, type=value, label=label
                )
    recursive = message.field.add(name="itself", number=100, type=11, label=1)
    recursive.type_name = ".unusual.Unusual"
    text, flag, whole, inner = kinds.TYPE_STRING, kinds.TYPE_BOOL, kinds.TYPE_INT64, kinds.TYPE_MESSAGE
    for number, (key, value) in enumerate(((text, inner), (flag, whole), (whole, text)), 101):
        entry = message.nested_type.add(name=f"Map{number}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=key, label=1)
        entry.field.add(name="value", number=2, type=value, label=1)
        if value == inner:
            entry.field[1].type_name = ".unusual.Unusual"
        map_field = message.field.add(name=f"map{number}", number=number, type=11, label=3)
        map_field.type_name = f".unusual.Unusual.Map{number}Entry"
    descriptor_pool.Default().Add(file)
    return descriptor_of(GetMessageClassesForFiles(["unusual.proto"], descriptor_pool.Default())["unusual.Unusual"])


TYPES = {descriptor.full_name: descriptor for descriptor in _all_types()}
MESSAGES = RandomMessages(Contracts().messages_about(ANY_TOPIC))
UNUSUAL = _unusual_type()


def official(message: Message) -> object:
    return json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def same(one: object, other: object) -> bool:
    """Compares values and their types: True is not 1."""
    return bool(one == other) and repr(_sorted(one)) == repr(_sorted(other))


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", sorted(TYPES))
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_message_is_written_and_read_as_by_protobuf(name: str, data: st.DataObject) -> None:
    message = data.draw(MESSAGES.strategy_for(TYPES[name]))
    written = json_codec.to_json(message)
    assert same(written, official(message))
    text = json_codec.loads(json_codec.encode(message))
    assert same(text, written)
    assert json_codec.from_json(text, type(message)) == message
    camel = json_format.MessageToDict(message)
    assert json_codec.from_json(camel, type(message)) == message


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(message=MESSAGES.strategy_for(UNUSUAL))
def test_fields_that_no_contract_has_yet_are_written_and_read_as_well(message: Message) -> None:
    written = json_codec.to_json(message)
    assert same(written, official(message))
    # NaN is not equal to itself, its text is.
    again = json_codec.from_json(json_codec.loads(json_codec.encode(message)), type(message))
    assert same(json_codec.to_json(again), written)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def _places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(inner, (*path, key))


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_accepted_json_is_read_as_by_protobuf(data: st.DataObject) -> None:
    message = data.draw(st.sampled_from(sorted(TYPES)).flatmap(lambda name: MESSAGES.strategy_for(TYPES[name])))
    value: Any = copy.deepcopy(json_codec.to_json(message))
    place = data.draw(st.sampled_from(list(_places(value))))
    if place:
        above: Any = value
        for key in place[:-1]:
            above = above[key]
        above[place[-1]] = data.draw(JSON)
    else:
        value = data.draw(JSON)
    try:
        read = json_codec.from_json(value, type(message))
    except json_codec.JsonMismatch:
        return
    assert read == json_format.ParseDict(value, type(message)())


@pytest.mark.parametrize(
    ("message_class", "value", "path", "text"),
    [
        (
            roulette_pb2.PlaceBetsRequest,
            {"bets": [{"place": "red"}, {"amount_cents": "x"}]},
            "bets[1].amount_cents",
            "integer",
        ),
        (roulette_pb2.PlaceBetsRequest, {"bets": [{"amount_cents": 1.5}]}, "bets[0].amount_cents", "integer"),
        (roulette_pb2.PlaceBetsRequest, {"bets": [{"amount_cents": True}]}, "bets[0].amount_cents", "integer"),
        (roulette_pb2.PlaceBetsRequest, {"bets": [{"amount_cents": 2**63}]}, "bets[0].amount_cents", "from"),
        (roulette_pb2.PlaceBetsRequest, {"bets": {}}, "bets", "list"),
        (roulette_pb2.PlaceBetsRequest, {"bets": [None]}, "bets[0]", "object"),
        (roulette_pb2.PlaceBetsRequest, {"bet": []}, "bet", "not a field"),
        (roulette_pb2.PlaceBetsRequest, {"round_id": 7}, "round_id", "string"),
        (roulette_pb2.PlaceBetsRequest, {"round_id": "a", "roundId": "a"}, "round_id", "twice"),
        (roulette_pb2.PlaceBetsRequest, {"round_id": "a", "roundId": None}, "round_id", "twice"),
        (roulette_pb2.PlaceBetsRequest, {"roundId": None, "round_id": "a"}, "round_id", "twice"),
        (
            roulette_pb2.PlaceBetsRequest,
            {"bets": [{"amount_cents": 1, "amountCents": 1}]},
            "bets[0].amount_cents",
            "twice",
        ),
        (roulette_pb2.PlaceBetsRequest, {"round_id": "a\0"}, "round_id", "U+0000"),
        (roulette_pb2.PlaceBetsRequest, [], "", "object"),
        (wallet_pb2.OpenAccountRequest, {"mode": "REAL"}, "mode", "MODE_REAL"),
        (wallet_pb2.OpenAccountRequest, {"mode": 77}, "mode", "MODE_REAL"),
        (wallet_pb2.StakeOrder, {"detail": "§"}, "detail", "base64"),
        (wallet_pb2.StakeOrder, {"detail": "QQ="}, "detail", "base64"),
        (wallet_pb2.StakeAnswer, {"placed": {}, "refused": {}}, "refused", "beside another"),
        (session_pb2.AdvanceSessionClockRequest, {"byMs": "1s"}, "by_ms", "integer"),
        (session_pb2.AdvanceSessionClockRequest, {"by_ms": "060"}, "by_ms", "integer"),
        (session_pb2.InactivityPolicy, {"invite": "true"}, "invite", "true or false"),
        (table_pb2.ConfigureTableRequest, {"effective_at": "today"}, "effective_at", "moment"),
        (types_pb2.TableConfiguration, {"rules": {"wheel": 1}}, "rules.@type", "name the type"),
        (types_pb2.TableConfiguration, {"rules": {"@type": "x/y.Z"}}, "rules.@type", "no type"),
        (
            types_pb2.TableConfiguration,
            {"rules": {"@type": "type.googleapis.com/feltro.roulette.v1.SpecificRules", "wheel": "ROUND"}},
            "rules.wheel",
            "WHEEL_FRENCH",
        ),
        (
            types_pb2.TableConfiguration,
            {"rules": {"@type": "type.googleapis.com/google.protobuf.Any", "value": {}}},
            "rules.@type",
            "no type",
        ),
        (
            types_pb2.TableConfiguration,
            {"rules": {"@type": "type.googleapis.com/feltro.roulette.v1.Bets"}},
            "rules.@type",
            "no type",
        ),
        (
            types_pb2.TableConfiguration,
            {"rules": {"@type": "elsewhere.example/feltro.roulette.v1.SpecificRules"}},
            "rules.@type",
            "no type",
        ),
    ],
)
def test_a_wrong_field_is_named_with_what_it_should_be(
    message_class: type[Message], value: object, path: str, text: str
) -> None:
    with pytest.raises(json_codec.JsonMismatch) as wrong:
        json_codec.from_json(value, message_class)
    assert wrong.value.path == path
    assert text in str(wrong.value)


def test_null_is_a_field_left_out() -> None:
    request = json_codec.from_json({"round_id": None, "bets": None, "table_id": "t"}, roulette_pb2.PlaceBetsRequest)
    assert request == roulette_pb2.PlaceBetsRequest(table_id="t")


def test_bytes_are_read_in_both_alphabets_with_and_without_padding() -> None:
    for text in ("-_8=", "-_8", "+/8="):
        assert json_codec.from_json({"detail": text}, wallet_pb2.StakeOrder).detail == b"\xfb\xff"


@pytest.mark.parametrize("text", [b"", b"{", b"nan", b'"\xff"', b"\xff", b'"\\ud800"', b"[" * 100_000, b"1e999"])
def test_malformed_json_is_refused(text: bytes) -> None:
    with pytest.raises(json_codec.MalformedJson):
        json_codec.loads(text)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b'{"amount_cents":100,"amount_cents":200}', "amount_cents"),
        (b'{"amount_cents":100,"amount_cents":100}', "amount_cents"),
        (b'{"amount_cents":null,"amount_cents":100}', "amount_cents"),
        (b'{"a":1,"\\u0061":2}', "a"),
        (b'{"":1,"":2}', ""),
        (b'{"a:b":":","a:b":"::"}', "a:b"),
        (b'{"a":"\\u003a","b":{"c":1,"c":"\\":"}}', "b.c"),
        (b'{"a":"\\"a\\":","a":1}', "a"),
        (b'{"bets":[{"place":"17"},{"place":"red","amount_cents":1,"place":"black"}]}', "bets[1].place"),
        (b'[{"params":{"a":{"b":{"c":[[{"d":1,"d":{}}]]}}}}]', "[0].params.a.b.c[0][0].d"),
        (b'{"a":{"x":1,"x":2},"a":3}', "a"),
        ('{"ã":1, "ã" :2}'.encode(), "ã"),
    ],
)
def test_g12_a_name_that_an_object_gives_twice_is_refused(text: bytes, path: str) -> None:
    """A decoder keeps one of the values, and nobody knows which one was meant."""
    with pytest.raises(json_codec.RepeatedName) as refused:
        json_codec.loads(text)
    assert json_codec.repeated_path(refused.value.marked) == path


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":":","b":"a:b:c","c":{"a":1},"d":[{"a":1},{"a":1}]}',
        b'{"a:":"\\u003a:","\\"":"\\":\\"","b\\\\":":"}',
        b'"a:b"',
        b'{"at":"2026-01-31T12:00:00Z","data":"::::"}',
        b"{}",
        b"[]",
    ],
)
def test_names_are_told_apart_from_colons_in_texts(text: bytes) -> None:
    assert json_codec.loads(text) == json.loads(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
        max_leaves=20,
    ),
    st.booleans(),
)
def test_a_value_is_parsed_whatever_its_texts_hold(value: object, ascii_only: bool) -> None:  # noqa: FBT001
    text = json.dumps(value, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    try:
        parsed = json_codec.loads(text)
    except json_codec.RepeatedName:
        raise
    except json_codec.MalformedJson:
        # Half a surrogate pair is no text.
        assert any("\ud800" <= character <= "\udfff" for character in json.dumps(value, ensure_ascii=False))
    else:
        assert parsed == value


def test_an_any_of_an_unknown_type_passes_through() -> None:
    unknown = AnyMessage(type_url="type.googleapis.com/feltro.baccarat.v9.Shoe", value=b"\x01")
    assert json_codec.to_json(unknown) == {"@type": unknown.type_url, "value": "AQ=="}


def test_an_unknown_enum_value_passes_through() -> None:
    request = wallet_pb2.OpenAccountRequest(mode=9)  # type: ignore[arg-type]
    assert json_codec.to_json(request) == {"player_id": "", "mode": 9}


def test_well_known_types_are_left_to_protobuf() -> None:
    for message in (struct_pb2.Struct(), wrappers_pb2.StringValue(value="a"), struct_pb2.Value(string_value="b")):
        written = json_codec.to_json(message)
        assert written == official(message)
        assert json_codec.from_json(written, type(message)) == message
    texts: list[object] = [[], "a\0"]
    for value in texts:
        with pytest.raises(json_codec.JsonMismatch):
            json_codec.from_json(value, wrappers_pb2.StringValue)
    for nested in ({"a": [{"b": "c\0"}]}, {"a\0": 1}):
        with pytest.raises(json_codec.JsonMismatch):
            json_codec.from_json(nested, struct_pb2.Struct)


def test_generated_classes_share_the_descriptors_of_the_pool() -> None:
    assert all(GetMessageClass(descriptor).DESCRIPTOR is descriptor for descriptor in TYPES.values())
