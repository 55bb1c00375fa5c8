"""A wrong value stops the start with a sentence that names the variable."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Any file that is there will do: the keys in it are not looked at yet.
KEYS = {"FELTRO_ISSUER_JWKS": __file__}
DESK = {"FELTRO_OPERATOR_SITE_LISTEN": "127.0.0.1:8702", "FELTRO_OPERATOR_SITE_ISSUER": str(Path(__file__).parent)}
NATS = {**KEYS, "FELTRO_NATS_URL": "nats://127.0.0.1:4222"}
WALLET = {**NATS, "FELTRO_WALLET_DATABASE_URL": "postgresql+asyncpg://feltro@127.0.0.1/feltro"}


@pytest.mark.parametrize(
    ("module", "wrong"),
    [
        ("stack.commands.run", {"FELTRO_GATEWAY_PORT": "eighty"}),
        ("stack.commands.run", {"FELTRO_POSTGRES_PORT": "70000"}),
        ("stack.commands.run", {"FELTRO_NATS_PORT": "0"}),
        ("stack.operator_site", {**DESK, "FELTRO_OPERATOR_SITE_GATEWAY": "127.0.0.1:8700"}),
        ("gateway", {**NATS, "FELTRO_GATEWAY_LISTEN": "here"}),
        ("gateway", {**NATS, "FELTRO_GATEWAY_WALLET_ADDRESS": "127.0.0.1"}),
        ("gateway", {**KEYS, "FELTRO_NATS_URL": "http://127.0.0.1"}),
    ],
)
def test_the_variable_is_named(module: str, wrong: dict[str, str]) -> None:
    ended = _started(module, wrong)
    assert ended.returncode == 78
    (sentence,) = ended.stderr.splitlines()
    assert sentence.startswith(next(reversed(wrong)))


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("environment", [{}, {"FELTRO_ENVIRONMENT": ""}, {"FELTRO_ENVIRONMENT": "production"}])
def test_g12_production_does_not_start_with_a_session_clock_that_can_be_moved(environment: dict[str, str]) -> None:
    """Whatever is not said to be development is production."""
    ended = _started("services.wallet", {**WALLET, **environment, "FELTRO_WALLET_SESSION_CLOCK": "advanceable"})
    assert ended.returncode == 78
    (sentence,) = ended.stderr.splitlines()
    assert sentence.startswith("FELTRO_WALLET_SESSION_CLOCK has to be `real` where FELTRO_ENVIRONMENT is `production`")


def _started(module: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FELTRO_")}
    return subprocess.run(
        [sys.executable, "-m", module],
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
