"""The client's address: the peer's own, unless the peer is a trusted proxy, and then the nearest that is none."""

from __future__ import annotations

from uuid import uuid4

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.access.proxies import HOPS_LIMIT, TrustedProxies, parse_networks
from gateway.access.rate_limiter import Limit
from gateway.settings import GatewaySettings
from services.kit.settings import WrongSettings, load
from tests.gateway.live_gateway import UNLIMITED, live_gateway

TRUSTED = TrustedProxies(parse_networks("10.0.0.0/8 2001:db8:ffff::/48 192.0.2.254"))
X, RFC = "X-Forwarded-For", "Forwarded"


def client(peer: str, *headers: tuple[str, str]) -> str:
    return TRUSTED.client_address(peer, CIMultiDictProxy(CIMultiDict(headers)))


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ([], "10.0.0.1"),
        ([(X, "203.0.113.7")], "203.0.113.7"),
        # The client may have invented whatever stands before its own address.
        ([(X, "198.51.100.1, 203.0.113.7")], "203.0.113.7"),
        ([(X, "198.51.100.1, 203.0.113.7, 10.9.9.9, 192.0.2.254")], "203.0.113.7"),
        ([(X, "198.51.100.1"), (X, "203.0.113.7, 10.0.0.2")], "203.0.113.7"),
        ([(X, "203.0.113.7:4711")], "203.0.113.7"),
        ([(X, "2001:db8::7")], "2001:db8::7"),
        ([(X, "[2001:db8::7]:443, 2001:db8:ffff::1")], "2001:db8::7"),
        ([(X, "::ffff:203.0.113.7")], "203.0.113.7"),
        # All are proxies: the client is inside.
        ([(X, "10.3.3.3, 10.0.0.2")], "10.3.3.3"),
        # Beyond an unreadable address nothing counts.
        ([(X, "203.0.113.7, unknown, 10.0.0.2")], "10.0.0.2"),
        ([(X, "203.0.113.7,")], "10.0.0.1"),
        ([(X, "nonsense")], "10.0.0.1"),
        ([(RFC, "for=203.0.113.7")], "203.0.113.7"),
        ([(RFC, 'for=198.51.100.1;proto=http, for="[2001:db8::7]:4711";by=10.0.0.1')], "2001:db8::7"),
        ([(RFC, "proto=https;For=203.0.113.7;host=casino.example, for=10.0.0.2")], "203.0.113.7"),
        ([(RFC, "for=203.0.113.7, for=_hidden")], "10.0.0.1"),
        ([(RFC, 'for=198.51.100.1;x="'), (RFC, "for=203.0.113.7")], "203.0.113.7"),
        ([(RFC, 'for="198.51.100.1, for="[2001:db8::7]"')], "2001:db8::7"),
        ([(RFC, "for=203.0.113.7"), (X, "203.0.113.7")], "203.0.113.7"),
        # One of the headers is the client's own, and it is unknown which.
        ([(RFC, "for=198.51.100.1"), (X, "203.0.113.7")], "10.0.0.1"),
    ],
)
def test_behind_trusted_proxies_their_header_counts(headers: list[tuple[str, str]], found: str) -> None:
    assert client("10.0.0.1", *headers) == found


def test_headers_of_other_peers_are_ignored() -> None:
    for peer in ("203.0.113.9", "2001:db8::9", "", "unix:"):
        assert client(peer, (X, "198.51.100.1"), (RFC, "for=198.51.100.1")) == peer
    assert client("::ffff:10.0.0.1", (X, "203.0.113.7")) == "203.0.113.7"


def test_a_chain_of_proxies_is_followed_up_to_a_limit() -> None:
    chain = ", ".join(["203.0.113.7", *["10.0.0.2"] * HOPS_LIMIT])
    assert client("10.0.0.1", (X, chain)) == "10.0.0.2"


async def test_anonymous_calls_are_limited_by_the_address_that_the_proxy_names(nats_url: str) -> None:
    limits = UNLIMITED.__class__(
        player_calls=UNLIMITED.player_calls,
        operator_calls=UNLIMITED.operator_calls,
        address_calls=Limit("calls without a token from one address", 0.001, 1),
        address_tokens=UNLIMITED.address_tokens,
        connection_messages=UNLIMITED.connection_messages,
    )
    async with live_gateway(nats_url, limits, proxies="127.0.0.0/8") as (gateway, tables, _):
        table = await tables.open(f"t{uuid4().hex[:12]}")

        async def status(**headers: str) -> int:
            async with gateway.client.get(f"/v1/tables/{table.table_id}/events", headers=headers) as response:
                return response.status

        for address in ("192.0.2.1", "192.0.2.2"):
            assert await status(**{X: address}) == 200
            assert await status(**{X: f"198.51.100.{uuid4().int % 200}, {address}"}) == 429
        async with gateway.client.ws_connect("/v1/ws", headers={X: "192.0.2.1"}) as ws:
            await ws.send_str('{"jsonrpc":"2.0","id":1,"method":"ping"}')
            assert (await ws.receive_json())["error"]["data"]["reason"] == "RATE_LIMITED"
    async with live_gateway(nats_url, limits, tables=tables) as (gateway, _, _):
        assert await status(**{X: "192.0.2.1"}) == 200
        assert await status(**{X: "192.0.2.2"}) == 429


@pytest.mark.parametrize("networks", ["10.0.0.0/8,192.0.2.1", "10.0.0.1/8", "proxy.example", "0.0.0.0/33"])
def test_a_malformed_list_of_proxies_is_refused_at_the_start(networks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FELTRO_NATS_URL", "nats://127.0.0.1:4222")
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", "https://issuer.example/keys")
    monkeypatch.setenv("FELTRO_GATEWAY_TRUSTED_PROXIES", networks)
    with pytest.raises(WrongSettings, match="FELTRO_GATEWAY_TRUSTED_PROXIES"):
        load(GatewaySettings)
