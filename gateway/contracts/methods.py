"""The methods that the platform offers, read from the protos: with their bindings, access, routing and comments.

Nothing in the gateway names a game's service: a new proto package is offered by being there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from google.api import annotations_pb2, http_pb2
from google.protobuf.descriptor import Descriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from feltro.access.v1 import access_pb2, refusal_pb2
from gateway.contracts.any_types import AnyTopic, matches_topic
from gateway.contracts.descriptors import comments, enum_type, message_type, platform_files, read_declared_files
from services.kit.access.identity import GAME

# How deep a client's address may lie in a request: a message that holds itself would have no end (G11).
ADDRESS_DEPTH_LIMIT = 4

_VARIABLE = re.compile(r"\{([a-z_.]+)\}")


@dataclass(frozen=True, slots=True)
class Binding:
    """One way to call a method over HTTP."""

    verb: str
    template: str
    """As in the proto, such as `/v1/tables/{table_id}:enter`."""
    body: str
    """`*` for the request's remaining fields, a field's name, or empty."""

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(_VARIABLE.findall(self.template))


# The package of the calls that every game answers.
_SHARED_TABLES = "feltro.table."


class Method:
    """One unary method."""

    def __init__(self, descriptor: MethodDescriptor, comments: Mapping[str, str]) -> None:
        self.descriptor = descriptor
        self.service: str = descriptor.containing_service.full_name
        self.name: str = descriptor.name
        self.path = f"{self.service}/{self.name}"
        self.rpc_name = f"{descriptor.containing_service.name}.{self.name}"
        """The name over WebSockets, such as `TableService.EnterTable`."""
        self.request_class: type[Message] = GetMessageClass(descriptor.input_type)
        self.response_class: type[Message] = GetMessageClass(descriptor.output_type)
        self.comment = comments.get(descriptor.full_name, "")
        options = descriptor.GetOptions()
        access = options.Extensions[access_pb2.access]
        self.public: bool = access.public
        self.expired_token_accepted: bool = access.expired_token_accepted
        self.scopes = frozenset(
            access_pb2.Scope.Name(scope).removeprefix("SCOPE_").lower() for scope in access.scopes if scope
        ) - {GAME}
        """The scopes of clients that may call it; those of services are left out."""
        route = options.Extensions[access_pb2.route]
        self.table_field: str = route.table
        self.game_field: str = route.game
        self.bindings = tuple(_bindings(options.Extensions[annotations_pb2.http]))
        self.has_request_id = "request_id" in descriptor.input_type.fields_by_name
        """Whether it is a command, which acts once (G3)."""
        package = descriptor.containing_service.file.package
        is_routed = options.HasExtension(access_pb2.route)
        self.own_game: str = package.split(".")[1] if is_routed and not package.startswith(_SHARED_TABLES) else ""
        """The one game that answers it, by the name of its package; empty if it is no method of a single game."""
        self._address_fields = tuple(_address_fields(descriptor.input_type))
        self.domain: str = _domain(descriptor.containing_service)
        """The domain of the reasons that its service refuses it for."""
        self.documented_refusals = tuple(_documented_refusals(options))
        """Domains and reasons that it may be refused for, beside those of any call."""

    def set_client_address(self, request: Message, address: str) -> None:
        """Writes the client's address to the fields that the proto declares for it."""
        for *path, last in self._address_fields:
            message = request
            for name in path:
                message = getattr(message, name)
            setattr(message, last, address)

    def routing_ids(self, request: Message) -> tuple[str, str]:
        """Returns the table and the game that a request names; empty where it names none."""
        return _value(request, self.table_field), _value(request, self.game_field)

    @cached_property
    def is_read_only(self) -> bool:
        """Whether it changes nothing: it is bound to GET and to nothing else."""
        return all(binding.verb == "GET" for binding in self.bindings)

    @property
    def is_retryable(self) -> bool:
        """Whether it can be sent again safely."""
        return self.has_request_id or self.is_read_only


class Contracts:
    """All methods that have an HTTP binding, and so are offered to clients; the others are between services."""

    def __init__(self) -> None:
        declared = read_declared_files()
        self._comments = dict(comments(declared))
        self._files = list(platform_files(declared))
        declared_methods = (
            Method(method, self._comments)
            for file in self._files
            for service in file.services_by_name.values()
            for method in service.methods
            if not method.client_streaming and not method.server_streaming
        )
        self.methods = [method for method in declared_methods if method.bindings]

    @cached_property
    def by_rpc_name(self) -> Mapping[str, Method]:
        return {method.rpc_name: method for method in self.methods}

    def comment(self, full_name: str) -> str:
        """Returns the comment of a message, field, enum, value, service or method."""
        return self._comments.get(full_name, "")

    def messages_about(self, topic: AnyTopic) -> list[Descriptor]:
        """Returns the messages of all games that an Any of this topic may hold."""
        messages = (message for file in self._files for message in file.message_types_by_name.values())
        return [message for message in messages if matches_topic(message, topic)]


def _address_fields(message: Descriptor, *path: str) -> Iterator[tuple[str, ...]]:
    """The paths of a request's fields that the client's address belongs in."""
    for field in message.fields:
        if field.GetOptions().Extensions[access_pb2.client_address]:
            yield (*path, field.name)
        elif field.message_type is not None and not field.is_repeated and len(path) < ADDRESS_DEPTH_LIMIT:
            yield from _address_fields(field.message_type, *path, field.name)


def _bindings(rule: http_pb2.HttpRule) -> Iterator[Binding]:
    for binding in (rule, *rule.additional_bindings):
        verb = binding.WhichOneof("pattern")
        if verb in {"get", "put", "post", "delete", "patch"}:
            yield Binding(verb.upper(), getattr(binding, verb), binding.body)


def _value(request: Message, path: str) -> str:
    if not path:
        return ""
    value: object = request
    for name in path.split("."):
        value = getattr(value, name)
    return str(value)


def _domain(service: ServiceDescriptor) -> str:
    declared: str = service.GetOptions().Extensions[refusal_pb2.refusal_domain]
    return declared or domain_of_package(service.file.package)


def domain_of_package(package: str) -> str:
    """Returns `wallet.feltro` for `feltro.wallet.v1`."""
    platform, name, *_ = package.split(".")
    return f"{name}.{platform}"


def reason_name(value: str) -> str:
    """Returns `INVALID` for `REFUSAL_REASON_INVALID`."""
    return value.removeprefix("REFUSAL_REASON_")


def _documented_refusals(options: Message) -> Iterator[tuple[str, str]]:
    """The reasons in a method's options `refuses`: each package that declares reasons has its own option."""
    for option, declared in options.ListFields():
        if option.is_extension and option.name == "refuses":
            enum = enum_type(message_type(option).fields_by_name["reasons"])
            for number in declared.reasons:
                yield domain_of_package(enum.file.package), reason_name(enum.values_by_number[number].name)
