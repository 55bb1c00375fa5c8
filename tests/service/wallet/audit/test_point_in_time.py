"""A ledger restored to a point in time, into an empty cluster: what was committed by then is there, and nothing else.

It is what docs/operating.md tells an operator to do: a base backup, the archived write-ahead log, and a moment.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from services.wallet.audit.command import command as audit
from stack.processes.child import ChildProcess
from stack.servers import ephemeral
from stack.servers.postgres import ADMIN, PASSWORDS, EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE, POSTGRES_TEST_SETTINGS, WALLET_ROLE, WALLET_TEMPLATE, ensure_template
from tests.service.wallet.in_process_wallet import MULTI_PLAYER, Seat, open_wallet

DATABASE = "feltro_wallet"
READY_TIMEOUT_S = 240.0
# Ages: nothing is published here, and the clock of the test is another year's.
AGES = ("--outbox-age", "1e9", "--round-hours", "1e9")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the archive and the backup are: PostgreSQL's user reaches it, also under root."""
    made = Path(tempfile.mkdtemp(prefix="feltro-backup-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


def _writable(path: Path, server: EmbeddedPostgres) -> Path:
    path.mkdir()
    if server.user is not None:
        shutil.chown(path, server.user)
    return path


def base_backup(server: EmbeddedPostgres, target: Path) -> None:
    command = [str(server.binaries / "pg_basebackup"), "-h", "127.0.0.1", "-p", str(server.port), "-U", ADMIN]
    command += ["-D", str(target), "-c", "fast", "--no-sync", "-X", "none"]
    environment = {**os.environ, "PGPASSWORD": server.passwords[ADMIN]}
    subprocess.run(command, env=environment, check=True, capture_output=True)


def archive_all(server: EmbeddedPostgres) -> None:
    """Returns once everything that was committed so far is in the archive."""
    segment = server.sql("SELECT pg_walfile_name(pg_current_wal_lsn())")
    server.sql("SELECT pg_switch_wal()")
    give_up_at = time.monotonic() + READY_TIMEOUT_S
    while server.sql("SELECT coalesce(max(last_archived_wal), '') FROM pg_stat_archiver") < segment:
        assert time.monotonic() < give_up_at, server.sql("SELECT * FROM pg_stat_archiver")
        time.sleep(0.05)


@contextmanager
def restored(backup: Path, archive: Path, until: str, passwords: Path) -> Iterator[EmbeddedPostgres]:
    """A new cluster, made of a base backup and the archive up to a moment."""
    home = Path(tempfile.mkdtemp(prefix="feltro-restored-"))
    home.chmod(0o711)
    recovering = {
        **POSTGRES_TEST_SETTINGS,
        "restore_command": f"cp {archive}/%f %p",
        "recovery_target_time": until,
        "recovery_target_action": "promote",
    }
    shutil.copy(passwords, home / PASSWORDS)
    server = EmbeddedPostgres(home, ephemeral.free_port(), recovering)
    subprocess.run(["cp", "-R", str(backup), str(server.data)], check=True)
    (server.data / "recovery.signal").touch()
    if server.user is not None:
        subprocess.run(["chown", "-R", server.user, str(server.data)], check=True)
    server.data.chmod(0o700)
    remove = sorted({home, server.data.parent})
    options = {"log": home / "log", "stop_signal": signal.SIGINT, "user": server.user, "remove": remove}
    child = ChildProcess(server.command(), **options)  # type: ignore[arg-type]
    try:
        give_up_at = time.monotonic() + READY_TIMEOUT_S
        while not server.ready() or server.sql("SELECT pg_is_in_recovery()") == "t":
            if child.ended or time.monotonic() > give_up_at:
                raise AssertionError((home / "log").read_text()[-4000:])
            time.sleep(0.05)
        yield server
    finally:
        child.stop()


async def play(url: str) -> tuple[Seat, str]:
    """Plays a round to its end, and leaves another one open with a stake in it."""
    async with open_wallet(url) as wallet:
        await wallet.open_table("salon", MULTI_PLAYER)
        seat = await wallet.sit_down("ana", "salon", 100_000)
        stake = await wallet.place(seat, "salon.1", 1_000)
        await wallet.settle("salon", "salon.1", {stake: 2_000})
        return seat, await wallet.place(seat, "salon.2", 500)


async def play_on(url: str, seat: Seat, stake_id: str) -> None:
    async with open_wallet(url) as wallet:
        await wallet.deposit(seat.account_id, 77)
        await wallet.settle("salon", "salon.2", {stake_id: 0})


async def free_and_locked(url: str, seat: Seat) -> list[tuple[int, int]]:
    async with open_wallet(url) as wallet:
        free = await wallet.count(f"SELECT free_cents FROM accounts WHERE account_id = '{seat.account_id}'")  # noqa: S608
        locked = await wallet.count(f"SELECT locked_cents FROM accounts WHERE account_id = '{seat.account_id}'")  # noqa: S608
        return [(free, locked)]


@pytest.mark.slow
@pytest.mark.guarantee("G5")
def test_g5_a_ledger_is_restored_to_a_point_in_time_into_an_empty_cluster(folder: Path) -> None:
    archive, backup = folder / "archive", folder / "backup"
    archiving = {
        **POSTGRES_TEST_SETTINGS,
        "archive_mode": "on",
        "archive_command": f"test ! -f {archive}/%f && cp %p {archive}/%f",
    }
    with ephemeral.postgres(archiving) as server:
        _writable(archive, server)
        template = ensure_template(server, WALLET_TEMPLATE)
        server.ensure_database(DATABASE, OWNER_ROLE, WALLET_ROLE, template=template)
        url = server.url(WALLET_ROLE, DATABASE)
        base_backup(server, backup)
        # None of it is in the backup: the archive alone has it.
        seat, stake_id = asyncio.run(play(url))
        moment = server.sql("SELECT clock_timestamp()")
        asyncio.run(play_on(url, seat, stake_id))
        archive_all(server)
        assert asyncio.run(free_and_locked(url, seat)) == [(100_577, 0)]
        passwords = folder / PASSWORDS
        shutil.copy(server.home / PASSWORDS, passwords)

    with restored(backup, archive, moment, passwords) as again:
        url = again.url(WALLET_ROLE, DATABASE)
        # The round of the moment is open, its stake is locked; what came later never was.
        assert asyncio.run(free_and_locked(url, seat)) == [(100_500, 500)]
        assert audit(["--database-url", url, *AGES]) == 0
        # The bus remembers facts of what never was: the publisher begins anew.
        again.sql("UPDATE outbox_cursor SET stream_seq = NULL", DATABASE)
        # And it is a ledger again: the open round is settled, in another way than before.
        asyncio.run(play_on(url, seat, stake_id))
        assert audit(["--database-url", url, *AGES]) == 0
