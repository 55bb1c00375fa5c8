"""Won entries: used by their own player for their own tournament, and money only where the law says so."""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio

from feltro.wallet.v1 import ticket_pb2, tournament_pb2, types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.wallet.ledger.tickets import SETTLED_TICKETS_LIMIT
from services.wallet.model.state import RelevantEventLimits
from services.wallet.server.tournament_service import TARGETS_LIMIT
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
from tests.service.wallet.ledger.test_pools import (
    ADD_ON,
    BOUNTY,
    PRIZE,
    RE_ENTRY,
    REBUY,
    REFUND,
    SHARE,
    award,
    awards,
    clean,
    free,
    pool_and_bank,
    reason_of,
)

ISSUED, USED, RETURNED, CONVERTED, REIMBURSED, REPLACED, EXPIRED = (
    ticket_pb2.TICKET_STATE_ISSUED,
    ticket_pb2.TICKET_STATE_USED,
    ticket_pb2.TICKET_STATE_RETURNED,
    ticket_pb2.TICKET_STATE_CONVERTED,
    ticket_pb2.TICKET_STATE_REIMBURSED,
    ticket_pb2.TICKET_STATE_REPLACED,
    ticket_pb2.TICKET_STATE_EXPIRED,
)
RETURN, CASH, REPLACE = (
    tournament_pb2.TICKET_REFUND_RETURN,
    tournament_pb2.TICKET_REFUND_CASH,
    tournament_pb2.TICKET_REFUND_REPLACE,
)
LAPSE, REIMBURSE, EXCHANGE = (
    tournament_pb2.TICKET_SETTLEMENT_EXPIRE,
    tournament_pb2.TICKET_SETTLEMENT_REIMBURSE,
    tournament_pb2.TICKET_SETTLEMENT_REPLACE,
)


def ticket(account_id: str, cents: int, target: str = "sunday", *, freeroll: bool = False) -> tournament_pb2.Award:
    """A prize that is a ticket."""
    prize = award(account_id, cents)
    prize.ticket.tournament_id, prize.ticket.from_freeroll = target, freeroll
    return prize


def refund(
    account_id: str, cents: int, pay_in: str, how: tournament_pb2.TicketRefund.ValueType, replacement: str = ""
) -> tournament_pb2.Award:
    """Gives a pay-in by ticket back."""
    given_back = award(account_id, cents, REFUND, pay_in)
    given_back.ticket_refund, given_back.replacement_tournament_id = how, replacement
    return given_back


@pytest_asyncio.fixture
async def sunday(wallet: InProcessWallet) -> str:
    """The tournament that tickets are for."""
    return await wallet.open_tournament("sunday")


@pytest_asyncio.fixture
async def satellite(wallet: InProcessWallet, sunday: str) -> str:
    """A tournament that awards tickets."""
    assert sunday
    return await wallet.open_tournament("satellite")


async def win(
    wallet: InProcessWallet, account_id: str, cents: int = 1_100, target: str = "sunday", *, freeroll: bool = False
) -> str:
    """Awards a ticket that the operator pays for, and returns its id."""
    prize = ticket(account_id, cents, target, freeroll=freeroll)
    paid = await wallet.pay_out("satellite", [prize], overlay_cents=cents)
    return paid.tickets[0].ticket_id


async def state_of(wallet: InProcessWallet, ticket_id: str) -> ticket_pb2.TicketState.ValueType:
    request = ticket_pb2.ListTicketChangesRequest(ticket_id=ticket_id)
    return (await wallet.ticket_service.list_ticket_changes(request, OPERATOR)).ticket.state


async def steps(wallet: InProcessWallet, ticket_id: str) -> list[ticket_pb2.TicketState.ValueType]:
    return [change.state for change in await wallet.ticket_history(ticket_id)]


async def held(wallet: InProcessWallet, table_id: str = "sunday") -> int:
    """What the tickets account of a tournament holds."""
    return await wallet.count(
        f"SELECT free_cents FROM accounts JOIN tables USING (table_no) WHERE table_id = '{table_id}' AND kind = 6"  # noqa: S608
    )


# -- the vectors of 810/2015 ----------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:32")
async def test_t_15_a_satellite_pays_tickets_and_what_is_left_over_in_cash(
    wallet: InProcessWallet, satellite: str
) -> None:
    accounts = [await wallet.open_account(f"p{number}", 1_600) for number in range(21)]
    for account in accounts:
        await wallet.pay_in(satellite, account, 1_500, 100)
    paid = await wallet.pay_out(
        satellite, [ticket(accounts[0], 10_900), ticket(accounts[1], 10_900), award(accounts[2], 9_700)]
    )
    assert [(each.award_index, each.state) for each in paid.tickets] == [(0, ISSUED), (1, ISSUED)]
    assert [await free(wallet, account) for account in accounts[:3]] == [0, 0, 9_700]
    assert (await held(wallet), await pool_and_bank(wallet, satellite)) == (21_800, (0, 2_100))
    await wallet.close_tournament(satellite)
    won = await wallet.tickets("sunday")
    assert [(each.account_id, each.value_cents, each.state) for each in won] == [
        (accounts[0], 10_900, ISSUED),
        (accounts[1], 10_900, ISSUED),
    ]
    assert {(each.awarded_by_tournament_id, each.from_freeroll, each.won) for each in won} == {(satellite, False, True)}
    await clean(wallet)


