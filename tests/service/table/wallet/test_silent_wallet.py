"""A wallet that is silent: calls of players come to an end, and the table's own work goes on when it answers again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table import refusals
from services.kit.table.live.dependencies import RuntimeDependencies
from services.kit.table.live.individual_ids import IndividualTableIds
from services.kit.table.owned import openings, owned_tables
from services.kit.table.owned.owned_tables import OwnedTables
from services.kit.table.wallet import table_wallet
from services.kit.table.wallet.client import WalletFailed, WalletUnanswered
from services.kit.table.wallet.table_wallet import TableWallet, retry_until_answered

TIMEOUT_S = 240.0
SOLO = "solo"
INDIVIDUAL_IDS = IndividualTableIds(b"test")


class SilentWallet:
    """Answers nothing until it may, and counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0
        self.answers_from = 1_000_000

    def __getattr__(self, method: str) -> Any:  # noqa: ANN401
        async def call(request: object) -> object:
            self.calls += 1
            if self.calls < self.answers_from:
                raise WalletUnanswered("nobody there")
            return []

        return call


class Catalogue:
    """One individual table."""

    class _Rules:
        class configuration:  # noqa: N801
            play = wallet_types.PLAY_INDIVIDUAL

    def rules_in_force(self, placement_id: str) -> object:
        return self._Rules


@pytest.fixture
def wallet(monkeypatch: pytest.MonkeyPatch) -> SilentWallet:
    monkeypatch.setattr(table_wallet, "FIRST_RETRY_AFTER_S", 0.001)
    monkeypatch.setattr(table_wallet, "RETRY_AFTER_MAX_S", 0.002)
    monkeypatch.setattr(table_wallet, "RETRY_TIMEOUT_S", 0.05)
    monkeypatch.setattr(openings, "OPENING_TIMEOUT_S", 0.05)
    return SilentWallet()


@pytest.fixture
def owned(wallet: SilentWallet) -> OwnedTables[Any, Any]:
    nothing = cast("Any", None)
    dependencies = RuntimeDependencies(
        game=nothing,
        kind=nothing,
        catalogue=cast("Any", Catalogue()),
        wallet=cast("Any", wallet),
        journal=nothing,
        randomness=nothing,
        clock=nothing,
        publisher_of=nothing,
        own_views=nothing,
        seats=nothing,
        individual_ids=INDIVIDUAL_IDS,
    )
    return OwnedTables(SOLO, dependencies)


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize(
    "read",
    [
        lambda wallet: wallet.list_sessions(),
        lambda wallet: wallet.get_round("r"),
        lambda wallet: wallet.list_round_transactions("r"),
        lambda wallet: wallet.announce_round("r"),
        lambda wallet: wallet.apply_specific_rules(1, session_pb2.InactivityPolicy()),
        lambda wallet: wallet.open_table("roulette", "804/2015", wallet_types.MODE_REAL, wallet_types.PLAY_INDIVIDUAL),
    ],
)
async def test_g11_what_no_money_depends_on_is_not_repeated_for_ever(
    wallet: SilentWallet,
    monkeypatch: pytest.MonkeyPatch,
    read: Any,  # noqa: ANN401
) -> None:
    # Long enough for a second call, on a busy machine too.
    monkeypatch.setattr(table_wallet, "RETRY_TIMEOUT_S", 1.0)
    with pytest.raises(WalletUnanswered):
        await asyncio.wait_for(read(TableWallet(cast("Any", wallet), "t", 1)), TIMEOUT_S)
    assert wallet.calls > 1


@pytest.mark.guarantee("G4")
@pytest.mark.parametrize(
    "end",
    [
        lambda wallet: wallet.pay_stakes("r", {"s": 1}, "r:pay:1"),
        lambda wallet: wallet.settle_round("r", {}, b"", []),
        lambda wallet: wallet.void_round("r", ""),
    ],
)
async def test_g4_payments_and_the_end_of_a_round_are_repeated_until_answered(wallet: SilentWallet, end: Any) -> None:  # noqa: ANN401
    # By then a read has given up long ago.
    wallet.answers_from = 60
    await asyncio.wait_for(end(TableWallet(cast("Any", wallet), "t", 1)), TIMEOUT_S)
    assert wallet.calls == 60


@pytest.mark.guarantee("G11")
async def test_g11_asking_for_a_players_own_table_leaves_no_task_behind(
    wallet: SilentWallet, owned: OwnedTables[Any, Any]
) -> None:
    table_ids = [INDIVIDUAL_IDS.table_id(SOLO, f"player-{number}") for number in range(20)]
    before = asyncio.all_tasks()
    asked = asyncio.gather(*(owned.table(table_id) for table_id in table_ids), return_exceptions=True)
    answers = await asyncio.wait_for(asked, TIMEOUT_S)
    assert {type(answer) for answer in answers} == {WalletUnanswered}
    assert asyncio.all_tasks() == before


@pytest.mark.guarantee("G11")
async def test_g11_players_who_enter_do_not_queue_up_behind_a_silent_wallet(
    owned: OwnedTables[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many tables as may be opened side by side wait for the wallet; every player is refused after a while."""
    opening: list[str] = []

    async def open_slowly(table_id: str) -> object:
        opening.append(table_id)
        return await asyncio.Event().wait()

    monkeypatch.setattr(owned._openings, "_open_table", open_slowly)
    before = asyncio.all_tasks()
    entering = (owned.table_for(f"player-{number}") for number in range(2 * openings.OPENINGS_LIMIT))
    answers = await asyncio.wait_for(asyncio.gather(*entering, return_exceptions=True), TIMEOUT_S)
    assert {getattr(answer, "reason", answer) for answer in answers} == {"UNAVAILABLE"}
    assert len(set(opening)) == len(opening) == openings.OPENINGS_LIMIT
    await asyncio.wait_for(owned._openings.close(), TIMEOUT_S)
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("failure", [WalletUnanswered, WalletFailed, lambda _: refusals.unavailable("A moment")])
async def test_the_table_that_all_share_is_opened_when_the_wallet_answers_again(
    owned: OwnedTables[Any, Any], monkeypatch: pytest.MonkeyPatch, failure: Callable[[str], Exception]
) -> None:
    monkeypatch.setattr(owned_tables, "RETRY_AFTER_MAX_S", 0.001)
    attempts: list[str] = []

    async def open_the_third_time(table_id: str) -> object:
        attempts.append(table_id)
        if len(attempts) < 3:
            raise failure("nobody there")
        return object()

    class NothingBlocked:
        def blocks(self, table_id: str) -> bool:
            return False

    monkeypatch.setattr(owned, "_open_once", open_the_third_time)
    await asyncio.wait_for(owned._open_shared_table(cast("Any", NothingBlocked())), TIMEOUT_S)
    assert attempts == [SOLO] * 3
    assert owned.ready.is_set()


async def test_a_stake_under_way_is_repeated_until_it_is_answered(wallet: SilentWallet) -> None:
    wallet.answers_from = 60
    await asyncio.wait_for(retry_until_answered(lambda: wallet.place_stakes(None)), TIMEOUT_S)
    assert wallet.calls == 60
