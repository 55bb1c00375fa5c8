"""Caves are filled and cashed out, and a hand moves chips among them, once."""

from __future__ import annotations

import pytest
import pytest_asyncio

from feltro.wallet.v1 import wallet_pb2
from services.kit.refusal import Refused
from tests.service.wallet.in_process_wallet import (
    ENDED,
    ENDING,
    GAME,
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    InProcessWallet,
    Seat,
    caller,
    round_ref,
)


@pytest_asyncio.fixture
async def seats(wallet: InProcessWallet) -> list[Seat]:
    """Three players with a cave of 10 000 each."""
    await wallet.open_table("holdem", POKER, "806/2015")
    seats = [await wallet.sit_down(player, "holdem", 20_000) for player in ("ana", "rui", "eva")]
    for seat in seats:
        await wallet.buy_in(seat, 10_000)
    return seats


async def cave(wallet: InProcessWallet, seat: Seat) -> int:
    answer = await wallet.wallet_service.get_balance(wallet_pb2.GetBalanceRequest(account_id=seat.account_id), OPERATOR)
    return sum(found.cave_cents for found in answer.caves if found.table_id == seat.table_id)


async def free(wallet: InProcessWallet, seat: Seat) -> int:
    answer = await wallet.wallet_service.get_balance(wallet_pb2.GetBalanceRequest(account_id=seat.account_id), OPERATOR)
    return answer.balance.free_cents


@pytest.mark.rule("806/2015:17.b")
async def test_commission_on_the_cave_comes_on_top_of_it(wallet: InProcessWallet) -> None:
    await wallet.open_table("omaha", POKER, "811/2015")
    ana = await wallet.sit_down("ana", "omaha", 20_000)
    await wallet.buy_in(ana, 10_000, 1_000)
    assert (await free(wallet, ana), await cave(wallet, ana)) == (9_000, 10_000)
    with pytest.raises(Refused) as refused:
        await wallet.buy_in(ana, 9_000, 1)
    assert refused.value.reason == "INSUFFICIENT_FUNDS"
    assert refused.value.facts["needed_cents"] == "9001"


@pytest.mark.guarantee("G1")
@pytest.mark.rule("806/2015:63.b")
async def test_a_hand_is_one_transfer_with_commission(wallet: InProcessWallet, seats: list[Seat]) -> None:
    """Vector C-07: an all-in wins the main pot; commission is taken from each payment."""
    await wallet.open_table("c-07", POKER, "806/2015")
    ana, rui, eva = [await wallet.sit_down(player, "c-07", 20_000) for player in ("p0", "p1", "p2")]
    for seat, cents in ((ana, 2_000), (rui, 10_000), (eva, 10_000)):
        await wallet.buy_in(seat, cents)
    answer = await wallet.transfer_hand("c-07", "hand-1", [(ana, 2_000, 5_700), (rui, 3_500, 2_850), (eva, 3_500, 0)])
    assert [found.cave_cents for found in answer.caves] == [5_700, 9_350, 6_500]
    moved = await wallet.wallet_service.list_transactions(
        wallet_pb2.ListTransactionsRequest(round_id="hand-1"), OPERATOR
    )
    assert {line.transfer_id for line in moved.transactions} == {answer.transfer_id}
    assert sum(entry.amount_cents for line in moved.transactions for entry in line.entries) == 0
    (bank,) = (line for line in moved.transactions if not line.account_id)
    assert [entry.amount_cents for entry in bank.entries] == [450]
    (winner,) = (line for line in moved.transactions if line.account_id == ana.account_id)
    assert [(e.before_cents, e.amount_cents, e.after_cents) for e in winner.entries] == [
        (2_000, -2_000, 0),
        (0, 5_700, 5_700),
    ]
    assert winner.cave_table_id == "c-07"


@pytest.mark.guarantee("G12")
async def test_g12_a_seat_that_has_put_nothing_in_wins_nothing(wallet: InProcessWallet, seats: list[Seat]) -> None:
    ana, rui, _ = seats
    with pytest.raises(Refused) as refused:
        await wallet.transfer_hand("holdem", "hand-1", [(rui, 100, 0), (ana, 0, 90)])
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "seats[1].staked_cents"})
    assert [await cave(wallet, seat) for seat in seats] == [10_000, 10_000, 10_000]


