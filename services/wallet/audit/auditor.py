"""Runs the checks of the ledger in one snapshot and reports every violation; `feltro audit` and the service use it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.database import postgresql
from services.wallet.audit.checks import CHECKS, Check

DEFAULT_OUTBOX_AGE_S = 60.0
# A round takes minutes; at an individual table it waits for a player who lost the connection with a bet on the felt,
# for 90 days at most (`903-B/2015:6.3.2`). After a day somebody should look.
DEFAULT_ROUND_HOURS = 24.0
# One statement may walk a ledger of hundreds of millions of entries (G11).
STATEMENT_TIMEOUT_S = 3600.0

# The same in every replica, and in no other lock of this database.
AUDIT_LOCK_KEY = 0x46454C55
_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(:key)")
# The audit runs beside players' bets: one core, memory enough to hash a million accounts, the rest on disk.
SESSION_SETTINGS = (
    text("SET LOCAL max_parallel_workers_per_gather = 0"),
    text("SET LOCAL work_mem = '64MB'"),
    # A check needs all its rows, never just the first ones.
    text("SET LOCAL cursor_tuple_fraction = 1"),
    # Whole tables are compared. Where statistics are behind, nested loops look cheap and take the square of the time.
    text("SET LOCAL enable_nestloop = off"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

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
        self._limits = {"outbox_age_s": outbox_age_s, "round_hours": round_hours}

    async def run(
        self, report_violation: ViolationReporter, report_finding: Callable[[Finding], None] | None = None
    ) -> list[Finding]:
        """Reports every violation as it is found, and returns the result of each check."""
        async with self._engine.begin() as connection:
            return await self._check_all(connection, report_violation, report_finding)

    async def run_exclusively(self, report_violation: ViolationReporter) -> list[Finding] | None:
        """Does the same unless another replica is auditing; then it returns None."""
        async with self._engine.begin() as connection:
            if not (await connection.execute(_TRY_LOCK, {"key": AUDIT_LOCK_KEY})).scalar_one():
                return None
            return await self._check_all(connection, report_violation, None)

    def parameters(self, check: Check) -> dict[str, float]:
        """The limits that the statement of a check names."""
        return {name: limit for name, limit in self._limits.items() if f":{name}" in check.statement}

    async def _check_all(
        self,
        connection: AsyncConnection,
        report_violation: ViolationReporter,
        report_finding: Callable[[Finding], None] | None,
    ) -> list[Finding]:
        for statement in SESSION_SETTINGS:
            await connection.execute(statement)
        findings = []
        for check in CHECKS:
            finding = await self._check(connection, check, report_violation)
            findings.append(finding)
            if report_finding is not None:
                report_finding(finding)
        return findings

    async def _check(self, connection: AsyncConnection, check: Check, report_violation: ViolationReporter) -> Finding:
        started = time.monotonic()
        statement = text(check.statement)
        # Read in portions: the violations of a ledger that is wrong everywhere do not fit into memory.
        async with connection.stream(statement, self.parameters(check)) as sentences:
            violations = 0
            async for (sentence,) in sentences:
                violations += 1
                report_violation(check, sentence)
        return Finding(check, violations, time.monotonic() - started)


def connect(url: str) -> AsyncEngine:
    """Opens one connection, whatever driver the address names: asyncpg is the one that is installed."""
    address = make_url(url).set(drivername="postgresql+asyncpg").render_as_string(hide_password=False)
    return postgresql.connect(address, "feltro audit", connections=1, command_timeout_s=STATEMENT_TIMEOUT_S)


def total(findings: list[Finding]) -> tuple[int, float]:
    """Sums the violations and the seconds of all checks."""
    return sum(finding.violations for finding in findings), sum(finding.seconds for finding in findings)
