"""`feltro audit`: checks the ledger and names every violation; also run hourly by the service itself."""

import argparse
import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import Gauge
from pydantic import PostgresDsn
from pydantic_settings import SettingsConfigDict
from sqlalchemy import make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.database import postgresql
from services.kit.settings import ServiceSettings, WrongSettings, load
from services.wallet.audit.checks import CHECKS, Check

HOLDS, VIOLATED, NOT_CHECKED = 0, 1, 2
DEFAULT_OUTBOX_AGE_S = 60.0
# A round takes minutes; at an individual table it waits for a player who has lost his connection with a bet on the
# felt, for 90 days at most (`903-B/2015:6.3.2`). After a day somebody should look.
DEFAULT_ROUND_HOURS = 24.0
# One statement may walk a ledger of hundreds of millions of entries (G11).
STATEMENT_TIMEOUT_S = 3600.0
# The service looks at the ledger soon after its start, for it may be restarted more often than it audits: after a
# minute where it audits every hour.
FIRST_RUN_SHARE = 1 / 60
# Violations of one check that the service logs; `feltro audit` names all of them (G11).
LOGGED_VIOLATIONS_LIMIT = 1000

# Any number will do, as long as every replica takes the same one.
AUDIT_LOCK_KEY = 0x46454C55
_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(:key)")
# A guest in a database that serves players: one core, memory enough to hash a million accounts, the rest on disk.
_MANNERS = (
    text("SET LOCAL max_parallel_workers_per_gather = 0"),
    text("SET LOCAL work_mem = '64MB'"),
    # All rows of a check are wanted, never just the first ones.
    text("SET LOCAL cursor_tuple_fraction = 1"),
    # Whole tables are compared. Where statistics are behind, nested loops look cheap and take the square of the time.
    text("SET LOCAL enable_nestloop = off"),
)

_log = logging.getLogger(__name__)
_VIOLATIONS = Gauge("feltro_audit_violations", "Violations that the last audit found", ["check"])
_LAST_SUCCESS = Gauge("feltro_audit_last_success_seconds", "When an audit last ran to its end, whatever it found")


@dataclass(frozen=True, slots=True)
class Finding:
    """How a check went."""

    check: Check
    violations: int
    seconds: float


ViolationReporter = Callable[[Check, str], None]


class Auditor:
    """Runs the checks on one database."""

    def __init__(
        self,
        engine: AsyncEngine,
        outbox_age_s: float = DEFAULT_OUTBOX_AGE_S,
        round_hours: float = DEFAULT_ROUND_HOURS,
    ) -> None:
        # One snapshot for all checks: they hold between themselves while players go on playing.
        self._engine = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._patience = {"outbox_age_s": outbox_age_s, "round_hours": round_hours}

    async def run(
        self, report_violation: ViolationReporter, report_finding: Callable[[Finding], None] | None = None
    ) -> list[Finding]:
        """Tells every violation as it is found, then gives what each check came to."""
        async with self._engine.begin() as connection:
            return await self._check_all(connection, report_violation, report_finding)

    async def run_exclusively(self, report_violation: ViolationReporter) -> list[Finding] | None:
        """The same, unless another replica is at it: then nothing."""
        async with self._engine.begin() as connection:
            if not (await connection.execute(_TRY_LOCK, {"key": AUDIT_LOCK_KEY})).scalar_one():
                return None
            return await self._check_all(connection, report_violation, None)

    async def _check_all(
        self, connection: AsyncConnection, tell: ViolationReporter, finished: Callable[[Finding], None] | None
    ) -> list[Finding]:
        for statement in _MANNERS:
            await connection.execute(statement)
        findings = []
        for check in CHECKS:
            finding = await self._check(connection, check, tell)
            findings.append(finding)
            if finished is not None:
                finished(finding)
        return findings

    async def _check(self, connection: AsyncConnection, check: Check, tell: ViolationReporter) -> Finding:
        started = time.monotonic()
        statement = text(check.statement)
        # Read in portions: a ledger that is wrong everywhere is not held in memory either.
        async with connection.stream(statement, self._given(check)) as sentences:
            violations = 0
            async for (sentence,) in sentences:
                violations += 1
                tell(check, sentence)
        return Finding(check, violations, time.monotonic() - started)

    def _given(self, check: Check) -> dict[str, float]:
        return {name: given for name, given in self._patience.items() if f":{name}" in check.statement}


class AuditWatch:
    """The audit that the service runs on itself, one replica at a time."""

    def __init__(self, database_url: str, interval_s: float, round_hours: float = DEFAULT_ROUND_HOURS) -> None:
        self._url = database_url
        self._every_s = interval_s
        self._round_hours = round_hours

    async def run(self) -> None:
        """Audits again and again until it is cancelled."""
        # A connection of its own: an audit takes as long as it takes, and players do not wait for it.
        engine = _connect(self._url)
        try:
            await asyncio.sleep(self._every_s * FIRST_RUN_SHARE)
            while True:
                await self.audit_once(Auditor(engine, round_hours=self._round_hours))
                await asyncio.sleep(self._every_s)
        finally:
            await engine.dispose()

    async def audit_once(self, auditor: Auditor) -> None:
        """Audits unless another replica does, and tells logs and metrics what came of it."""
        logged: dict[str, int] = {}

        def log(check: Check, sentence: str) -> None:
            logged[check.name] = logged.get(check.name, 0) + 1
            if logged[check.name] <= LOGGED_VIOLATIONS_LIMIT:
                facts = {"check": check.name, "guarantee": check.guarantee, "violation": sentence}
                _log.error("the audit found a violation", extra=facts)

        try:
            findings = await auditor.run_exclusively(log)
        except (SQLAlchemyError, OSError, TimeoutError):
            _log.exception("the audit could not check the ledger")
            return
        if findings is None:
            _log.info("another replica is auditing")
            return
        for finding in findings:
            _VIOLATIONS.labels(finding.check.name).set(finding.violations)
        _LAST_SUCCESS.set_to_current_time()
        violations, seconds = _total(findings)
        _log.info("the audit is done", extra={"violations": violations, "seconds": round(seconds, 3)})