@pytest.mark.guarantee("G4")
async def test_g4_a_hand_ends_once_and_a_void_hand_moves_nothing(wallet: InProcessWallet, seats: list[Seat]) -> None:
    ana, rui, _ = seats
    await wallet.transfer_hand("holdem", "hand-1", [(ana, 100, 190), (rui, 100, 0)])
    for late in (
        wallet.transfer_hand("holdem", "hand-1", [(ana, 100, 0), (rui, 100, 190)]),
        wallet.void("holdem", "hand-1"),
    ):
        with pytest.raises(Refused) as refused:
            await late
        assert refused.value.reason == "ROUND_ENDED"
    await wallet.void("holdem", "hand-2")
    with pytest.raises(Refused) as void:
        await wallet.transfer_hand("holdem", "hand-2", [(ana, 100, 190), (rui, 100, 0)])
    assert void.value.facts["state"] == "ROUND_STATE_VOID"
    assert [await cave(wallet, seat) for seat in seats] == [10_090, 9_900, 10_000]


@pytest.mark.guarantee("G12")
async def test_g12_a_hand_that_does_not_add_up_is_refused(wallet: InProcessWallet, seats: list[Seat]) -> None:
    ana, rui, _ = seats
    request = wallet_pb2.TransferHandRequest(
        request_id="h",
        round=round_ref("holdem", "hand-1"),
        seats=[
            wallet_pb2.SeatInHand(
                account_id=ana.account_id, session_id=ana.session_id, staked_cents=100, won_cents=150
            ),
            wallet_pb2.SeatInHand(account_id=rui.account_id, session_id=rui.session_id, staked_cents=100, won_cents=0),
        ],
        commission_cents=10,
    )
    with pytest.raises(Refused) as refused:
        await wallet.wallet_service.transfer_hand(request, GAME)
    assert refused.value.facts == {"staked_cents": "200", "won_cents": "150", "commission_cents": "10"}


@pytest.mark.guarantee("G2")
async def test_g2_a_player_loses_no_more_than_the_cave(wallet: InProcessWallet, seats: list[Seat]) -> None:
    ana, rui, eva = seats
    with pytest.raises(Refused) as refused:
        await wallet.transfer_hand("holdem", "hand-1", [(ana, 10_001, 0), (rui, 10_000, 20_001)])
    assert refused.value.reason == "CAVE_INSUFFICIENT"
    assert refused.value.facts["cave_cents"] == "10000"
    with pytest.raises(Refused) as too_much:
        await wallet.cash_out(eva, 10_001)
    assert too_much.value.reason == "CAVE_INSUFFICIENT"
    assert [await cave(wallet, seat) for seat in seats] == [10_000, 10_000, 10_000]


async def test_a_cave_is_cashed_out_in_part_and_as_a_whole(wallet: InProcessWallet, seats: list[Seat]) -> None:
    ana = seats[0]
    part = await wallet.cash_out(ana, 4_000)
    assert (part.cave_cents, part.balance.free_cents, part.session_ended) == (6_000, 14_000, False)
    rest = await wallet.cash_out(ana)
    assert (rest.cave_cents, rest.balance.free_cents) == (0, 20_000)
    nothing = await wallet.cash_out(ana)
    assert (nothing.transfer_id, nothing.cave_cents) == (0, 0)


async def test_an_ending_session_closes_when_its_cave_is_cashed_out(wallet: InProcessWallet, seats: list[Seat]) -> None:
    ana = seats[0]
    await wallet.end_session(ana)
    assert await wallet.session_state(ana) == ENDING
    with pytest.raises(Refused) as refused:
        await wallet.buy_in(ana, 100)
    assert refused.value.reason == "SESSION_ENDED"
    # The hand under way is played to its end.
    await wallet.transfer_hand("holdem", "hand-1", [(ana, 100, 190), (seats[1], 100, 0)])
    cashed = await wallet.cash_out(ana)
    assert cashed.session_ended
    assert await wallet.session_state(ana) == ENDED
    assert await free(wallet, ana) == 20_090


