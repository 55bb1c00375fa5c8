"""The memory of an idle connection in the gateway: of an anonymous client, and of a player with an own token."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import uvloop

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.bench import wallet as wallet_bench
from tests.bench.edge_fanout import READY_WITHIN_S, DeliveryCount, connect, open_files_for
from tests.processes.gateway import GatewayProcess
from tests.processes.wallet import WalletProcess

# The first connections allocate what all share.
FIRST = 200
# By then, what opening a connection needs is freed.
SETTLED_AFTER_S = 1.0
MINUTES = 600
# All connections come from one address, and none may be refused.
LIMITS = {
    f"FELTRO_GATEWAY_{name}": "100000"
    for name in ("ADDRESS_TOKENS_PER_S", "ADDRESS_TOKENS_AT_ONCE", "CONNECTIONS", "CONNECTIONS_PER_ADDRESS")
}


def bench(number: int) -> dict[str, float]:
    """KiB of an idle connection of each kind."""
    open_files_for(FIRST + number)
    found: dict[str, float] = {}
    with (
        ephemeral.postgres() as postgres,
        ephemeral.nats() as bus,
        tempfile.TemporaryDirectory(prefix="feltro-idle-") as home,
        _running_wallet(postgres, bus.url, Path(home)) as wallet,
    ):
        for kind in ("anonymous", "player"):
            gateway = GatewayProcess("", bus.url, Path(home), LIMITS, wallet_address=wallet.address)
            size = found[f"idle_{kind}_kib"] = memory(gateway, number, with_token=kind == "player")
            print(f"  (e) {size:.1f} KiB for an idle connection, {kind}", flush=True)
    return found


@contextmanager
def _running_wallet(postgres: EmbeddedPostgres, bus_url: str, home: Path) -> Iterator[WalletProcess]:
    """Runs the wallet, without which a gateway does not know whether a token was taken back."""
    postgres.ensure_database(wallet_bench.DATABASE, wallet_bench.OWNER, wallet_bench.USER)
    wallet_bench.migrate(postgres.url(wallet_bench.OWNER, wallet_bench.DATABASE))
    wallet = WalletProcess(postgres.url(wallet_bench.USER, wallet_bench.DATABASE), bus_url, home)
    wallet.start()
    try:
        asyncio.run(wallet.ready())
        yield wallet
    finally:
        wallet.kill()


def memory(gateway: GatewayProcess, number: int, *, with_token: bool) -> float:
    """KiB by which the process grows with each connection; `with_token`: of a player."""
    subjects = [f"p{each}" for each in range(FIRST + number)] if with_token else []
    tokens = [gateway.issuer.token(["player"], subject, MINUTES) for subject in subjects]
    gateway.start()
    try:
        _wait(gateway)
        assert gateway.child is not None
        (process,) = psutil.Process(gateway.child.pid).children()

        async def measure() -> float:
            first = await connect(gateway.port, DeliveryCount(), FIRST, watch=False, tokens=tokens[:FIRST])
            await asyncio.sleep(SETTLED_AFTER_S)
            before = process.memory_info().rss
            kept = await connect(gateway.port, DeliveryCount(), number, watch=False, tokens=tokens[FIRST:])
            await asyncio.sleep(SETTLED_AFTER_S)
            grown = process.memory_info().rss - before
            for watcher in (*first, *kept):
                watcher.transport.abort()
            return grown / number / 1024

        return uvloop.run(measure())
    finally:
        gateway.kill()


def _wait(gateway: GatewayProcess) -> None:
    """Returns when the gateway answers a player, although no game runs behind it."""
    token = gateway.issuer.token(["player"], "first")
    request = urllib.request.Request(f"{gateway.url}/v1/games", headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(request, timeout=READY_WITHIN_S):  # noqa: S310
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise RuntimeError("the gateway does not answer")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle", type=int, default=4_000)
    for name, value in bench(parser.parse_args().idle).items():
        print(f"ratio {name} {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
