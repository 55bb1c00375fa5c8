"""compose.yaml brings the whole platform up, on secrets that one command makes."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import aiohttp
import pytest

from stack.commands.container_secrets import ContainerSecrets
from stack.servers.ephemeral import free_port
from tests.players.client import PAUSE_S, TIMEOUT_S, Entrance, Refused
from tests.players.table import TABLES, TablePlayers, play_round, sit_down
from tools import container_engine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def entrance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Entrance]:
    """The platform of a copy of the file, with secrets and ports of its own."""
    home = tmp_path_factory.mktemp("compose")
    shutil.copy(ROOT / "compose.yaml", home)
    secrets = ContainerSecrets(home / ".feltro" / "compose")
    secrets.prepare()
    port = free_port()
    ports = {"FELTRO_GATEWAY_PORT": str(port), "FELTRO_OPERATOR_SITE_PORT": str(free_port())}
    project = f"feltro-test-{uuid4().hex[:8]}"

    def compose(*arguments: str) -> None:
        command = [*container_engine.compose_command(), "--project-name", project, *arguments]
        subprocess.run(command, cwd=home, env={**os.environ, **ports}, check=True)

    try:
        compose("up", "--detach")
        yield Entrance(lambda _: f"http://127.0.0.1:{port}", secrets.issuer)
    finally:
        compose("down", "--volumes", "--timeout", "5")


async def test_every_game_is_played(entrance: Entrance) -> None:
    async with aiohttp.ClientSession() as session:
        for table in TABLES:
            players = await first_players(entrance, session, table)
            await play_round(players)
            assert await players.assert_rounds_ended_once() == {"ROUND_STATE_SETTLED"}


async def first_players(entrance: Entrance, session: aiohttp.ClientSession, table: str) -> TablePlayers:
    """Has players sit down as soon as the table exists: the platform is still starting."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            try:
                return await sit_down(entrance, session, table)
            except Refused as refused:
                if refused.reason != "TABLE_UNKNOWN":
                    raise
                await asyncio.sleep(PAUSE_S)
