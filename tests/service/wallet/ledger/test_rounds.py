"""Banked rounds over gRPC: stakes, settlements, voids, and every refusal."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import grpc
import pytest

from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2
from services.kit.rpc.status import error_info
from tests.processes.wallet import DEMO, Seat, WalletClient, refusal_facts, refusal_reason

STAKE, SETTLED = types_pb2.TRANSFER_KIND_STAKE, types_pb2.TRANSFER_KIND_ROUND_SETTLED


def round_at(table: types_pb2.TableRef, round_id: str = "") -> types_pb2.RoundRef:
    return types_pb2.RoundRef(round_id=round_id or str(uuid4()), table=table)


async def settle(
    wallet_client: WalletClient,
    round_: types_pb2.RoundRef,
    payouts: dict[str, int],
    request_id: str = "",
    present: list[Seat] | None = None,
) -> wallet_pb2.SettleRoundResponse:
    report = wallet_pb2.RoundReport(
        sessions=[wallet_pb2.SessionInRound(session_id=seat.session_id) for seat in present or []]
    )
    request = wallet_pb2.SettleRoundRequest(
        request_id=request_id or str(uuid4()),
        round=round_,
        payouts=[wallet_pb2.StakePayout(stake_id=stake, payout_cents=cents) for stake, cents in payouts.items()],
        outcome=b"17 black",
        report=report,
    )
    return await wallet_client.wallet.SettleRound(request, metadata=wallet_client.game)


async def void(
    wallet_client: WalletClient, round_: types_pb2.RoundRef, request_id: str = ""
) -> wallet_pb2.VoidRoundResponse:
    request = wallet_pb2.VoidRoundRequest(
        request_id=request_id or str(uuid4()), round=round_, reason="the wheel broke down"
    )
    return await wallet_client.wallet.VoidRound(request, metadata=wallet_client.game)


async def cancel(
    wallet_client: WalletClient,
    round_: types_pb2.RoundRef,
    placed: wallet_pb2.PlacedStake,
    cents: int = 0,
    request_id: str = "",
) -> wallet_pb2.CancelStakesResponse:
    part = wallet_pb2.StakeToCancel(stake_id=placed.stake_id, amount_cents=cents)
    return await cancel_together(wallet_client, round_, placed.balance.account_id, [part], request_id)


async def cancel_together(
    wallet_client: WalletClient,
    round_: types_pb2.RoundRef,
    account_id: str,
    parts: list[wallet_pb2.StakeToCancel],
    request_id: str = "",
    command_digest: bytes = b"",
) -> wallet_pb2.CancelStakesResponse:
    request = wallet_pb2.CancelStakesRequest(
        request_id=request_id or str(uuid4()),
        round=round_,
        account_id=account_id,
        stakes=parts,
        command_digest=command_digest,
    )
    return await wallet_client.wallet.CancelStakes(request, metadata=wallet_client.game)


async def round_of(wallet_client: WalletClient, round_id: str) -> wallet_pb2.Round:
    request = wallet_pb2.GetRoundRequest(round_id=round_id)
    return (await wallet_client.wallet.GetRound(request, metadata=wallet_client.operator)).round


@pytest.mark.guarantee("G1")
@pytest.mark.rule("804/2015:13")
async def test_a_won_stake_is_returned_with_its_prize_and_the_bank_pays(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 10_000)
    round_ = round_at(table)
    placed = await wallet_client.place(ana, round_, 100)
    assert (placed.balance.free_cents, placed.balance.locked_cents) == (9_900, 100)

    settled = await settle(wallet_client, round_, {placed.stake_id: 3_600})

    (result,) = settled.results
    assert (result.staked_cents, result.payout_cents) == (100, 3_600)
    assert (result.balance.free_cents, result.balance.locked_cents) == (13_500, 0)
    found = await round_of(wallet_client, round_.round_id)
    assert found.state == types_pb2.ROUND_STATE_SETTLED
    assert found.outcome == b"17 black"
    (stake,) = found.stakes
    assert (stake.placed_cents, stake.payout_cents, stake.state) == (100, 3_600, types_pb2.STAKE_STATE_SETTLED)
    assert stake.detail == b"red"
    moved = await wallet_client.wallet.ListTransactions(
        wallet_pb2.ListTransactionsRequest(round_id=round_.round_id), metadata=wallet_client.operator
    )
    assert sum(entry.amount_cents for line in moved.transactions for entry in line.entries) == 0
    (bank,) = (line for line in moved.transactions if not line.account_id)
    assert [entry.amount_cents for entry in bank.entries] == [-3_500]


@pytest.mark.rule("903-B/2015:A1")
async def test_every_movement_carries_balance_before_movement_and_balance_after(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    placed = await wallet_client.place(ana, round_, 400)
    await settle(wallet_client, round_, {placed.stake_id: 0})

    answer = await wallet_client.wallet.ListTransactions(
        wallet_pb2.ListTransactionsRequest(account_id=ana.account_id), metadata=wallet_client.operator
    )

    lost, staked, deposit = answer.transactions
    assert [(e.before_cents, e.amount_cents, e.after_cents) for e in deposit.entries] == [(0, 1_000, 1_000)]
    assert [(e.balance_part, e.before_cents, e.amount_cents, e.after_cents) for e in staked.entries] == [
        (types_pb2.BALANCE_PART_FREE, 1_000, -400, 600),
        (types_pb2.BALANCE_PART_LOCKED, 0, 400, 400),
    ]
    assert [(e.balance_part, e.before_cents, e.amount_cents, e.after_cents) for e in lost.entries] == [
        (types_pb2.BALANCE_PART_LOCKED, 400, -400, 0)
    ]
    assert staked.session_id == lost.session_id == ana.session_id
    assert (staked.round_id, staked.request_id) == (round_.round_id, placed.stake_id)


@pytest.mark.guarantee("G2")
@pytest.mark.rule("903-B/2015:5.4.3")
async def test_a_stake_beyond_the_free_balance_is_refused_with_the_balance(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    await wallet_client.place(ana, round_, 600)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.place(ana, round_, 401)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert refusal_facts(refused.value) == (
        "INSUFFICIENT_FUNDS",
        {"account_id": ana.account_id, "free_cents": "400", "locked_cents": "600", "needed_cents": "401"},
    )
    assert (await wallet_client.balance(ana.account_id)).free_cents == 400


@pytest.mark.guarantee("G3")
@pytest.mark.rule("903-B/2015:6.1.1")
async def test_g3_a_repeated_command_acts_once_and_gets_the_same_bytes(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    first = await wallet_client.place(ana, round_, 100, "s-1")
    await wallet_client.place(ana, round_, 200, "s-2")
    copies = await asyncio.gather(*(wallet_client.place(ana, round_, 100, "s-1") for _ in range(20)))
    assert {copy.SerializeToString(deterministic=True) for copy in copies} == {
        first.SerializeToString(deterministic=True)
    }
    assert (await wallet_client.balance(ana.account_id)).free_cents == 700
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.place(ana, round_, 101, "s-1")
    assert refusal_reason(refused.value) == "REQUEST_REUSED"

    settled = await settle(wallet_client, round_, {"s-1": 0, "s-2": 500}, "end")
    again = await settle(wallet_client, round_, {"s-1": 0, "s-2": 500}, "end")
    assert settled.SerializeToString(deterministic=True) == again.SerializeToString(deterministic=True)
    assert (await wallet_client.balance(ana.account_id)).free_cents == 1_200


@pytest.mark.guarantee("G3")
async def test_g3_a_refusal_is_stored_like_any_answer(wallet_client: WalletClient) -> None:
    """A late copy of a refused stake must not be placed after a deposit: the caller has seen the refusal."""
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 50)
    round_ = round_at(table)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.place(ana, round_, 100, "s-1")
    deposit = wallet_pb2.DepositRequest(request_id="d-1", account_id=ana.account_id, amount_cents=1_000)
    await wallet_client.wallet.Deposit(deposit, metadata=wallet_client.operator)
    with pytest.raises(grpc.aio.AioRpcError) as again:
        await wallet_client.place(ana, round_, 100, "s-1")
    assert refusal_facts(again.value) == refusal_facts(refused.value)
    assert (await wallet_client.place(ana, round_, 100, "s-2")).balance.free_cents == 950


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_stake_gets_its_answer_alone_and_in_a_group(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    first = await wallet_client.place(ana, round_, 100, "s-1")
    order = wallet_pb2.StakeOrder(
        request_id="s-1", account_id=ana.account_id, session_id=ana.session_id, amount_cents=100, detail=b"red"
    )
    # The same request in another trace.
    traced = wallet_pb2.StakeOrder(traceparent=f"00-{'1' * 32}-{'2' * 16}-01")
    traced.MergeFrom(order)
    request = wallet_pb2.PlaceStakesRequest(round=round_, orders=[order, order, traced])
    answers = (await wallet_client.wallet.PlaceStakes(request, metadata=wallet_client.game)).answers
    assert [answer.placed for answer in answers] == [first, first, first]


@pytest.mark.guarantee("G4")
async def test_g4_a_round_ends_once(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    placed = await wallet_client.place(ana, round_, 100)
    await settle(wallet_client, round_, {placed.stake_id: 200})
    for late in (settle(wallet_client, round_, {placed.stake_id: 300}), void(wallet_client, round_)):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await late
        assert refusal_facts(refused.value) == (
            "ROUND_ENDED",
            {"round_id": round_.round_id, "state": "ROUND_STATE_SETTLED"},
        )
    for late_stake in (wallet_client.place(ana, round_, 100), cancel(wallet_client, round_, placed)):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await late_stake
        assert refusal_reason(refused.value) == "ROUND_ENDED"
    assert (await wallet_client.balance(ana.account_id)).free_cents == 1_100


@pytest.mark.guarantee("G4")
@pytest.mark.rule("804/2015:21")
async def test_g4_a_void_round_returns_every_stake_once(wallet_client: WalletClient) -> None:
    """Vector A7: stakes 500, 700 and 300."""
    table = await wallet_client.open_table("t1")
    seats = await wallet_client.sit_down_all(["ana", "rui", "eva"], "t1", 1_000)
    round_ = round_at(table)
    for seat, cents in zip(seats, (500, 700, 300), strict=True):
        await wallet_client.place(seat, round_, cents)
    answer = await void(wallet_client, round_, "void")
    assert sorted(result.payout_cents for result in answer.results) == [300, 500, 700]
    assert await void(wallet_client, round_, "void") == answer
    for seat in seats:
        balance = await wallet_client.balance(seat.account_id)
        assert (balance.free_cents, balance.locked_cents) == (1_000, 0)
    found = await round_of(wallet_client, round_.round_id)
    assert found.state == types_pb2.ROUND_STATE_VOID
    assert found.void_reason == "the wheel broke down"
    assert {stake.state for stake in found.stakes} == {types_pb2.STAKE_STATE_RETURNED}


@pytest.mark.guarantee("G4")
async def test_g4_a_stake_that_arrives_after_the_void_of_an_unknown_round_is_refused(
    wallet_client: WalletClient,
) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table, "never-opened")
    await void(wallet_client, round_)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.place(ana, round_, 100)
    assert refusal_facts(refused.value) == ("ROUND_ENDED", {"round_id": "never-opened", "state": "ROUND_STATE_VOID"})


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_changes_nothing(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1", epoch=1)
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    placed = await wallet_client.place(ana, round_, 100)
    taken_over = types_pb2.RoundRef(round_id=round_.round_id, table=types_pb2.TableRef(table_id="t1", epoch=2))
    await wallet_client.place(ana, taken_over, 100)
    for stale in (
        wallet_client.place(ana, round_, 100, "stale"),
        cancel(wallet_client, round_, placed),
        settle(wallet_client, round_, {placed.stake_id: 0}),
        void(wallet_client, round_),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stale
        assert refused.value.code() is grpc.StatusCode.ABORTED
        assert refusal_facts(refused.value) == ("STALE_EPOCH", {"table_id": "t1", "epoch": "1", "current_epoch": "2"})
    # The reason is about the sender, not the stake: the new owner may send the same request.
    assert (await wallet_client.place(ana, taken_over, 100, "stale")).balance.locked_cents == 300


@pytest.mark.guarantee("G8")
async def test_g8_the_next_owner_may_repeat_a_command_of_the_last_one(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1", epoch=1)
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    placed = await wallet_client.place(ana, round_, 100)
    settled = await settle(wallet_client, round_, {placed.stake_id: 200}, "settle")
    round_.table.epoch = 7
    assert await settle(wallet_client, round_, {placed.stake_id: 200}, "settle") == settled
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await settle(wallet_client, round_at(types_pb2.TableRef(table_id="t1", epoch=6)), {})
    # The repeated command has moved nothing, but it has raised the epoch.
    assert refusal_facts(refused.value)[1]["current_epoch"] == "7"


async def test_a_settlement_must_name_every_open_stake_once(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    await wallet_client.place(ana, round_, 100, "s-1")
    await wallet_client.place(ana, round_, 100, "s-2")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await settle(wallet_client, round_, {"s-1": 0, "s-9": 500})
    assert refusal_facts(refused.value) == (
        "STAKES_MISMATCH",
        {"round_id": round_.round_id, "missing": "s-2", "unexpected": "s-9"},
    )
    assert (await round_of(wallet_client, round_.round_id)).state == types_pb2.ROUND_STATE_OPEN


async def test_a_stake_is_cancelled_in_part_and_in_full(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    placed = await wallet_client.place(ana, round_, 500)
    part = await cancel(wallet_client, round_, placed, 200)
    assert (list(part.open_cents), part.balance.free_cents, part.balance.locked_cents) == ([300], 700, 300)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await cancel(wallet_client, round_, placed, 301)
    assert refusal_facts(refused.value)[1]["open_cents"] == "300"
    rest = await cancel(wallet_client, round_, placed)
    assert (list(rest.open_cents), rest.balance.free_cents) == ([0], 1_000)
    with pytest.raises(grpc.aio.AioRpcError) as gone:
        await cancel(wallet_client, round_, placed)
    assert refusal_reason(gone.value) in {"STAKE_UNKNOWN", "CANCEL_EXCEEDS_STAKE"}
    await settle(wallet_client, round_, {})


def part_of(stake_id: str, cents: int, cancelled: bytes = b"", remaining: bytes = b"") -> wallet_pb2.StakeToCancel:
    return wallet_pb2.StakeToCancel(
        stake_id=stake_id, amount_cents=cents, cancelled_detail=cancelled, remaining_detail=remaining
    )


@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G10")
async def test_g10_what_stays_of_a_stake_is_in_play_with_the_bets_that_stay(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    placed = await wallet_client.place(ana, round_, 500)
    first = part_of(placed.stake_id, 200, b"17 200", b"17 300")
    second = part_of(placed.stake_id, 100, b"17 100", b"17 200")
    for part in (first, second):
        await cancel_together(wallet_client, round_, ana.account_id, [part])
    await settle(wallet_client, round_, {placed.stake_id: 400})

    found = await round_of(wallet_client, round_.round_id)
    (stake,) = found.stakes
    assert (stake.placed_cents, stake.cancelled_cents, stake.payout_cents) == (500, 300, 400)
    assert stake.detail == b"17 200"
    assert [(each.amount_cents, each.detail) for each in stake.cancellations] == [(200, b"17 200"), (100, b"17 100")]
    transactions = await wallet_client.wallet.ListTransactions(
        wallet_pb2.ListTransactionsRequest(round_id=round_.round_id), metadata=wallet_client.operator
    )
    cancelling = [line for line in transactions.transactions if line.kind == types_pb2.TRANSFER_KIND_STAKE_CANCELLED]
    assert [line.transfer_id for line in reversed(cancelling)] == [each.transfer_id for each in stake.cancellations]
    assert [[entry.amount_cents for entry in line.entries] for line in cancelling] == [[100, -100], [200, -200]]
    assert (await wallet_client.balance(ana.account_id)).free_cents == 1_000 - 500 + 300 + 400


@pytest.mark.guarantee("G12")
async def test_g12_stakes_are_cancelled_together_or_not_at_all(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana, rui = [await wallet_client.sit_down(name, "t1", 1_000) for name in ("ana", "rui")]
    round_ = round_at(table)
    mine = [await wallet_client.place(ana, round_, cents) for cents in (300, 200)]
    foreign = await wallet_client.place(rui, round_, 100)
    whole = part_of(mine[0].stake_id, 0)
    for wrong, reason in (
        (part_of(foreign.stake_id, 0), "STAKE_UNKNOWN"),
        (part_of("no-such-stake", 0), "STAKE_UNKNOWN"),
        (part_of(mine[1].stake_id, 201), "CANCEL_EXCEEDS_STAKE"),
        (whole, "INVALID"),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await cancel_together(wallet_client, round_, ana.account_id, [whole, wrong])
        assert refusal_reason(refused.value) == reason
    assert (await wallet_client.balance(ana.account_id)).locked_cents == 500
    assert (await wallet_client.balance(rui.account_id)).locked_cents == 100

    both = [part_of(mine[0].stake_id, 100, b"a", b"b"), part_of(mine[1].stake_id, 0)]
    answer = await cancel_together(wallet_client, round_, ana.account_id, both)
    assert (list(answer.open_cents), answer.balance.free_cents, answer.balance.locked_cents) == ([200, 0], 800, 200)


@pytest.mark.guarantee("G12")
async def test_g12_a_part_is_given_back_to_a_blocked_player_and_in_a_session_that_is_ending(
    wallet_client: WalletClient,
) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    placed = await wallet_client.place(ana, round_, 500)
    await wallet_client.wallet.BlockAccount(
        wallet_pb2.BlockAccountRequest(account_id=ana.account_id, reason="a test"), metadata=wallet_client.operator
    )
    end = session_pb2.EndSessionRequest(session_id=ana.session_id, cause=session_pb2.END_CAUSE_PLAYER)
    await wallet_client.sessions.EndSession(end, metadata=wallet_client.game)
    answer = await cancel(wallet_client, round_, placed, 200)
    assert (answer.balance.free_cents, answer.balance.locked_cents) == (700, 300)
    await settle(wallet_client, round_, {placed.stake_id: 0})


async def first_answer(
    wallet_client: WalletClient, request_id: str, command_digest: bytes = b""
) -> wallet_pb2.GetFirstAnswerResponse:
    request = wallet_pb2.GetFirstAnswerRequest(request_id=request_id, command_digest=command_digest)
    return await wallet_client.wallet.GetFirstAnswer(request, metadata=wallet_client.game)


@pytest.mark.guarantee("G3")
async def test_g3_the_first_answer_is_found_again_with_what_was_in_play_then(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana, rui = [await wallet_client.sit_down(name, "t1", 1_000) for name in ("ana", "rui")]
    round_ = round_at(table)

    async def place(seat: Seat, stake_id: str, cents: int) -> wallet_pb2.PlacedStake:
        order = wallet_pb2.StakeOrder(
            request_id=stake_id,
            account_id=seat.account_id,
            session_id=seat.session_id,
            amount_cents=cents,
            detail=f"red {cents}".encode(),
            command_digest=stake_id.encode(),
        )
        request = wallet_pb2.PlaceStakeRequest(round=round_, order=order)
        return (await wallet_client.wallet.PlaceStake(request, metadata=wallet_client.game)).placed

    first = await place(ana, "first", 300)
    await place(rui, "other", 50)
    second = await place(ana, "second", 200)
    part = part_of("first", 100, b"red 100", b"red 200 left")
    cancelled = await cancel_together(
        wallet_client, round_, ana.account_id, [part, part_of("second", 0)], "back", b"some"
    )
    third = await place(ana, "third", 10)
    settled = await settle(wallet_client, round_, {"first": 400, "other": 0, "third": 0}, "settle")

    async def in_play(request_id: str) -> list[tuple[str, int, bytes]]:
        answer = await first_answer(wallet_client, request_id)
        return [(each.stake_id, each.amount_cents, each.detail) for each in answer.in_play]

    assert [(await first_answer(wallet_client, each.stake_id)).placed for each in (first, second, third)] == [
        first,
        second,
        third,
    ]
    found = await first_answer(wallet_client, "first", b"first")
    assert (found.round_id, found.table_id, found.amount_cents, found.detail) == (
        round_.round_id,
        "t1",
        300,
        b"red 300",
    )
    assert await in_play("first") == [("first", 300, b"red 300")]
    assert await in_play("second") == [("first", 300, b"red 300"), ("second", 200, b"red 200")]
    assert await in_play("back") == [("first", 200, b"red 200 left")]
    assert await in_play("third") == [("first", 200, b"red 200 left"), ("third", 10, b"red 10")]
    found = await first_answer(wallet_client, "back", b"some")
    assert found.cancelled == cancelled
    assert [(each.stake_id, each.amount_cents) for each in found.cancelled_parts] == [("first", 100), ("second", 200)]
    assert (await first_answer(wallet_client, "settle")).settled == settled

    # A round without stakes moves nothing when it ends, and so the wallet keeps no answer.
    await void(wallet_client, round_at(table, "t1.empty"), "empty")
    with pytest.raises(grpc.aio.AioRpcError) as unknown:
        await first_answer(wallet_client, "empty")
    assert refusal_reason(unknown.value) == "REQUEST_UNKNOWN"


@pytest.mark.guarantee("G3")
async def test_g3_a_command_is_what_the_game_has_digested(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    order = wallet_pb2.StakeOrder(
        request_id="s", account_id=ana.account_id, session_id=ana.session_id, amount_cents=300, command_digest=b"17"
    )
    request = wallet_pb2.PlaceStakeRequest(round=round_at(table, "r"), order=order)
    placed = await wallet_client.wallet.PlaceStake(request, metadata=wallet_client.game)
    request.order.amount_cents = 200
    assert await wallet_client.wallet.PlaceStake(request, metadata=wallet_client.game) == placed
    request.order.command_digest = b"18"
    with pytest.raises(grpc.aio.AioRpcError) as reused:
        await wallet_client.wallet.PlaceStake(request, metadata=wallet_client.game)
    assert refusal_reason(reused.value) == "REQUEST_REUSED"
    for request_id, digest, reason in (("s", b"18", "REQUEST_REUSED"), ("never", b"17", "REQUEST_UNKNOWN")):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await first_answer(wallet_client, request_id, digest)
        assert refusal_reason(refused.value) == reason
    # What was refused is refused in the same way.
    request.order.request_id, request.order.amount_cents = "too-much", 10_000
    with pytest.raises(grpc.aio.AioRpcError) as broke:
        await wallet_client.wallet.PlaceStake(request, metadata=wallet_client.game)
    with pytest.raises(grpc.aio.AioRpcError) as again:
        await first_answer(wallet_client, "too-much", b"18")
    assert refusal_reason(broke.value) == "INSUFFICIENT_FUNDS"
    assert refusal_facts(again.value) == refusal_facts(broke.value)


@pytest.mark.rule("804/2015:31")
async def test_real_and_demonstration_money_never_meet(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("real")
    demo_table = await wallet_client.open_table("demo", mode=DEMO)
    real = await wallet_client.sit_down("ana", "real", 1_000)
    demo = await wallet_client.sit_down("ana", "demo", 1_000, DEMO)
    assert real.account_id != demo.account_id
    for seat, other_table in ((real, demo_table), (demo, table)):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wallet_client.place(seat, round_at(other_table), 100)
        assert refusal_reason(refused.value) == "MODE_MISMATCH"
        request = session_pb2.StartSessionRequest(
            request_id=str(uuid4()), account_id=seat.account_id, table_id=other_table.table_id
        )
        with pytest.raises(grpc.aio.AioRpcError) as no_session:
            await wallet_client.sessions.StartSession(request, metadata=wallet_client.operator)
        assert refusal_reason(no_session.value) == "MODE_MISMATCH"


async def test_a_refused_order_does_not_fail_the_others_of_its_call(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    poor = await wallet_client.sit_down("rui", "t1", 10)

    def order(seat: Seat, cents: int, request_id: str = "") -> wallet_pb2.StakeOrder:
        return wallet_pb2.StakeOrder(
            request_id=request_id or str(uuid4()),
            account_id=seat.account_id,
            session_id=seat.session_id,
            amount_cents=cents,
        )

    stranger = Seat("eva", str(uuid4()), ana.session_id)
    elsewhere = Seat("rui", poor.account_id, ana.session_id)
    orders = [
        order(ana, 100),
        order(poor, 100),
        order(ana, 0),
        order(stranger, 100),
        order(elsewhere, 5),
        order(Seat("ana", ana.account_id, str(uuid4())), 100),
        order(ana, 100, "has a space"),
        order(poor, 10),
    ]
    request = wallet_pb2.PlaceStakesRequest(round=round_at(table), orders=orders)
    answers = (await wallet_client.wallet.PlaceStakes(request, metadata=wallet_client.game)).answers
    results = [
        "placed" if answer.HasField("placed") else (error_info(answer.refused) or pytest.fail("no reason")).reason
        for answer in answers
    ]
    assert results == [
        "placed",
        "INSUFFICIENT_FUNDS",
        "INVALID",
        "ACCOUNT_UNKNOWN",
        "SESSION_MISMATCH",
        "SESSION_UNKNOWN",
        "INVALID",
        "placed",
    ]


async def test_a_blocked_account_cannot_stake_but_is_paid(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    placed = await wallet_client.place(ana, round_, 100)
    block = wallet_pb2.BlockAccountRequest(account_id=ana.account_id, reason="self-exclusion")
    await wallet_client.wallet.BlockAccount(block, metadata=wallet_client.operator)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.place(ana, round_, 100)
    assert refusal_reason(refused.value) == "ACCOUNT_BLOCKED"
    await settle(wallet_client, round_, {placed.stake_id: 3_600})
    assert (await wallet_client.balance(ana.account_id)).free_cents == 4_500
    withdraw = wallet_pb2.WithdrawRequest(request_id="w-1", account_id=ana.account_id, amount_cents=4_500)
    await wallet_client.wallet.Withdraw(withdraw, metadata=wallet_client.operator)
    unblock = wallet_pb2.UnblockAccountRequest(account_id=ana.account_id, reason="asked for")
    await wallet_client.wallet.UnblockAccount(unblock, metadata=wallet_client.operator)


@pytest.mark.guarantee("G12")
async def test_g12_what_is_due_to_players_is_never_refused_for_an_expired_token(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    paid, refunded = round_at(table), round_at(table)
    placed = await wallet_client.place(ana, paid, 100)
    given_up = await wallet_client.place(ana, paid, 100)
    await wallet_client.place(ana, refunded, 100)
    wallet_client.game = wallet_client.bearer("game", "roulette", minutes=-10)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.place(ana, paid, 100)
    assert refusal_reason(refused.value) == "TOKEN_EXPIRED"
    early = wallet_pb2.PayStakesRequest(
        request_id="t1:pay",
        round=paid,
        payouts=[wallet_pb2.StakePayout(stake_id=given_up.stake_id, payout_cents=50)],
    )
    await wallet_client.wallet.PayStakes(early, metadata=wallet_client.game)
    await settle(wallet_client, paid, {placed.stake_id: 200})
    await void(wallet_client, refunded)
    assert (await wallet_client.balance(ana.account_id)).free_cents == 1_050


async def test_each_method_accepts_only_its_scopes(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    rui = await wallet_client.sit_down("rui", "t1", 1_000)
    round_ = round_at(table)
    await wallet_client.place(ana, round_, 100)
    await wallet_client.place(rui, round_, 100)
    as_ana = wallet_client.bearer("player", "ana")
    mine = await wallet_client.wallet.GetRound(wallet_pb2.GetRoundRequest(round_id=round_.round_id), metadata=as_ana)
    assert {stake.account_id for stake in mine.round.stakes} == {ana.account_id}
    for call, reason in (
        (
            wallet_client.wallet.GetBalance(wallet_pb2.GetBalanceRequest(account_id=rui.account_id), metadata=as_ana),
            "ACCOUNT_UNKNOWN",
        ),
        (
            wallet_client.wallet.ListTransactions(
                wallet_pb2.ListTransactionsRequest(account_id=rui.account_id), metadata=as_ana
            ),
            "ACCOUNT_UNKNOWN",
        ),
        (
            wallet_client.wallet.ListTransactions(
                wallet_pb2.ListTransactionsRequest(session_id=rui.session_id), metadata=as_ana
            ),
            "SESSION_UNKNOWN",
        ),
        (
            wallet_client.wallet.ListOpenRounds(wallet_pb2.ListOpenRoundsRequest(table_id="t1"), metadata=as_ana),
            "NOT_YOURS",
        ),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call
        assert refusal_reason(refused.value) == reason
    deposit = wallet_pb2.DepositRequest(request_id="d", account_id=ana.account_id, amount_cents=100)
    for metadata, expected in ((as_ana, "SCOPE_MISSING"), (wallet_client.game, "SCOPE_MISSING"), ((), "TOKEN_INVALID")):
        with pytest.raises(grpc.aio.AioRpcError) as no_scope:
            await wallet_client.wallet.Deposit(deposit, metadata=metadata)
        assert refusal_reason(no_scope.value) == expected


@pytest.mark.rule("903-B/2015:6.3.2")
async def test_open_rounds_are_listed_with_their_locked_stakes(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    first, second = round_at(table), round_at(table)
    placed = await wallet_client.place(ana, first, 100)
    await wallet_client.place(ana, second, 200)
    await settle(wallet_client, first, {placed.stake_id: 0})
    for wanted in (
        wallet_pb2.ListOpenRoundsRequest(account_id=ana.account_id),
        wallet_pb2.ListOpenRoundsRequest(table_id="t1"),
    ):
        (left,) = (await wallet_client.wallet.ListOpenRounds(wanted, metadata=wallet_client.operator)).rounds
        assert left.round_id == second.round_id
        assert [stake.placed_cents for stake in left.stakes] == [200]
    assert (await wallet_client.balance(ana.account_id)).locked_cents == 200
    request = wallet_pb2.OpenTableRequest(
        table=types_pb2.TableRef(table_id="t1", epoch=2),
        game="roulette",
        regulation="804/2015",
        mode=types_pb2.MODE_REAL,
        play=types_pb2.PLAY_MULTI_PLAYER,
    )
    opened = await wallet_client.wallet.OpenTable(request, metadata=wallet_client.game)
    assert [*opened.open_round_ids, opened.last_round_id] == [second.round_id] * 2


@pytest.mark.guarantee("G4")
async def test_g4_a_new_owner_learns_which_round_was_the_last(wallet_client: WalletClient) -> None:
    async def last_round_id(epoch: int) -> str:
        request = wallet_pb2.OpenTableRequest(
            table=types_pb2.TableRef(table_id="t1", epoch=epoch),
            game="roulette",
            regulation="804/2015",
            mode=types_pb2.MODE_REAL,
            play=types_pb2.PLAY_MULTI_PLAYER,
        )
        return (await wallet_client.wallet.OpenTable(request, metadata=wallet_client.game)).last_round_id

    assert await last_round_id(1) == ""
    table = types_pb2.TableRef(table_id="t1", epoch=1)
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    settled, void = round_at(table), round_at(table)
    placed = await wallet_client.place(ana, settled, 100)
    await settle(wallet_client, settled, {placed.stake_id: 0})
    assert await last_round_id(2) == settled.round_id
    void.table.epoch = 2
    # Void without a stake.
    request = wallet_pb2.VoidRoundRequest(request_id="void", round=void, reason="nobody bet")
    await wallet_client.wallet.VoidRound(request, metadata=wallet_client.game)
    another = await wallet_client.open_table("t2")
    await wallet_client.place(await wallet_client.sit_down("rui", "t2", 1_000), round_at(another), 100)
    assert await last_round_id(3) == void.round_id


async def test_transactions_are_paged_newest_first(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("t1")
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    round_ = round_at(table)
    placed = [await wallet_client.place(ana, round_, 10) for _ in range(7)]
    seen: list[int] = []
    token = ""
    while True:
        page = await wallet_client.wallet.ListTransactions(
            wallet_pb2.ListTransactionsRequest(session_id=ana.session_id, page_size=3, page_token=token),
            metadata=wallet_client.bearer("player", "ana"),
        )
        seen += [line.transfer_id for line in page.transactions]
        token = page.next_page_token
        if not token:
            break
        assert len(page.transactions) == 3
    assert seen == [stake.transfer_id for stake in reversed(placed)]


async def test_a_wrong_field_of_an_order_or_of_a_stake_is_named_by_its_path(wallet_client: WalletClient) -> None:
    """Alone or among others: the game tells its player which of many it was."""
    round_, long = round_at(await wallet_client.open_table("t1"), "r"), b"x" * 4_097
    ana = await wallet_client.sit_down("ana", "t1", 1_000)
    for field, wrong in (
        ("request_id", "with spaces"),
        ("amount_cents", 0),
        ("detail", long),
        ("largest_payout_cents", -1),
        ("command_digest", long),
    ):
        orders = [
            wallet_pb2.StakeOrder(
                request_id=name, account_id=ana.account_id, session_id=ana.session_id, amount_cents=100
            )
            for name in ("good", "wrong")
        ]
        setattr(orders[1], field, wrong)
        with pytest.raises(grpc.aio.AioRpcError) as alone:
            await wallet_client.wallet.PlaceStake(
                wallet_pb2.PlaceStakeRequest(round=round_, order=orders[1]), metadata=wallet_client.game
            )
        assert refusal_facts(alone.value) == ("INVALID", {"field": f"order.{field}"})
        many = wallet_pb2.PlaceStakesRequest(round=round_, orders=orders)
        good, refused = (await wallet_client.wallet.PlaceStakes(many, metadata=wallet_client.game)).answers
        assert good.placed.stake_id == "good"
        info = error_info(refused.refused)
        assert info is not None
        assert (info.reason, dict(info.metadata)) == ("INVALID", {"field": f"orders[1].{field}"})
    for field, wrong in (
        ("stake_id", ""),
        ("amount_cents", -1),
        ("cancelled_detail", long),
        ("remaining_detail", long),
    ):
        parts = [part_of("good", 0), part_of("other", 0)]
        setattr(parts[1], field, wrong)
        with pytest.raises(grpc.aio.AioRpcError) as stays:
            await cancel_together(wallet_client, round_, ana.account_id, parts)
        assert refusal_facts(stays.value) == ("INVALID", {"field": f"stakes[1].{field}"})
    await settle(wallet_client, round_, {"good": 0})
