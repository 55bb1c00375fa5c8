"""A wrong value stops the start with a sentence that names the variable."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.settings import GatewaySettings
from services.kit.settings import ServiceSettings, WrongSettings, load
from services.wallet.settings import WalletSettings
from stack.operator_site.settings import OperatorSiteSettings
from stack.settings import StackSettings

# Any existing file will do: its keys are read later.
KEYS = {"FELTRO_ISSUER_JWKS": __file__}
SITE = {"FELTRO_OPERATOR_SITE_LISTEN": "127.0.0.1:8702", "FELTRO_OPERATOR_SITE_ISSUER": str(Path(__file__).parent)}
PASSWORDS = {f"FELTRO_{process}_NATS_PASSWORD": "a-password" for process in ("WALLET", "ROULETTE", "GATEWAY")}
NATS = {**KEYS, **PASSWORDS, "FELTRO_NATS_URL": "tls://127.0.0.1:4222"}
WALLET = {**NATS, "FELTRO_WALLET_DATABASE_URL": "postgresql+asyncpg://feltro@127.0.0.1/feltro"}
# The last variable of each is the wrong one.
WRONG_PORT = {"FELTRO_GATEWAY_PORT": "eighty"}
WRONG_SITE = {**SITE, "FELTRO_OPERATOR_SITE_GATEWAY": "127.0.0.1:8700"}
WRONG_GATEWAY = {**NATS, "FELTRO_GATEWAY_LISTEN": "here"}
ADVANCEABLE = {"FELTRO_WALLET_SESSION_CLOCK": "advanceable"}


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        (StackSettings, WRONG_PORT),
        (StackSettings, {"FELTRO_POSTGRES_PORT": "70000"}),
        (StackSettings, {"FELTRO_NATS_PORT": "0"}),
        (OperatorSiteSettings, WRONG_SITE),
        (GatewaySettings, WRONG_GATEWAY),
        (GatewaySettings, {**NATS, "FELTRO_GATEWAY_WALLET_ADDRESS": "127.0.0.1"}),
        (GatewaySettings, {**KEYS, "FELTRO_NATS_URL": "http://127.0.0.1"}),
    ],
)
def test_the_variable_is_named(
    settings: type[ServiceSettings], wrong: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (sentence,) = _sentences(settings, wrong, monkeypatch)
    assert sentence.startswith(next(reversed(wrong)))


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("environment", [{}, {"FELTRO_ENVIRONMENT": ""}, {"FELTRO_ENVIRONMENT": "production"}])
def test_g12_production_does_not_start_with_a_session_clock_that_can_be_moved(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a word that it is development, it is production."""
    (sentence,) = _sentences(WalletSettings, {**WALLET, **environment, **ADVANCEABLE}, monkeypatch)
    assert sentence.startswith("FELTRO_WALLET_SESSION_CLOCK has to be `real` where FELTRO_ENVIRONMENT is `production`")


def _sentences(
    settings: type[ServiceSettings], variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    for name in os.environ:
        if name.startswith("FELTRO_"):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(WrongSettings) as wrong:
        load(settings)
    return str(wrong.value).splitlines()


@pytest.mark.parametrize(
    ("module", "wrong"),
    [
        ("stack.commands.run", WRONG_PORT),
        ("stack.operator_site", WRONG_SITE),
        ("gateway", WRONG_GATEWAY),
        ("services.wallet", {**WALLET, **ADVANCEABLE}),
    ],
)
def test_a_process_prints_the_sentence_and_exits_with_78(module: str, wrong: dict[str, str]) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FELTRO_")}
    ended = subprocess.run(
        [sys.executable, "-m", module],
        env={**kept, **wrong},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 78
    (sentence,) = ended.stderr.splitlines()
    assert sentence.startswith(next(reversed(wrong)))
