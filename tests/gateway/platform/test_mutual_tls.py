"""The whole platform with certificates: its processes work together, and answer nobody who has none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import grpc
import pytest

from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit.rpc.transport import PLAINTEXT, Transport
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.platform.processes import GENEROUS_LIMITS, TIMEOUT_S, Platform, running_platform
from tests.gateway.platform.websocket_player import WebSocketPlayer
from tests.processes.certificates import CertificateAuthority
from tests.processes.roulette import RouletteClient, configuration
from tests.processes.wallet import REAL, WalletClient
from tests.service.roulette.platform import INDIVIDUAL

pytestmark = [pytest.mark.slow, pytest.mark.guarantee("G12")]

TABLE = "secure_table"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def platform(
    postgres: EmbeddedPostgres,
    wallet_template: str,
    game_template: str,
    authority: CertificateAuthority,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Platform]:
    templates, home = (wallet_template, game_template), tmp_path_factory.mktemp("platform")
    with running_platform(
        postgres, templates, home, GENEROUS_LIMITS, name="secure_gateway", authority=authority
    ) as platform:
        asyncio.run(platform.open_tables({TABLE: configuration(play=INDIVIDUAL)}))
        yield platform


async def test_g12_a_player_plays_while_all_processes_prove_who_they_are(platform: Platform) -> None:
    player = WebSocketPlayer(platform.gateway)
    await player.fund(platform.gateway)
    async with player.connect(platform.gateway) as client, asyncio.timeout(TIMEOUT_S):
        table_id, round_id = await player.enter_table(client, TABLE)
        next_round_id = await player.play_round(client, table_id, round_id)
        assert next_round_id not in {"", round_id}


async def test_g12_wallet_and_game_answer_nobody_without_a_certificate_of_the_platform(
    platform: Platform, authority: CertificateAuthority, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = CertificateAuthority(tmp_path_factory.mktemp("other"))
    for stranger in (PLAINTEXT, other.transport("gateway")):
        assert await ask_wallet(platform, stranger) is grpc.StatusCode.UNAVAILABLE
        assert await ask_game(platform, stranger) is grpc.StatusCode.UNAVAILABLE
    outsider = Transport(authority.issue("laptop.example"))
    assert await ask_wallet(platform, outsider) is grpc.StatusCode.PERMISSION_DENIED
    # Another game calls the wallet, and no game.
    poker = authority.transport("poker")
    assert await ask_wallet(platform, poker) is grpc.StatusCode.NOT_FOUND
    assert await ask_game(platform, poker) is grpc.StatusCode.PERMISSION_DENIED


async def ask_wallet(platform: Platform, transport: Transport) -> grpc.StatusCode:
    """Asks the wallet with a good token for an account that does not exist."""
    async with transport.open_channel(platform.wallet.address, "wallet") as channel:
        client = WalletClient(channel, platform.wallet.issuer)
        request = wallet_pb2.FindAccountRequest(player_id="nobody", mode=REAL)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await client.wallet.FindAccount(request, metadata=client.operator, timeout=TIMEOUT_S)
        return refused.value.code()


async def ask_game(platform: Platform, transport: Transport) -> grpc.StatusCode:
    """Asks the game with a good token for a table that does not exist."""
    async with transport.open_channel(platform.roulette.address, "roulette") as channel:
        client = RouletteClient(channel, platform.roulette.issuer)
        request = table_pb2.GetTableRequest(table_id="nowhere")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await client.tables.GetTable(request, metadata=client.operator, timeout=TIMEOUT_S)
        return refused.value.code()
