"""Starts the whole platform and lets schemathesis at it: every check, every phase, by the OpenAPI document alone.

Schemathesis lives in an environment of its own under build/, for it brings a pytest plugin that ours does not want.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from stack import ephemeral
from tests.conftest import OWNER, TEST_SETTINGS
from tests.conftest import USER as WALLET_USER
from tests.gateway.platform import Platform, platform
from tests.roulette_under_test import configuration
from tests.service.roulette.casino import HOUSES, INDIVIDUAL, REGULATIONS
from tests.service.table.conftest import USER as ROULETTE_USER

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / "build" / "schemathesis"
SCHEMATHESIS = "schemathesis==4.32.5"
SPARE_TOKENS = 500
# Nobody is to be told to wait.
LIMITS = {
    f"FELTRO_GATEWAY_{who}_{which}": number
    for who in ("PLAYER_CALLS", "OPERATOR_CALLS", "ADDRESS_CALLS", "ADDRESS_TOKENS")
    for which, number in (("PER_S", "9000"), ("AT_ONCE", "90000"))
}


def main(arguments: list[str]) -> int:
    """`arguments` are schemathesis's own, such as `-n 100`."""
    tool = _tool()
    home = Path(tempfile.mkdtemp(prefix="feltro-api-"))
    with ephemeral.postgres(TEST_SETTINGS) as postgres:
        templates = "feltro_wallet_of_api", "feltro_roulette_of_api"
        for name, service, user in zip(templates, ("wallet", "roulette"), (WALLET_USER, ROULETTE_USER), strict=True):
            postgres.ensure_database(name, OWNER, user)
            _migrate(service, postgres.url(OWNER, name))
        with platform(postgres, templates, home, LIMITS) as running:
            asyncio.run(_open_tables(running))
            tokens = home / "tokens"
            issue = running.gateway.issuer.token
            tokens.write_text("\n".join(issue(["player", "operator"], "ana") for _ in range(SPARE_TOKENS + 1)))
            command = [str(tool), "--config-file", str(HERE / "schemathesis.toml"), "run"]
            command += [f"{running.gateway.url}/openapi.json", "--no-color", *arguments]
            variables = {"FELTRO_API_TOKENS": str(tokens), "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)}
            return subprocess.run(command, env={**os.environ, **variables}, check=False, cwd=home).returncode


def _tool() -> Path:
    tool = TOOLS / "bin" / "st"
    if not tool.exists():
        venv.create(TOOLS, with_pip=True)
        subprocess.run([TOOLS / "bin" / "pip", "install", "--quiet", SCHEMATHESIS], check=True)
    return tool


def _migrate(service: str, owner_url: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "services.kit.command", "migrate", *([service] if service != "wallet" else [])],
        env={**os.environ, f"FELTRO_{service.upper()}_OWNER_URL": owner_url},
        check=True,
        stdout=subprocess.DEVNULL,
    )


async def _open_tables(running: Platform) -> None:
    async with running.roulette.client() as roulette:
        for regulation, house in HOUSES.items():
            await roulette.configure(house, configuration(wheel=REGULATIONS[regulation], play=INDIVIDUAL))
            await roulette.configure(f"multi_{regulation}", configuration(wheel=REGULATIONS[regulation]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
