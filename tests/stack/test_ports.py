"""A taken port is reported before anything starts, with the variable that moves it."""

from __future__ import annotations

import os
import socket

from stack import ports
from stack.servers.ephemeral import free_port


def test_a_free_port_is_no_conflict() -> None:
    assert ports.conflicts({"FELTRO_GATEWAY_PORT": free_port()}) == []


def test_a_taken_port_is_named_with_its_owner_and_another_choice() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        (sentence,) = ports.conflicts({"FELTRO_NATS_PORT": taken})
    assert f"Port {taken} is taken by" in sentence
    assert f"(process {os.getpid()})" in sentence
    assert "FELTRO_NATS_PORT=" in sentence
    assert f"FELTRO_NATS_PORT={taken} " not in sentence


def test_one_port_for_two_programs_is_a_conflict() -> None:
    port = free_port()
    (sentence,) = ports.conflicts({"FELTRO_WALLET_PORT": port, "FELTRO_NATS_PORT": port})
    assert "FELTRO_NATS_PORT and FELTRO_WALLET_PORT are both" in sentence
