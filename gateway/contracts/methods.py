"""What the platform offers, read from the protos: methods with their bindings, access, routes and words.

Nothing here or behind it names a service: a new proto package is offered by being there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from google.api import annotations_pb2, http_pb2
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, FileDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from feltro.access.v1 import access_pb2, refusal_pb2
from gateway.contracts.any_types import AnyTopic, matches_topic
from gateway.contracts.json_types import enum_type, message_type
from services.kit.access.identity import GAME

PACKAGE_PREFIX = "feltro."
# Requests are not nested deeper, and one that named itself would have no end (G11).
ADDRESS_DEPTH_LIMIT = 4

_VARIABLE = re.compile(r"\{([a-z_.]+)\}")


@dataclass(frozen=True, slots=True)
class Binding:
    """One way to call a method over HTTP."""

    verb: str
    template: str
    """As in the proto, such as `/v1/tables/{table_id}:enter`."""
    body: str
    """`*`: the request's remaining fields; a field's name; or nothing."""

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(_VARIABLE.findall(self.template))


class Method:
    """One unary method."""

    def __init__(self, descriptor: MethodDescriptor, comments: Mapping[str, str]) -> None:
        self.descriptor = descriptor
        self.service: str = descriptor.containing_service.full_name
        self.name: str = descriptor.name
        self.path = f"{self.service}/{self.name}"
        self.rpc_name = f"{descriptor.containing_service.name}.{self.name}"
        """How a WebSocket names it: `RouletteService.PlaceBets`."""
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
        """Who may call it from outside."""
        route = options.Extensions[access_pb2.route]
        self.table_field: str = route.table
        self.game_field: str = route.game
        self.bindings = tuple(_bindings(options.Extensions[annotations_pb2.http]))
        self.has_request_id = "request_id" in descriptor.input_type.fields_by_name
        """Whether it is a command that acts once (G3)."""
        self._address_fields = tuple(_address_fields(descriptor.input_type))
        self.domain: str = _domain(descriptor.containing_service)
        """Whose reasons it gives where it refuses itself."""
        self.documented_refusals = tuple(_refuses(options))
        """Domains and reasons for which it may be refused, beside those of any call."""

    def set_client_address(self, request: Message, address: str) -> None:
        """Writes where the client calls from to where the contract wants it."""
        for *way, last in self._address_fields:
            holder = request
            for name in way:
                holder = getattr(holder, name)
            setattr(holder, last, address)

    def routing_ids(self, request: Message) -> tuple[str, str]:
        """The table and the game that a request names; empty where it names none."""
        return _value(request, self.table_field), _value(request, self.game_field)

    @cached_property
    def is_read_only(self) -> bool:
        """Whether it says that it changes nothing: it can be called by GET, and by nothing else."""
        return all(binding.verb == "GET" for binding in self.bindings)

    @property
    def is_retryable(self) -> bool:
        """Whether sending it again can do nothing that was not asked for."""
        return self.has_request_id or self.is_read_only


class Contracts:
    """Everything that is offered: what has an address. The rest is between services, over whatever way one asks."""

    def __init__(self) -> None:
        declared = descriptor_pb2.FileDescriptorSet()
        declared.ParseFromString((resources.files("feltro") / "descriptors.binpb").read_bytes())
        self._words = dict(_all_words(declared))
        self._files = list(_files(declared))
        declared_methods = (
            Method(method, self._words)
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
        """The comment of a message, field, enum, value, service or method."""
        return self._words.get(full_name, "")

    def messages_about(self, topic: AnyTopic) -> list[Descriptor]:
        """The messages of all games that an Any about this may hold."""
        messages = (message for file in self._files for message in file.message_types_by_name.values())
        return [message for message in messages if matches_topic(message, topic)]


def _files(declared: descriptor_pb2.FileDescriptorSet) -> Iterator[FileDescriptor]:
    pool = descriptor_pool.Default()
    for file in declared.file:
        if file.package.startswith(PACKAGE_PREFIX):
            # Registers its messages with the default pool, so that an Any of theirs can be read.
            _import(file.name)
            yield pool.FindFileByName(file.name)


def _import(proto: str) -> None:
    __import__(proto.removesuffix(".proto").replace("/", ".") + "_pb2")


def _address_fields(message: Descriptor, *way: str) -> Iterator[tuple[str, ...]]:
    """The ways to the fields of a request in which the client's address belongs."""
    for field in message.fields:
        if field.GetOptions().Extensions[access_pb2.client_address]:
            yield (*way, field.name)
        elif field.message_type is not None and not field.is_repeated and len(way) < ADDRESS_DEPTH_LIMIT:
            yield from _address_fields(field.message_type, *way, field.name)


