"""The OpenAPI document is valid, complete, and describes exactly what the gateway does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from feltro.table.v1 import any_topic_pb2
from gateway.contracts import json_codec
from gateway.contracts.any_types import ANY_TOPIC, type_url
from gateway.contracts.bounds import REQUEST_ID_FIELD, bounds_of, integer_pattern
from gateway.contracts.reasons import ReasonSets
from gateway.reference import asyncapi
from gateway.reference.openapi import document, first_sentence
from tests.gateway.http_gateway import CONTRACTS, FakeDispatcher, http_gateway
from tests.gateway.random_messages import RandomMessages

DOCUMENT: dict[str, Any] = json.loads(json_codec.dumps(document(CONTRACTS, ReasonSets(CONTRACTS))))
SCHEMAS = DOCUMENT["components"]["schemas"]


def _operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, verbs in DOCUMENT["paths"].items():
        for verb, operation in verbs.items():
            yield path, verb, operation


def _validator(name: str) -> Draft202012Validator:
    reference = {"$ref": f"#/components/schemas/{name}"}
    return Draft202012Validator({**reference, "components": DOCUMENT["components"]})


def test_the_document_is_valid_openapi() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_every_binding_is_one_operation() -> None:
    offered = {(binding.template, binding.verb.lower()) for each in CONTRACTS.methods for binding in each.bindings}
    assert {(path, verb) for path, verb, _ in _operations()} == offered
    ids = [operation["operationId"] for *_, operation in _operations()]
    assert len(ids) == len(set(ids))


def test_every_operation_documents_purpose_access_and_failures() -> None:
    public = {
        (binding.template, binding.verb.lower())
        for each in CONTRACTS.methods
        if each.public
        for binding in each.bindings
    }
    for path, verb, operation in _operations():
        assert operation["summary"], path
        assert ({} in operation["security"]) == ((path, verb) in public)
        assert {"200", "400", "401", "403", "429", "500", "503"} <= set(operation["responses"])
        for status in ("408", "413", "415"):
            assert (status in operation["responses"]) == ("requestBody" in operation)
        assert verb != "get" or "requestBody" not in operation
        assert not re.search(r"[Ss]copes?:[^\n]*\b(game|nobody)\b", operation["description"]), path


def test_every_example_of_a_problem_stands_under_its_status() -> None:
    for name, response in DOCUMENT["components"]["responses"].items():
        for shown in response["content"]["application/problem+json"].get("examples", {}).values():
            example = shown if "$ref" not in shown else DOCUMENT["components"]["examples"][shown["$ref"].split("/")[-1]]
            assert name.startswith(f"Problem{example['value']['status']}"), name


def test_commands_take_an_idempotency_key() -> None:
    keyed = {each.rpc_name.replace(".", "_") for each in CONTRACTS.methods if each.has_request_id and each.bindings}
    reference = {"$ref": "#/components/parameters/Idempotency-Key"}
    assert {
        operation["operationId"] for *_, operation in _operations() if reference in operation.get("parameters", [])
    } == keyed


def test_a_body_leaves_out_what_path_and_header_have() -> None:
    for path, _, operation in _operations():
        if "requestBody" in operation:
            name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            properties = SCHEMAS[name]["properties"]
            assert "request_id" not in properties
            assert not [name for name in properties if f"{{{name}}}" in path]
            whole = operation["operationId"] != "SessionService_SetInactivityPolicy"
            assert operation["requestBody"]["required"] == (bool(SCHEMAS[name].get("required")) if whole else True)


def test_every_schema_and_field_has_a_description() -> None:
    for name, schema in SCHEMAS.items():
        if not name.startswith("google."):
            assert schema["description"], name
            for field, definition in schema.get("properties", {}).items():
                assert definition.get("description"), f"{name}.{field}"


def test_a_page_links_to_the_next() -> None:
    operation = DOCUMENT["paths"]["/v1/players/{player_id}/sessions"]["get"]
    assert operation["responses"]["200"]["links"]["NextPage"] == {
        "operationId": "SessionService_ListSessions",
        "parameters": {
            "path.player_id": "$request.path.player_id",
            "query.page_token": "$response.body#/next_page_token",
        },
    }


def _types(kind: str) -> dict[str, Descriptor]:
    found: dict[str, Descriptor] = {}
    for method in CONTRACTS.methods:
        if method.bindings:
            descriptor = method.descriptor.input_type if kind == "sent" else method.descriptor.output_type
            found[descriptor.full_name] = descriptor
    return found


ANSWERS = _types("answered")
MESSAGES = RandomMessages(CONTRACTS.messages_about(ANY_TOPIC))


@pytest.mark.parametrize("name", sorted(ANSWERS))
@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_answer_fits_its_schema(name: str, data: st.DataObject) -> None:
    message = data.draw(MESSAGES.strategy_for(ANSWERS[name]))
    _validator(name.removeprefix("feltro.")).validate(json_codec.to_json(message))


def test_schemas_of_requests_allow_exactly_what_is_accepted() -> None:
    bet = _validator("roulette.v1.Bet.Request")
    accepted: list[object] = [5, "5", 5.0, "1" * 19, str(2**63 - 1)]
    refused: list[object] = [1.5, "x", True, [], 2**63, str(2**63), "9" * 19, "05", 0, "0", -5, "-5", None]
    assert all(bet.is_valid({"place": "red", "amount_cents": cents}) for cents in accepted)
    assert not any(bet.is_valid({"place": "red", "amount_cents": cents}) for cents in refused)
    assert not bet.is_valid({"colour": "red"})
    account = _validator("wallet.v1.OpenAccountRequest.Request")
    assert all(account.is_valid({"player_id": "ana", "mode": mode}) for mode in ("MODE_REAL", 1))
    wrong: list[object] = ["REAL", 9, True, [], "MODE_UNSPECIFIED", 0, None]
    assert not any(account.is_valid({"player_id": "ana", "mode": mode}) for mode in wrong)
    assert not account.is_valid({"player_id": "demo-ana", "mode": 1})
    device = _validator("wallet.v1.Device.Request")
    assert all(device.is_valid({"kind": kind}) for kind in ("browser", "", None))
    assert not any(device.is_valid({"kind": kind}) for kind in ("b\0", "b" * 257))


def _described_values() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every part of the document that describes a value by a pattern, with where it stands."""

    def walk(part: object, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if isinstance(part, dict):
            if isinstance(part.get("pattern"), str):
                yield path, part
            for key, value in part.items():
                yield from walk(value, f"{path}/{key}")
        elif isinstance(part, list):
            for position, value in enumerate(part):
                yield from walk(value, f"{path}/{position}")

    return walk(DOCUMENT, "#")


def test_every_documented_bound_fits_its_own_pattern() -> None:
    numbers = texts = 0
    for path, schema in _described_values():
        validator = Draft202012Validator(schema)
        if "minimum" in schema:
            numbers += 1
            lowest, highest = schema["minimum"], schema["maximum"]
            assert all(validator.is_valid(str(each)) and validator.is_valid(each) for each in (lowest, highest)), path
            assert not any(validator.is_valid(str(each)) for each in (lowest - 1, highest + 1)), path
        if "maxLength" in schema:
            texts += 1
            assert validator.is_valid("x" * schema["maxLength"]), path
            assert not validator.is_valid("x" * (schema["maxLength"] + 1)), path
        if "minLength" in schema:
            assert validator.is_valid("x" * schema["minLength"]), path
    assert numbers > 10
    assert texts > 10


@pytest.mark.parametrize(
    "bounds",
    [
        *((0, 0), (0, 9), (0, 10), (7, 7), (1, 99), (99, 1001), (3000, 600_000), (1, 10**10), (-5, -3), (-120, 30)),
        *((0, 2**31 - 1), (-(2**31), 2**31 - 1), (1, 2**63 - 1), (-(2**63), 2**63 - 1)),
    ],
    ids=str,
)
@settings(max_examples=300)
@given(data=st.data())
def test_the_pattern_of_a_range_matches_its_integers_and_no_others(
    bounds: tuple[int, int], data: st.DataObject
) -> None:
    lowest, highest = bounds
    pattern = re.compile(integer_pattern(lowest, highest))
    near = st.sampled_from([0, lowest, highest]).flatmap(lambda at: st.integers(at - 1200, at + 1200))
    number = data.draw(near | st.integers(lowest, highest) | st.integers())
    assert bool(pattern.match(str(number))) == (lowest <= number <= highest)
    assert not pattern.match(f"0{number}")


def test_what_a_method_needs_is_required_over_rest_and_websockets() -> None:
    """The path of a call is a part of its request: over WebSockets the same fields have to be given."""
    calls = asyncapi.document(CONTRACTS)["components"]["schemas"]  # type: ignore[index]
    for method in CONTRACTS.methods:
        (binding,) = method.bindings
        needed = {each.name for each in method.descriptor.input_type.fields if bounds_of(each).required}
        name = f"{method.descriptor.input_type.full_name.removeprefix('feltro.')}.Request"
        assert set(calls[name].get("required", [])) == needed, name
        assert needed >= {variable for variable in binding.variables if "." not in variable}, name
        assert (REQUEST_ID_FIELD in needed) == method.has_request_id, name


def test_a_games_own_messages_are_described_with_their_types() -> None:
    rules = {
        "@type": "type.googleapis.com/feltro.roulette.v1.SpecificRules",
        "wheel": "WHEEL_FRENCH",
        "minimum_cents": 1,
    }
    schema = _validator("table.v1.GameRules.Request")
    assert schema.is_valid(rules)
    assert not schema.is_valid({"wheel": "WHEEL_FRENCH", "minimum_cents": 1})
    assert not schema.is_valid({**rules, "bets": []})
    assert not schema.is_valid({**rules, "@type": "type.googleapis.com/feltro.roulette.v1.Bets"})
    for message in CONTRACTS.messages_about(ANY_TOPIC):
        unions = [schema for name, schema in SCHEMAS.items() if name.startswith("table.v1.Game") and "oneOf" in schema]
        assert any(type_url(message) in union["discriminator"]["mapping"] for union in unions), message.full_name


def test_every_any_has_a_topic_and_every_game_a_message_for_it() -> None:
    games = sorted({message.file.package for message in CONTRACTS.messages_about(ANY_TOPIC)})
    with_decisions = sorted(message.file.package for message in CONTRACTS.messages_about(any_topic_pb2.ANY_TOPIC_MOVE))
    assert set(with_decisions) < set(games)
    decisions = {any_topic_pb2.ANY_TOPIC_MOVE, any_topic_pb2.ANY_TOPIC_VIEW, any_topic_pb2.ANY_TOPIC_OWN_VIEW}
    for topic in any_topic_pb2.AnyTopic.values()[1:]:
        found = [message.file.package for message in CONTRACTS.messages_about(topic)]
        if topic == any_topic_pb2.ANY_TOPIC_NOTICE:
            # Of games with tournaments alone.
            assert found
            assert set(found) < set(games)
            continue
        # A game with tournaments has specific rules of two kinds.
        packages = sorted(set(found)) if topic == any_topic_pb2.ANY_TOPIC_RULES else sorted(found)
        assert packages == (with_decisions if topic in decisions else games), any_topic_pb2.AnyTopic.Name(topic)
    for name in SCHEMAS:
        assert name != "google.protobuf.Any", "a field over REST is an Any without a topic"


def test_a_decision_is_described_with_its_bounds() -> None:
    act = CONTRACTS.by_rpc_name["TableService.Act"]
    (binding,) = act.bindings
    body = DOCUMENT["paths"][binding.template]["post"]["requestBody"]["content"]["application/json"]["schema"]
    schema = Draft202012Validator({**body, "components": DOCUMENT["components"]})
    for move in CONTRACTS.messages_about(any_topic_pb2.ANY_TOPIC_MOVE):
        # The smallest value of every field that a decision needs.
        needed = {field.name: _smallest(field) for field in move.fields if bounds_of(field).required}
        decision = {"turn": 1, "move": {"@type": type_url(move), **needed}}
        assert schema.is_valid(decision), move.full_name
        assert not schema.is_valid({**decision, "turn": 0})
        assert not schema.is_valid({"turn": 1})
        assert not schema.is_valid({**decision, "move": needed})
        for bets in CONTRACTS.messages_about(any_topic_pb2.ANY_TOPIC_BETS):
            assert not schema.is_valid({**decision, "move": {"@type": type_url(bets), **needed}})


def _smallest(field: FieldDescriptor) -> object:
    if field.enum_type is not None:
        return field.enum_type.values[1].name
    return max(1, bounds_of(field).minimum)


async def test_the_document_is_served_with_a_page_that_loads_nothing_from_elsewhere() -> None:
    async with http_gateway(FakeDispatcher()) as client:
        served = await client.get("/openapi.json")
        assert await served.json() == DOCUMENT
        again = await client.get("/openapi.json", headers={"If-None-Match": served.headers["ETag"]})
        assert again.status == 304
        page = await client.get("/docs")
        assert page.headers["Content-Security-Policy"].startswith("default-src 'self'")
        assert "http" not in (await page.text()).replace("https://", "http")
        for path in ("/docs.js", "/docs.css"):
            assert (await client.get(path)).status == 200


def test_a_summary_is_the_first_sentence() -> None:
    assert first_sentence("Sits down and\nstarts a session. At an individual table") == "Sits down and starts a session"
    assert first_sentence("Money in.") == "Money in"