async def test_g1_a_hand_of_an_ended_session_is_refused(wallet: InProcessWallet, seats: list[Seat]) -> None:
    ana, rui, _ = seats
    await wallet.cash_out(ana)
    await wallet.end_session(ana)
    again = await wallet.sit_down("ana", "holdem", 0)
    await wallet.buy_in(again, 5_000)

    with pytest.raises(Refused) as refused:
        await wallet.transfer_hand("holdem", "hand-1", [(ana, 100, 190), (rui, 100, 0)])
    assert (refused.value.reason, refused.value.facts["state"]) == ("SESSION_ENDED", "SESSION_STATE_ENDED")

    # The refusal does not decide the hand: it is sent again with the session that plays.
    await wallet.transfer_hand("holdem", "hand-1", [(again, 100, 190), (rui, 100, 0)])
    assert await cave(wallet, again) == 5_090


async def test_poker_and_banked_tables_accept_only_their_commands(wallet: InProcessWallet, seats: list[Seat]) -> None:
    await wallet.open_table("roulette", MULTI_PLAYER)
    player = await wallet.sit_down("ana", "roulette", 0)
    for wrong in (
        wallet.place(seats[0], "r1", 100),
        wallet.settle("holdem", "r1"),
        wallet.buy_in(player, 100),
        wallet.cash_out(player),
        wallet.transfer_hand("roulette", "r2", [(player, 1, 1)]),
    ):
        with pytest.raises(Refused) as refused:
            await wrong
        assert refused.value.reason == "WRONG_PLAY"


@pytest.mark.parametrize("page_size", [0, 1])
async def test_the_caves_at_a_table_are_listed_for_its_next_owner(
    wallet: InProcessWallet, seats: list[Seat], page_size: int
) -> None:
    """A session that ends is listed as long as its cave is not cashed out; empty caves and other tables are not."""
    ana, rui, eva = seats
    await wallet.open_table("omaha", POKER, "811/2015")
    await wallet.buy_in(await wallet.sit_down("ana", "omaha", 0), 1_000)
    await wallet.sit_down("ivo", "holdem")
    await wallet.end_session(rui)
    await wallet.transfer_hand("holdem", "hand-1", [(ana, 100, 290), (eva, 200, 0)])

    assert await wallet.list_caves("holdem", page_size) == [
        (ana.session_id, 10_190),
        (rui.session_id, 10_000),
        (eva.session_id, 9_800),
    ]

    await wallet.cash_out(rui)
    assert rui.session_id not in dict(await wallet.list_caves("holdem", page_size))


async def test_the_caves_of_a_table_that_is_unknown_or_another_games_are_refused(wallet: InProcessWallet) -> None:
    await wallet.open_table("holdem", POKER, "806/2015")
    with pytest.raises(Refused) as unknown:
        await wallet.list_caves("nowhere")
    assert unknown.value.reason == "TABLE_UNKNOWN"
    request = wallet_pb2.ListTableCavesRequest(table_id="holdem")
    with pytest.raises(Refused) as foreign:
        await wallet.wallet_service.list_table_caves(request, caller("game", "games", "other"))
    assert foreign.value.reason == "WRONG_GAME"


@pytest.mark.guarantee("G3")
async def test_g3_the_first_answer_to_a_hand_can_be_read_again(wallet: InProcessWallet, seats: list[Seat]) -> None:
    ana, rui, _ = seats
    transferred = await wallet.transfer_hand("holdem", "hand-1", [(ana, 100, 190), (rui, 100, 0)], request_id="first")
    await wallet.transfer_hand("holdem", "hand-2", [(ana, 100, 190), (rui, 100, 0)])

    first = await wallet.wallet_service.get_first_answer(wallet_pb2.GetFirstAnswerRequest(request_id="first"), GAME)

    assert first.transferred == transferred
    assert (first.round_id, first.table_id) == ("hand-1", "holdem")
