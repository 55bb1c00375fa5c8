"""The closed sets of reasons as the protos declare them: with meaning, status, and the calls they may answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import grpc
from google.protobuf.descriptor import EnumDescriptor, FileDescriptor

from feltro.access.v1 import refusal_pb2
from gateway.contracts.descriptors import PACKAGE_PREFIX
from gateway.contracts.methods import Binding, Contracts, Method, domain_of_package, reason_name
from gateway.contracts.refusals import DOMAIN
from services.kit.rpc.status import codes_of

HTTP_STATUSES: Mapping[grpc.StatusCode, int] = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.OUT_OF_RANGE: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.FAILED_PRECONDITION: 409,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
}
# Reasons of errors that HTTP itself finds, which have statuses of their own.
HTTP_ERROR_REASONS: Mapping[int, str] = {
    404: "METHOD_UNKNOWN",
    405: "METHOD_UNKNOWN",
    408: "INVALID",
    413: "TOO_LARGE",
    415: "INVALID",
}
# For a connection above the limit of the whole gateway: 503 makes a load balancer try another one.
TOO_MANY_CONNECTIONS = 503, "OVERLOADED"
_OWN_STATUSES = {(DOMAIN, "METHOD_UNKNOWN"): 404, (DOMAIN, "TOO_LARGE"): 413}
_FACTS = re.compile(r"Facts: ([a-z_]+(?:, [a-z_]+)*)")


@dataclass(frozen=True, slots=True)
class Reason:
    """One value of a `RefusalReason`."""

    domain: str
    name: str
    description: str
    status: int
    any_call: bool

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def facts(self) -> list[str]:
        """The names of the facts that always come with it, as far as its comment lists them."""
        found = _FACTS.search(self.description)
        return [] if found is None else found[1].split(", ")


class ReasonSets:
    """All reasons of all domains."""

    def __init__(self, contracts: Contracts) -> None:
        self._by_name: dict[tuple[str, str], Reason] = {}
        for file in _files_of(contracts):
            enum = file.enum_types_by_name.get("RefusalReason")
            for reason in [] if enum is None else _reasons(enum, contracts):
                self._by_name[reason.domain, reason.name] = reason

    def __iter__(self) -> Iterator[Reason]:
        return iter(self._by_name.values())

    @property
    def domains(self) -> list[str]:
        return sorted({reason.domain for reason in self})

    def for_method(self, method: Method) -> list[Reason]:
        """Returns the reasons that this call may be refused for, over REST and WebSockets alike."""
        names = {*method.documented_refusals}
        names.update(
            (reason.domain, reason.name)
            for reason in self
            if reason.any_call and reason.domain in {method.domain, DOMAIN}
        )
        if method.game_field or method.own_game:
            names.add((DOMAIN, "GAME_UNKNOWN"))
        return sorted((self._by_name[name] for name in names), key=lambda reason: (reason.domain, reason.name))

    def by_status(self, method: Method, binding: Binding) -> dict[int, list[Reason]]:
        """Returns the same over HTTP by status, with the reasons of unusable bodies and of too many connections."""
        statuses: dict[int, list[Reason]] = {}
        for reason in self.for_method(method):
            statuses.setdefault(reason.status, []).append(reason)
        if binding.body:
            for status in (408, 413, 415):
                statuses[status] = [self._by_name[DOMAIN, HTTP_ERROR_REASONS[status]]]
        status, name = TOO_MANY_CONNECTIONS
        statuses.setdefault(status, []).insert(0, self._by_name[DOMAIN, name])
        return dict(sorted(statuses.items()))


def status_of(domain: str, reason: str, code: grpc.StatusCode) -> int:
    """Returns the HTTP status of a refusal."""
    return _OWN_STATUSES.get((domain, reason), HTTP_STATUSES.get(code, 500))


def title_of(reason: str) -> str:
    """Returns `Insufficient funds` for `INSUFFICIENT_FUNDS`."""
    return reason.replace("_", " ").capitalize()


def _reasons(enum: EnumDescriptor, contracts: Contracts) -> Iterator[Reason]:
    domain = domain_of_package(enum.file.package)
    for value in enum.values[1:]:
        declared = value.GetOptions().Extensions[refusal_pb2.refusal]
        name = reason_name(value.name)
        description = contracts.comment(f"{enum.full_name}.{value.name}")
        yield Reason(domain, name, description, status_of(domain, name, codes_of(domain)[name]), declared.any_call)


def _files_of(contracts: Contracts) -> Iterator[FileDescriptor]:
    """The files that declare the offered methods, and those that they import."""
    pending = [method.descriptor.containing_service.file for method in contracts.methods]
    seen: set[str] = set()
    while pending:
        file = pending.pop()
        if file.name not in seen and file.package.startswith(PACKAGE_PREFIX):
            seen.add(file.name)
            pending.extend(file.dependencies)
            yield file
