"""Every key of the platform is exchanged under play, as docs/operating.md says; then the old ones open nothing."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import nats.errors
import pytest

from services.kit.bus.connection import BusClient, BusEndpoint
from services.kit.bus.permissions import OPERATOR
from stack.commands.container_secrets import ADMIN, INSIDE
from stack.databases import DATABASES
from stack.games import GAMES
from stack.issuer import DevelopmentIssuer
from tests.containers.new_keys import HIDING, NEW_ENTROPY_KEY, NewKeys
from tests.containers.nodes import Node
from tests.containers.platform import BUS_PORT, GATEWAY_PORT, Platform, running_platform
from tests.players.client import Refused
from tests.players.own_table import STAKE_CENTS, SoloPlayer
from tests.players.playing import seated, under_play

# Where the files of a game that it has no more are kept for a try, as the game's container sees them.
OLD = "old"
GAME = GAMES[1]
# Games whose rounds have cards that are hidden while players decide: each round at a table for one is sealed.
DECIDED = ("blackjack", "poker")
# Runs where a game does: asks the wallet what any game may ask, and prints how it was answered.
ASK_WALLET = """
import asyncio, sys, time
from pathlib import Path
import grpc
from services.kit.access.signing_key import SigningKey
from services.kit.rpc.transport import CertificateFiles, Transport
folder, signing_key, game = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
now = int(time.time())
claims = {"iss": game, "aud": "feltro", "sub": game, "scope": "game", "game": game, "iat": now, "exp": now + 600}
token = SigningKey.read(signing_key).sign(claims | {"jti": "a-test"})
files = CertificateFiles(Path("/run/feltro/ca.pem"), folder / "tls.pem", folder / "tls.key")
async def main():
    async with Transport(files).open_channel("wallet:8710", "wallet") as channel:
        ask = channel.unary_unary("/feltro.wallet.v1.PlatformService/ListPlatformSwitches")
        try:
            await ask(b"", metadata=[("authorization", "Bearer " + token)], timeout=20)
        except grpc.aio.AioRpcError as error:
            print(error.code().name)
        else:
            print("OK")
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A platform of its own: none of its keys is what it was."""
    with running_platform(tmp_path_factory.mktemp("platform")) as platform:
        yield platform


async def test_every_key_is_exchanged_under_play_and_the_old_ones_open_nothing(
    platform: Platform, tmp_path: Path
) -> None:
    keep_files_of_the_game(platform)
    keys = NewKeys(platform.secrets, tmp_path)
    assert await statuses(platform, keys.old_issuer) == {200}
    assert ask_wallet(platform, certificate=OLD, signing_key=OLD) == "OK"

    async with under_play(platform.entrance) as play:
        keys.accept_both()
        await asyncio.to_thread(restart, platform)
        await play.goes_on()

        await asyncio.to_thread(run_sql, platform, keys.old_database_passwords[ADMIN], keys.use_new())
        await asyncio.to_thread(restart, platform)
        await play.goes_on()

        keys.refuse_old()
        await asyncio.to_thread(restart, platform)
    status, report = await asyncio.to_thread(platform.audit)
    assert status == 0, report

    assert await statuses(platform, platform.secrets.issuer) == {200}
    assert await statuses(platform, keys.old_issuer) == {401}
    assert ask_wallet(platform, certificate="", signing_key="") == "OK"
    assert ask_wallet(platform, certificate="", signing_key=OLD) == "UNAUTHENTICATED"
    assert ask_wallet(platform, certificate=OLD, signing_key="") == "UNAVAILABLE"
    await assert_bus_takes_new_keys_alone(platform, keys)
    assert_databases_take_new_passwords_alone(platform, keys)
    for game in DECIDED:
        assert_rounds_are_sealed_by_the_new_key(platform, game)
    for game in HIDING:
        status, report = platform.games[game][0].run("feltro", "replay", "--all", "--game", game)
        assert status == 0, report


async def test_a_new_key_of_tables_gives_players_other_tables(platform: Platform, tmp_path: Path) -> None:
    async with seated(platform.entrance) as players:
        alone = [player for player in players if isinstance(player, SoloPlayer)]
        NewKeys(platform.secrets, tmp_path).name_tables_anew()
        for replicas in zip(*platform.games.values(), strict=True):
            await asyncio.to_thread(platform.replace, replicas)

        for player in alone:
            entered = await player.account.client.call(f"/v1/tables/{player.game.entry_table}:enter", {})
            assert entered["table"]["table_id"] != player.table
            former = f"/v1/{player.game.name}/tables/{player.table}/bets"
            bets = [{"place": player.game.place, "amount_cents": STAKE_CENTS}]
            with pytest.raises(Refused, match=r"TABLE_UNKNOWN|NOT_SEATED"):
                await player.account.client.call(former, {"round_id": f"{player.table}.1", "bets": bets})


def restart(platform: Platform) -> None:
    """Restarts everything but the databases: a server of the bus first, which knows new passwords before they come."""
    platform.restart_bus(platform.bus[:1])
    first, second = zip(*platform.games.values(), platform.gateways, strict=True)
    for nodes in (first, [platform.wallet], second):
        platform.replace(nodes)
    platform.restart_bus(platform.bus[1:])


def keep_files_of_the_game(platform: Platform) -> None:
    """Copies a game's secrets of now to where its container finds them later."""
    folder = platform.secrets.folder(GAME.name)
    shutil.copytree(folder, folder / OLD)


