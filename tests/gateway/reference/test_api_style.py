"""Every public method, path, field, enum, reason and event follows docs/api-style.md, as far as descriptors show it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, ServiceDescriptor

from feltro.gateway.v1 import gateway_pb2
from feltro.table.v1 import any_topic_pb2, events_pb2, table_pb2
from feltro.wallet.v1 import (
    audit_pb2,
    complaint_pb2,
    platform_pb2,
    relevant_events_pb2,
    session_pb2,
    ticket_pb2,
    tournament_pb2,
    wallet_pb2,
)
from feltro.wallet.v1 import events_pb2 as wallet_events_pb2
from gateway.contracts.any_types import ANY_FULL_NAME, topic_of_field
from gateway.contracts.bounds import REQUEST_ID_FIELD, bounds_of
from gateway.contracts.descriptors import enum_type, message_type
from gateway.contracts.methods import Method
from gateway.contracts.reasons import ReasonSets
from gateway.reference.openapi import document
from tests.gateway.http_gateway import CONTRACTS

ROOT = Path(__file__).resolve().parents[3]
TIMESTAMP, DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"
METHODS = pytest.mark.parametrize("method", CONTRACTS.methods, ids=lambda method: method.rpc_name)
# The own service of each game, by the game.
GAME_SERVICES = {
    service.file.package.split(".")[1]: service
    for message in CONTRACTS.messages_about(any_topic_pb2.ANY_TOPIC_RULES)
    for service in message.file.services_by_name.values()
}
# Commands that have no name because a repeat does no more, and the exceptions that docs/api-style.md lists. A game's
# own command may have none either, if it names nothing but a round: that round starts once.
UNNAMED_COMMANDS = {
    "GatewayService.EnterDemo",
    "GatewayService.Logout",
    "GatewayService.RevokeSubject",
    "PokerService.CancelPeriodRegistration",
    "PokerService.JoinWaitingList",
    "PokerService.LeaveWaitingList",
    "PokerService.RegisterForPeriod",
    "PokerService.SetPresence",
    "SessionService.AdvanceSessionClock",
    "SessionService.EndPlayerSessions",
    "SessionService.EndSession",
    "SessionService.RecordActivity",
    "SessionService.SetInactivityPolicy",
    "TableService.AdvanceTableClock",
    "TableService.VoidOpenRound",
    "TournamentService.CancelTournament",
    "TournamentService.DeclineRebuy",
    "TournamentService.SetTournamentPresence",
    "WalletService.BlockAccount",
    "WalletService.OpenAccount",
    "WalletService.UnblockAccount",
}
# What a 64-bit number may be: money, chips (blinds are), a span, a count of records, an order, or a transfer's number.
INT64_NAMES = re.compile(r".*_cents|cents|(.*_)?chips|(.*_)?(small|big)_blind|.*_ms|.*_no|seq|version|transfer_id")
MOMENT_NAMES = re.compile(r"at|.*_at|decide_by|fill_by|(resting|kept|break)_until|extra_time_from|paused_since")
# Reasons for which the very same request may succeed a moment later.
TEMPORARY = {"OVERLOADED", "RATE_LIMITED"}


def _public_messages() -> dict[str, Descriptor]:
    """The messages of all public methods and of all events, with everything that they hold."""
    found: dict[str, Descriptor] = {}

    def add(message: Descriptor) -> None:
        if message.full_name in found or not message.full_name.startswith("feltro."):
            return
        found[message.full_name] = message
        for field in message.fields:
            if field.message_type is not None:
                add(message_type(field))
                for held in CONTRACTS.messages_about(topic_of_field(field)) if _is_any(field) else ():
                    add(held)

    for method in CONTRACTS.methods:
        add(method.descriptor.input_type)
        add(method.descriptor.output_type)
    add(events_pb2.TableEvent.DESCRIPTOR)
    add(events_pb2.OwnViewChanged.DESCRIPTOR)
    add(wallet_events_pb2.PlayerFact.DESCRIPTOR)
    return found


def _is_any(field: FieldDescriptor) -> bool:
    return field.message_type is not None and message_type(field).full_name == ANY_FULL_NAME


MESSAGES = _public_messages()
FIELDS = [field for message in MESSAGES.values() for field in message.fields]
ENUMS: dict[str, EnumDescriptor] = {
    enum_type(field).full_name: enum_type(field) for field in FIELDS if field.enum_type is not None
}


def _failing(fields: list[FieldDescriptor]) -> list[str]:
    return sorted(field.full_name for field in fields)


# -- methods and paths -----------------------------------------------------------------------------------------------


@METHODS
def test_a_method_has_one_path_in_one_style(method: Method) -> None:
    (binding,) = method.bindings
    path, _, verb = re.sub(r"\{[^}]*\}", "{}", binding.template).partition(":")
    version, *segments = path.strip("/").split("/")
    assert version == "v1"
    for segment in [*segments, *([verb] if verb else [])]:
        assert segment == "{}" or re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", segment), binding.template
    fields = method.descriptor.input_type.fields_by_name
    assert all(variable in fields for variable in binding.variables), binding.template


@METHODS
def test_the_verb_of_http_says_whether_a_method_reads_or_commands(method: Method) -> None:
    (binding,) = method.bindings
    reads = re.match(r"(Get|Find|List|Replay|Export)[A-Z]", method.name) is not None
    assert binding.verb == "GET" if reads else binding.verb in {"POST", "PUT"}
    assert (binding.verb == "PUT") == (binding.body not in {"", "*"})


def test_operation_ids_are_the_methods_names() -> None:
    paths = cast("Mapping[str, Mapping[str, Mapping[str, str]]]", document(CONTRACTS, ReasonSets(CONTRACTS))["paths"])
    operations = [operation for verbs in paths.values() for operation in verbs.values()]
    ids = [operation["operationId"] for operation in operations]
    assert sorted(ids) == sorted(method.rpc_name.replace(".", "_") for method in CONTRACTS.methods)
    assert not [one for one in ids if re.search(r"_\d+$", one)]


@pytest.mark.parametrize(
    "method", [each for each in CONTRACTS.methods if each.name.startswith("List")], ids=lambda method: method.rpc_name
)
def test_a_list_has_pages_and_filters_that_combine(method: Method) -> None:
    request, answer = method.descriptor.input_type, method.descriptor.output_type
    assert {"page_size", "page_token"} <= set(request.fields_by_name)
    assert "next_page_token" in answer.fields_by_name
    size = bounds_of(request.fields_by_name["page_size"])
    assert (size.minimum, size.maximum) == (0, 500)
    # One of several filters, or a filter that must not be missing, could not be combined with every other.
    assert not request.oneofs
    (binding,) = method.bindings
    assert _failing([each for each in request.fields if bounds_of(each).required]) == _failing(
        [request.fields_by_name[variable] for variable in binding.variables]
    )
    assert ("since" in request.fields_by_name) == ("until" in request.fields_by_name)


def test_only_lists_and_rounds_with_stakes_have_pages() -> None:
    paged = {each.name for each in CONTRACTS.methods if "page_token" in each.descriptor.input_type.fields_by_name}
    assert {name for name in paged if not name.startswith("List")} == {"GetRound", "ReplayRound"}


def test_every_command_has_a_name_or_does_no_more_when_it_is_repeated() -> None:
    commands = {each.rpc_name for each in CONTRACTS.methods if not each.is_read_only and not each.has_request_id}
    starting = {
        each.rpc_name
        for each in CONTRACTS.methods
        if each.descriptor.containing_service in GAME_SERVICES.values()
        and not each.is_read_only
        and {field.name for field in each.descriptor.input_type.fields} == {"table_id", "round_id"}
    }
    assert commands == UNNAMED_COMMANDS | starting
    for method in CONTRACTS.methods:
        if method.has_request_id:
            field = method.descriptor.input_type.fields_by_name[REQUEST_ID_FIELD]
            assert bounds_of(field).pattern == "[!-~]{1,64}", method.rpc_name
            assert "Idempotency-Key" in CONTRACTS.comment(field.full_name), method.rpc_name


# -- fields and enums ------------------------------------------------------------------------------------------------


def test_everything_public_has_a_comment_that_says_more_than_the_name() -> None:
    names = [method.descriptor.full_name for method in CONTRACTS.methods]
    names += [*MESSAGES, *(field.full_name for field in FIELDS), *ENUMS]
    names += [f"{enum.full_name}.{value.name}" for enum in ENUMS.values() for value in enum.values]
    assert not [name for name in names if not CONTRACTS.comment(name).strip()]


def test_names_of_fields_are_snake_case() -> None:
    assert not _failing([field for field in FIELDS if not re.fullmatch(r"[a-z]+(_[a-z]+)*", field.name)])


def test_a_moment_is_named_at() -> None:
    wrong = []
    for field in FIELDS:
        is_moment = field.message_type is not None and message_type(field).full_name == TIMESTAMP
        is_filter = field.name in {"since", "until"} and ".List" in field.full_name
        if (MOMENT_NAMES.fullmatch(field.name) is not None) != (is_moment and not is_filter):
            wrong.append(field)
    assert not _failing(wrong)


def test_a_number_has_its_unit_in_its_name() -> None:
    wide = [field for field in FIELDS if field.type == FieldDescriptor.TYPE_INT64]
    assert not _failing([field for field in wide if not INT64_NAMES.fullmatch(field.name)])
    money = [field for field in FIELDS if field.name.endswith("_cents") or field.name == "cents"]
    assert not _failing(
        [field for field in money if field.type not in {FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_BOOL}]
    )
    assert not _failing(
        [field for field in FIELDS if field.type in {FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT}]
    )
    assert not _failing(
        [each for each in FIELDS if each.message_type is not None and message_type(each).full_name == DURATION]
    )


def test_an_enum_value_carries_its_enums_name() -> None:
    for enum in ENUMS.values():
        prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", enum.name).upper()
        assert enum.values[0].name == f"{prefix}_UNSPECIFIED"
        assert all(value.name.startswith(f"{prefix}_") for value in enum.values)


def test_one_name_is_one_enum() -> None:
    names = [enum.name for enum in ENUMS.values()]
    assert len(names) == len(set(names))


# -- events ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "group", [events_pb2.TableEvent.DESCRIPTOR.oneofs[0], wallet_events_pb2.PlayerFact.DESCRIPTOR.oneofs[0]]
)
def test_an_event_is_named_by_what_has_happened(group: object) -> None:
    for field in group.fields:  # type: ignore[attr-defined]
        assert re.sub(r"(?<!^)(?=[A-Z])", "_", message_type(field).name).lower() == field.name
        assert re.search(r"(ed|taken|left|drawn|dealt|made|paid|shown|_notice)$", field.name), field.name


def test_a_public_event_names_no_player() -> None:
    """A player appears as the number of their seat, and what is theirs alone is in no event of a table (G7)."""
    found: dict[str, Descriptor] = {}

    def add(message: Descriptor) -> None:
        if message.full_name.startswith("feltro.") and message.full_name not in found:
            found[message.full_name] = message
            for field in message.fields:
                if field.message_type is not None:
                    held = CONTRACTS.messages_about(topic_of_field(field)) if _is_any(field) else ()
                    for inner in (message_type(field), *held):
                        add(inner)

    add(events_pb2.TableEvent.DESCRIPTOR)
    names = {(message.full_name, field.name) for message in found.values() for field in message.fields}
    private = {"player_id", "account_id", "session_id", "request_id", "own_view", "own_seat", "balance", "entropy"}
    assert not [each for each in names if each[1] in private]
    assert len(found) > 20


# -- refusals --------------------------------------------------------------------------------------------------------


def test_only_what_may_succeed_later_is_too_much_at_once() -> None:
    assert {reason.name for reason in ReasonSets(CONTRACTS) if reason.status == 429} == TEMPORARY


def test_facts_are_named_like_fields() -> None:
    for reason in ReasonSets(CONTRACTS):
        assert re.fullmatch(r"[A-Z]+(_[A-Z]+)*", reason.name)
        assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", fact) for fact in reason.facts), reason.name


# Services whose requests the modules of a folder refuse fields of.
_WALLET = [
    *(file.DESCRIPTOR.services_by_name[name] for file, name in (
        (wallet_pb2, "WalletService"),
        (session_pb2, "SessionService"),
        (complaint_pb2, "ComplaintService"),
        (platform_pb2, "PlatformService"),
        (relevant_events_pb2, "RelevantEventService"),
        (audit_pb2, "AuditService"),
        (audit_pb2, "AuditIntakeService"),
        (tournament_pb2, "TournamentMoneyService"),
        (ticket_pb2, "TicketService"),
    )),
]  # fmt: skip
_TABLE = [table_pb2.DESCRIPTOR.services_by_name["TableService"]]


def _services_of(package: str) -> list[ServiceDescriptor]:
    """The services of a game, by its package."""
    services = {each.descriptor.containing_service.full_name: each.descriptor for each in CONTRACTS.methods}
    return [each.containing_service for each in services.values() if each.containing_service.file.package == package]


REQUESTS_OF = {
    "services/wallet": _WALLET,
    "services/kit/table": _TABLE,
    **{
        f"services/{game}": [*_services_of(service.file.package), *_TABLE]
        for game, service in GAME_SERVICES.items()
        if (ROOT / "services" / game / "game.py").exists()
    },
    "gateway/backends": [gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"]],
}
# Functions whose first argument is the path of a field, and the modules that check fields for others.
_REFUSING = {"invalid", "rule_violated"}
_CHECKING = {"fields", "validation"}
_DEPTH_LIMIT = 6


def _paths(message: Descriptor, above: str = "", depth: int = 0) -> Iterator[str]:
    """Every path of a request, with `[0]` for the items of lists."""
    for field in message.fields:
        path = f"{above}{field.name}"
        yield path
        if field.is_repeated:
            path += "[0]"
            yield path
        if field.message_type is None or depth == _DEPTH_LIMIT:
            continue
        held = CONTRACTS.messages_about(topic_of_field(field)) if _is_any(field) else [message_type(field)]
        for inner in held:
            if inner.full_name.startswith("feltro."):
                yield from _paths(inner, f"{path}.", depth + 1)


def _known_paths(services: list[ServiceDescriptor]) -> set[str]:
    return {path for service in services for method in service.methods for path in _paths(method.input_type)}


def _named_fields(folder: str) -> Iterator[tuple[str, str]]:
    """Yields where a module of a folder names a field, and the pattern of its path."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and _takes_a_field(node.func):
                pattern = _pattern(node.args[0])
                if pattern is not None:
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", pattern


def _takes_a_field(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _REFUSING
    if not isinstance(function, ast.Attribute):
        return False
    module = function.value.id if isinstance(function.value, ast.Name) else ""
    return function.attr in _REFUSING or (module in _CHECKING and function.attr != "page_request")


def _pattern(argument: ast.expr) -> str | None:
    """A regular expression of the paths that an argument can be; None for one that another module composes."""
    if isinstance(argument, ast.Constant):
        return re.escape(argument.value) if isinstance(argument.value, str) else None
    if not isinstance(argument, ast.JoinedStr):
        return None
    parts = (
        re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"[\w.\[\]]+" for part in argument.values
    )
    # A composed position stands for any item.
    return "".join(parts).replace(r"\[[\w.\[\]]+\]", r"\[0\]")


@pytest.mark.parametrize("folder", sorted(REQUESTS_OF))
def test_a_refused_field_is_named_by_its_path_from_the_request(folder: str) -> None:
    known = _known_paths(REQUESTS_OF[folder])
    named = list(_named_fields(folder))
    assert len(named) >= 2
    unknown = [(where, pattern) for where, pattern in named if not any(re.fullmatch(pattern, path) for path in known)]
    assert not unknown
