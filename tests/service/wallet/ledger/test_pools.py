"""Players pay into the pool of a tournament, and the pool pays them: once, never below zero, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest
import pytest_asyncio

from feltro.wallet.v1 import events_pb2, tournament_pb2, types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.wallet.model.state import PayoutLimits, RelevantEventLimits
from services.wallet.outbox.facts import player_subject
from tests.processes import ledger_audit
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    DEMO,
    GAME,
    OPERATOR,
    POKER,
    InProcessWallet,
    caller,
    open_wallet,
    player,
    table_ref,
)

ENTRY, RE_ENTRY, REBUY, ADD_ON = (
    tournament_pb2.PAY_IN_KIND_ENTRY,
    tournament_pb2.PAY_IN_KIND_RE_ENTRY,
    tournament_pb2.PAY_IN_KIND_REBUY,
    tournament_pb2.PAY_IN_KIND_ADD_ON,
)
PRIZE, BOUNTY, REFUND, SHARE = (
    tournament_pb2.AWARD_REASON_PRIZE,
    tournament_pb2.AWARD_REASON_BOUNTY,
    tournament_pb2.AWARD_REASON_REFUND,
    tournament_pb2.AWARD_REASON_CANCELLATION_SHARE,
)


def award(
    account_id: str, cents: int, reason: tournament_pb2.AwardReason.ValueType = PRIZE, refunded: str = ""
) -> tournament_pb2.Award:
    return tournament_pb2.Award(account_id=account_id, reason=reason, amount_cents=cents, refunded_request_id=refunded)


@pytest_asyncio.fixture
async def sunday(wallet: InProcessWallet) -> str:
    """A tournament for money."""
    return await wallet.open_tournament("sunday")


async def free(wallet: InProcessWallet, account_id: str) -> int:
    answer = await wallet.wallet_service.get_balance(wallet_pb2.GetBalanceRequest(account_id=account_id), OPERATOR)
    return answer.balance.free_cents


async def pool_and_bank(wallet: InProcessWallet, table_id: str) -> tuple[int, int]:
    pool, bank = [
        await wallet.count(
            f"SELECT free_cents FROM accounts JOIN tables USING (table_no) WHERE table_id = '{table_id}' AND kind = {kind}"  # noqa: S608, E501
        )
        for kind in (5, 3)
    ]
    return pool, bank


async def reason_of(call: Awaitable[object]) -> Refused:
    with pytest.raises(Refused) as refused:
        await call
    return refused.value


async def clean(wallet: InProcessWallet) -> None:
    assert await ledger_audit.violations(wallet.engine, of_any_age=True) == []


# -- the vectors of 810/2015 ----------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:21")
@pytest.mark.rule("810/2015:22")
@pytest.mark.rule("810/2015:25")
async def test_t_01_an_entry_is_taken_at_once_and_comes_back_at_once(wallet: InProcessWallet, sunday: str) -> None:
    ana = await wallet.open_account("ana", 2_500)
    entry = await wallet.pay_in(sunday, ana)
    assert await free(wallet, ana) == 1_400
    assert await pool_and_bank(wallet, sunday) == (1_000, 100)

    paid = await wallet.pay_out(sunday, [award(ana, 1_100, REFUND, entry)])
    assert (paid.balances[0].free_cents, paid.pool_cents, paid.fees_returned_cents) == (2_500, 0, 100)
    assert await pool_and_bank(wallet, sunday) == (0, 0)

    await wallet.withdraw(ana, 2_500 - 1_099)
    refused = await reason_of(wallet.pay_in(sunday, ana))
    assert refused.reason == "INSUFFICIENT_FUNDS"
    assert (refused.facts["free_cents"], refused.facts["needed_cents"]) == ("1099", "1100")
    assert await free(wallet, ana) == 1_099
    await clean(wallet)


@pytest.mark.rule("810/2015:36.a")
async def test_t_02_a_tournament_that_is_cancelled_before_its_start_gives_everything_back(
    wallet: InProcessWallet, sunday: str
) -> None:
    accounts = [await wallet.open_account(f"p{number}", 1_100) for number in range(87)]
    entries = [await wallet.pay_in(sunday, account) for account in accounts]
    assert await pool_and_bank(wallet, sunday) == (87_000, 8_700)
    refunds = [award(account, 1_100, REFUND, entry) for account, entry in zip(accounts, entries, strict=True)]
    paid = await wallet.pay_out(sunday, refunds)
    assert {balance.free_cents for balance in paid.balances} == {1_100}
    assert await pool_and_bank(wallet, sunday) == (0, 0)
    await wallet.close_tournament(sunday)
    await clean(wallet)


@pytest.mark.rule("810/2015:36.b")
@pytest.mark.rule("810/2015:38")
async def test_t_03_and_t_07_active_players_share_what_others_had_paid(wallet: InProcessWallet, sunday: str) -> None:
    accounts = [await wallet.open_account(f"p{number}", 2_200) for number in range(10)]
    entries = [await wallet.pay_in(sunday, account) for account in accounts]
    for account in (accounts[9], accounts[0], accounts[1]):
        await wallet.pay_in(sunday, account, kind=REBUY)
    awards = []
    for account, entry, share in zip(accounts, entries, (3_692, 2_539, 1_846, 923), strict=False):
        awards += [award(account, 1_100, REFUND, entry), award(account, share, SHARE)]
    await wallet.pay_out(sunday, awards)
    assert [await free(wallet, account) for account in accounts[:4]] == [4_792, 3_639, 1_100 + 2_946, 1_100 + 2_023]
    # Who was eliminated gets nothing back, of the rebuy neither.
    assert await free(wallet, accounts[9]) == 0
    assert await pool_and_bank(wallet, sunday) == (0, 900)
    await wallet.close_tournament(sunday)
    await clean(wallet)


@pytest.mark.rule("810/2015:36.c")
@pytest.mark.rule("810/2015:54")
@pytest.mark.parametrize(("shares", "shortfall", "bank"), [((4_667, 2_333), 1_800, -1_100), ((3_467, 1_733), 0, 700)])
async def test_t_04_what_a_cancellation_pays_beyond_the_pool_comes_from_the_bank_by_name(
    wallet: InProcessWallet, sunday: str, shares: tuple[int, int], shortfall: int, bank: int
) -> None:
    accounts = [await wallet.open_account(f"p{number}", 1_100) for number in range(9)]
    entries = [await wallet.pay_in(sunday, account) for account in accounts]
    await wallet.pay_out(sunday, [award(accounts[2], 1_800)])
    awards = []
    for account, entry, share in zip(accounts, entries, shares, strict=False):
        awards += [award(account, 1_100, REFUND, entry), award(account, share, SHARE)]
    if shortfall:
        refused = await reason_of(wallet.pay_out(sunday, awards, shortfall_cents=shortfall - 1))
        assert (refused.reason, refused.facts["pool_cents"]) == ("POOL_INSUFFICIENT", "7200")
    await wallet.pay_out(sunday, awards, shortfall_cents=shortfall)
    assert await pool_and_bank(wallet, sunday) == (0, bank)
    money = await wallet.tournament_money(sunday)
    assert (money.shortfall_cents, money.overlay_cents, money.fees_returned_cents) == (shortfall, 0, 200)
    await wallet.close_tournament(sunday)
    await clean(wallet)


@pytest.mark.rule("810/2015:36.b")
async def test_t_05_bounties_are_paid_from_the_pool_and_refunds_include_them(
    wallet: InProcessWallet, sunday: str
) -> None:
    accounts = [await wallet.open_account(f"p{number}", 1_000) for number in range(6)]
    entries = [await wallet.pay_in(sunday, account, 600, 100, 300) for account in accounts]
    await wallet.pay_out(sunday, [award(accounts[0], 300, BOUNTY) for _ in range(4)])
    awards = []
    for account, entry, share in zip(accounts, entries, (1_333, 1_067), strict=False):
        awards += [award(account, 1_000, REFUND, entry), award(account, share, SHARE)]
    await wallet.pay_out(sunday, awards)
    assert [await free(wallet, account) for account in accounts[:3]] == [2_333 + 1_200, 2_067, 0]
    assert await pool_and_bank(wallet, sunday) == (0, 400)
    await clean(wallet)


@pytest.mark.rule("810/2015:21")
async def test_t_20_a_rebuy_without_funds_is_refused_and_may_be_tried_after_a_deposit(
    wallet: InProcessWallet, sunday: str
) -> None:
    ana = await wallet.open_account("ana", 2_000)
    await wallet.pay_in(sunday, ana)
    refused = await reason_of(wallet.pay_in(sunday, ana, kind=REBUY, request_id="sunday:rebuy:1"))
    assert (refused.reason, refused.facts["free_cents"]) == ("INSUFFICIENT_FUNDS", "900")
    await wallet.deposit(ana, 200)
    # A late copy of what was refused does not take the deposit.
    again = await reason_of(wallet.pay_in(sunday, ana, kind=REBUY, request_id="sunday:rebuy:1"))
    assert again.facts == refused.facts
    await wallet.pay_in(sunday, ana, kind=REBUY, request_id="sunday:rebuy:2")
    assert (await free(wallet, ana), await pool_and_bank(wallet, sunday)) == (0, (2_000, 200))


@pytest.mark.rule("810/2015:32")
async def test_a_guarantee_above_what_was_paid_in_is_the_operators_by_name(
    wallet: InProcessWallet, sunday: str
) -> None:
    ana, rui = await wallet.open_account("ana", 1_100), await wallet.open_account("rui", 1_100)
    for account in (ana, rui):
        await wallet.pay_in(sunday, account)
    await wallet.pay_out(sunday, [award(ana, 3_500), award(rui, 1_500)], overlay_cents=3_000)
    money = await wallet.tournament_money(sunday)
    assert (money.pool_cents, money.overlay_cents, money.shortfall_cents) == (0, 3_000, 0)
    assert await pool_and_bank(wallet, sunday) == (0, 200 - 3_000)
    # A freeroll: nobody paid in, all of it is the operator's.
    freeroll = await wallet.open_tournament("freeroll")
    await wallet.pay_out(freeroll, [award(ana, 500)], overlay_cents=500)
    await wallet.close_tournament(freeroll)
    await clean(wallet)


# -- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G2")
async def test_g2_the_pool_pays_no_more_than_it_holds_and_may_be_asked_again(
    wallet: InProcessWallet, sunday: str
) -> None:
    ana, rui = await wallet.open_account("ana", 1_100), await wallet.open_account("rui", 1_100)
    other = await wallet.open_tournament("other")
    await wallet.pay_in(other, rui)
    await wallet.pay_in(sunday, ana)
    for _ in range(2):
        refused = await reason_of(wallet.pay_out(sunday, [award(ana, 600), award(rui, 401)], request_id="prize"))
        assert refused.reason == "POOL_INSUFFICIENT"
        assert refused.facts == {"table_id": "sunday", "pool_cents": "1000", "needed_cents": "1001"}
        assert await free(wallet, ana) == 0
    await wallet.deposit(rui, 1_100)
    await wallet.pay_in(sunday, rui, kind=RE_ENTRY)
    await wallet.pay_out(sunday, [award(ana, 600), award(rui, 401)], request_id="prize")
    assert (await pool_and_bank(wallet, sunday), await pool_and_bank(wallet, other)) == ((999, 200), (1_000, 100))
    await clean(wallet)


@pytest.mark.guarantee("G12")
async def test_g12_only_a_players_own_pay_in_is_given_back_whole_and_once(wallet: InProcessWallet, sunday: str) -> None:
    ana, rui = await wallet.open_account("ana", 3_300), await wallet.open_account("rui", 3_300)
    other = await wallet.open_tournament("other")
    entry, elsewhere = await wallet.pay_in(sunday, ana), await wallet.pay_in(other, ana)
    await wallet.pay_in(sunday, rui)
    await wallet.pay_in(sunday, rui, kind=REBUY)
    wrong = [
        [award(rui, 1_100, REFUND, entry)],
        [award(ana, 1_000, REFUND, entry)],
        [award(ana, 1_100, REFUND, elsewhere)],
        [award(ana, 1_100, REFUND, "nothing")],
        [award(ana, 1_100, REFUND, entry), award(ana, 1_100, REFUND, entry)],
    ]
    for awards in wrong:
        assert (await reason_of(wallet.pay_out(sunday, awards))).reason == "PAY_IN_UNKNOWN"
    await wallet.pay_out(sunday, [award(ana, 1_100, REFUND, entry)])
    again = await reason_of(wallet.pay_out(sunday, [award(ana, 1_100, REFUND, entry)]))
    assert again.reason == "PAY_IN_UNKNOWN"
    assert again.facts == {"table_id": "sunday", "account_id": ana, "refunded_request_id": entry}
    assert await pool_and_bank(wallet, sunday) == (2_000, 200)
    await clean(wallet)


@pytest.mark.guarantee("G12")
async def test_g12_a_closed_tournament_takes_and_pays_nothing(wallet: InProcessWallet, sunday: str) -> None:
    ana = await wallet.open_account("ana", 5_000)
    entry = await wallet.pay_in(sunday, ana, request_id="sunday:entry:ana")
    for _ in range(2):
        refused = await reason_of(wallet.close_tournament(sunday, "sunday:close"))
        assert (refused.reason, refused.facts) == ("POOL_NOT_EMPTY", {"table_id": "sunday", "pool_cents": "1000"})
    await wallet.pay_out(sunday, [award(ana, 1_000)])
    await wallet.close_tournament(sunday, "sunday:close")
    await wallet.close_tournament(sunday, "sunday:close")
    for late in (
        wallet.pay_in(sunday, ana),
        wallet.pay_out(sunday, [award(ana, 1_100, REFUND, entry)]),
        wallet.pay_out(sunday, [award(ana, 100)], overlay_cents=100),
        wallet.close_tournament(sunday),
    ):
        assert (await reason_of(late)).reason == "TOURNAMENT_CLOSED"
    # What was answered before it was closed still has its answer (G3).
    assert await wallet.pay_in(sunday, ana, request_id="sunday:entry:ana") == entry
    assert await free(wallet, ana) == 4_900
    assert (await wallet.tournament_money(sunday)).HasField("closed_at")
    await clean(wallet)


@pytest.mark.guarantee("G12")
async def test_g12_a_blocked_player_pays_nothing_in_but_is_paid(wallet: InProcessWallet, sunday: str) -> None:
    ana = await wallet.open_account("ana", 5_000)
    entry = await wallet.pay_in(sunday, ana)
    await wallet.wallet_service.block_account(wallet_pb2.BlockAccountRequest(account_id=ana), OPERATOR)
    assert (await reason_of(wallet.pay_in(sunday, ana, kind=REBUY))).reason == "ACCOUNT_BLOCKED"
    await wallet.pay_out(sunday, [award(ana, 1_100, REFUND, entry)])
    assert await free(wallet, ana) == 5_000


@pytest.mark.guarantee("G1")
async def test_g1_real_and_demonstration_money_never_meet_in_a_pool(wallet: InProcessWallet, sunday: str) -> None:
    real, demo = await wallet.open_account("ana", 5_000), await wallet.open_account("ana", 5_000, DEMO)
    practice = await wallet.open_tournament("practice", DEMO)
    await wallet.pay_in(sunday, real)
    await wallet.pay_in(practice, demo)
    for wrong in (
        wallet.pay_in(sunday, demo),
        wallet.pay_in(practice, real),
        wallet.pay_out(sunday, [award(demo, 1_000)]),
        wallet.pay_out(practice, [award(real, 1_000)]),
    ):
        assert (await reason_of(wrong)).reason == "MODE_MISMATCH"
    assert (await wallet.tournament_money(practice)).mode == DEMO
    await clean(wallet)


@pytest.mark.guarantee("G8")
async def test_g8_a_former_owner_neither_takes_nor_pays(wallet: InProcessWallet, sunday: str) -> None:
    ana = await wallet.open_account("ana", 5_000)
    entry = await wallet.pay_in(sunday, ana, request_id="sunday:entry:ana")
    await wallet.open_tournament(sunday, epoch=2)
    for stale in (
        wallet.pay_in(sunday, ana, kind=REBUY),
        wallet.pay_out(sunday, [award(ana, 1_000)]),
        wallet.close_tournament(sunday),
    ):
        assert (await reason_of(stale)).reason == "STALE_EPOCH"
    # The epoch is authority and not content: the next owner repeats what the last one asked for.
    assert await wallet.pay_in(sunday, ana, request_id=entry, epoch=2) == entry
    assert await free(wallet, ana) == 3_900


@pytest.mark.guarantee("G12")
async def test_g12_another_game_neither_pays_nor_learns(wallet: InProcessWallet, sunday: str) -> None:
    ana = await wallet.open_account("ana", 5_000)
    stranger = caller("game", "games", "other")
    service, tournament = wallet.tournament_service, table_ref(sunday)
    entry = tournament_pb2.PayInRequest(
        request_id="sunday:1", tournament=tournament, account_id=ana, kind=ENTRY, prize_cents=100
    )
    await service.pay_in(entry, GAME)
    for foreign in (
        service.pay_in(entry, stranger),
        service.pay_out(
            tournament_pb2.PayOutRequest(request_id="p", tournament=tournament, awards=[award(ana, 100)]), stranger
        ),
        service.close_tournament(
            tournament_pb2.CloseTournamentRequest(request_id="c", tournament=tournament), stranger
        ),
        service.get_tournament_money(tournament_pb2.GetTournamentMoneyRequest(tournament_id=sunday), stranger),
        service.list_tournament_pay_ins(tournament_pb2.ListTournamentPayInsRequest(tournament_id=sunday), stranger),
        service.list_tournament_awards(tournament_pb2.ListTournamentAwardsRequest(tournament_id=sunday), stranger),
        wallet.wallet_service.get_first_answer(wallet_pb2.GetFirstAnswerRequest(request_id="sunday:1"), stranger),
    ):
        assert (await reason_of(foreign)).reason == "WRONG_GAME"
    assert await free(wallet, ana) == 4_900


@pytest.mark.guarantee("G12")
async def test_g12_tournaments_and_tables_accept_only_their_commands(wallet: InProcessWallet, sunday: str) -> None:
    await wallet.open_table("holdem", POKER, "806/2015")
    ana = await wallet.sit_down("ana", sunday)
    for wrong in (
        wallet.place(ana, "r1", 100),
        wallet.settle(sunday, "r1"),
        wallet.void(sunday, "r1"),
        wallet.buy_in(ana, 100),
        wallet.cash_out(ana),
        wallet.transfer_hand(sunday, "r2", [(ana, 1, 1)]),
        wallet.pay_in("holdem", ana.account_id),
        wallet.pay_out("holdem", [award(ana.account_id, 1)]),
        wallet.close_tournament("holdem"),
    ):
        assert (await reason_of(wrong)).reason == "WRONG_PLAY"
    for nowhere in (wallet.pay_in("nowhere", ana.account_id), wallet.tournament_money("holdem")):
        assert (await reason_of(nowhere)).reason == "TABLE_UNKNOWN"
    await clean(wallet)


@pytest.mark.guarantee("G12")
async def test_g12_invalid_payments_are_refused(wallet: InProcessWallet, sunday: str) -> None:
    ana = await wallet.open_account("ana", 5_000)
    entry = await wallet.pay_in(sunday, ana)
    invalid = {
        "prize_cents": wallet.pay_in(sunday, ana, 0, 100),
        "kind": wallet.pay_in(sunday, ana, kind=tournament_pb2.PAY_IN_KIND_UNSPECIFIED),
        "fee_cents": wallet.pay_in(sunday, ana, 100, -1),
        "bounty_cents": wallet.pay_in(sunday, ana, 100, 0, -1),
        "awards": wallet.pay_out(sunday, []),
        "awards[0].amount_cents": wallet.pay_out(sunday, [award(ana, 0)]),
        "awards[0].reason": wallet.pay_out(sunday, [award(ana, 1, tournament_pb2.AWARD_REASON_UNSPECIFIED)]),
        "awards[0].refunded_request_id": wallet.pay_out(sunday, [award(ana, 1_100, REFUND)]),
        "awards[1].refunded_request_id": wallet.pay_out(sunday, [award(ana, 1), award(ana, 1, PRIZE, entry)]),
        # The operator adds to prizes, never to the pool.
        "overlay_cents": wallet.pay_out(
            sunday, [award(ana, 1_100, REFUND, entry), award(ana, 10)], overlay_cents=6, shortfall_cents=5
        ),
        "request_id": wallet.pay_in(sunday, ana, request_id="other:1"),
    }
    for field, call in invalid.items():
        refused = await reason_of(call)
        assert (refused.reason, refused.facts["field"]) == ("INVALID", field)
    unknown = "019e0000-0000-7000-8000-000000000000"
    for stranger in (wallet.pay_in(sunday, unknown), wallet.pay_out(sunday, [award(ana, 10), award(unknown, 10)])):
        assert (await reason_of(stranger)).reason == "ACCOUNT_UNKNOWN"
    assert await pool_and_bank(wallet, sunday) == (1_000, 100)


@pytest.mark.guarantee("G12")
async def test_g12_the_bank_adds_no_more_to_a_tournament_than_the_operator_allows(
    wallet_database: WalletDatabase,
) -> None:
    limits = PayoutLimits(stake_cents=1_000, round_cents=1_000)
    async with open_wallet(wallet_database.url, payout_limits=limits) as wallet:
        ana = await wallet.open_account("ana", 5_000)
        await wallet.open_tournament("sunday")
        await wallet.pay_in("sunday", ana, 4_000)
        await wallet.pay_out("sunday", [award(ana, 400)], overlay_cents=400)
        refused = await reason_of(wallet.pay_out("sunday", [award(ana, 601)], overlay_cents=300, shortfall_cents=301))
        assert refused.reason == "PAYOUT_TOO_LARGE"
        assert refused.facts == {
            "field": "from_bank", "limit_cents": "1000", "payout_cents": "1001", "table_id": "sunday",
        }  # fmt: skip
        await wallet.pay_out("sunday", [award(ana, 600)], shortfall_cents=600)
        # What the players have paid in themselves is theirs, however much it is.
        await wallet.pay_out("sunday", [award(ana, 4_000)])
        assert await pool_and_bank(wallet, "sunday") == (0, 100 - 1_000)


# -- once, and at the same time -------------------------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_each_payment_acts_once_and_another_content_is_refused(wallet: InProcessWallet, sunday: str) -> None:
    ana = await wallet.open_account("ana", 5_000)
    service, tournament = wallet.tournament_service, table_ref(sunday)
    entry = tournament_pb2.PayInRequest(
        request_id="sunday:entry", tournament=tournament, account_id=ana, kind=ENTRY, prize_cents=1_000, fee_cents=100
    )
    paid_in = await service.pay_in(entry, GAME)
    assert await service.pay_in(entry, GAME) == paid_in
    for change in ({"prize_cents": 999}, {"fee_cents": 99}, {"bounty_cents": 1}, {"kind": REBUY}):
        other = tournament_pb2.PayInRequest()
        other.CopyFrom(entry)
        for name, value in change.items():
            setattr(other, name, value)
        assert (await reason_of(service.pay_in(other, GAME))).reason == "REQUEST_REUSED"

    prize = tournament_pb2.PayOutRequest(
        request_id="sunday:prize", tournament=tournament, awards=[award(ana, 400), award(ana, 100, BOUNTY)]
    )
    paid_out = await service.pay_out(prize, GAME)
    assert await service.pay_out(prize, GAME) == paid_out
    prize.awards[1].reason = PRIZE
    assert (await reason_of(service.pay_out(prize, GAME))).reason == "REQUEST_REUSED"
    assert (await free(wallet, ana), await pool_and_bank(wallet, sunday)) == (4_400, (500, 100))

    first = await wallet.wallet_service.get_first_answer(
        wallet_pb2.GetFirstAnswerRequest(request_id="sunday:entry"), GAME
    )
    assert (first.paid_in.SerializeToString(), first.table_id) == (paid_in, sunday)
    second = await wallet.wallet_service.get_first_answer(
        wallet_pb2.GetFirstAnswerRequest(request_id="sunday:prize"), GAME
    )
    assert (second.paid_out.SerializeToString(), second.table_id) == (paid_out, sunday)
    await clean(wallet)


@pytest.mark.guarantee("G3")
async def test_g3_with_the_games_digest_it_alone_is_the_content(wallet: InProcessWallet, sunday: str) -> None:
    ana = await wallet.open_account("ana", 5_000)
    entry = tournament_pb2.PayInRequest(
        request_id="sunday:e", tournament=table_ref(sunday), account_id=ana, kind=ENTRY, prize_cents=1_000,
        command_digest=b"what ana asked for",
    )  # fmt: skip
    answer = await wallet.tournament_service.pay_in(entry, GAME)
    entry.prize_cents = 2_000
    assert await wallet.tournament_service.pay_in(entry, GAME) == answer
    entry.command_digest = b"another thing"
    assert (await reason_of(wallet.tournament_service.pay_in(entry, GAME))).reason == "REQUEST_REUSED"
    assert await free(wallet, ana) == 4_000


@pytest.mark.guarantee("G2")
@pytest.mark.guarantee("G3")
async def test_g2_two_replicas_at_once_take_each_entry_once_and_pay_the_pool_out_once(
    first_replica: InProcessWallet, second_replica: InProcessWallet
) -> None:
    sunday = await first_replica.open_tournament("sunday")
    accounts = [await first_replica.open_account(f"p{number}", 1_500) for number in range(12)]
    replicas = (first_replica, second_replica)
    entries = await asyncio.gather(
        *(
            replica.pay_in(sunday, account, request_id=f"sunday:entry:{number}")
            for number, account in enumerate(accounts)
            for replica in replicas
        )
    )
    assert await pool_and_bank(first_replica, sunday) == (12_000, 1_200)

    # Each refund is asked for under two request ids, and all money of the rest under two more: one of each succeeds.
    refunds = [
        replica.pay_out(sunday, [award(account, 1_100, REFUND, f"sunday:entry:{number}")])
        for number, account in enumerate(accounts[:6])
        for replica in replicas
    ]
    prizes = [replica.pay_out(sunday, [award(accounts[-1], 6_000)]) for replica in replicas]
    closings = [replica.close_tournament(sunday) for replica in replicas]
    answers = await asyncio.gather(*refunds, *prizes, *closings, return_exceptions=True)
    refused = [answer.reason for answer in answers if isinstance(answer, Refused)]
    assert refused.count("PAY_IN_UNKNOWN") + refused.count("TOURNAMENT_CLOSED") >= 6
    money = await first_replica.tournament_money(sunday)
    paid = sum(each.amount_cents for each in money.awarded)
    assert (paid, money.pool_cents) == (6 * 1_100 + 6_000, 0)
    assert len(set(entries)) == 12
    await clean(first_replica)


# -- answers and lists ----------------------------------------------------------------------------------------------


async def test_players_are_told_of_their_balance_and_the_tournament(wallet: InProcessWallet, sunday: str) -> None:
    ana = await wallet.open_account("ana", 2_000)
    entry = await wallet.pay_in(sunday, ana)
    await wallet.pay_out(sunday, [award(ana, 1_100, REFUND, entry)])
    changes = [
        events_pb2.PlayerFact.FromString(fact.payload).balance_changed
        for fact in await wallet.facts()
        if fact.subject == player_subject("ana")
    ]
    told = [
        (change.balance.free_cents, line.kind, line.tournament_id, [entry.amount_cents for entry in line.entries])
        for change in changes
        for line in change.transactions
    ]
    paid_in, paid_out = types_pb2.TRANSFER_KIND_TOURNAMENT_PAID_IN, types_pb2.TRANSFER_KIND_TOURNAMENT_PAID_OUT
    assert told[1:] == [(900, paid_in, sunday, [-1_100]), (2_000, paid_out, sunday, [1_100])]

    listed = await wallet.wallet_service.list_transactions(
        wallet_pb2.ListTransactionsRequest(account_id=ana), player("ana")
    )
    assert [(line.kind, line.tournament_id) for line in listed.transactions[:2]] == [
        (paid_out, sunday),
        (paid_in, sunday),
    ]
    assert listed.transactions[2].tournament_id == ""


@pytest.mark.parametrize("page_size", [0, 1])
async def test_whoever_takes_a_tournament_over_reads_what_was_paid_by_request(
    wallet: InProcessWallet, sunday: str, page_size: int
) -> None:
    ana, rui = await wallet.open_account("ana", 9_000), await wallet.open_account("rui", 9_000)
    other = await wallet.open_tournament("other")
    await wallet.pay_in(other, ana)
    await wallet.pay_in(sunday, ana, 600, 100, 300, request_id="sunday:1")
    await wallet.pay_in(sunday, rui, 600, 100, 300, request_id="sunday:2")
    await wallet.pay_in(sunday, rui, 500, 50, kind=REBUY, request_id="sunday:3")
    await wallet.pay_in(sunday, ana, 400, 0, kind=ADD_ON, request_id="sunday:4")
    await wallet.pay_out(sunday, [award(ana, 300, BOUNTY), award(ana, 700)], 200, request_id="sunday:5")
    await wallet.pay_out(sunday, [award(rui, 1_000, REFUND, "sunday:2")], request_id="sunday:6")

    assert await pay_ins(wallet, sunday, page_size=page_size) == [
        ("sunday:1", ana, ENTRY, 600, 100, 300, False),
        ("sunday:2", rui, ENTRY, 600, 100, 300, True),
        ("sunday:3", rui, REBUY, 500, 50, 0, False),
        ("sunday:4", ana, ADD_ON, 400, 0, 0, False),
    ]
    assert [line[0] for line in await pay_ins(wallet, sunday, ana, page_size)] == ["sunday:1", "sunday:4"]
    paid = [
        ("sunday:5", award(ana, 300, BOUNTY)),
        ("sunday:5", award(ana, 700)),
        ("sunday:6", award(rui, 1_000, REFUND, "sunday:2")),
    ]
    assert await awards(wallet, sunday, page_size=page_size) == paid
    assert await awards(wallet, sunday, rui, page_size) == paid[2:]

    money = await wallet.tournament_money(sunday)
    assert [(s.kind, s.count, s.prize_cents, s.fee_cents, s.bounty_cents) for s in money.paid_in] == [
        (ENTRY, 2, 1_200, 200, 600),
        (REBUY, 1, 500, 50, 0),
        (ADD_ON, 1, 400, 0, 0),
    ]
    assert [(s.reason, s.count, s.amount_cents) for s in money.awarded] == [
        (PRIZE, 1, 700),
        (BOUNTY, 1, 300),
        (REFUND, 1, 1_000),
    ]
    assert (money.pool_cents, money.overlay_cents, money.fees_returned_cents) == (1_000, 200, 100)
    assert not money.HasField("closed_at")
    own = await wallet.tournament_money(sunday, rui)
    assert ([s.kind for s in own.paid_in], [s.amount_cents for s in own.awarded]) == ([ENTRY, REBUY], [1_000])
    await clean(wallet)


async def pay_ins(
    wallet: InProcessWallet, table_id: str, account_id: str = "", page_size: int = 0
) -> list[tuple[str, str, int, int, int, int, bool]]:
    request = tournament_pb2.ListTournamentPayInsRequest(
        tournament_id=table_id, account_id=account_id, page_size=page_size
    )
    found: list[tuple[str, str, int, int, int, int, bool]] = []
    while True:
        answer = await wallet.tournament_service.list_tournament_pay_ins(request, GAME)
        found += [
            (p.request_id, p.account_id, p.kind, p.prize_cents, p.fee_cents, p.bounty_cents, p.refunded)
            for p in answer.pay_ins
        ]
        request.page_token = answer.next_page_token
        if not request.page_token:
            return found


async def awards(
    wallet: InProcessWallet, table_id: str, account_id: str = "", page_size: int = 0
) -> list[tuple[str, tournament_pb2.Award]]:
    request = tournament_pb2.ListTournamentAwardsRequest(
        tournament_id=table_id, account_id=account_id, page_size=page_size
    )
    found: list[tuple[str, tournament_pb2.Award]] = []
    while True:
        answer = await wallet.tournament_service.list_tournament_awards(request, GAME)
        found += [(line.request_id, line.award) for line in answer.awards]
        request.page_token = answer.next_page_token
        if not request.page_token:
            return found


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_a_large_prize_of_a_tournament_is_a_relevant_event_and_a_refund_is_not(
    wallet_database: WalletDatabase,
) -> None:
    async with open_wallet(wallet_database.url, limits=RelevantEventLimits(prize_cents=1_000)) as wallet:
        ana, rui = await wallet.open_account("ana", 5_000), await wallet.open_account("rui", 5_000)
        sunday = await wallet.open_tournament("sunday")
        entry = await wallet.pay_in(sunday, ana)
        for _ in range(2):
            await wallet.pay_in(sunday, rui)
        await wallet.pay_out(sunday, [award(ana, 1_100, REFUND, entry), award(ana, 999)])
        assert await wallet.relevant_events(ana) == []
        paid = await wallet.pay_out(sunday, [award(rui, 600), award(rui, 400, BOUNTY)], request_id="sunday:first")
        (event,) = await wallet.relevant_events(rui)
        assert (event.amount_cents, event.staked_cents, event.transfer_id) == (1_000, 0, paid.transfer_id)
        assert (event.table_id, event.game, event.session_id, event.reference) == (sunday, "game", "", sunday)
        await clean(wallet)
