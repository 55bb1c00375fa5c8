"""Tokens of game services: each names one game, lives shortly, and is renewed before it expires."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.kit.access.identity import GAME_TOKEN_LIFETIME_LIMIT_S, TokenInvalid, TokenVerifier, TrustedIssuer
from services.kit.access.signing_key import SigningKey
from services.kit.settings import WrongSettings, load
from services.kit.table.wallet.service_token import (
    RENEW_AFTER_S,
    SIGNED_TOKEN_LIFETIME_S,
    ServiceTokenSettings,
    SignedToken,
)
from services.wallet.settings import WalletSettings

pytestmark = pytest.mark.guarantee("G12")

NOW = 1_800_000_000.0


class Clock:
    def __init__(self, seconds: float = NOW) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds


def published(key: SigningKey, home: Path, name: str) -> str:
    """Publishes a key in a file of its own; the path."""
    path = home / f"{name}.json"
    path.write_text(key.jwks())
    return str(path)


def token(key: SigningKey, **changes: object) -> str:
    claims: dict[str, object] = {"sub": "roulette-1", "aud": "feltro", "scope": "game", "game": "roulette"}
    claims |= {"iat": NOW, "exp": NOW + 60} | changes
    return key.sign({name: value for name, value in claims.items() if value is not None})


@pytest.fixture
def key() -> SigningKey:
    return SigningKey.make()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"game": None}, "names its game"),
        ({"game": ""}, "names its game"),
        ({"game": "a game"}, "names its game"),
        ({"game": ["roulette"]}, "names its game"),
        ({"scope": "game operator"}, "stands alone"),
        ({"scope": "player game"}, "stands alone"),
        ({"exp": NOW + GAME_TOKEN_LIFETIME_LIMIT_S + 1}, "expire"),
        # A token of unknown age may be of any age.
        ({"iat": None}, "expire"),
    ],
)
def test_a_game_token_names_its_game_stands_alone_and_lives_shortly(
    key: SigningKey, tmp_path: Path, changes: dict[str, object], sentence: str
) -> None:
    issuers = [TrustedIssuer(published(key, tmp_path, "operator"))]
    verifier = TokenVerifier(issuers, "feltro", lambda: NOW, game_token_lifetime_limit_s=GAME_TOKEN_LIFETIME_LIMIT_S)
    caller = verifier.verify(token(key))
    assert (caller.subject, caller.game) == ("roulette-1", "roulette")
    assert verifier.verify(token(key, exp=NOW + GAME_TOKEN_LIFETIME_LIMIT_S)).game == "roulette"
    with pytest.raises(TokenInvalid, match=sentence):
        verifier.verify(token(key, **changes))
    # No other token is bound to a game, or has to live so shortly.
    operator = verifier.verify(token(key, scope="operator", exp=NOW + 10 * GAME_TOKEN_LIFETIME_LIMIT_S))
    assert operator.game == ""


def test_a_games_own_key_signs_for_that_game_alone(key: SigningKey, tmp_path: Path) -> None:
    issuers = [
        TrustedIssuer(published(SigningKey.make(), tmp_path, "operator")),
        TrustedIssuer(published(key, tmp_path, "roulette"), game="roulette"),
    ]
    verifier = TokenVerifier(issuers, "feltro", lambda: NOW)
    assert verifier.verify(token(key)).game == "roulette"
    forged: tuple[tuple[dict[str, object], str], ...] = (
        ({"game": "poker"}, "may not act for another game"),
        ({"scope": "operator"}, "may act for its tables only"),
        ({"scope": "player", "sub": "ana"}, "may act for its tables only"),
        ({"scope": "demo", "sub": "demo-12345678"}, "may act for its tables only"),
        ({"scope": ""}, "may act for its tables only"),
    )
    for changes, sentence in forged:
        with pytest.raises(TokenInvalid, match=f"is the service of roulette and {sentence}"):
            verifier.verify(token(key, **changes))


def test_a_service_signs_its_next_token_long_before_the_last_one_expires(key: SigningKey, tmp_path: Path) -> None:
    assert SIGNED_TOKEN_LIFETIME_S <= GAME_TOKEN_LIFETIME_LIMIT_S
    clock = Clock()
    source = SignedToken(key, "roulette", "feltro", clock)
    verifier = TokenVerifier([TrustedIssuer(published(key, tmp_path, "roulette"), game="roulette")], "feltro", clock)
    sent: list[str] = []
    for _ in range(10):
        ((name, bearer),) = source.metadata()
        assert name == "authorization"
        sent.append(bearer.removeprefix("Bearer "))
        caller = verifier.verify(sent[-1])
        assert caller.game == "roulette"
        assert caller.expires_at - clock.seconds >= SIGNED_TOKEN_LIFETIME_S - RENEW_AFTER_S
        clock.seconds += RENEW_AFTER_S - 1
    assert len(set(sent)) == 5
    # A clock that was set back makes the last token one of the future.
    clock.seconds = NOW - 3600
    assert verifier.verify(source.metadata()[0][1].removeprefix("Bearer ")).issued_at == clock.seconds


def test_a_service_wants_a_key_of_its_own_or_a_token(
    key: SigningKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ServiceTokenSettings.for_service("roulette")
    with pytest.raises(WrongSettings, match="FELTRO_ROULETTE_SIGNING_KEY has to be set, or FELTRO_ROULETTE_TOKEN_FILE"):
        load(settings)
    file, pem, no_key = tmp_path / "token", tmp_path / "key.pem", tmp_path / "none.pem"
    file.write_text("a.b.c")
    pem.write_bytes(key.pem())
    no_key.write_text("nothing")
    monkeypatch.setenv("FELTRO_ROULETTE_TOKEN_FILE", str(file))
    assert load(settings).token_source("roulette").metadata() == (("authorization", "Bearer a.b.c"),)
    monkeypatch.setenv("FELTRO_ROULETTE_SIGNING_KEY", str(pem))
    with pytest.raises(WrongSettings, match="not both"):
        load(settings)
    monkeypatch.delenv("FELTRO_ROULETTE_TOKEN_FILE")
    assert load(settings).token_source("roulette").metadata()[0][1].startswith("Bearer ey")
    monkeypatch.setenv("FELTRO_ROULETTE_SIGNING_KEY", str(no_key))
    with pytest.raises(WrongSettings, match="FELTRO_ROULETTE_SIGNING_KEY is unusable"):
        load(settings)


def test_the_wallet_reads_each_games_key(key: SigningKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = published(key, tmp_path, "roulette")
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", published(SigningKey.make(), tmp_path, "operator"))
    monkeypatch.setenv("FELTRO_NATS_URL", "tls://127.0.0.1:4222")
    monkeypatch.setenv("FELTRO_WALLET_NATS_PASSWORD", "secret")
    monkeypatch.setenv("FELTRO_GRPC_TLS", "off")
    monkeypatch.setenv("FELTRO_WALLET_DATABASE_URL", "postgresql+asyncpg://feltro@127.0.0.1/feltro")
    monkeypatch.setenv("FELTRO_WALLET_GAME_KEYS", f'{{"roulette": "{keys}"}}')
    # What is not said to be development is production.
    (trusted,) = [issuer for issuer in load(WalletSettings).issuers() if issuer.game]
    assert (trusted.keys_location, trusted.game) == (keys, "roulette")
    for wrong, sentence in (
        ("roulette", "FELTRO_WALLET_GAME_KEYS has to be JSON"),
        ('{"roulette": "/nowhere"}', "FELTRO_WALLET_GAME_KEYS has to be an existing file"),
        ('{"roulette": "http://games/keys"}', "FELTRO_WALLET_GAME_KEYS has to be a file or an https address"),
    ):
        monkeypatch.setenv("FELTRO_WALLET_GAME_KEYS", wrong)
        with pytest.raises(WrongSettings, match=sentence):
            load(WalletSettings)
