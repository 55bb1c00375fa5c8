"""Audits the ledger at intervals while the service runs, one replica at a time, and reports to logs and metrics."""

import asyncio
import logging

from prometheus_client import Gauge
from sqlalchemy.exc import SQLAlchemyError

from services.wallet.audit.auditor import DEFAULT_ROUND_HOURS, Auditor, connect, total
from services.wallet.audit.checks import Check

# The first audit comes soon after the start, because a service may be restarted more often than it audits: after a
# minute where it audits every hour.
FIRST_RUN_SHARE = 1 / 60
# Violations of one check that the service logs; `feltro audit` names all of them (G11).
LOGGED_VIOLATIONS_LIMIT = 1000

_log = logging.getLogger(__name__)
_VIOLATIONS = Gauge("feltro_audit_violations", "Violations that the last audit found", ["check"])
_LAST_SUCCESS = Gauge("feltro_audit_last_success_seconds", "When an audit last ran to its end, whatever it found")


class AuditWatch:
    """Runs the service's own audits."""

    def __init__(self, database_url: str, interval_s: float, round_hours: float = DEFAULT_ROUND_HOURS) -> None:
        self._url = database_url
        self._interval_s = interval_s
        self._round_hours = round_hours

    async def run(self) -> None:
        """Audits again and again until it is cancelled."""
        # A connection of its own: an audit may take long, and players do not wait for it.
        engine = connect(self._url)
        try:
            await asyncio.sleep(self._interval_s * FIRST_RUN_SHARE)
            while True:
                await self.audit_once(Auditor(engine, round_hours=self._round_hours))
                await asyncio.sleep(self._interval_s)
        finally:
            await engine.dispose()

    async def audit_once(self, auditor: Auditor) -> None:
        """Audits unless another replica does, and reports the result to logs and metrics."""
        logged: dict[str, int] = {}

        def log(check: Check, sentence: str) -> None:
            logged[check.name] = logged.get(check.name, 0) + 1
            if logged[check.name] <= LOGGED_VIOLATIONS_LIMIT:
                details = {"check": check.name, "guarantee": check.guarantee, "violation": sentence}
                _log.error("the audit found a violation", extra=details)

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
        violations, seconds = total(findings)
        _log.info("the audit is done", extra={"violations": violations, "seconds": round(seconds, 3)})
