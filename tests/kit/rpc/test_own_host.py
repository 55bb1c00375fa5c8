"""Where others reach a process: where it listens, or at this machine's own address, never at one of all addresses."""

from __future__ import annotations

import socket

import pytest

from services.kit.rpc.own_host import HostUnknown, reachable_host


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "roulette-1")

    def resolve(name: str, *_: object) -> list[tuple[object, ...]]:
        assert name == "roulette-1"
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "[fd00::1]", "roulette.internal"])
def test_a_host_to_listen_at_is_the_host_to_reach(host: str) -> None:
    assert reachable_host(host) == host


@pytest.mark.parametrize(
    ("listen", "own", "reached"),
    [("0.0.0.0", "10.1.2.3", "10.1.2.3"), ("[::]", "10.1.2.3", "10.1.2.3"), ("[::]", "fd00::5", "[fd00::5]")],  # noqa: S104
)
def test_a_process_that_listens_everywhere_is_reached_at_the_address_of_its_machine(
    listen: str, own: str, reached: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, own)
    assert reachable_host(listen) == reached


@pytest.mark.parametrize("own", [(), ("127.0.1.1",)])
def test_a_machine_that_does_not_know_its_address_says_so(
    own: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, *own)
    with pytest.raises(HostUnknown, match="roulette-1"):
        reachable_host("0.0.0.0")  # noqa: S104
