"""Tokens: who bears them, how long they are valid, and what happens when the issuer changes its keys."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.kit.access import identity, published_keys
from services.kit.access.identity import CLOCK_SKEW_S, KeysUnavailable, TokenInvalid, TokenVerifier, TrustedIssuer
from services.kit.access.published_keys import (
    BLOCKING_REFRESH_AFTER_S,
    EXPIRE_AFTER_S,
    REFRESH_AFTER_S,
    REFRESH_INTERVAL_MIN_S,
)
from services.kit.access.settings import TokenSettings
from services.kit.settings import WrongSettings, load

NOW = 1_800_000_000.0


class Issuer:
    """Signs with any number of keys and publishes some of them."""

    def __init__(self, home: Path) -> None:
        self.jwks = home / "jwks.json"
        self._keys: dict[str, Ed25519PrivateKey] = {}

    def publish(self, *names: str) -> None:
        published = []
        for name in names:
            key = self._keys.setdefault(name, Ed25519PrivateKey.generate())
            public = jwt.algorithms.OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
            published.append({**public, "kid": name, "alg": "EdDSA", "use": "sig"})
        self.jwks.write_text(json.dumps({"keys": published}))

    def token(self, signed_by: str = "first", **changes: str | float | None) -> str:
        claims: dict[str, object] = {"sub": "ana", "aud": "feltro", "scope": "player", "exp": NOW + 60}
        claims |= changes
        kept = {name: value for name, value in claims.items() if value is not None}
        signer = self._keys.setdefault(signed_by, Ed25519PrivateKey.generate())
        return jwt.encode(kept, signer, algorithm="EdDSA", headers={"kid": signed_by})


class Clock:
    """A clock that only goes forward."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    made = Issuer(tmp_path)
    made.publish("first")
    return made


@pytest.fixture
def verifier(issuer: Issuer) -> TokenVerifier:
    return TokenVerifier(issuer.jwks, "feltro", lambda: NOW)


def test_a_token_names_its_bearer_and_the_scopes(issuer: Issuer, verifier: TokenVerifier) -> None:
    caller = verifier.verify(issuer.token(scope="player operator"))
    assert (caller.subject, set(caller.scopes)) == ("ana", {"player", "operator"})
    assert verifier.verify(issuer.token(scope=None)).scopes == frozenset()


@pytest.mark.guarantee("G12")
def test_g12_an_expired_token_is_authentic_and_marked_as_expired(issuer: Issuer, verifier: TokenVerifier) -> None:
    caller = verifier.verify(issuer.token(exp=NOW - 3600))
    assert caller.expired(NOW)
    assert not verifier.verify(issuer.token(exp=NOW - CLOCK_SKEW_S + 1)).expired(NOW)


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "another"},
        {"aud": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "a" * 200},
        {"exp": None},
        {"exp": "never"},
        {"exp": float("inf")},
        {"nbf": NOW + CLOCK_SKEW_S + 1},
        {"iat": NOW + CLOCK_SKEW_S + 1},
        {"iat": -1},
    ],
)
def test_a_token_with_wrong_claims_is_refused(
    issuer: Issuer, verifier: TokenVerifier, changes: dict[str, str | float | None]
) -> None:
    with pytest.raises(TokenInvalid):
        verifier.verify(issuer.token("first", **changes))


def test_forged_tokens_are_refused(issuer: Issuer, verifier: TokenVerifier, tmp_path: Path) -> None:
    stranger = Issuer(tmp_path / "elsewhere")
    unsigned = jwt.encode({"sub": "ana", "aud": "feltro", "exp": NOW + 60}, key="", algorithm="none")
    shared = jwt.encode(
        {"sub": "ana", "aud": "feltro", "exp": NOW + 60},
        json.loads(issuer.jwks.read_text())["keys"][0]["x"],
        algorithm="HS256",
        headers={"kid": "first"},
    )
    whole = issuer.token()
    for forged in (
        stranger.token("first"),
        stranger.token("other"),
        unsigned,
        shared,
        whole[:-4] + "AAAA",
        "",
        "x.y.z",
    ):
        with pytest.raises(TokenInvalid):
            verifier.verify(forged)


