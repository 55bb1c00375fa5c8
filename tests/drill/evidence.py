"""Reads what the ledger and the journals hold after a drill, and compares it with what clients were answered."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import asyncpg

from services.wallet.model.state import AccountKind, Pocket
from tests.drill.checks.accounts import check_accounts
from tests.drill.checks.findings import Check
from tests.drill.checks.stakes import LedgerStake, LedgerTransfer, check_endings, check_stakes
from tests.drill.platform.processes import DrilledPlatform
from tests.drill.play.games import DrillGame
from tests.drill.play.watching import Audience
from tests.drill.recorder import Recorder
from tests.processes.databases import connect_asyncpg

TOURNAMENTS_GAME = "poker"
# A hand of a tournament: `tournament-0-1-t2.7`.
_FOR_CHIPS = re.compile(r"-t[1-9][0-9]*\.[0-9]+$")
_STAKES = """
SELECT stake_id, account_id::text, round_id, placed_cents, cancelled_cents, payout_cents, stakes.state,
       rounds.state AS round_state
FROM stakes JOIN accounts USING (account_no) JOIN rounds USING (round_no)
"""
_TRANSFERS = """
SELECT transfer_no, transfers.kind, request_id, accounts.account_id::text, COALESCE(round_id, '') AS round_id,
       extract(epoch FROM at)::float8 AS at,
       COALESCE(sum(amount_cents) FILTER (WHERE pocket = $1), 0)::bigint AS free_cents,
       COALESCE(sum(amount_cents) FILTER (WHERE pocket = $2), 0)::bigint AS locked_cents
FROM transfers JOIN entries USING (transfer_no) JOIN accounts USING (account_no) LEFT JOIN rounds USING (round_no)
WHERE accounts.kind = $3
GROUP BY transfer_no, transfers.kind, request_id, accounts.account_id, round_id, at ORDER BY transfer_no
"""
_ROUNDS = "SELECT round_id, state FROM rounds JOIN tables USING (table_no) WHERE game = $1"
_ENDINGS = """
SELECT rounds.round_id, endings.ending, draws.round_no IS NOT NULL AS drawn
FROM rounds LEFT JOIN endings USING (round_no) LEFT JOIN draws USING (round_no)
"""


async def records_agree(
    platform: DrilledPlatform, recorder: Recorder, audience: Audience, read_balances: Callable[[], Awaitable[None]]
) -> list[Check]:
    """Compares commands, ledger and journals; every round has to be over.

    `read_balances` reads every account once more, as a client does, after the ledger was read.
    """
    ledger = await connect_asyncpg(platform.ledger_url)
    try:
        stakes = [LedgerStake(**dict(row)) for row in await ledger.fetch(_STAKES)]
        pockets = int(Pocket.FREE), int(Pocket.LOCKED), int(AccountKind.PLAYER)
        transfers = [LedgerTransfer(**dict(row)) for row in await ledger.fetch(_TRANSFERS, *pockets)]
        rounds = Check("every round has ended once, the same in journal and ledger", "G4, G6", unit="rounds")
        for game in platform.games:
            await _compare_rounds(rounds, ledger, platform.journal_url(game.name), game)
    finally:
        await ledger.close()
    read_at = time.time()
    await read_balances()
    return [
        check_stakes(recorder.commands, stakes),
        check_endings(transfers, stakes),
        rounds,
        check_accounts(recorder.commands, transfers, audience.ends, read_at),
    ]


async def _compare_rounds(
    check: Check, ledger: asyncpg.Connection[asyncpg.Record], journal_url: str, game: DrillGame
) -> None:
    journal = await connect_asyncpg(journal_url)
    try:
        rows = await journal.fetch(_ENDINGS)
    finally:
        await journal.close()
    in_ledger = {row["round_id"]: row["state"] for row in await ledger.fetch(_ROUNDS, game.name)}
    counts: Counter[str] = Counter()
    for row in rows:
        check.looked_at += 1
        round_id, ending = row["round_id"], row["ending"]
        counts["void" if ending == 3 else "settled"] += 1
        if ending is None:
            check.violate(f"{round_id} has no end in the journal")
        elif _FOR_CHIPS.search(round_id):
            counts["for chips"] += 1
            if round_id in in_ledger:
                check.violate(f"{round_id} was played for chips, and the ledger knows it")
        elif in_ledger.get(round_id) != ending:
            check.violate(
                f"{round_id} ended as {ending} in the journal, and as {in_ledger.get(round_id)} in the ledger"
            )
        elif (ending == 2) != row["drawn"] and not (ending == 3 and game.leaves):
            # A hand of poker may become void after its deal, and has moved nothing then.
            check.violate(f"{round_id} ended as {ending}, and was {'' if row['drawn'] else 'not '}drawn")
    for round_id in in_ledger.keys() - {row["round_id"] for row in rows}:
        check.violate(f"{round_id} is in the ledger alone")
    check.note += f"{game.name} {counts['settled']} settled, {counts['void']} void"
    check.note += f", {counts['for chips']} of them in tournaments; " if counts["for chips"] else "; "


async def platform_checks(platform: DrilledPlatform, tournaments: Sequence[str] = ()) -> list[Check]:
    """The platform's own checks: `feltro audit`, and `feltro replay` of each game and of each tournament."""
    audit = Check("`feltro audit` finds nothing", "G1 to G4", unit="audit", looked_at=1)
    replaying = asyncio.gather(*(platform.replay(game.name) for game in platform.games))
    status, printed = await platform.audit()
    if status:
        audit.violate(f"status {status}", printed.splitlines()[-30:])
    replays = Check("`feltro replay --all` agrees with every round", "G10", unit="games")
    for game, (status, printed) in zip(platform.games, await replaying, strict=True):
        replays.looked_at += 1
        lines = printed.strip().splitlines()
        replays.note += f"{game.name} {next((line for line in lines if 'rounds replayed' in line), '')}; "
        if status:
            replays.violate(f"{game.name}: status {status}", lines[-30:])
    courses = Check("`feltro replay` agrees with every tournament", "G10", unit="tournaments")
    for tournament in tournaments:
        courses.looked_at += 1
        status, printed = await platform.replay(TOURNAMENTS_GAME, tournament)
        if status:
            courses.violate(f"{tournament}: status {status}", printed.strip().splitlines()[-30:])
    return [audit, replays, courses] if tournaments else [audit, replays]
