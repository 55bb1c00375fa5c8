"""Checks the messages of recorded tests against the protos: unknown fields and wrong types are refused."""

from __future__ import annotations

from functools import cache

from google.protobuf.message import Message

from gateway.contracts import json_codec
from gateway.contracts.methods import Contracts
from tests.browser.driver.rest import Json


def verify_answer(method: str, result: Json) -> None:
    """Reads an answer back into its message; the connection's own methods have none."""
    if found := _contracts().by_rpc_name.get(method):
        verify_message(result, found.response_class)


def is_method(name: str) -> bool:
    """Whether the platform offers a method of that name to pages."""
    return name in _contracts().by_rpc_name


def verify_message(content: Json, message_class: type[Message]) -> None:
    """Reads JSON into a message; a `JsonMismatch` names what is wrong."""
    json_codec.from_json(content, message_class)


@cache
def _contracts() -> Contracts:
    return Contracts()