class AuditSettings(ServiceSettings):
    """The database that the command looks at unless it is told another."""

    model_config = SettingsConfigDict(env_prefix="FELTRO_WALLET_", extra="ignore", frozen=True, env_ignore_empty=True)

    database_url: PostgresDsn


def command(argv: list[str]) -> int:
    """Checks the ledger and names every violation.

    Status 0: everything holds; 1: something does not; 2: it could not be checked.
    """
    parser = argparse.ArgumentParser(
        prog="feltro audit",
        description="Check the ledger and name every violation. Status 0: everything holds; 1: something does not;"
        " 2: it could not be checked. Safe while the platform runs.",
    )
    parser.add_argument("--database-url", help="the wallet's database, or a replica of it (FELTRO_WALLET_DATABASE_URL)")
    parser.add_argument(
        "--outbox-age",
        type=float,
        metavar="SECONDS",
        default=DEFAULT_OUTBOX_AGE_S,
        help=f"how long a fact may wait for the bus ({DEFAULT_OUTBOX_AGE_S:.0f})",
    )
    parser.add_argument(
        "--round-hours",
        type=float,
        metavar="HOURS",
        default=DEFAULT_ROUND_HOURS,
        help=f"how long a round may be open ({DEFAULT_ROUND_HOURS:.0f}); of a restored backup, more than its age",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    chosen = parser.parse_args(argv)
    try:
        url = chosen.database_url or str(load(AuditSettings).database_url)
        try:
            make_url(url)
        except (ArgumentError, ValueError):
            # What it holds may be a password in the wrong place: it is not repeated (G7).
            sentence = "is no address of a database, such as postgresql://user:password@host:5432/name"
            print(f"feltro audit: what --database-url names {sentence}.", file=sys.stderr)
            return NOT_CHECKED
        report = _JsonReport() if chosen.json else _Report()
        findings = asyncio.run(_audit(url, chosen.outbox_age, chosen.round_hours, report))
    except WrongSettings as wrong:
        print(f"feltro audit: {wrong} Or name the database with --database-url.", file=sys.stderr)
        return NOT_CHECKED
    except (SQLAlchemyError, OSError, TimeoutError) as failed:
        print(f"feltro audit: the ledger could not be checked: {str(failed) or type(failed).__name__}", file=sys.stderr)
        return NOT_CHECKED
    return VIOLATED if any(finding.violations for finding in findings) else HOLDS


class _Report:
    """What the command prints, for a person."""

    def tell(self, check: Check, sentence: str) -> None:
        print(f"      {check.guarantee} {check.name}: {sentence}")

    def finished(self, finding: Finding) -> None:
        verdict, check = "FAILS" if finding.violations else "holds", finding.check
        counted = f"  ({finding.violations} violations)" if finding.violations else ""
        print(f"{verdict} {check.guarantee}  {check.name}: {check.claim}{counted}  {finding.seconds:.1f} s", flush=True)

    def total(self, findings: list[Finding]) -> None:
        violations, seconds = _total(findings)
        print(f"{len(findings)} checks, {violations} violations, {seconds:.1f} s")


class _JsonReport(_Report):
    """The same for a program."""

    def tell(self, check: Check, sentence: str) -> None:
        print(json.dumps({"check": check.name, "guarantee": check.guarantee, "violation": sentence}))

    def finished(self, finding: Finding) -> None:
        check = finding.check
        line = {"check": check.name, "guarantee": check.guarantee, "claim": check.claim}
        print(json.dumps(line | {"violations": finding.violations, "seconds": round(finding.seconds, 3)}), flush=True)

    def total(self, findings: list[Finding]) -> None:
        violations, seconds = _total(findings)
        print(json.dumps({"checks": len(findings), "violations": violations, "seconds": round(seconds, 3)}))


async def _audit(url: str, outbox_age_s: float, round_hours: float, report: _Report) -> list[Finding]:
    engine = _connect(url)
    try:
        findings = await Auditor(engine, outbox_age_s, round_hours).run(report.tell, report.finished)
    finally:
        await engine.dispose()
    report.total(findings)
    return findings


def _connect(url: str) -> AsyncEngine:
    # However the address was written, this is the driver that is installed.
    address = make_url(url).set(drivername="postgresql+asyncpg").render_as_string(hide_password=False)
    return postgresql.connect(address, "feltro audit", connections=1, command_timeout_s=STATEMENT_TIMEOUT_S)


def _total(findings: list[Finding]) -> tuple[int, float]:
    return sum(finding.violations for finding in findings), sum(finding.seconds for finding in findings)