@pytest.mark.rule("810/2015:28")
@pytest.mark.rule("810/2015:29")
async def test_t_19_a_second_won_entry_is_cash_at_once_and_the_first_never(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana = await wallet.open_account("ana")
    first = await win(wallet, ana, 10_900)
    assert await free(wallet, ana) == 0
    paid = await wallet.pay_out(satellite, [ticket(ana, 10_900)], overlay_cents=10_900)
    assert [each.state for each in paid.tickets] == [CONVERTED]
    assert (paid.balances[0].free_cents, await held(wallet)) == (10_900, 10_900)
    # Both steps are on record, by one transfer.
    history = await wallet.ticket_history(paid.tickets[0].ticket_id)
    assert [(each.state, each.transfer_id) for each in history] == [
        (ISSUED, paid.transfer_id),
        (CONVERTED, paid.transfer_id),
    ]
    assert await state_of(wallet, first) == ISSUED
    # It still is the second one when the first was used.
    await wallet.pay_in("sunday", ana, 10_000, 900, ticket_id=first)
    assert await state_of(wallet, await win(wallet, ana, 10_900)) == CONVERTED
    assert await free(wallet, ana) == 21_800
    await clean(wallet)


@pytest.mark.rule("810/2015:30")
async def test_t_19_a_second_entry_from_a_freeroll_is_no_money_and_lapses_with_the_event(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana = await wallet.open_account("ana")
    first = await win(wallet, ana, 10_900)
    second = await win(wallet, ana, 10_900, freeroll=True)
    assert (await state_of(wallet, second), await free(wallet, ana)) == (ISSUED, 0)
    await wallet.pay_in("sunday", ana, 10_000, 900, ticket_id=first)
    settled = await wallet.settle_tickets("sunday")
    assert [(each.state, each.count, each.value_cents) for each in settled.settled] == [(EXPIRED, 1, 10_900)]
    assert (await steps(wallet, second), await free(wallet, ana)) == ([ISSUED, EXPIRED], 0)
    assert (await held(wallet), await pool_and_bank(wallet, "sunday")) == (0, (10_000, 900 + 10_900))
    await clean(wallet)


@pytest.mark.rule("810/2015:29")
async def test_an_entry_that_was_bought_makes_no_won_one_the_second(wallet: InProcessWallet, satellite: str) -> None:
    ana = await wallet.open_account("ana", 1_100)
    await wallet.pay_in("sunday", ana)
    assert satellite
    assert await state_of(wallet, await win(wallet, ana)) == ISSUED
    # One from a freeroll was won, too: it makes the next one the second.
    rui = await wallet.open_account("rui")
    await win(wallet, rui, freeroll=True)
    assert await state_of(wallet, await win(wallet, rui)) == CONVERTED
    # To another tournament, it is the first again.
    await wallet.open_tournament("monday")
    assert await state_of(wallet, await win(wallet, rui, target="monday")) == ISSUED
    await clean(wallet)


@pytest.mark.rule("810/2015:29")
@pytest.mark.guarantee("G3")
async def test_of_two_tickets_in_one_payment_the_later_is_the_second(wallet: InProcessWallet, satellite: str) -> None:
    ana, rui = await wallet.open_account("ana"), await wallet.open_account("rui")
    won = [ticket(ana, 500), ticket(ana, 500), ticket(rui, 500, freeroll=True), ticket(rui, 500, freeroll=True)]
    for _ in range(2):
        paid = await wallet.pay_out(satellite, won, 2_000, request_id="satellite:prizes")
        assert [each.state for each in paid.tickets] == [ISSUED, CONVERTED, ISSUED, ISSUED]
        assert len({each.ticket_id for each in paid.tickets}) == 4
        assert (await free(wallet, ana), await free(wallet, rui), await held(wallet)) == (500, 0, 1_500)
    await clean(wallet)


@pytest.mark.rule("810/2015:29")
async def test_a_ticket_that_lapsed_makes_no_later_one_the_second(wallet: InProcessWallet, satellite: str) -> None:
    ana = await wallet.open_account("ana")
    assert satellite
    await win(wallet, ana)
    await wallet.settle_tickets("sunday")
    assert await state_of(wallet, await win(wallet, ana)) == ISSUED
    await clean(wallet)


@pytest.mark.rule("810/2015:37")
@pytest.mark.rule("810/2015:30")
async def test_t_06_a_cancelled_tournament_reimburses_entries_by_ticket(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana, rui, gil = [await wallet.open_account(name, 1_100) for name in ("ana", "rui", "gil")]
    await wallet.open_tournament("monday")
    assert satellite
    by_ticket = await wallet.pay_in("sunday", ana, ticket_id=await win(wallet, ana))
    of_freeroll = await win(wallet, rui, freeroll=True)
    by_freeroll = await wallet.pay_in("sunday", rui, ticket_id=of_freeroll)
    in_cash = await wallet.pay_in("sunday", gil)
    for _ in range(9):
        await wallet.deposit(gil, 1_100)
        await wallet.pay_in("sunday", gil, kind=RE_ENTRY)
    # The share by chips is prize money, in cash also for those who entered by ticket.
    paid = await wallet.pay_out(
        "sunday",
        [
            refund(ana, 1_100, by_ticket, CASH),
            award(ana, 1_846, SHARE),
            refund(rui, 1_100, by_freeroll, REPLACE, "monday"),
            award(rui, 1_846, SHARE),
            award(gil, 1_100, REFUND, in_cash),
        ],
    )
    assert [(each.award_index, each.state) for each in paid.tickets] == [(0, REIMBURSED), (2, ISSUED)]
    assert [await free(wallet, account) for account in (ana, rui, gil)] == [1_100 + 2_946, 1_100 + 1_846, 1_100]
    assert paid.fees_returned_cents == 300
    new = paid.tickets[1].ticket_id
    assert (await steps(wallet, of_freeroll), await steps(wallet, new)) == ([ISSUED, USED, REPLACED], [ISSUED])
    (to_monday,) = await wallet.tickets("monday")
    assert (to_monday.ticket_id, to_monday.value_cents, to_monday.from_freeroll) == (new, 1_100, True)
    assert (to_monday.replaced_ticket_id, to_monday.awarded_by_tournament_id) == (of_freeroll, "sunday")
    assert (await held(wallet), await held(wallet, "monday")) == (0, 1_100)
    await wallet.pay_in("monday", rui, ticket_id=new)
    await clean(wallet)


@pytest.mark.rule("810/2015:37")
async def test_t_06_before_the_start_tickets_that_nobody_has_used_are_reimbursed_too(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana, rui, gil = [await wallet.open_account(name) for name in ("ana", "rui", "gil")]
    await wallet.open_tournament("monday")
    assert satellite
    await win(wallet, ana)
    from_freeroll = await win(wallet, rui, freeroll=True)
    await wallet.pay_in("sunday", gil, ticket_id=await win(wallet, gil))
    settled = await wallet.settle_tickets("sunday", REIMBURSE, EXCHANGE, "monday")
    assert [(each.state, each.count, each.value_cents) for each in settled.settled] == [
        (REIMBURSED, 1, 1_100),
        (REPLACED, 1, 1_100),
    ]
    assert [await free(wallet, account) for account in (ana, rui, gil)] == [1_100, 0, 0]
    assert await steps(wallet, from_freeroll) == [ISSUED, REPLACED]
    assert (await held(wallet), await held(wallet, "monday")) == (0, 1_100)
    await clean(wallet)


# -- entering by ticket ---------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:28")
@pytest.mark.rule("810/2015:25")
async def test_an_entry_by_ticket_takes_no_money_and_unregistering_returns_the_ticket(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana = await wallet.open_account("ana", 50)
    assert satellite
    won = await win(wallet, ana)
    for _ in range(2):
        entry = await wallet.pay_in("sunday", ana, 600, 100, 400, ticket_id=won)
        assert (await free(wallet, ana), await held(wallet), await pool_and_bank(wallet, "sunday")) == (
            50,
            0,
            (1_000, 100),
        )
        paid = await wallet.pay_out("sunday", [refund(ana, 1_100, entry, RETURN)])
        assert [(each.ticket_id, each.state) for each in paid.tickets] == [(won, RETURNED)]
        assert (paid.fees_returned_cents, paid.balances[0].free_cents) == (100, 50)
        assert (await held(wallet), await pool_and_bank(wallet, "sunday")) == (1_100, (0, 0))
    assert await steps(wallet, won) == [ISSUED, USED, RETURNED, USED, RETURNED]
    await wallet.pay_in("sunday", ana, kind=RE_ENTRY, ticket_id=won)
    await clean(wallet)


@pytest.mark.rule("810/2015:28")
@pytest.mark.guarantee("G12")
async def test_g12_a_ticket_is_used_by_its_player_for_its_tournament_at_its_value_and_once(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana, rui = await wallet.open_account("ana", 5_000), await wallet.open_account("rui", 5_000)
    await wallet.open_tournament("monday")
    won = await win(wallet, ana)

    refused = await reason_of(wallet.pay_in("sunday", rui, ticket_id=won))
    assert refused.reason == "TICKET_NOT_TRANSFERABLE"
    assert refused.facts == {"ticket_id": won, "account_id": rui, "rule": "810/2015:28"}
    refused = await reason_of(wallet.pay_in("monday", ana, ticket_id=won))
    assert refused.facts == {"ticket_id": won, "field": "tournament_id", "table_id": "monday", "rule": "810/2015:32"}
    refused = await reason_of(wallet.pay_in("sunday", ana, 1_001, 100, ticket_id=won))
    assert refused.facts == {"ticket_id": won, "field": "value_cents", "value_cents": "1100", "rule": "810/2015:37"}
    for kind in (REBUY, ADD_ON):
        refused = await reason_of(wallet.pay_in("sunday", ana, kind=kind, ticket_id=won))
        assert (refused.reason, refused.facts) == ("INVALID", {"field": "ticket_id"})
    for unknown in ("no-ticket", "0199a1c3-5f7e-7c4e-8a3e-3f1d6c1b2a90"):
        refused = await reason_of(wallet.pay_in("sunday", ana, ticket_id=unknown))
        assert (refused.reason, refused.facts) == ("TICKET_UNKNOWN", {"ticket_id": unknown})
    assert (await held(wallet), await pool_and_bank(wallet, "sunday")) == (1_100, (0, 0))

    await wallet.pay_in("sunday", ana, ticket_id=won)
    refused = await reason_of(wallet.pay_in("sunday", ana, ticket_id=won, request_id="sunday:again"))
    assert (refused.reason, refused.facts["state"]) == ("TICKET_UNUSABLE", "TICKET_STATE_USED")
    assert (await free(wallet, ana), await free(wallet, rui)) == (5_000, 5_000)
    # The second entry is converted: it buys nothing.
    refused = await reason_of(wallet.pay_in("sunday", ana, ticket_id=await win(wallet, ana)))
    assert refused.facts["state"] == "TICKET_STATE_CONVERTED"
    assert satellite
    await clean(wallet)


@pytest.mark.guarantee("G3")
async def test_g3_an_entry_by_ticket_is_answered_once_and_its_refusal_too(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana = await wallet.open_account("ana", 5_000)
    won = await win(wallet, ana)
    assert satellite
    for _ in range(2):
        assert await wallet.pay_in("sunday", ana, ticket_id=won, request_id="sunday:1") == "sunday:1"
    # In cash it is another command.
    assert (await reason_of(wallet.pay_in("sunday", ana, request_id="sunday:1"))).reason == "REQUEST_REUSED"
    assert (await reason_of(wallet.pay_in("sunday", ana, ticket_id=won, request_id="sunday:2"))).reason == (
        "TICKET_UNUSABLE"
    )
    await wallet.pay_out("sunday", [refund(ana, 1_100, "sunday:1", RETURN)])
    # A late copy of what was refused does not use the returned ticket.
    assert (await reason_of(wallet.pay_in("sunday", ana, ticket_id=won, request_id="sunday:2"))).reason == (
        "TICKET_UNUSABLE"
    )
    first = wallet_pb2.GetFirstAnswerRequest(request_id="sunday:1", command_digest=b"")
    answer = await wallet.wallet_service.get_first_answer(first, GAME)
    assert (answer.table_id, answer.paid_in.pool_cents, answer.paid_in.balance.free_cents) == ("sunday", 1_000, 5_000)
    await clean(wallet)


@pytest.mark.guarantee("G12")
async def test_g12_a_blocked_player_enters_with_no_ticket_but_keeps_what_is_theirs(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana = await wallet.open_account("ana")
    assert satellite
    won = await win(wallet, ana)
    await wallet.wallet_service.block_account(wallet_pb2.BlockAccountRequest(account_id=ana), OPERATOR)
    assert (await reason_of(wallet.pay_in("sunday", ana, ticket_id=won))).reason == "ACCOUNT_BLOCKED"
    assert await state_of(wallet, await win(wallet, ana)) == CONVERTED
    await wallet.settle_tickets("sunday", REIMBURSE, REIMBURSE)
    assert await free(wallet, ana) == 2_200


@pytest.mark.guarantee("G8")
async def test_g8_a_former_owner_awards_uses_and_settles_no_ticket(wallet: InProcessWallet, satellite: str) -> None:
    ana = await wallet.open_account("ana")
    won = await win(wallet, ana)
    for tournament in ("sunday", satellite):
        await wallet.open_tournament(tournament, epoch=2)
    for stale in (
        wallet.pay_in("sunday", ana, ticket_id=won),
        wallet.pay_out(satellite, [ticket(ana, 500)], 500),
        wallet.settle_tickets("sunday"),
    ):
        assert (await reason_of(stale)).reason == "STALE_EPOCH"
    # The epoch of the satellite is none of its target's.
    await wallet.open_tournament("sunday", epoch=5)
    await wallet.pay_out(satellite, [ticket(ana, 500)], 500, epoch=2)
    assert await held(wallet) == 1_100


# -- giving back ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:28")
@pytest.mark.rule("810/2015:37")
@pytest.mark.guarantee("G12")
async def test_g12_a_pay_in_by_ticket_is_given_back_only_as_it_is_said_and_as_the_law_allows(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana = await wallet.open_account("ana", 1_100)
    await wallet.open_tournament("monday")
    assert satellite
    entry = await wallet.pay_in("sunday", ana, ticket_id=await win(wallet, ana))
    in_cash = await wallet.pay_in("sunday", ana, kind=RE_ENTRY)
    for wrong, rule in (
        (award(ana, 1_100, REFUND, entry), "810/2015:28"),
        (refund(ana, 1_100, entry, REPLACE, "monday"), "810/2015:37"),
        (refund(ana, 1_100, in_cash, RETURN), "810/2015:25"),
        (refund(ana, 1_100, in_cash, CASH), "810/2015:25"),
    ):
        refused = await reason_of(wallet.pay_out("sunday", [wrong], request_id="sunday:refund"))
        assert (refused.reason, refused.facts["rule"]) == ("TICKET_REFUND_MISMATCH", rule)
    # It was not stored: the same request may say it right.
    await wallet.pay_out("sunday", [refund(ana, 1_100, entry, CASH)], request_id="sunday:refund")
    again = await reason_of(wallet.pay_out("sunday", [refund(ana, 1_100, entry, RETURN)]))
    assert again.reason == "PAY_IN_UNKNOWN"
    assert await free(wallet, ana) == 1_100
    await clean(wallet)


@pytest.mark.rule("810/2015:37")
async def test_where_its_specific_rules_say_so_a_freerolls_ticket_is_reimbursed_in_cash(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana, rui = await wallet.open_account("ana"), await wallet.open_account("rui")
    assert satellite
    entry = await wallet.pay_in("sunday", ana, ticket_id=await win(wallet, ana, freeroll=True))
    await win(wallet, rui, freeroll=True)
    await wallet.pay_out("sunday", [refund(ana, 1_100, entry, CASH)])
    await wallet.settle_tickets("sunday", REIMBURSE, REIMBURSE)
    assert (await free(wallet, ana), await free(wallet, rui)) == (1_100, 1_100)
    await wallet.close_tournament("sunday")
    await clean(wallet)


# -- what a ticket is for -------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:32")
@pytest.mark.guarantee("G12")
async def test_g12_a_ticket_is_for_another_tournament_of_the_same_game_and_mode(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana = await wallet.open_account("ana", 1_100)
    entry = await wallet.pay_in(satellite, ana)
    await wallet.open_table("cash", POKER)
    await wallet.open_tournament("practice", DEMO)
    stranger = caller("game", "games", "other")
    request = wallet_pb2.OpenTableRequest(
        table=table_ref("elsewhere"), game="other", regulation="810/2015", mode=types_pb2.MODE_REAL,
        play=types_pb2.PLAY_TOURNAMENT,
    )  # fmt: skip
    await wallet.wallet_service.open_table(request, stranger)
    for target, reason, field in (
        (satellite, "INVALID", "awards[0].ticket.tournament_id"),
        ("", "INVALID", "awards[0].ticket.tournament_id"),
        ("nothing", "TABLE_UNKNOWN", None),
        ("cash", "WRONG_PLAY", None),
        ("practice", "TABLE_MISMATCH", "mode"),
        ("elsewhere", "WRONG_GAME", None),
    ):
        refused = await reason_of(wallet.pay_out(satellite, [ticket(ana, 1_000, target)]))
        assert (refused.reason, refused.facts.get("field")) == (reason, field)
    assert await pool_and_bank(wallet, satellite) == (1_000, 100)
    # A target that is registered later does.
    assert (await reason_of(wallet.pay_out(satellite, [ticket(ana, 1_000, "soon")], request_id="p"))).reason == (
        "TABLE_UNKNOWN"
    )
    await wallet.wallet_service.register_table(
        wallet_pb2.RegisterTableRequest(
            table_id="soon", game="game", regulation="810/2015", mode=types_pb2.MODE_REAL,
            play=types_pb2.PLAY_TOURNAMENT,
        ),
        GAME,
    )  # fmt: skip
    await wallet.pay_out(satellite, [ticket(ana, 1_000, "soon")], request_id="p")
    assert (await held(wallet, "soon"), bool(entry)) == (1_000, True)
    await clean(wallet)


@pytest.mark.parametrize("reason", [BOUNTY, SHARE, REFUND])
async def test_only_a_prize_is_a_ticket(
    wallet: InProcessWallet, satellite: str, reason: tournament_pb2.AwardReason.ValueType
) -> None:
    ana = await wallet.open_account("ana")
    wrong = ticket(ana, 500)
    wrong.reason = reason
    wrong.refunded_request_id = "entry" if reason == REFUND else ""
    refused = await reason_of(wallet.pay_out(satellite, [wrong]))
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "awards[0].ticket"})


async def test_a_refund_says_no_more_than_it_needs(wallet: InProcessWallet, satellite: str) -> None:
    ana = await wallet.open_account("ana")
    prize = award(ana, 500)
    prize.ticket_refund = RETURN
    nowhere = refund(ana, 500, "entry", REPLACE)
    named = refund(ana, 500, "entry", RETURN, "sunday")
    own = refund(ana, 500, "entry", REPLACE, satellite)
    unknown = refund(ana, 500, "entry", RETURN)
    unknown.ticket_refund = 9  # type: ignore[assignment]
    for wrong, field in (
        (prize, "ticket_refund"),
        (nowhere, "replacement_tournament_id"),
        (named, "replacement_tournament_id"),
        (own, "replacement_tournament_id"),
        (unknown, "ticket_refund"),
    ):
        refused = await reason_of(wallet.pay_out(satellite, [wrong]))
        assert (refused.reason, refused.facts) == ("INVALID", {"field": f"awards[0].{field}"})


@pytest.mark.rule("810/2015:37")
@pytest.mark.rule("810/2015:30")
async def test_a_ticket_to_a_tournament_that_is_over_is_cash_and_one_of_a_freeroll_void(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana, rui = await wallet.open_account("ana"), await wallet.open_account("rui")
    await wallet.open_tournament("monday")
    of_freeroll = await win(wallet, rui, target="monday", freeroll=True)
    entry = await wallet.pay_in("monday", rui, ticket_id=of_freeroll)
    await wallet.close_tournament("sunday")
    paid = await wallet.pay_out(satellite, [ticket(ana, 1_100), ticket(rui, 900, freeroll=True)], 2_000)
    assert [each.state for each in paid.tickets] == [REIMBURSED, EXPIRED]
    assert (await free(wallet, ana), await free(wallet, rui)) == (1_100, 0)
    assert (await held(wallet), await pool_and_bank(wallet, "sunday")) == (0, (0, 900))
    # So is one in place of another.
    replaced = await wallet.pay_out("monday", [refund(rui, 1_100, entry, REPLACE, "sunday")])
    assert [each.state for each in replaced.tickets] == [EXPIRED]
    await win(wallet, rui, 700, "monday", freeroll=True)
    settled = await wallet.settle_tickets("monday", REIMBURSE, EXCHANGE, "sunday")
    assert [(each.state, each.value_cents) for each in settled.settled] == [(REPLACED, 700)]
    assert await pool_and_bank(wallet, "sunday") == (0, 900 + 1_100 + 700)
    assert [each.state for each in await wallet.tickets("sunday")] == [REIMBURSED, EXPIRED, EXPIRED, EXPIRED]
    for tournament in ("monday", satellite):
        await wallet.close_tournament(tournament)
    await clean(wallet)


# -- the end of a tournament ----------------------------------------------------------------------------------------


@pytest.mark.guarantee("G12")
async def test_g12_a_tournament_with_open_tickets_is_not_closed(wallet: InProcessWallet, satellite: str) -> None:
    ana, rui = await wallet.open_account("ana"), await wallet.open_account("rui")
    await win(wallet, ana)
    for _ in range(2):
        refused = await reason_of(wallet.close_tournament("sunday", "sunday:close"))
        assert (refused.reason, refused.facts) == ("TICKETS_OPEN", {"table_id": "sunday", "tickets_cents": "1100"})
    assert not (await wallet.settle_tickets("sunday", request_id="sunday:tickets:0")).more
    # A ticket that comes meanwhile is for the next batch: the first one has its answer.
    await win(wallet, rui)
    await wallet.settle_tickets("sunday", request_id="sunday:tickets:0")
    assert (await reason_of(wallet.close_tournament("sunday", "sunday:close"))).reason == "TICKETS_OPEN"
    await wallet.settle_tickets("sunday", request_id="sunday:tickets:1")
    await wallet.close_tournament("sunday", "sunday:close")
    assert (await reason_of(wallet.settle_tickets("sunday"))).reason == "TOURNAMENT_CLOSED"
    assert satellite
    money = await wallet.tournament_money("sunday")
    assert [(each.state, each.count, each.value_cents) for each in money.tickets] == [(EXPIRED, 2, 2_200)]
    await clean(wallet)


@pytest.mark.guarantee("G11")
async def test_g11_many_tickets_are_settled_in_batches(wallet: InProcessWallet, satellite: str) -> None:
    count = SETTLED_TICKETS_LIMIT + 1
    ana = await wallet.open_account("ana")
    await wallet.pay_out(satellite, [ticket(ana, 10, freeroll=True) for _ in range(count)], 10 * count)
    money = await wallet.tournament_money("sunday", ana)
    assert [(each.state, each.count) for each in money.tickets] == [(ISSUED, count)]
    first = await wallet.settle_tickets("sunday", request_id="sunday:tickets:0")
    assert (first.more, [each.count for each in first.settled]) == (True, [SETTLED_TICKETS_LIMIT])
    assert await wallet.settle_tickets("sunday", request_id="sunday:tickets:0") == first
    # Two at once: the second finds what the first has left.
    second, third = await asyncio.gather(wallet.settle_tickets("sunday"), wallet.settle_tickets("sunday"))
    assert sorted([second.transfer_id > 0, third.transfer_id > 0]) == [False, True]
    assert (second.more, third.more) == (False, False)
    await wallet.close_tournament("sunday")
    await clean(wallet)


@pytest.mark.guarantee("G11")
async def test_g11_the_tickets_of_one_payment_are_to_a_few_tournaments(wallet: InProcessWallet, satellite: str) -> None:
    ana = await wallet.open_account("ana")
    awards = [ticket(ana, 10, f"target-{number}") for number in range(TARGETS_LIMIT + 1)]
    refused = await reason_of(wallet.pay_out(satellite, awards, 10 * len(awards)))
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "awards"})
    # As many as allowed are looked for.
    assert (await reason_of(wallet.pay_out(satellite, awards[1:], 10))).reason == "TABLE_UNKNOWN"


@pytest.mark.rule("810/2015:37")
async def test_what_lapses_cannot_be_money_and_what_is_replaced_needs_a_name(
    wallet: InProcessWallet, satellite: str
) -> None:
    await wallet.open_tournament("monday")
    assert satellite
    unset = tournament_pb2.TICKET_SETTLEMENT_UNSPECIFIED
    for settlement, of_freerolls, replacement, field in (
        (unset, LAPSE, "", "settlement"),
        (EXCHANGE, LAPSE, "", "settlement"),
        (REIMBURSE, unset, "", "freeroll_settlement"),
        (LAPSE, REIMBURSE, "", "freeroll_settlement"),
        (LAPSE, EXCHANGE, "monday", "freeroll_settlement"),
        (REIMBURSE, EXCHANGE, "", "replacement_tournament_id"),
        (REIMBURSE, LAPSE, "monday", "replacement_tournament_id"),
        (REIMBURSE, EXCHANGE, "sunday", "replacement_tournament_id"),
    ):
        refused = await reason_of(wallet.settle_tickets("sunday", settlement, of_freerolls, replacement))
        assert (refused.reason, refused.facts) == ("INVALID", {"field": field})
    refused = await reason_of(wallet.settle_tickets("sunday", REIMBURSE, EXCHANGE, "nothing"))
    assert refused.reason == "TABLE_UNKNOWN"


async def test_settling_without_tickets_does_nothing(wallet: InProcessWallet, sunday: str) -> None:
    settled = await wallet.settle_tickets(sunday)
    assert (settled.transfer_id, settled.more, list(settled.settled)) == (0, False, [])
    await wallet.open_table("cash", POKER)
    assert (await reason_of(wallet.settle_tickets("cash"))).reason == "WRONG_PLAY"
    await clean(wallet)


# -- money and reports ----------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G2")
async def test_g2_a_ticket_costs_the_pool_what_cash_would(wallet: InProcessWallet, satellite: str) -> None:
    ana = await wallet.open_account("ana", 1_100)
    await wallet.pay_in(satellite, ana)
    refused = await reason_of(wallet.pay_out(satellite, [ticket(ana, 1_001)]))
    assert (refused.reason, refused.facts["needed_cents"]) == ("POOL_INSUFFICIENT", "1001")
    await wallet.pay_out(satellite, [ticket(ana, 1_001)], overlay_cents=1)
    assert (await pool_and_bank(wallet, satellite), await held(wallet)) == ((0, 99), 1_001)
    await clean(wallet)


async def test_lists_and_sums_say_what_was_paid_and_issued_as_tickets(wallet: InProcessWallet, satellite: str) -> None:
    ana, rui = await wallet.open_account("ana", 9_000), await wallet.open_account("rui", 9_000)
    await wallet.open_tournament("monday")
    won = await win(wallet, ana, freeroll=True)
    entry = await wallet.pay_in("sunday", ana, ticket_id=won, request_id="sunday:1")
    await wallet.pay_in("sunday", rui, request_id="sunday:2")
    given_back = refund(ana, 1_100, entry, REPLACE, "monday")
    await wallet.pay_out("sunday", [given_back], request_id="sunday:3")

    request = tournament_pb2.ListTournamentPayInsRequest(tournament_id="sunday")
    listed = (await wallet.tournament_service.list_tournament_pay_ins(request, GAME)).pay_ins
    assert [(p.request_id, p.ticket_id, p.from_freeroll, p.refunded) for p in listed] == [
        ("sunday:1", won, True, True),
        ("sunday:2", "", False, False),
    ]
    # As they were asked for.
    assert await awards(wallet, "sunday") == [("sunday:3", given_back)]
    assert [line for _, line in await awards(wallet, satellite)] == [ticket(ana, 1_100, freeroll=True)]
    money = await wallet.tournament_money("sunday")
    assert [(s.count, s.prize_cents, s.ticket_count, s.ticket_cents) for s in money.paid_in] == [(2, 2_000, 1, 1_100)]
    assert [(s.reason, s.amount_cents, s.ticket_count, s.ticket_cents) for s in money.awarded] == [
        (REFUND, 1_100, 1, 1_100)
    ]
    assert [(s.state, s.count, s.value_cents) for s in money.tickets] == [(REPLACED, 1, 1_100)]
    of_satellite = await wallet.tournament_money(satellite)
    assert [(s.reason, s.ticket_cents) for s in of_satellite.awarded] == [(PRIZE, 1_100)]
    assert [s.ticket_cents for s in (await wallet.tournament_money("sunday", rui)).paid_in] == [0]
    await clean(wallet)


@pytest.mark.rule("806/2015:67")
async def test_a_ticket_is_neither_bet_nor_won_until_it_is_cash(wallet: InProcessWallet, satellite: str) -> None:
    seat = await wallet.sit_down("ana", satellite, 5_000)
    await wallet.pay_in(satellite, seat.account_id)
    # The second one is converted.
    await wallet.pay_out(satellite, [ticket(seat.account_id, 400), ticket(seat.account_id, 400)])
    won = (await wallet.tickets("sunday"))[0].ticket_id
    at_sunday = await wallet.sit_down("ana", "sunday", 0)
    await wallet.pay_in("sunday", seat.account_id, 300, 100, ticket_id=won)
    await wallet.pay_out("sunday", [award(seat.account_id, 300)])
    played = (await wallet.end_session(seat)).summary
    assert (played.staked_cents, played.payout_cents) == (1_100, 400)
    played = (await wallet.end_session(at_sunday)).summary
    assert (played.staked_cents, played.payout_cents) == (0, 300)


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_a_large_prize_is_a_relevant_event_whether_it_is_cash_or_a_ticket(
    wallet_database: WalletDatabase,
) -> None:
    async with open_wallet(wallet_database.url, limits=RelevantEventLimits(prize_cents=1_000)) as wallet:
        ana, rui = await wallet.open_account("ana"), await wallet.open_account("rui")
        for tournament in ("sunday", "satellite", "over"):
            await wallet.open_tournament(tournament)
        await wallet.close_tournament("over")
        await win(wallet, ana, 1_000)
        (event,) = await wallet.relevant_events(ana)
        assert (event.amount_cents, event.table_id) == (1_000, "satellite")
        # One that is void when it is awarded is no prize.
        await win(wallet, rui, 5_000, "over", freeroll=True)
        assert await wallet.relevant_events(rui) == []
        await clean(wallet)


# -- reading --------------------------------------------------------------------------------------------------------


async def listed(wallet: InProcessWallet, who: object, **wanted: object) -> list[str]:
    request = ticket_pb2.ListTicketsRequest(**wanted)  # type: ignore[arg-type]
    found: list[str] = []
    while True:
        answer = await wallet.ticket_service.list_tickets(request, who)  # type: ignore[arg-type]
        found += [each.ticket_id for each in answer.tickets]
        request.page_token = answer.next_page_token
        if not request.page_token:
            return found


@pytest.mark.guarantee("G7")
async def test_g7_players_see_their_own_tickets_and_games_those_to_their_tournaments(
    wallet: InProcessWallet, satellite: str
) -> None:
    ana, rui = await wallet.open_account("ana"), await wallet.open_account("rui")
    await wallet.open_tournament("monday")
    assert satellite
    won = [await win(wallet, ana), await win(wallet, ana), await win(wallet, ana, target="monday")]
    of_rui = await win(wallet, rui)
    for page_size in (0, 1):
        assert await listed(wallet, player("ana"), account_id=ana, page_size=page_size) == won
        assert await listed(wallet, OPERATOR, tournament_id="sunday", page_size=page_size) == [*won[:2], of_rui]
    assert await listed(wallet, player("ana"), account_id=ana, open_only=True) == [won[0], won[2]]
    assert await listed(wallet, player("ana"), account_id=ana, tournament_id="monday") == [won[2]]
    assert await listed(wallet, GAME, account_id=rui, tournament_id="sunday") == [of_rui]
    assert await listed(wallet, OPERATOR, account_id=rui) == [of_rui]

    stranger = caller("game", "games", "other")
    for who, wanted, reason in (
        (player("ana"), {"account_id": rui}, "ACCOUNT_UNKNOWN"),
        (player("ana"), {"tournament_id": "sunday"}, "INVALID"),
        (player("ana"), {}, "INVALID"),
        (OPERATOR, {}, "INVALID"),
        (GAME, {"account_id": ana}, "INVALID"),
        (stranger, {"tournament_id": "sunday"}, "WRONG_GAME"),
        (OPERATOR, {"tournament_id": "nothing"}, "TABLE_UNKNOWN"),
    ):
        assert (await reason_of(listed(wallet, who, **wanted))).reason == reason

    async def changes(who: object, ticket_id: str) -> ticket_pb2.ListTicketChangesResponse:
        request = ticket_pb2.ListTicketChangesRequest(ticket_id=ticket_id, page_size=1)
        return await wallet.ticket_service.list_ticket_changes(request, who)  # type: ignore[arg-type]

    first = await changes(player("ana"), won[1])
    assert (first.ticket.state, [each.state for each in first.changes]) == (CONVERTED, [ISSUED])
    following = ticket_pb2.ListTicketChangesRequest(ticket_id=won[1], page_token=first.next_page_token)
    rest = await wallet.ticket_service.list_ticket_changes(following, OPERATOR)
    assert ([each.state for each in rest.changes], rest.next_page_token) == ([CONVERTED], "")
    for who, ticket_id, reason in (
        (player("ana"), of_rui, "TICKET_UNKNOWN"),
        (player("ana"), "0199a1c3-5f7e-7c4e-8a3e-3f1d6c1b2a90", "TICKET_UNKNOWN"),
        (player("ana"), "no-ticket", "TICKET_UNKNOWN"),
        (stranger, of_rui, "WRONG_GAME"),
    ):
        assert (await reason_of(changes(who, ticket_id))).reason == reason


@pytest.mark.guarantee("G5")
async def test_g5_a_player_learns_of_each_change_of_a_ticket(wallet: InProcessWallet, satellite: str) -> None:
    ana = await wallet.open_account("ana")
    assert satellite
    won = await win(wallet, ana)
    entry = await wallet.pay_in("sunday", ana, ticket_id=won)
    await wallet.pay_out("sunday", [refund(ana, 1_100, entry, RETURN)])
    await win(wallet, ana)
    await wallet.settle_tickets("sunday")
    facts = [fact for fact in await wallet.player_facts("ana") if fact.HasField("ticket_changed")]
    changed = [fact.ticket_changed.ticket for fact in facts]
    assert [(each.ticket_id == won, each.state) for each in changed] == [
        (True, ISSUED),
        (True, USED),
        (True, RETURNED),
        (False, CONVERTED),
        (True, EXPIRED),
    ]
    # As a query would say it.
    assert changed[-1] == (await wallet.tickets("sunday"))[0]


@pytest.mark.guarantee("G12")
async def test_g12_a_refused_command_changes_no_ticket(wallet: InProcessWallet, satellite: str) -> None:
    ana, rui = await wallet.open_account("ana"), await wallet.open_account("rui", 1_100)
    won = await win(wallet, ana)
    entry = await wallet.pay_in("sunday", ana, ticket_id=won)
    in_cash = await wallet.pay_in("sunday", rui)
    with pytest.raises(Refused):
        await wallet.pay_out("sunday", [refund(ana, 1_100, entry, RETURN), award(rui, 1_100, REFUND, in_cash + "x")])
    with pytest.raises(Refused):
        await wallet.pay_out(satellite, [ticket(rui, 500), award("nobody", 100)], 600)
    assert (await state_of(wallet, won), await wallet.tickets("sunday", rui)) == (USED, [])
    await clean(wallet)