async def statuses(platform: Platform, issuer: DevelopmentIssuer) -> set[int]:
    """How each gateway, and the service behind it, answer an operator with a token of an issuer."""
    headers = {"Authorization": f"Bearer {issuer.token(['operator'], 'back-office')}"}
    found = set()
    async with aiohttp.ClientSession(headers=headers) as session:
        for gateway in platform.gateways:
            async with session.get(gateway.url(GATEWAY_PORT) + "/v1/operator/switches") as answer:
                found.add(answer.status)
    return found


def ask_wallet(platform: Platform, certificate: str, signing_key: str) -> str:
    """How the wallet answers a game with a certificate and a token of these folders."""
    arguments = (f"{INSIDE}/{certificate}", f"{INSIDE}/{signing_key}/signing.pem", GAME.name)
    status, printed = platform.games[GAME.name][0].run("python", "-c", ASK_WALLET, *arguments)
    assert status == 0, printed
    return printed.split()[-1]


async def assert_bus_takes_new_keys_alone(platform: Platform, keys: NewKeys) -> None:
    for node in platform.bus:
        of_now = platform.secrets.bus(node.url(BUS_PORT, "tls"))
        assert await is_let_in(of_now)
        assert not await is_let_in(replace(of_now, password=keys.old_bus_passwords[OPERATOR]))
        old_certificate = platform.secrets.bus(node.url(BUS_PORT, "tls"), keys.old_authority)
        assert not await is_let_in(old_certificate)


async def is_let_in(endpoint: BusEndpoint) -> bool:
    """Whether a server of the bus takes a client, which tries once."""
    client = BusClient()
    try:
        await client.connect(
            endpoint.servers,
            user=endpoint.user,
            password=endpoint.password,
            tls=endpoint.tls,
            allow_reconnect=False,
            connect_timeout=20,
        )
        await client.flush()
    except (nats.errors.Error, OSError):
        return False
    await client.close()
    return True


def assert_databases_take_new_passwords_alone(platform: Platform, keys: NewKeys) -> None:
    for database in DATABASES:
        for role in (database.user, database.owner):
            taken = (platform.secrets.password(role), keys.old_database_passwords[role])
            assert [connects(platform.postgres, role, database.name, password) for password in taken] == [True, False]


def connects(postgres: Node, role: str, database: str, password: str) -> bool:
    psql = ("psql", "-h", "postgres", "-U", role, "-d", database, "-c", "SELECT 1")
    status, _ = postgres.run("env", f"PGPASSWORD={password}", *psql)
    return status == 0


def run_sql(platform: Platform, password: str, sql: str, database: str = "postgres") -> str:
    """Runs statements as the databases' administrator."""
    psql = ("psql", "-h", "postgres", "-U", ADMIN, "-d", database, "-v", "ON_ERROR_STOP=1", "-Atc", sql)
    status, printed = platform.postgres.run("env", f"PGPASSWORD={password}", *psql)
    assert status == 0, printed
    return printed


def assert_rounds_are_sealed_by_the_new_key(platform: Platform, game: str) -> None:
    """The last round is sealed by the new key, and the first by the old one."""
    password = platform.secrets.password(ADMIN)
    sealed = "SELECT entropy_key FROM draws WHERE entropy_key <> '' ORDER BY round_no"
    by = run_sql(platform, password, sealed, f"feltro_{game}").split()
    assert by[0] != NEW_ENTROPY_KEY
    assert by[-1] == NEW_ENTROPY_KEY