def _bindings(rule: http_pb2.HttpRule) -> Iterator[Binding]:
    for one in (rule, *rule.additional_bindings):
        verb = one.WhichOneof("pattern")
        if verb in {"get", "put", "post", "delete", "patch"}:
            yield Binding(verb.upper(), getattr(one, verb), one.body)


def _value(request: Message, path: str) -> str:
    if not path:
        return ""
    value: object = request
    for name in path.split("."):
        value = getattr(value, name)
    return str(value)


def _domain(service: ServiceDescriptor) -> str:
    said: str = service.GetOptions().Extensions[refusal_pb2.refusal_domain]
    return said or domain_of_package(service.file.package)


def domain_of_package(package: str) -> str:
    """`feltro.wallet.v1`: `wallet.feltro`."""
    ours, name, *_ = package.split(".")
    return f"{name}.{ours}"


def reason_name(value: str) -> str:
    """`REFUSAL_REASON_INVALID`: `INVALID`."""
    return value.removeprefix("REFUSAL_REASON_")


def _refuses(options: Message) -> Iterator[tuple[str, str]]:
    """What the options `refuses` of a method name: each package that has reasons has its own."""
    for option, said in options.ListFields():
        if option.is_extension and option.name == "refuses":
            enum = enum_type(message_type(option).fields_by_name["reasons"])
            for number in said.reasons:
                yield domain_of_package(enum.file.package), reason_name(enum.values_by_number[number].name)


def _all_words(declared: descriptor_pb2.FileDescriptorSet) -> Iterator[tuple[str, str]]:
    """Comments by full name."""
    for file in declared.file:
        if not file.package.startswith(PACKAGE_PREFIX):
            continue
        for location in file.source_code_info.location:
            words = (location.leading_comments or location.trailing_comments).strip()
            name = _name_at(file, list(location.path))
            if words and name:
                yield f"{file.package}.{name}", re.sub(r"\n ?", "\n", words)


# Field numbers of descriptor.proto on the way to what a comment is about.
_STEPS = {
    "FileDescriptorProto": {
        4: ("message_type", "DescriptorProto"),
        5: ("enum_type", "EnumDescriptorProto"),
        6: ("service", "ServiceDescriptorProto"),
    },
    "DescriptorProto": {
        2: ("field", "FieldDescriptorProto"),
        3: ("nested_type", "DescriptorProto"),
        4: ("enum_type", "EnumDescriptorProto"),
        8: ("oneof_decl", "OneofDescriptorProto"),
    },
    "EnumDescriptorProto": {2: ("value", "EnumValueDescriptorProto")},
    "ServiceDescriptorProto": {2: ("method", "MethodDescriptorProto")},
}


def _name_at(file: descriptor_pb2.FileDescriptorProto, path: list[int]) -> str:
    """The name, below its package, of what a path of numbers leads to; nothing for anything else."""
    kind, here, names = "FileDescriptorProto", file, list[str]()
    for number, index in zip(path[::2], path[1::2], strict=False):
        step = _STEPS.get(kind, {}).get(number)
        if step is None:
            return ""
        here = getattr(here, step[0])[index]
        kind = step[1]
        names.append(here.name)
    return ".".join(names) if names and len(path) % 2 == 0 else ""
