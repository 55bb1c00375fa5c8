"""Starts the whole platform and lets schemathesis at it: every check, every phase, by the OpenAPI document alone.

Schemathesis lives in an environment of its own under build/, for it brings a pytest plugin that ours does not want.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from stack.servers import ephemeral
from tests.gateway.platform.processes import Platform, running_platform
from tests.processes.databases import OWNER_ROLE, POSTGRES_TEST_SETTINGS
from tests.processes.databases import ROULETTE_ROLE as ROULETTE_USER
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.gateway import text_at
from tests.processes.roulette import configuration
from tests.service.roulette.platform import INDIVIDUAL, INDIVIDUAL_TABLES, WHEEL_BY_REGULATION

HERE = Path(__file__).resolve().parent
VERSION = "4.32.5"
TOOLS = HERE.parent.parent / "build" / f"schemathesis-{VERSION}"
# One to call with, and one for each logging out.
TOKENS = 1_000
OPEN_WITHIN_S = 60.0
# Nobody is to be told to wait.
LIMITS = {
    f"FELTRO_GATEWAY_{who}_{which}": number
    for who in ("PLAYER_CALLS", "OPERATOR_CALLS", "ADDRESS_CALLS", "ADDRESS_TOKENS", "DEMO_VISITS", "DEMO_CALLS")
    for which, number in (("PER_S", "9000"), ("AT_ONCE", "90000"))
}


def main(arguments: list[str]) -> int:
    """`arguments` are schemathesis's own, such as `-n 100`."""
    tool = _tool()
    with (
        tempfile.TemporaryDirectory(prefix="feltro-api-") as folder,
        ephemeral.postgres(POSTGRES_TEST_SETTINGS) as postgres,
    ):
        home = Path(folder)
        templates = "feltro_wallet_of_api", "feltro_roulette_of_api"
        for name, service, user in zip(templates, ("wallet", "roulette"), (WALLET_USER, ROULETTE_USER), strict=True):
            postgres.ensure_database(name, OWNER_ROLE, user)
            _migrate(service, postgres.url(OWNER_ROLE, name))
        with running_platform(postgres, templates, home, LIMITS) as running:
            subject = "player_of_the_api"
            given = {
                "tokens": [running.gateway.issuer.token(["player", "operator"], subject) for _ in range(TOKENS)],
                "there": asyncio.run(_furnish(running, subject)),
            }
            (home / "given.json").write_text(json.dumps(given))
            command = [str(tool), "--config-file", str(HERE / "schemathesis.toml"), "run"]
            command += [f"{running.gateway.url}/openapi.json", "--no-color", *arguments]
            variables = {
                "FELTRO_API_GIVEN": str(home / "given.json"),
                "SCHEMATHESIS_HOOKS": "hooks",
                "PYTHONPATH": str(HERE),
            }
            return subprocess.run(command, env={**os.environ, **variables}, check=False, cwd=home).returncode


def _tool() -> Path:
    tool = TOOLS / "bin" / "st"
    if not tool.exists():
        venv.create(TOOLS, with_pip=True)
        subprocess.run([TOOLS / "bin" / "pip", "install", "--quiet", f"schemathesis=={VERSION}"], check=True)
    return tool


def _migrate(service: str, owner_url: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "services.kit.command", "migrate", service],
        env={**os.environ, f"FELTRO_{service.upper()}_OWNER_URL": owner_url},
        check=True,
        stdout=subprocess.DEVNULL,
    )


async def _furnish(running: Platform, subject: str) -> dict[str, list[str]]:
    """Tables, and a player with money who sits at each: the ids of all that by the name of what they are ids of."""
    async with running.roulette.client() as roulette:
        for regulation, house in INDIVIDUAL_TABLES.items():
            await roulette.configure(house, configuration(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL))
            await roulette.configure(f"multi_{regulation}", configuration(wheel=WHEEL_BY_REGULATION[regulation]))
    tables = [*INDIVIDUAL_TABLES.values(), *(f"multi_{regulation}" for regulation in INDIVIDUAL_TABLES)]
    there: dict[str, list[str]] = {"game": ["roulette"], "player_id": [subject], "table_id": tables, "session_id": []}
    async with running.gateway.client() as client:
        office, player = client.token("operator", "back-office"), client.token("player", subject)
        opened = await client.call("POST", "/v1/accounts", {"player_id": subject, "mode": "MODE_REAL"}, office)
        account_id = text_at(opened.body, "balance", "account_id")
        await client.call("POST", f"/v1/accounts/{account_id}/deposits", {"amount_cents": 100_000}, office)
        for table_id in tables:
            async with asyncio.timeout(OPEN_WITHIN_S):
                while (entered := await client.call("POST", f"/v1/tables/{table_id}:enter", {}, player)).status != 200:
                    # A process takes its tables by and by.
                    await asyncio.sleep(0.1)
            there["session_id"].append(text_at(entered.body, "own_seat", "session_id"))
        filing = {"account_id": account_id, "session_id": there["session_id"][0], "text": "The ball was slow."}
        filed = await client.call("POST", "/v1/complaints", filing, player)
        return {**there, "account_id": [account_id], "reference": [text_at(filed.body, "complaint", "reference")]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
