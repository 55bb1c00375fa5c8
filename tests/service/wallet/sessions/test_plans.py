"""How sessions are read: by indexes, even where the plan was made while nothing was there yet."""

from __future__ import annotations

import pytest
from sqlalchemy import TextClause

from services.wallet.sessions import rows
from tests.service.wallet.in_process_wallet import InProcessWallet

# What every table asks for every few seconds, a prepared statement each.
REGULAR = {"the sessions": rows._LOAD, "a page at a table": rows._PAGE_AT_TABLE, "the last bets": rows._LAST_BETS}


@pytest.mark.parametrize("name", REGULAR)
async def test_a_plan_of_an_empty_ledger_reads_no_table_whole(wallet: InProcessWallet, name: str) -> None:
    plan = await _plan(wallet, REGULAR[name])
    assert "Index" in plan
    assert "Seq Scan" not in plan


async def test_the_last_bets_are_found_by_the_player_in_the_open_round(wallet: InProcessWallet) -> None:
    plan = await _plan(wallet, rows._LAST_BETS)
    assert "rounds_open" in plan
    assert "((round_no = r.round_no) AND (account_no = s.account_no))" in plan


async def _plan(wallet: InProcessWallet, statement: TextClause) -> str:
    """Returns the plan that a prepared statement keeps, whatever its parameters."""
    compiled = statement.compile(dialect=wallet.engine.dialect)
    nulls = ", ".join(["NULL"] * len(compiled.params))
    async with wallet.engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        await driver.execute("SET plan_cache_mode = force_generic_plan")
        await driver.execute(f"PREPARE regular AS {compiled}")
        lines = await driver.fetch(f"EXPLAIN EXECUTE regular ({nulls})")
        await connection.invalidate()
    return "\n".join(line[0] for line in lines)
