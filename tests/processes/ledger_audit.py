"""What the wallet's own audit finds in a ledger when a test is over: `feltro audit` without its process."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncEngine

from services.wallet.audit.auditor import DEFAULT_OUTBOX_AGE_S, DEFAULT_ROUND_HOURS, Auditor, connect

_NO_LIMIT = 1e9


async def violations_at(url: str) -> list[str]:
    """Audits the wallet's database at an address, and returns the violations: `<check>: <sentence>`."""
    engine = connect(url)
    try:
        return await violations(engine)
    finally:
        await engine.dispose()


async def violations(engine: AsyncEngine, *, of_any_age: bool = False) -> list[str]:
    """Audits a ledger, and returns the violations: `<check>: <sentence>`.

    `of_any_age`: where nothing is published, and the test's clock is of another year, the facts in the outbox and the
    open rounds are old without a fault.
    """
    found: list[str] = []
    outbox_age_s, round_hours = (_NO_LIMIT, _NO_LIMIT) if of_any_age else (DEFAULT_OUTBOX_AGE_S, DEFAULT_ROUND_HOURS)
    auditor = Auditor(engine, outbox_age_s=outbox_age_s, round_hours=round_hours)
    await auditor.run(lambda check, sentence: found.append(f"{check.name}: {sentence}"))
    return found
