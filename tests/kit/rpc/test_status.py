"""The codes of refusals: derived from the protos, for every reason that any service gives."""

from __future__ import annotations

import re
from pathlib import Path

import grpc
import pytest

from feltro.gateway.v1 import gateway_pb2
from feltro.table.v1 import types_pb2 as table_types_pb2
from feltro.wallet.v1 import types_pb2
from services.kit.refusal import Refused
from services.kit.rpc.status import StatusRefused, code_of, codes_of, error_info, refused_from, status_from

ROOT = Path(__file__).parents[3]
DECLARED = {
    "WalletRefused": ("wallet.feltro", types_pb2.RefusalReason),
    "TableRefused": ("table.feltro", table_types_pb2.RefusalReason),
    "GatewayRefused": ("gateway.feltro", gateway_pb2.RefusalReason),
}
# The class and the literal reason of `TableRefused("NOT_YOURS", …)`.
_RAISED = re.compile(r"\b(\w*Refused)\(\s*\"([A-Z_]+)\"")


def test_every_reason_that_the_code_gives_is_declared() -> None:
    found: dict[str, set[str]] = {}
    for folder in ("services", "gateway"):
        for path in (ROOT / folder).rglob("*.py"):
            for class_name, reason in _RAISED.findall(path.read_text()):
                found.setdefault(class_name, set()).add(reason)
    for class_name, (domain, _) in DECLARED.items():
        assert found[class_name], f"no {class_name} was found"
        assert found[class_name] <= set(codes_of(domain)), class_name
    # Reasons that all domains have are given in the domain of the service that answers.
    for domain in ("wallet.feltro", "table.feltro"):
        assert found["Refused"] <= set(codes_of(domain)), domain


def test_the_code_is_that_of_the_domain_that_answers() -> None:
    refused = Refused("TOKEN_EXPIRED", "The token has expired.")
    assert code_of(refused, "wallet.feltro") is grpc.StatusCode.UNAUTHENTICATED
    refused.domain = "table.feltro"
    assert code_of(refused) is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.guarantee("G12")
def test_a_reason_that_is_not_declared_has_no_code() -> None:
    refused = Refused("INVENTED", "No.")
    refused.domain = "wallet.feltro"
    with pytest.raises(KeyError):
        code_of(refused)
    with pytest.raises(KeyError):
        codes_of("unknown.feltro")


def test_a_refusal_arrives_as_it_was_sent() -> None:
    sent = Refused("TABLE_UNKNOWN", "There is no such table.", {"table_id": "t"})
    sent.domain = "table.feltro"
    received = refused_from(status_from(sent))
    assert (received.reason, received.code, received.sentence, received.facts, received.domain) == (
        "TABLE_UNKNOWN",
        grpc.StatusCode.NOT_FOUND,
        "There is no such table.",
        {"table_id": "t"},
        "table.feltro",
    )


def test_a_failure_without_a_reason_is_a_bare_status() -> None:
    status = status_from(StatusRefused("", grpc.StatusCode.INTERNAL, "It has failed."))
    assert (status.code, status.message, error_info(status)) == (
        grpc.StatusCode.INTERNAL.value[0],
        "It has failed.",
        None,
    )
    assert refused_from(status).code is grpc.StatusCode.INTERNAL