def test_small_differences_between_clocks_are_accepted(issuer: Issuer, verifier: TokenVerifier) -> None:
    soon = NOW + CLOCK_SKEW_S - 1
    assert verifier.verify(issuer.token(iat=soon, nbf=soon)).issued_at == soon


def test_only_tokens_of_the_named_issuer_are_accepted(issuer: Issuer) -> None:
    verifier = TokenVerifier([TrustedIssuer(str(issuer.jwks), "https://login.example")], "feltro", lambda: NOW)
    assert verifier.verify(issuer.token(iss="https://login.example")).subject == "ana"
    for other in ("https://elsewhere.example", None):
        with pytest.raises(TokenInvalid):
            verifier.verify(issuer.token(iss=other))


def test_every_token_has_an_id_of_its_own(issuer: Issuer, verifier: TokenVerifier) -> None:
    named = verifier.verify(issuer.token(jti="first"))
    unnamed = [verifier.verify(issuer.token(iat=NOW - number)) for number in range(2)]
    assert len({"", "first", *(caller.token_id for caller in [named, *unnamed])}) == 4


# -- guests of demonstrations ------------------------------------------------------------------------------------


@pytest.fixture
def demo(tmp_path: Path) -> Issuer:
    (tmp_path / "demo").mkdir()
    made = Issuer(tmp_path / "demo")
    made.publish("demo")
    return made


@pytest.fixture
def two_sources(issuer: Issuer, demo: Issuer) -> TokenVerifier:
    return TokenVerifier(
        [TrustedIssuer(str(issuer.jwks)), TrustedIssuer(str(demo.jwks), demo_only=True)], "feltro", lambda: NOW
    )


@pytest.mark.rule("804/2015:31", "807/2015:33")
def test_the_gateways_key_lets_in_guests_and_nobody_else(
    issuer: Issuer, demo: Issuer, two_sources: TokenVerifier
) -> None:
    guest = two_sources.verify(demo.token("demo", sub="demo-0123456789", scope="demo"))
    assert (guest.player_id, guest.scopes) == ("demo-0123456789", frozenset({"demo"}))
    assert two_sources.verify(issuer.token(sub="demo-0123456789", scope="demo")).player_id == "demo-0123456789"
    for subject, scope in (
        ("ana", "player"),
        ("ana", "operator"),
        ("demo-0123456789", "player"),
        ("demo-0123456789", "demo player"),
        ("demo-0123456789", ""),
    ):
        with pytest.raises(TokenInvalid):
            two_sources.verify(demo.token("demo", sub=subject, scope=scope))


@pytest.mark.rule("804/2015:31", "807/2015:33")
@pytest.mark.parametrize(
    "subject", ["ana", "demo-", "demo-1234567", "demo-ABCDEFGH", "demo-12345678\n", "xdemo-12345678"]
)
def test_a_guests_id_begins_with_demo(subject: str, issuer: Issuer, verifier: TokenVerifier) -> None:
    with pytest.raises(TokenInvalid):
        verifier.verify(issuer.token(sub=subject, scope="demo"))


def test_the_demonstrations_key_is_never_mistaken_for_the_issuers(
    issuer: Issuer, demo: Issuer, two_sources: TokenVerifier
) -> None:
    demo.publish("first")
    with pytest.raises(TokenInvalid):
        two_sources.verify(demo.token("first", scope="operator"))
    assert two_sources.verify(issuer.token("first")).subject == "ana"


# -- keys that change ----------------------------------------------------------------------------------------------


async def test_keys_are_rotated_without_a_restart(issuer: Issuer) -> None:
    clock = Clock()
    verifier = TokenVerifier(issuer.jwks, "feltro", lambda: NOW, clock)
    issuer.publish("first", "second")
    assert (await verifier.authenticate(issuer.token("second"))).subject == "ana"
    assert (await verifier.authenticate(issuer.token("first"))).subject == "ana"


