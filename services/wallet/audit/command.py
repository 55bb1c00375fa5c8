"""`feltro audit`: checks the ledger and names every violation."""

import argparse
import asyncio
import json
import sys

from pydantic import PostgresDsn
from pydantic_settings import SettingsConfigDict
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from services.kit.settings import ServiceSettings, WrongSettings, load
from services.wallet.audit.auditor import DEFAULT_OUTBOX_AGE_S, DEFAULT_ROUND_HOURS, Auditor, Finding, connect, total
from services.wallet.audit.checks import Check

# Exit statuses.
HOLDS, VIOLATED, NOT_CHECKED = 0, 1, 2


class AuditSettings(ServiceSettings):
    """The database that the command checks unless `--database-url` names another."""

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
    options = parser.parse_args(argv)
    try:
        url = options.database_url or str(load(AuditSettings).database_url)
        try:
            make_url(url)
        except (ArgumentError, ValueError):
            # What it holds may be a password in the wrong place: it is not repeated (G7).
            sentence = "is no address of a database, such as postgresql://user:password@host:5432/name"
            print(f"feltro audit: what --database-url names {sentence}.", file=sys.stderr)
            return NOT_CHECKED
        report = _JsonReport() if options.json else _Report()
        findings = asyncio.run(_audit(url, options.outbox_age, options.round_hours, report))
    except WrongSettings as wrong:
        print(f"feltro audit: {wrong} Or name the database with --database-url.", file=sys.stderr)
        return NOT_CHECKED
    except (SQLAlchemyError, OSError, TimeoutError) as failed:
        print(f"feltro audit: the ledger could not be checked: {str(failed) or type(failed).__name__}", file=sys.stderr)
        return NOT_CHECKED
    return VIOLATED if any(finding.violations for finding in findings) else HOLDS


class _Report:
    """Prints the results for a person."""

    def violation(self, check: Check, sentence: str) -> None:
        print(f"      {check.guarantee} {check.name}: {sentence}")

    def finding(self, finding: Finding) -> None:
        verdict, check = "FAILS" if finding.violations else "holds", finding.check
        counted = f"  ({finding.violations} violations)" if finding.violations else ""
        print(f"{verdict} {check.guarantee}  {check.name}: {check.claim}{counted}  {finding.seconds:.1f} s", flush=True)

    def total(self, findings: list[Finding]) -> None:
        violations, seconds = total(findings)
        print(f"{len(findings)} checks, {violations} violations, {seconds:.1f} s")


class _JsonReport(_Report):
    """Prints the results for a program."""

    def violation(self, check: Check, sentence: str) -> None:
        print(json.dumps({"check": check.name, "guarantee": check.guarantee, "violation": sentence}))

    def finding(self, finding: Finding) -> None:
        check = finding.check
        line = {"check": check.name, "guarantee": check.guarantee, "claim": check.claim}
        print(json.dumps(line | {"violations": finding.violations, "seconds": round(finding.seconds, 3)}), flush=True)

    def total(self, findings: list[Finding]) -> None:
        violations, seconds = total(findings)
        print(json.dumps({"checks": len(findings), "violations": violations, "seconds": round(seconds, 3)}))


async def _audit(url: str, outbox_age_s: float, round_hours: float, report: _Report) -> list[Finding]:
    engine = connect(url)
    try:
        findings = await Auditor(engine, outbox_age_s, round_hours).run(report.violation, report.finding)
    finally:
        await engine.dispose()
    report.total(findings)
    return findings
