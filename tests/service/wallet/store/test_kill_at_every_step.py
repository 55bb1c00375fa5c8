"""Every command that moves money or ends a round, with the wallet killed before and after each of its steps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import uuid4

import pytest
from google.protobuf.message import Message

from feltro.wallet.v1 import tournament_pb2, wallet_pb2
from services.wallet.model.state import DEFAULT_RELEVANT_CENTS
from tests.processes import ledger_audit
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    GAME,
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    InProcessWallet,
    Seat,
    round_ref,
    table_ref,
)
from tests.service.wallet.kills import kill_at_step, kill_process_at_step

STEPS_LIMIT = 60
# Free cents, locked cents, version, cave and number of relevant events of each seat.
Money = list[tuple[int, ...]]
# Amounts from here on are relevant events.
LARGE = DEFAULT_RELEVANT_CENTS
METHODS_WITH_RELEVANT_EVENT = {"deposit", "withdraw", "pay_stakes", "settle_round", "transfer_hand", "pay_out"}


@dataclass(frozen=True)
class Case:
    """A command ready to be sent, and the seats whose money it moves."""

    method: str
    scope: str
    request: Message
    seats: list[Seat]
    before: list[Message] = field(default_factory=list)
    """Requests of the same method that the same wallet has just carried out, and cached."""
    one_statement: bool = False
    """One statement, a transaction of its own, does everything: there is only a before and an after."""
    tournament_id: str = ""
    other_tournaments: tuple[str, ...] = ()
    """Those that its tickets are for."""


async def deposit(wallet: InProcessWallet) -> Case:
    seat = await wallet.sit_down(_name(), await wallet.open_table(_name(), MULTI_PLAYER))
    request = wallet_pb2.DepositRequest(request_id=_name(), account_id=seat.account_id, amount_cents=LARGE)
    return Case("deposit", "operator", request, [seat])


async def withdraw(wallet: InProcessWallet) -> Case:
    seat = await wallet.sit_down(_name(), await wallet.open_table(_name(), MULTI_PLAYER), LARGE)
    request = wallet_pb2.WithdrawRequest(request_id=_name(), account_id=seat.account_id, amount_cents=LARGE)
    return Case("withdraw", "operator", request, [seat])


async def place(wallet: InProcessWallet) -> Case:
    seat = await wallet.sit_down(_name(), await wallet.open_table(_name(), MULTI_PLAYER))
    order = wallet_pb2.StakeOrder(
        request_id=_name(), account_id=seat.account_id, session_id=seat.session_id, amount_cents=300
    )
    request = wallet_pb2.PlaceStakeRequest(round=round_ref(seat.table_id, _name()), order=order)
    return Case("place_stake", "game", request, [seat])


async def place_many(wallet: InProcessWallet) -> Case:
    table_id = await wallet.open_table(_name(), MULTI_PLAYER)
    seats = [await wallet.sit_down(_name(), table_id) for _ in range(3)]
    orders = [
        wallet_pb2.StakeOrder(
            request_id=_name(), account_id=seat.account_id, session_id=seat.session_id, amount_cents=300
        )
        for seat in seats
    ]
    request = wallet_pb2.PlaceStakesRequest(round=round_ref(table_id, _name()), orders=orders)
    return Case("place_stakes", "game", request, seats)


async def place_in_a_cached_round(wallet: InProcessWallet) -> Case:
    """The wallet has cached the round and all other rows of the stake, and writes it without reading."""
    seat = await wallet.sit_down(_name(), await wallet.open_table(_name(), MULTI_PLAYER))
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
    return Case("place_stake", "game", second, [seat], [first], one_statement=True)


async def place_many_in_a_new_round(wallet: InProcessWallet) -> Case:
    """The wallet has cached table, accounts and sessions; the round is new."""
    table_id = await wallet.open_table(_name(), MULTI_PLAYER)
    seats = [await wallet.sit_down(_name(), table_id) for _ in range(3)]
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
    return Case("place_stakes", "game", second, seats, [first], one_statement=True)


async def cancel(wallet: InProcessWallet) -> Case:
    """Cancels a part of one stake and the whole of another."""
    seat, round_id, stake_ids = await _staked(wallet)
    part = wallet_pb2.StakeToCancel(
        stake_id=stake_ids[0], amount_cents=100, cancelled_detail=b"red 100", remaining_detail=b"red 200"
    )
    request = wallet_pb2.CancelStakesRequest(
        request_id=_name(),
        round=round_ref(seat.table_id, round_id),
        account_id=seat.account_id,
        stakes=[part, wallet_pb2.StakeToCancel(stake_id=stake_ids[1])],
    )
    return Case("cancel_stakes", "game", request, [seat])


async def pay(wallet: InProcessWallet) -> Case:
    """Pays all stakes of a player in a round that goes on."""
    seat, round_id, stake_ids = await _staked(wallet)
    request = wallet_pb2.PayStakesRequest(
        request_id=_name(),
        round=round_ref(seat.table_id, round_id),
        # Together the two payouts are a large prize, neither is one alone.
        payouts=[wallet_pb2.StakePayout(stake_id=stake_id, payout_cents=LARGE - 1) for stake_id in stake_ids],
    )
    return Case("pay_stakes", "game", request, [seat])


async def pay_after_the_player_left(wallet: InProcessWallet) -> Case:
    """Pays the last stakes of a session that waits for them, which closes it in the same transaction."""
    case = await pay(wallet)
    await wallet.end_session(case.seats[0])
    return case


async def settle_the_rest(wallet: InProcessWallet) -> Case:
    """Settles a round one of whose stakes is paid; both payouts together are a large prize."""
    seat, round_id, (first, second) = await _staked(wallet)
    await wallet.pay(seat.table_id, round_id, {first: LARGE - 1})
    request = wallet_pb2.SettleRoundRequest(
        request_id=_name(),
        round=round_ref(seat.table_id, round_id),
        payouts=[wallet_pb2.StakePayout(stake_id=second, payout_cents=LARGE - 1)],
        report=wallet_pb2.RoundReport(sessions=[seat.session_in_round()]),
    )
    return Case("settle_round", "game", request, [seat])


async def void_the_rest(wallet: InProcessWallet) -> Case:
    seat, round_id, (first, _) = await _staked(wallet)
    await wallet.pay(seat.table_id, round_id, {first: 600})
    request = wallet_pb2.VoidRoundRequest(
        request_id=_name(), round=round_ref(seat.table_id, round_id), reason="the shoe fell"
    )
    return Case("void_round", "game", request, [seat])


async def settle(wallet: InProcessWallet) -> Case:
    seat, round_id, stake_ids = await _staked(wallet)
    request = wallet_pb2.SettleRoundRequest(
        request_id=_name(),
        round=round_ref(seat.table_id, round_id),
        # Together the two payouts are a large prize, neither is one alone.
        payouts=[wallet_pb2.StakePayout(stake_id=stake_id, payout_cents=LARGE - 1) for stake_id in stake_ids],
        report=wallet_pb2.RoundReport(sessions=[seat.session_in_round()]),
    )
    return Case("settle_round", "game", request, [seat])


async def settle_after_the_player_left(wallet: InProcessWallet) -> Case:
    """Settles a round whose end closes a session, too, in the same transaction."""
    case = await settle(wallet)
    await wallet.end_session(case.seats[0])
    return case


async def void(wallet: InProcessWallet) -> Case:
    seat, round_id, _ = await _staked(wallet)
    request = wallet_pb2.VoidRoundRequest(
        request_id=_name(), round=round_ref(seat.table_id, round_id), reason="the ball left the wheel"
    )
    return Case("void_round", "game", request, [seat])


async def buy_in(wallet: InProcessWallet) -> Case:
    seat = await wallet.sit_down(_name(), await wallet.open_table(_name(), POKER, "806/2015"))
    request = wallet_pb2.BuyInRequest(
        request_id=_name(),
        table=table_ref(seat.table_id),
        account_id=seat.account_id,
        session_id=seat.session_id,
        amount_cents=1_000,
        commission_cents=50,
    )
    return Case("buy_in", "game", request, [seat])


async def cash_out(wallet: InProcessWallet) -> Case:
    case = await buy_in(wallet)
    (seat,) = case.seats
    await wallet.buy_in(seat, 1_000, 50)
    request = wallet_pb2.CashOutRequest(
        request_id=_name(), table=table_ref(seat.table_id), account_id=seat.account_id, session_id=seat.session_id
    )
    return Case("cash_out", "game", request, [seat])


async def transfer_hand(wallet: InProcessWallet) -> Case:
    table_id = await wallet.open_table(_name(), POKER, "806/2015")
    seats = [await wallet.sit_down(_name(), table_id) for _ in range(3)]
    for seat in seats:
        await wallet.buy_in(seat, 90_000)
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


async def pay_in(wallet: InProcessWallet) -> Case:
    tournament_id = await wallet.open_tournament(_name())
    seat = Seat(_name(), await wallet.open_account(_name(), 5_000), tournament_id, "")
    request = tournament_pb2.PayInRequest(
        request_id=_name(),
        tournament=table_ref(tournament_id),
        account_id=seat.account_id,
        kind=tournament_pb2.PAY_IN_KIND_ENTRY,
        prize_cents=600,
        fee_cents=100,
        bounty_cents=300,
    )
    return Case("pay_in", "game", request, [seat], tournament_id=tournament_id)


async def pay_out(wallet: InProcessWallet) -> Case:
    """Refunds one player, and pays the other a large prize from the pool and the bank."""
    tournament_id = await wallet.open_tournament(_name())
    seats = [Seat(_name(), await wallet.open_account(_name(), 5_000), tournament_id, "") for _ in range(2)]
    entries = [await wallet.pay_in(tournament_id, seat.account_id) for seat in seats]
    refund = tournament_pb2.Award(
        account_id=seats[0].account_id,
        reason=tournament_pb2.AWARD_REASON_REFUND,
        amount_cents=1_100,
        refunded_request_id=entries[0],
    )
    prize = tournament_pb2.Award(
        account_id=seats[1].account_id, reason=tournament_pb2.AWARD_REASON_PRIZE, amount_cents=LARGE
    )
    request = tournament_pb2.PayOutRequest(
        request_id=_name(),
        tournament=table_ref(tournament_id),
        awards=[refund, prize],
        overlay_cents=LARGE - 1_000,
    )
    return Case("pay_out", "game", request, seats, tournament_id=tournament_id)


async def close_tournament(wallet: InProcessWallet) -> Case:
    case = await pay_out(wallet)
    await send(wallet, case)
    request = tournament_pb2.CloseTournamentRequest(request_id=_name(), tournament=table_ref(case.tournament_id))
    return Case("close_tournament", "game", request, case.seats, tournament_id=case.tournament_id)


async def pay_in_by_ticket(wallet: InProcessWallet) -> Case:
    tournament_id, seats = await _ticket_holders(wallet)
    (won, _) = await wallet.tickets(tournament_id)
    request = tournament_pb2.PayInRequest(
        request_id=_name(),
        tournament=table_ref(tournament_id),
        account_id=seats[0].account_id,
        kind=tournament_pb2.PAY_IN_KIND_ENTRY,
        prize_cents=600,
        fee_cents=100,
        bounty_cents=300,
        ticket_id=won.ticket_id,
    )
    return Case("pay_in", "game", request, seats, tournament_id=tournament_id)


async def pay_out_tickets(wallet: InProcessWallet) -> Case:
    """Awards two tickets, of which the second is cash, returns one ticket and replaces another."""
    tournament_id, seats = await _ticket_holders(wallet)
    target = await wallet.open_tournament(_name())
    entries = [
        await wallet.pay_in(tournament_id, seat.account_id, 900, 100, ticket_id=won.ticket_id)
        for seat, won in zip(seats, await wallet.tickets(tournament_id), strict=True)
    ]
    prizes = [
        tournament_pb2.Award(
            account_id=seats[0].account_id,
            reason=tournament_pb2.AWARD_REASON_PRIZE,
            amount_cents=LARGE,
            ticket=tournament_pb2.TicketPrize(tournament_id=target),
        )
        for _ in range(2)
    ]
    refunds = [
        tournament_pb2.Award(
            account_id=seat.account_id,
            reason=tournament_pb2.AWARD_REASON_REFUND,
            amount_cents=1_000,
            refunded_request_id=entry,
            ticket_refund=how,
            replacement_tournament_id=replacement,
        )
        for seat, entry, how, replacement in zip(
            seats,
            entries,
            (tournament_pb2.TICKET_REFUND_RETURN, tournament_pb2.TICKET_REFUND_REPLACE),
            ("", target),
            strict=True,
        )
    ]
    request = tournament_pb2.PayOutRequest(
        request_id=_name(),
        tournament=table_ref(tournament_id),
        awards=[*prizes, *refunds],
        overlay_cents=2 * LARGE,
    )
    return Case("pay_out", "game", request, seats, tournament_id=tournament_id, other_tournaments=(target,))


async def settle_tickets(wallet: InProcessWallet) -> Case:
    """Reimburses one ticket and replaces another."""
    tournament_id, seats = await _ticket_holders(wallet)
    target = await wallet.open_tournament(_name())
    request = tournament_pb2.SettleTicketsRequest(
        request_id=_name(),
        tournament=table_ref(tournament_id),
        settlement=tournament_pb2.TICKET_SETTLEMENT_REIMBURSE,
        freeroll_settlement=tournament_pb2.TICKET_SETTLEMENT_REPLACE,
        replacement_tournament_id=target,
    )
    return Case("settle_tickets", "game", request, seats, tournament_id=tournament_id, other_tournaments=(target,))


async def _ticket_holders(wallet: InProcessWallet) -> tuple[str, list[Seat]]:
    """Returns a tournament and two players with a ticket to it, the second from a freeroll."""
    tournament_id, satellite = await wallet.open_tournament(_name()), await wallet.open_tournament(_name())
    seats = [Seat(_name(), await wallet.open_account(_name()), tournament_id, "") for _ in range(2)]
    prizes = [
        tournament_pb2.Award(
            account_id=seat.account_id,
            reason=tournament_pb2.AWARD_REASON_PRIZE,
            amount_cents=1_000,
            ticket=tournament_pb2.TicketPrize(tournament_id=tournament_id, from_freeroll=from_freeroll),
        )
        for seat, from_freeroll in zip(seats, (False, True), strict=True)
    ]
    await wallet.pay_out(satellite, prizes, overlay_cents=2_000)
    return tournament_id, seats


async def _staked(wallet: InProcessWallet) -> tuple[Seat, str, list[str]]:
    seat = await wallet.sit_down(_name(), await wallet.open_table(_name(), MULTI_PLAYER))
    round_id = _name()
    return seat, round_id, [await wallet.place(seat, round_id, cents) for cents in (300, 200)]


def _name() -> str:
    return str(uuid4())


async def money_of(wallet: InProcessWallet, case: Case) -> Money:
    """Returns free and locked cents, version, cave and relevant events of each seat."""
    amounts: Money = []
    for seat in case.seats:
        answer = await wallet.wallet_service.get_balance(
            wallet_pb2.GetBalanceRequest(account_id=seat.account_id), OPERATOR
        )
        balance = answer.balance
        caves = sum(cave.cave_cents for cave in answer.caves)
        events = len(await wallet.relevant_events(seat.account_id))
        amounts.append((balance.free_cents, balance.locked_cents, balance.version, caves, events))
    if case.tournament_id:
        money = await wallet.tournament_money(case.tournament_id)
        paid_in, awards = sum(each.count for each in money.paid_in), sum(each.count for each in money.awarded)
        from_bank = money.overlay_cents + money.fees_returned_cents
        # No relevant event of a player.
        amounts.append((money.pool_cents, paid_in, awards, from_bank, money.HasField("closed_at"), 0))
        for tournament_id in (case.tournament_id, *case.other_tournaments):
            tickets = (await wallet.tournament_money(tournament_id)).tickets
            amounts.append((*(number for each in tickets for number in (each.state, each.count, each.value_cents)), 0))
    return amounts


async def send(wallet: InProcessWallet, case: Case, request: Message | None = None) -> bytes:
    caller = GAME if case.scope == "game" else OPERATOR
    service = wallet.tournament_service if case.tournament_id else wallet.wallet_service
    answer: bytes = await getattr(service, case.method)(request or case.request, caller)
    return answer


@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G5")
@pytest.mark.rule("903-B/2015:6.3.6.6")
@pytest.mark.parametrize(
    "prepare",
    [
        deposit,
        withdraw,
        place,
        place_many,
        place_in_a_cached_round,
        place_many_in_a_new_round,
        cancel,
        pay,
        pay_after_the_player_left,
        settle,
        settle_the_rest,
        settle_after_the_player_left,
        void,
        void_the_rest,
        buy_in,
        cash_out,
        transfer_hand,
        pay_in,
        pay_out,
        pay_in_by_ticket,
        pay_out_tickets,
        settle_tickets,
        close_tournament,
    ],
)
async def test_killed_at_any_step_the_command_sent_again_acts_once(
    wallet: InProcessWallet,
    wallet_database: WalletDatabase,
    prepare: Callable[[InProcessWallet], Awaitable[Case]],
) -> None:
    undisturbed = await prepare(wallet)
    for request in undisturbed.before:
        await send(wallet, undisturbed, request)
    before = await money_of(wallet, undisturbed)
    await send(wallet, undisturbed)
    expected = await money_of(wallet, undisturbed)
    new_events = sum(after[-1] - earlier[-1] for earlier, after in zip(before, expected, strict=True))
    assert new_events == (undisturbed.method in METHODS_WITH_RELEVANT_EVENT)

    for step in range(1, STEPS_LIMIT):
        case = await prepare(wallet)
        killed = await kill_at_step(
            wallet, wallet_database.url, step, case.method, case.scope, case.request, case.before
        )
        assert await money_of(wallet, case) in (before, expected)
        first = await send(wallet, case)
        assert await money_of(wallet, case) == expected
        assert await send(wallet, case) == first
        assert await money_of(wallet, case) == expected
        if not killed:
            break
    # Lock, read, write and commit, each before and after; with fewer steps there was no kill in between.
    assert step == 3 if undisturbed.one_statement else step > 8
    assert await ledger_audit.violations(wallet.engine, of_any_age=True) == []


@pytest.mark.guarantee("G5")
async def test_g5_a_killed_process_leaves_the_same_states_as_aborted_connections(
    wallet: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    """The control of the test above: it may abort connections because SIGKILL leaves the same at every step."""
    for step in range(1, STEPS_LIMIT):
        aborted, killed = await settle(wallet), await settle(wallet)
        was_aborted = await kill_at_step(
            wallet, wallet_database.url, step, aborted.method, aborted.scope, aborted.request
        )
        was_killed = await asyncio.to_thread(
            kill_process_at_step, wallet_database.url, step, killed.method, killed.scope, killed.request
        )
        assert was_aborted == was_killed
        assert await money_of(wallet, aborted) == await money_of(wallet, killed), f"killed at step {step}"
        if not was_killed:
            break
    assert step > 8
