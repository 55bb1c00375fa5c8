"""Whose address counts: the peer's own, unless it is a proxy of ours, and then the nearest that is none."""

from __future__ import annotations

from uuid import uuid4

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.access.proxies import HOPS_LIMIT, TrustedProxies, parse_networks
from gateway.access.rate_limiter import Limit
from gateway.settings import GatewaySettings
from services.kit.settings import WrongSettings, load
from tests.gateway.live_gateway import UNLIMITED, live_gateway

OURS = TrustedProxies(parse_networks("10.0.0.0/8 2001:db8:ffff::/48 192.0.2.254"))
X, RFC = "X-Forwarded-For", "Forwarded"


def client(peer: str, *headers: tuple[str, str]) -> str:
    return OURS.client_address(peer, CIMultiDictProxy(CIMultiDict(headers)))


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ([], "10.0.0.1"),
        ([(X, "203.0.113.7")], "203.0.113.7"),
        # What stands before the nearest stranger may be his invention.
        ([(X, "198.51.100.1, 203.0.113.7")], "203.0.113.7"),
        ([(X, "198.51.100.1, 203.0.113.7, 10.9.9.9, 192.0.2.254")], "203.0.113.7"),
        ([(X, "198.51.100.1"), (X, "203.0.113.7, 10.0.0.2")], "203.0.113.7"),
        ([(X, "203.0.113.7:4711")], "203.0.113.7"),
        ([(X, "2001:db8::7")], "2001:db8::7"),
        ([(X, "[2001:db8::7]:443, 2001:db8:ffff::1")], "2001:db8::7"),
        ([(X, "::ffff:203.0.113.7")], "203.0.113.7"),
        # All are proxies: somebody inside asks.
        ([(X, "10.3.3.3, 10.0.0.2")], "10.3.3.3"),
        # The last one that is known answers for what nobody knows.
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
        # One of them is the client's own: nobody knows which.
        ([(RFC, "for=198.51.100.1"), (X, "203.0.113.7")], "10.0.0.1"),
    ],
)
def test_behind_our_proxies(headers: list[tuple[str, str]], found: str) -> None:
    assert client("10.0.0.1", *headers) == found


def test_somebody_elses_word_counts_for_nothing() -> None:
    for peer in ("203.0.113.9", "2001:db8::9", "", "unix:"):
        assert client(peer, (X, "198.51.100.1"), (RFC, "for=198.51.100.1")) == peer
    assert client("::ffff:10.0.0.1", (X, "203.0.113.7")) == "203.0.113.7"


def test_a_row_of_proxies_without_end_is_not_followed() -> None:
    row = ", ".join(["203.0.113.7", *["10.0.0.2"] * HOPS_LIMIT])
    assert client("10.0.0.1", (X, row)) == "10.0.0.2"


async def test_who_sends_no_token_is_counted_by_the_address_that_the_proxy_names(nats_url: str) -> None:
    limits = UNLIMITED.__class__(
        player_calls=UNLIMITED.player_calls,
        operator_calls=UNLIMITED.operator_calls,
        address_calls=Limit("calls without a token from one address", 0.001, 1),
        address_tokens=UNLIMITED.address_tokens,
        connection_messages=UNLIMITED.connection_messages,
    )
    async with live_gateway(nats_url, limits, proxies="127.0.0.0/8") as (live, tables, _):
        table = await tables.open(f"t{uuid4().hex[:12]}")

        async def status(**sent: str) -> int:
            async with live.client.get(f"/v1/tables/{table.table_id}/events", headers=sent) as got:
                return got.status

        for address in ("192.0.2.1", "192.0.2.2"):
            assert await status(**{X: address}) == 200
            assert await status(**{X: f"198.51.100.{uuid4().int % 200}, {address}"}) == 429
        async with live.client.ws_connect("/v1/ws", headers={X: "192.0.2.1"}) as ws:
            await ws.send_str('{"jsonrpc":"2.0","id":1,"method":"ping"}')
            assert (await ws.receive_json())["error"]["data"]["reason"] == "RATE_LIMITED"
    async with live_gateway(nats_url, limits, tables=tables) as (live, _, _):
        assert await status(**{X: "192.0.2.1"}) == 200
        assert await status(**{X: "192.0.2.2"}) == 429


@pytest.mark.parametrize("said", ["10.0.0.0/8,192.0.2.1", "10.0.0.1/8", "proxy.example", "0.0.0.0/33"])
def test_a_setting_that_is_no_list_of_networks_stops_the_start(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FELTRO_NATS_URL", "nats://127.0.0.1:4222")
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", "https://issuer.example/keys")
    monkeypatch.setenv("FELTRO_GATEWAY_TRUSTED_PROXIES", said)
    with pytest.raises(WrongSettings, match="FELTRO_GATEWAY_TRUSTED_PROXIES"):
        load(GatewaySettings)