@pytest.mark.guarantee("G11")
async def test_g11_unknown_keys_cause_at_most_one_read_every_few_seconds(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, reads = Clock(), list[str]()
    verifier = TokenVerifier(issuer.jwks, "feltro", lambda: NOW, clock)
    read = published_keys._read

    def count_reads(location: str) -> Mapping[str, jwt.PyJWK]:
        reads.append(location)
        return read(location)

    monkeypatch.setattr(published_keys, "_read", count_reads)
    tokens = [issuer.token(f"unknown-{number}") for number in range(20)]
    assert all(isinstance(result, TokenInvalid) for result in await _authenticate_all(verifier, tokens))
    assert len(reads) == 1
    clock.seconds += REFRESH_INTERVAL_MIN_S
    await _authenticate_all(verifier, tokens)
    assert len(reads) == 2


@pytest.mark.guarantee("G12")
async def test_g12_a_withdrawn_key_opens_nothing_a_few_minutes_later(issuer: Issuer) -> None:
    clock = Clock()
    verifier = TokenVerifier(issuer.jwks, "feltro", lambda: NOW, clock)
    token = issuer.token("first")
    await verifier.authenticate(token)
    issuer.publish("second")
    # Even if there was no call in between: the first call after it is judged by the keys published then.
    clock.seconds += BLOCKING_REFRESH_AFTER_S
    with pytest.raises(TokenInvalid):
        await verifier.authenticate(token)
    assert (await verifier.authenticate(issuer.token("second"))).subject == "ana"


async def test_keys_are_read_again_while_the_cached_ones_serve(issuer: Issuer) -> None:
    clock = Clock()
    verifier = TokenVerifier(issuer.jwks, "feltro", lambda: NOW, clock)
    token = issuer.token("first")
    await verifier.authenticate(token)
    issuer.publish("second")
    clock.seconds += REFRESH_AFTER_S
    assert (await verifier.authenticate(token)).subject == "ana"
    async with asyncio.timeout(60):
        while not isinstance((await _authenticate_all(verifier, [token]))[0], TokenInvalid):
            await asyncio.sleep(0.01)


@pytest.mark.guarantee("G12")
async def test_g12_an_issuer_that_publishes_no_keys_lets_nobody_in(issuer: Issuer) -> None:
    clock = Clock()
    verifier = TokenVerifier(issuer.jwks, "feltro", lambda: NOW, clock)
    token = issuer.token("first")
    await verifier.authenticate(token)
    issuer.publish()
    clock.seconds += BLOCKING_REFRESH_AFTER_S
    with pytest.raises(TokenInvalid):
        await verifier.authenticate(token)


@pytest.mark.guarantee("G12")
async def test_g12_the_keys_of_a_silent_issuer_stay_valid_for_a_while_and_not_for_ever(issuer: Issuer) -> None:
    clock = Clock()
    verifier = TokenVerifier(issuer.jwks, "feltro", lambda: NOW, clock)
    token = issuer.token("first")
    issuer.jwks.write_text("not a key set")
    clock.seconds += BLOCKING_REFRESH_AFTER_S + 60
    assert (await verifier.authenticate(token)).subject == "ana"
    clock.seconds = 1000.0 + EXPIRE_AFTER_S
    async with asyncio.timeout(60):
        while not isinstance((await _authenticate_all(verifier, [token]))[0], KeysUnavailable):
            await asyncio.sleep(0.01)
    issuer.publish("first")
    clock.seconds += REFRESH_INTERVAL_MIN_S
    async with asyncio.timeout(60):
        while isinstance((await _authenticate_all(verifier, [token]))[0], KeysUnavailable):
            clock.seconds += REFRESH_INTERVAL_MIN_S
            await asyncio.sleep(0.01)


async def _authenticate_all(verifier: TokenVerifier, tokens: list[str]) -> list[object]:
    return [*await asyncio.gather(*map(verifier.authenticate, tokens), return_exceptions=True)]


# -- keys over HTTP ------------------------------------------------------------------------------------------------


class Publisher(ThreadingHTTPServer):
    """Publishes an issuer's file while `answering` is set."""

    def __init__(self, issuer: Issuer) -> None:
        publisher = self
        self.answering = threading.Event()
        self.answering.set()
        self.redirect = ""
        self.requests = 0
        self.answered = 0

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                publisher.requests += 1
                publisher.answering.wait(30)
                publisher.answered += 1
                self.send_response(302 if publisher.redirect else 200)
                if publisher.redirect:
                    self.send_header("Location", publisher.redirect)
                self.end_headers()
                self.wfile.write(issuer.jwks.read_bytes())

            def log_message(self, *_: object) -> None:
                """Logs nothing."""

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def location(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/jwks.json"


@pytest.fixture
def publisher(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Publisher(issuer) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.answering.set()
        made.shutdown()
        thread.join()


async def test_keys_are_read_over_http_once_for_all_calls(issuer: Issuer, publisher: Publisher) -> None:
    verifier = TokenVerifier([TrustedIssuer(publisher.location)], "feltro", lambda: NOW)
    assert (await verifier.authenticate(issuer.token())).subject == "ana"
    assert [one.subject for one in await asyncio.gather(*(verifier.authenticate(issuer.token()) for _ in range(50)))]
    assert publisher.requests == 1


async def test_no_call_waits_for_keys_while_the_cached_ones_serve(
    issuer: Issuer, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A call that waited would wait for the answer.
    monkeypatch.setattr(published_keys, "FETCH_TIMEOUT_S", 60.0)
    clock = Clock()
    verifier = TokenVerifier([TrustedIssuer(publisher.location)], "feltro", lambda: NOW, clock)
    token = issuer.token()
    await verifier.authenticate(token)
    publisher.answering.clear()
    clock.seconds += REFRESH_AFTER_S
    # Neither the loop nor the caller waits for the silent issuer.
    assert (await verifier.authenticate(token)).subject == "ana"
    assert publisher.answered == 1
    publisher.answering.set()


@pytest.mark.guarantee("G12")
async def test_g12_without_keys_no_token_is_accepted_and_redirects_are_not_followed(
    issuer: Issuer, publisher: Publisher
) -> None:
    clock = Clock()
    publisher.redirect = "https://elsewhere.example/jwks.json"
    verifier = TokenVerifier([TrustedIssuer(publisher.location)], "feltro", lambda: NOW, clock)
    with pytest.raises(KeysUnavailable):
        await verifier.authenticate(issuer.token())
    publisher.redirect = ""
    clock.seconds += REFRESH_INTERVAL_MIN_S
    assert (await verifier.authenticate(issuer.token())).subject == "ana"


def test_settings_take_a_file_or_a_safe_address(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", str(issuer.jwks))
    assert load(TokenSettings).verifier().verify(issuer.token(exp=time.time() + 60, iat=None)).subject == "ana"
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", "https://login.example/jwks.json")
    load(TokenSettings)
    for wrong in ("http://login.example/jwks.json", "/nowhere/jwks.json"):
        monkeypatch.setenv("FELTRO_ISSUER_JWKS", wrong)
        with pytest.raises(WrongSettings, match="FELTRO_ISSUER_JWKS"):
            load(TokenSettings)
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", "http://login.example/jwks.json")
    monkeypatch.setenv("FELTRO_ENVIRONMENT", "development")
    load(TokenSettings)


@pytest.mark.guarantee("G11")
def test_g11_verified_tokens_are_cached_up_to_a_limit(
    issuer: Issuer, verifier: TokenVerifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "VERIFIED_TOKENS_LIMIT", 3)
    for number in range(10):
        verifier.verify(issuer.token(sub=f"player-{number}"))
    assert len(verifier._verified) == 3
