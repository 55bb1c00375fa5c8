"""The closed sets of reasons as the protos declare them: what each means, its status, and which calls it may answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import grpc
from google.protobuf.descriptor import EnumDescriptor, FileDescriptor
from google.rpc import code_pb2

from feltro.access.v1 import refusal_pb2
from gateway.contracts.methods import PACKAGE_PREFIX, Binding, Contracts, Method, domain_of_package, reason_name
from gateway.contracts.refusals import DOMAIN

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
# What HTTP itself finds wrong has statuses of its own.
HTTP_ERROR_REASONS: Mapping[int, str] = {
    404: "METHOD_UNKNOWN",
    405: "METHOD_UNKNOWN",
    408: "INVALID",
    413: "TOO_LARGE",
    415: "INVALID",
}
# Of a connection that is one too many for the whole gateway: whoever balances the load asks another one.
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
        """The names of those that always come with it, as far as its words list them."""
        found = _FACTS.search(self.description)
        return [] if found is None else found[1].split(", ")


class ReasonSets:
    """All reasons of all domains."""

    def __init__(self, contracts: Contracts) -> None:
        self._known: dict[tuple[str, str], Reason] = {}
        for file in _files_of(contracts):
            enum = file.enum_types_by_name.get("RefusalReason")
            for reason in [] if enum is None else _reasons(enum, contracts):
                self._known[reason.domain, reason.name] = reason

    def __iter__(self) -> Iterator[Reason]:
        return iter(self._known.values())

    @property
    def domains(self) -> list[str]:
        return sorted({reason.domain for reason in self})

    def for_method(self, method: Method) -> list[Reason]:
        """Those for which this call may be refused, whatever way it comes in."""
        named = {*method.documented_refusals}
        named.update((one.domain, one.name) for one in self if one.any_call and one.domain in {method.domain, DOMAIN})
        if method.game_field:
            named.add((DOMAIN, "GAME_UNKNOWN"))
        return sorted((self._known[one] for one in named), key=lambda one: (one.domain, one.name))

    def by_status(self, method: Method, binding: Binding) -> dict[int, list[Reason]]:
        """The same over HTTP, where what cannot be taken as a body, and one connection too many, have their own."""
        statuses: dict[int, list[Reason]] = {}
        for reason in self.for_method(method):
            statuses.setdefault(reason.status, []).append(reason)
        if binding.body:
            for status in (408, 413, 415):
                statuses[status] = [self._known[DOMAIN, HTTP_ERROR_REASONS[status]]]
        status, name = TOO_MANY_CONNECTIONS
        statuses.setdefault(status, []).insert(0, self._known[DOMAIN, name])
        return dict(sorted(statuses.items()))


def status_of(domain: str, reason: str, code: grpc.StatusCode) -> int:
    """The status of a refusal over HTTP."""
    return _OWN_STATUSES.get((domain, reason), HTTP_STATUSES.get(code, 500))


def title_of(reason: str) -> str:
    """INSUFFICIENT_FUNDS: Insufficient funds."""
    return reason.replace("_", " ").capitalize()


def _reasons(enum: EnumDescriptor, contracts: Contracts) -> Iterator[Reason]:
    domain = domain_of_package(enum.file.package)
    for value in enum.values[1:]:
        declared = value.GetOptions().Extensions[refusal_pb2.refusal]
        name = reason_name(value.name)
        code = grpc.StatusCode[code_pb2.Code.Name(declared.code)]
        words = contracts.comment(f"{enum.full_name}.{value.name}")
        yield Reason(domain, name, words, status_of(domain, name, code), declared.any_call)


def _files_of(contracts: Contracts) -> Iterator[FileDescriptor]:
    """The files of everything that is offered, and what they build on."""
    waiting = [method.descriptor.containing_service.file for method in contracts.methods]
    seen: set[str] = set()
    while waiting:
        file = waiting.pop()
        if file.name not in seen and file.package.startswith(PACKAGE_PREFIX):
            seen.add(file.name)
            waiting.extend(file.dependencies)
            yield file
