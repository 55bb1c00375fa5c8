"""A player's rounds that take bets: the ledger's stakes, of this game alone, however many pages they fill."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.table.journal.entries import DrawTrigger
from services.kit.table.journal.history import PlayerRound, RecordedRound
from services.kit.table.journal.open_rounds import OpenRounds
from services.wallet.model import refusals

AT = datetime(2026, 11, 2, 20, 0, tzinfo=UTC)


class Wallet:
    """A wallet with one account in each of some modes, whose open rounds come in pages."""

    def __init__(self, **pages_of: Sequence[wallet_pb2.ListOpenRoundsResponse]) -> None:
        """`pages_of`: the pages of each account, by its mode's name."""
        self._pages = pages_of

    async def find_account(self, request: wallet_pb2.FindAccountRequest) -> wallet_pb2.FindAccountResponse:
        mode = types_pb2.Mode.Name(request.mode)
        if request.player_id == "blocked":
            raise refusals.account_blocked("blocked")
        if mode not in self._pages:
            raise refusals.account_unknown(request.player_id)
        return wallet_pb2.FindAccountResponse(balance=types_pb2.Balance(account_id=mode))

    async def list_open_rounds(self, request: wallet_pb2.ListOpenRoundsRequest) -> wallet_pb2.ListOpenRoundsResponse:
        number = int(request.page_token or 0)
        page = self._pages[request.account_id][number]
        more = number + 1 < len(self._pages[request.account_id])
        return wallet_pb2.ListOpenRoundsResponse(rounds=page.rounds, next_page_token=str(number + 1) if more else "")


class History:
    """A journal in which some rounds are drawn already."""

    def __init__(self, *drawn: str) -> None:
        self.asked: list[list[str]] = []
        self._drawn = drawn

    async def list_undrawn_rounds(self, round_ids: list[str]) -> list[RecordedRound]:
        self.asked.append(sorted(round_ids))
        return [_recorded(round_id) for round_id in sorted(round_ids, reverse=True) if round_id not in self._drawn]


def _recorded(round_id: str) -> RecordedRound:
    table_id, _, number = round_id.rpartition(".")
    return RecordedRound(
        round_id, table_id, table_id, int(number), 1, AT, None, None, None, None, DrawTrigger.UNKNOWN, None, None, ""
    )


def round_(round_id: str, *cents: int, game: str = "roulette", first: int = 1) -> wallet_pb2.Round:
    stakes = [
        types_pb2.Stake(stake_id=f"{round_id}:{number}", session_id="s", account_id="a", placed_cents=amount)
        for number, amount in enumerate(cents, first)
    ]
    return wallet_pb2.Round(round_id=round_id, table_id=round_id.rpartition(".")[0], game=game, stakes=stakes)


def page(*rounds: wallet_pb2.Round) -> wallet_pb2.ListOpenRoundsResponse:
    return wallet_pb2.ListOpenRoundsResponse(rounds=rounds)


async def found(
    wallet: Wallet, history: History, table_id: str | None = None, player_id: str = "ana"
) -> list[PlayerRound]:
    rounds = OpenRounds("roulette", cast("Any", wallet), cast("Any", history))
    return await rounds.of_player(player_id, table_id)


def shown(rounds: Sequence[PlayerRound]) -> dict[str, list[tuple[str, int]]]:
    return {
        each.round.round_id: [(stake.stake.player_id, stake.stake.amount_cents) for stake in each.stakes]
        for each in rounds
    }


async def test_a_round_with_more_stakes_than_a_page_holds_is_one_round() -> None:
    wallet = Wallet(
        MODE_REAL=[page(round_("t1.7", 100, 200)), page(round_("t1.7", 300, first=3), round_("t2.1", 50))],
        MODE_DEMO=[page(round_("demo.3", 5))],
    )
    history = History()
    assert shown(await found(wallet, history)) == {
        "t2.1": [("ana", 50)],
        "t1.7": [("ana", 100), ("ana", 200), ("ana", 300)],
        "demo.3": [("ana", 5)],
    }


async def test_rounds_of_other_games_and_tables_and_rounds_that_are_drawn_are_left_out() -> None:
    wallet = Wallet(
        MODE_REAL=[page(round_("t1.7", 100), round_("t1.8", 60), round_("t2.1", 50), round_("p.1", 9, game="poker"))]
    )
    history = History("t1.7")
    assert shown(await found(wallet, history)) == {"t2.1": [("ana", 50)], "t1.8": [("ana", 60)]}
    assert shown(await found(wallet, history, "t1")) == {"t1.8": [("ana", 60)]}
    assert history.asked == [["t1.7", "t1.8", "t2.1"], ["t1.7", "t1.8"]]


async def test_a_player_without_an_account_or_a_bet_has_no_rounds_and_the_journal_is_not_asked() -> None:
    history = History()
    assert await found(Wallet(), history) == []
    assert await found(Wallet(MODE_REAL=[page()]), history) == []
    assert history.asked == []


@pytest.mark.guarantee("G12")
async def test_g12_what_the_wallet_refuses_otherwise_is_no_empty_list() -> None:
    with pytest.raises(refusals.WalletRefused) as refused:
        await found(Wallet(), History(), player_id="blocked")
    assert refused.value.reason == "ACCOUNT_BLOCKED"
