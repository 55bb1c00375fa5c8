"""Calls that failed: where the reason passes, the caller is asked to send the same request again."""

from __future__ import annotations

import asyncpg
import pytest
from sqlalchemy.exc import OperationalError

from services.kit.table.fencing import StaleOwner
from services.kit.table.server.process import refusal_for_failure
from services.kit.table.wallet.client import WalletFailed, WalletUnanswered


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("failed", "sentence"),
    [
        (StaleOwner(), "another process"),
        (WalletUnanswered("silent"), "wallet"),
        (OperationalError("SELECT", None, ConnectionError("gone")), "database"),
        (asyncpg.ConnectionDoesNotExistError("gone"), "database"),
    ],
    ids=["stale owner", "wallet", "database", "driver"],
)
def test_g12_what_passes_may_be_sent_again(failed: Exception, sentence: str) -> None:
    refusal = refusal_for_failure(failed)
    assert refusal is not None
    assert refusal.reason == "UNAVAILABLE"
    assert sentence in refusal.sentence


@pytest.mark.parametrize("failed", [WalletFailed("a fault"), ValueError("a fault"), KeyError("a fault")], ids=str)
def test_a_fault_of_ours_is_not_called_one_that_passes(failed: Exception) -> None:
    assert refusal_for_failure(failed) is None
