"""Every command that moves money or ends a round, with the process killed before and after each of its steps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import uuid4

import pytest
from google.protobuf.message import Message

from feltro.wallet.v1 import wallet_pb2
from services.wallet.audit.auditor import Auditor
from services.wallet.model.state import DEFAULT_RELEVANT_CENTS
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    GAME,
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    InProcessWallet,
    Seat,
    open_wallet,
    round_ref,
    table_ref,
)
from tests.service.wallet.killed_process import killed_at_step

STEPS_LIMIT = 60
# What is noted as a relevant event.
LARGE = DEFAULT_RELEVANT_CENTS
LARGE_IN = {"deposit", "withdraw", "settle_round", "transfer_hand"}


@dataclass(frozen=True)
class Case:
    """A command ready to be sent, and whose money it is about."""

    method: str
    scope: str
    request: Message
    seats: list[Seat]
    before: list[Message] = field(default_factory=list)
    """What the same process has just done with the same method, and remembers."""
    at_once: bool = False
    """Everything is done by one statement, which is its own transaction: there are only a before and an after."""


async def _deposit(desk: InProcessWallet) -> Case:
    seat = await desk.sit_down(_name(), await desk.open_table(_name(), MULTI_PLAYER))
    request = wallet_pb2.DepositRequest(request_id=_name(), account_id=seat.account_id, amount_cents=LARGE)
    return Case("deposit", "operator", request, [seat])


async def _withdraw(desk: InProcessWallet) -> Case:
    seat = await desk.sit_down(_name(), await desk.open_table(_name(), MULTI_PLAYER), LARGE)
    request = wallet_pb2.WithdrawRequest(request_id=_name(), account_id=seat.account_id, amount_cents=LARGE)
    return Case("withdraw", "operator", request, [seat])


async def _place(desk: InProcessWallet) -> Case:
    seat = await desk.sit_down(_name(), await desk.open_table(_name(), MULTI_PLAYER))
    order = wallet_pb2.StakeOrder(
        request_id=_name(), account_id=seat.account_id, session_id=seat.session_id, amount_cents=300
    )
    request = wallet_pb2.PlaceStakeRequest(round=round_ref(seat.table_id, _name()), order=order)
    return Case("place_stake", "game", request, [seat])


async def _place_many(desk: InProcessWallet) -> Case:
    table_id = await desk.open_table(_name(), MULTI_PLAYER)
    seats = [await desk.sit_down(_name(), table_id) for _ in range(3)]
    orders = [
        wallet_pb2.StakeOrder(
            request_id=_name(), account_id=seat.account_id, session_id=seat.session_id, amount_cents=300
        )
        for seat in seats
    ]
    request = wallet_pb2.PlaceStakesRequest(round=round_ref(table_id, _name()), orders=orders)
    return Case("place_stakes", "game", request, seats)


async def _place_once_more(desk: InProcessWallet) -> Case:
    """The process remembers the round and all that the stake depends on: it is written without asking first."""
    seat = await desk.sit_down(_name(), await desk.open_table(_name(), MULTI_PLAYER))
    round_id = _name()
    first, second = (
        wallet_pb2.PlaceStakeRequest(
            round=round_ref(seat.table_id, round_id),
            order=wallet_pb2.StakeOrder(
                request_id=_name(), account_id=seat.account_id, session_id=seat.session_id, amount_cents=cents
            ),
        )
        for cents in (200, 300)
    )
    return Case("place_stake", "game", second, [seat], [first], at_once=True)


async def _place_many_in_the_next_round(desk: InProcessWallet) -> Case:
    """The process remembers tables, accounts and sessions; the round is new."""
    table_id = await desk.open_table(_name(), MULTI_PLAYER)
    seats = [await desk.sit_down(_name(), table_id) for _ in range(3)]
    first, second = (
        wallet_pb2.PlaceStakesRequest(
            round=round_ref(table_id, _name()),
            orders=[
                wallet_pb2.StakeOrder(
                    request_id=_name(), account_id=seat.account_id, session_id=seat.session_id, amount_cents=300
                )
                for seat in seats
            ],
        )
        for _ in range(2)
    )
    return Case("place_stakes", "game", second, seats, [first], at_once=True)


async def _cancel(desk: InProcessWallet) -> Case:
    seat, round_id, stake_ids = await _staked(desk)
    request = wallet_pb2.CancelStakeRequest(
        request_id=_name(), round=round_ref(seat.table_id, round_id), stake_id=stake_ids[0], amount_cents=100
    )
    return Case("cancel_stake", "game", request, [seat])


async def _settle(desk: InProcessWallet) -> Case:
    seat, round_id, stake_ids = await _staked(desk)
    request = wallet_pb2.SettleRoundRequest(
        request_id=_name(),
        round=round_ref(seat.table_id, round_id),
        # Together they are a large prize, neither is one alone.
        payouts=[wallet_pb2.StakePayout(stake_id=stake_id, payout_cents=LARGE - 1) for stake_id in stake_ids],
        report=wallet_pb2.RoundReport(sessions=[seat.session_in_round()]),
    )
    return Case("settle_round", "game", request, [seat])


async def _settle_of_one_who_has_left(desk: InProcessWallet) -> Case:
    """His session ends in the same transaction."""
    case = await _settle(desk)
    await desk.end_session(case.seats[0])
    return case


async def _void(desk: InProcessWallet) -> Case:
    seat, round_id, _ = await _staked(desk)
    request = wallet_pb2.VoidRoundRequest(
        request_id=_name(), round=round_ref(seat.table_id, round_id), reason="the ball left the wheel"
    )
    return Case("void_round", "game", request, [seat])


async def _buy_in(desk: InProcessWallet) -> Case:
    seat = await desk.sit_down(_name(), await desk.open_table(_name(), POKER, "806/2015"))
    request = wallet_pb2.BuyInRequest(
        request_id=_name(),
        table=table_ref(seat.table_id),
        account_id=seat.account_id,
        session_id=seat.session_id,
        amount_cents=1_000,
        commission_cents=50,
    )
    return Case("buy_in", "game", request, [seat])


async def _cash_out(desk: InProcessWallet) -> Case:
    case = await _buy_in(desk)
    (seat,) = case.seats
    await desk.buy_in(seat, 1_000, 50)
    request = wallet_pb2.CashOutRequest(
        request_id=_name(), table=table_ref(seat.table_id), account_id=seat.account_id, session_id=seat.session_id
    )
    return Case("cash_out", "game", request, [seat])


async def _hand(desk: InProcessWallet) -> Case:
    table_id = await desk.open_table(_name(), POKER, "806/2015")
    seats = [await desk.sit_down(_name(), table_id) for _ in range(3)]
    for seat in seats:
        await desk.buy_in(seat, 90_000)
    results = [
        wallet_pb2.SeatInHand(account_id=s.account_id, session_id=s.session_id, staked_cents=80_000, won_cents=won)
        for s, won in zip(seats, (239_970, 0, 0), strict=True)
    ]
    request = wallet_pb2.TransferHandRequest(
        request_id=_name(),
        round=round_ref(table_id, _name()),
        seats=results,
        commission_cents=30,
        report=wallet_pb2.RoundReport(sessions=[seat.session_in_round(bet=True) for seat in seats]),
    )
    return Case("transfer_hand", "game", request, seats)


async def _staked(desk: InProcessWallet) -> tuple[Seat, str, list[str]]:
    seat = await desk.sit_down(_name(), await desk.open_table(_name(), MULTI_PLAYER))
    round_id = _name()
    return seat, round_id, [await desk.place(seat, round_id, cents) for cents in (300, 200)]


def _name() -> str:
    return str(uuid4())


async def _money(desk: InProcessWallet, case: Case) -> list[tuple[int, ...]]:
    """Free, locked, version, cave and relevant events of everybody: what the command has done, and how often."""
    amounts: list[tuple[int, ...]] = []
    for seat in case.seats:
        answer = await desk.wallet.get_balance(wallet_pb2.GetBalanceRequest(account_id=seat.account_id), OPERATOR)
        balance = answer.balance
        caves = sum(cave.cave_cents for cave in answer.caves)
        noted = len(await desk.relevant_events(seat.account_id))
        amounts.append((balance.free_cents, balance.locked_cents, balance.version, caves, noted))
    return amounts


async def _send(desk: InProcessWallet, case: Case, request: Message | None = None) -> bytes:
    who = GAME if case.scope == "game" else OPERATOR
    answer: bytes = await getattr(desk.wallet, case.method)(request or case.request, who)
    return answer


async def _send_those_before(desk: InProcessWallet, case: Case) -> None:
    for request in case.before:
        await _send(desk, case, request)


@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G5")
@pytest.mark.rule("903-B/2015:6.3.6.6")
@pytest.mark.parametrize(
    "prepare",
    [
        _deposit,
        _withdraw,
        _place,
        _place_many,
        _place_once_more,
        _place_many_in_the_next_round,
        _cancel,
        _settle,
        _settle_of_one_who_has_left,
        _void,
        _buy_in,
        _cash_out,
        _hand,
    ],
)
async def test_killed_at_any_step_the_command_sent_again_acts_once(
    wallet_database: WalletDatabase, prepare: Callable[[InProcessWallet], Awaitable[Case]]
) -> None:
    async with open_wallet(wallet_database.url) as desk:
        undisturbed = await prepare(desk)
        await _send_those_before(desk, undisturbed)
        before = await _money(desk, undisturbed)
        await _send(desk, undisturbed)
        expected = await _money(desk, undisturbed)
        assert sum(after[-1] - earlier[-1] for earlier, after in zip(before, expected, strict=True)) == (
            undisturbed.method in LARGE_IN
        )
        survived = 0
        for step in range(1, STEPS_LIMIT):
            case = await prepare(desk)
            died = await asyncio.to_thread(
                killed_at_step, wallet_database.url, step, case.method, case.scope, case.request, case.before
            )
            if not died:
                survived = step
            assert await _money(desk, case) in (before, expected)
            first = await _send(desk, case)
            assert await _money(desk, case) == expected
            assert await _send(desk, case) == first
            assert await _money(desk, case) == expected
            if not died:
                break
        # Lock, look, write and commit, each before and after; fewer would mean that nobody was killed in between.
        assert survived == 3 if undisturbed.at_once else survived > 8
        told: list[str] = []
        # Nobody publishes here, so the outbox is as old as the test's clock, and so is a round that is open.
        await Auditor(desk.engine, outbox_age_s=1e9, round_hours=1e9).run(
            lambda check, sentence: told.append(f"{check.name}: {sentence}")
        )
        assert told == []
