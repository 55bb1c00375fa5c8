"""Starts the whole platform and runs schemathesis against it: every check and phase, by the OpenAPI document alone.

Schemathesis has an environment of its own under build/, because its pytest plugin must not load in the other tests.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.platform.processes import GENEROUS_LIMITS, Platform, running_platform
from tests.processes import baccarat as baccarat_tables
from tests.processes import blackjack as blackjack_tables
from tests.processes.baccarat import BaccaratProcess
from tests.processes.blackjack import BlackjackProcess
from tests.processes.databases import OWNER_ROLE, POSTGRES_TEST_SETTINGS, ROULETTE_ROLE, WALLET_ROLE
from tests.processes.gateway import text_at
from tests.processes.roulette import configuration
from tests.service.roulette.platform import INDIVIDUAL, INDIVIDUAL_TABLES, WHEEL_BY_REGULATION

HERE = Path(__file__).resolve().parent
VERSION = "4.32.5"
TOOLS = HERE.parent.parent / "build" / f"schemathesis-{VERSION}"
# One for all calls, and one for each logout.
TOKENS = 1_000
OPEN_TIMEOUT_S = 60.0
CARD_TABLES = {
    "baccarat": {
        "cards": baccarat_tables.configuration(play=INDIVIDUAL),
        "cards_for_many": baccarat_tables.configuration(macau=True),
    },
    "blackjack": {
        "hands": blackjack_tables.configuration(play=INDIVIDUAL),
        "hands_for_many": blackjack_tables.configuration(),
    },
}
CardGameProcess = BaccaratProcess | BlackjackProcess


def main(arguments: list[str]) -> int:
    """`arguments` are schemathesis's own, such as `-n 100`."""
    tool = _tool()
    with (
        tempfile.TemporaryDirectory(prefix="feltro-api-") as folder,
        ephemeral.postgres(POSTGRES_TEST_SETTINGS) as postgres,
    ):
        home = Path(folder)
        templates = "feltro_wallet_template", "feltro_roulette_template"
        for name, service, role in zip(templates, ("wallet", "roulette"), (WALLET_ROLE, ROULETTE_ROLE), strict=True):
            postgres.ensure_database(name, OWNER_ROLE, role)
            _migrate(service, postgres.url(OWNER_ROLE, name))
        with (
            running_platform(postgres, templates, home, GENEROUS_LIMITS, name="api") as platform,
            _card_game(BaccaratProcess, postgres, templates[1], platform) as baccarat,
            _card_game(BlackjackProcess, postgres, templates[1], platform) as blackjack,
        ):
            subject = "player_of_the_api"
            prepared = {
                "tokens": [platform.gateway.issuer.token(["player", "operator"], subject) for _ in range(TOKENS)],
                "existing": asyncio.run(_prepare(platform, [baccarat, blackjack], subject)),
            }
            (home / "prepared.json").write_text(json.dumps(prepared))
            command = [str(tool), "--config-file", str(HERE / "schemathesis.toml"), "run"]
            command += [f"{platform.gateway.url}/openapi.json", "--no-color", *arguments]
            variables = {
                "FELTRO_API_PREPARED": str(home / "prepared.json"),
                "SCHEMATHESIS_HOOKS": "hooks",
                "PYTHONPATH": str(HERE),
            }
            return subprocess.run(command, env={**os.environ, **variables}, check=False, cwd=home).returncode


@contextmanager
def _card_game(
    process_type: type[CardGameProcess], postgres: EmbeddedPostgres, template: str, platform: Platform
) -> Iterator[CardGameProcess]:
    """Runs another game on this platform, so that its calls are examined, too."""
    database = f"feltro_{process_type.name}_of_api"
    postgres.ensure_database(database, OWNER_ROLE, ROULETTE_ROLE, template=template)
    process = process_type(
        postgres.url(ROULETTE_ROLE, database),
        platform.roulette.nats_url,
        platform.roulette.home,
        dict(platform.roulette.environment),
        wallet_address=platform.wallet.address,
    )
    try:
        process.start()
        asyncio.run(process.ready())
        yield process
    finally:
        process.kill()


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


async def _prepare(platform: Platform, card_games: Iterable[CardGameProcess], subject: str) -> dict[str, list[str]]:
    """Opens tables and seats a funded player at each; returns ids by the names of the fields that take them."""
    async with platform.roulette.client() as roulette:
        for regulation, individual in INDIVIDUAL_TABLES.items():
            await roulette.configure(individual, configuration(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL))
            await roulette.configure(f"multi_{regulation}", configuration(wheel=WHEEL_BY_REGULATION[regulation]))
    tables = [*INDIVIDUAL_TABLES.values(), *(f"multi_{regulation}" for regulation in INDIVIDUAL_TABLES)]
    for process in card_games:
        async with process.client() as client:
            for table_id, rules in CARD_TABLES[process.name].items():
                await client.configure(table_id, rules)
                tables.append(table_id)
    existing: dict[str, list[str]] = {
        "game": ["roulette", *CARD_TABLES],
        "player_id": [subject],
        "table_id": tables,
        "session_id": [],
    }
    async with platform.gateway.client() as client:
        operator, player = client.token("operator", "back-office"), client.token("player", subject)
        opened = await client.call("POST", "/v1/accounts", {"player_id": subject, "mode": "MODE_REAL"}, operator)
        account_id = text_at(opened.body, "balance", "account_id")
        await client.call("POST", f"/v1/accounts/{account_id}/deposits", {"amount_cents": 100_000}, operator)
        for table_id in tables:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                while (entered := await client.call("POST", f"/v1/tables/{table_id}:enter", {}, player)).status != 200:
                    # A process takes a moment to open a table.
                    await asyncio.sleep(0.1)
            existing["session_id"].append(text_at(entered.body, "own_seat", "session_id"))
        filing = {"account_id": account_id, "session_id": existing["session_id"][0], "text": "The ball was slow."}
        filed = await client.call("POST", "/v1/complaints", filing, player)
        return {**existing, "account_id": [account_id], "reference": [text_at(filed.body, "complaint", "reference")]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
