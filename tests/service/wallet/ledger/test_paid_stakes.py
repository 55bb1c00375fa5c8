"""Stakes that are paid before their round ends: once, for good, and as part of the round's result."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from feltro.wallet.v1 import events_pb2, session_pb2, types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.wallet.model.state import PayoutLimits
from services.wallet.outbox.facts import player_subject, rounds_subject, unpack
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    GAME,
    INDIVIDUAL,
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    InProcessWallet,
    Seat,
    caller,
    open_wallet,
    round_ref,
    table_ref,
)

pytestmark = pytest.mark.rule("805/2015:20.a")

PAID, SETTLED, RETURNED = (
    types_pb2.STAKE_STATE_PAID,
    types_pb2.STAKE_STATE_SETTLED,
    types_pb2.STAKE_STATE_RETURNED,
)


@pytest.fixture
async def ana(wallet: InProcessWallet) -> Seat:
    await wallet.open_table("t1", MULTI_PLAYER, "805/2015")
    return await wallet.sit_down("ana", "t1", 10_000)


async def money(wallet: InProcessWallet, seat: Seat) -> tuple[int, int, int]:
    """Returns free cents, locked cents and the version of the account."""
    request = wallet_pb2.GetBalanceRequest(account_id=seat.account_id)
    balance = (await wallet.wallet_service.get_balance(request, OPERATOR)).balance
    return balance.free_cents, balance.locked_cents, balance.version


async def bank_cents(wallet: InProcessWallet) -> int:
    return await wallet.count("SELECT free_cents FROM accounts WHERE kind = 3")


async def stakes(wallet: InProcessWallet, round_id: str) -> dict[str, types_pb2.Stake]:
    request = wallet_pb2.GetRoundRequest(round_id=round_id)
    return {stake.stake_id: stake for stake in (await wallet.wallet_service.get_round(request, OPERATOR)).round.stakes}


def results(
    answer: wallet_pb2.PayStakesResponse | wallet_pb2.SettleRoundResponse | wallet_pb2.VoidRoundResponse,
) -> dict[str, tuple[int, int, int]]:
    """Returns staked, paid and the free balance after it by account."""
    return {each.account_id: (each.staked_cents, each.payout_cents, each.balance.free_cents) for each in answer.results}


async def refusal(wallet: InProcessWallet, round_id: str, payouts: dict[str, int], **named: object) -> Refused:
    before = await wallet.count("SELECT count(*) FROM entries")
    with pytest.raises(Refused) as refused:
        await wallet.pay("t1", round_id, payouts, **named)  # type: ignore[arg-type]
    assert await wallet.count("SELECT count(*) FROM entries") == before
    return refused.value


@pytest.mark.guarantee("G1")
@pytest.mark.rule("805/2015:15.e")
async def test_g1_some_stakes_are_paid_and_the_round_goes_on(wallet: InProcessWallet, ana: Seat) -> None:
    rui = await wallet.sit_down("rui", "t1", 10_000)
    prize, hand = [await wallet.place(ana, "r1", cents) for cents in (200, 300)]
    given_up, lost = await wallet.place(rui, "r1", 100), await wallet.place(rui, "r1", 50)
    wallet.clock.advance(5)

    # A prize at once, half of a hand that is given up, and a hand above 21.
    answer = await wallet.pay("t1", "r1", {prize: 400, given_up: 50, lost: 0})

    assert answer.transfer_id
    assert answer.paid_at.ToDatetime(wallet.clock.now().tzinfo) == wallet.clock.now()
    assert results(answer) == {ana.account_id: (200, 400, 9_900), rui.account_id: (150, 50, 9_900)}
    assert await money(wallet, ana) == (9_900, 300, 4)
    assert await money(wallet, rui) == (9_900, 0, 4)
    assert await bank_cents(wallet) == -100
    shown = await stakes(wallet, "r1")
    assert {stake_id: (s.state, s.payout_cents) for stake_id, s in shown.items()} == {
        prize: (PAID, 400),
        hand: (types_pb2.STAKE_STATE_OPEN, 0),
        given_up: (PAID, 50),
        lost: (PAID, 0),
    }
    assert shown[prize].paid_at == answer.paid_at
    assert not shown[hand].HasField("paid_at")
    assert await wallet.violations() == []


@pytest.mark.guarantee("G4")
async def test_g4_settling_names_the_open_stakes_only_and_answers_for_the_whole_round(
    wallet: InProcessWallet, ana: Seat
) -> None:
    rui = await wallet.sit_down("rui", "t1", 10_000)
    early, late = [await wallet.place(ana, "r1", cents) for cents in (200, 300)]
    of_rui = await wallet.place(rui, "r1", 100)
    await wallet.pay("t1", "r1", {early: 400, of_rui: 50})
    for payouts in ({early: 400, late: 600, of_rui: 50}, {early: 400, late: 600}, {}):
        with pytest.raises(Refused) as refused:
            await wallet.settle("t1", "r1", payouts)
        assert refused.value.reason == "STAKES_MISMATCH"

    settled = await wallet.settle("t1", "r1", {late: 600})

    # Rui has nothing open any more, and is among the results nevertheless.
    assert results(settled) == {ana.account_id: (500, 1_000, 10_500), rui.account_id: (100, 50, 9_950)}
    shown = await stakes(wallet, "r1")
    assert {i: (s.state, s.payout_cents) for i, s in shown.items()} == {
        early: (PAID, 400),
        late: (SETTLED, 600),
        of_rui: (PAID, 50),
    }
    assert await bank_cents(wallet) == -450
    assert await wallet.violations() == []


@pytest.mark.guarantee("G4")
async def test_g4_a_round_whose_stakes_are_all_paid_is_still_settled(wallet: InProcessWallet, ana: Seat) -> None:
    stake_id = await wallet.place(ana, "r1", 200)
    await wallet.pay("t1", "r1", {stake_id: 100})
    opened = await wallet.wallet_service.open_table(
        wallet_pb2.OpenTableRequest(
            table=table_ref("t1", 2), game="game", regulation="805/2015", mode=types_pb2.MODE_REAL, play=MULTI_PLAYER
        ),
        GAME,
    )
    assert list(opened.open_round_ids) == ["r1"]
    request = wallet_pb2.SettleRoundRequest(
        request_id="settle", round=types_pb2.RoundRef(round_id="r1", table=table_ref("t1", 2))
    )
    settled = await wallet.wallet_service.settle_round(request, GAME)
    answer = wallet_pb2.SettleRoundResponse.FromString(settled)
    assert (answer.transfer_id, results(answer)) == (0, {ana.account_id: (200, 100, 9_900)})
    assert await wallet.wallet_service.settle_round(request, GAME) == settled
    assert (await refusal(wallet, "r1", {stake_id: 100}, epoch=2)).reason == "ROUND_ENDED"
    assert await wallet.violations() == []


@pytest.mark.guarantee("G4")
async def test_g4_a_void_round_keeps_what_was_paid_and_returns_the_rest(wallet: InProcessWallet, ana: Seat) -> None:
    rui = await wallet.sit_down("rui", "t1", 10_000)
    early, late = [await wallet.place(ana, "r1", cents) for cents in (200, 300)]
    of_rui = await wallet.place(rui, "r1", 100)
    await wallet.pay("t1", "r1", {early: 400, of_rui: 50})

    voided = await wallet.void("t1", "r1")

    assert voided.transfer_id
    assert results(voided) == {ana.account_id: (500, 700, 10_200), rui.account_id: (100, 50, 9_950)}
    shown = await stakes(wallet, "r1")
    assert {i: (s.state, s.payout_cents) for i, s in shown.items()} == {
        early: (PAID, 400),
        late: (RETURNED, 0),
        of_rui: (PAID, 50),
    }
    assert await money(wallet, ana) == (10_200, 0, 5)
    assert await wallet.violations() == []


async def test_a_stake_is_placed_after_others_were_paid(wallet: InProcessWallet, ana: Seat) -> None:
    """A hand is split or doubled, or another player decides, after the first hands were paid."""
    first = await wallet.place(ana, "r1", 200)
    await wallet.pay("t1", "r1", {first: 0})
    second = await wallet.place(ana, "r1", 300)
    assert await money(wallet, ana) == (9_500, 300, 4)
    await wallet.pay("t1", "r1", {second: 150})
    third = await wallet.place(ana, "r1", 100)
    settled = await wallet.settle("t1", "r1", {third: 200})
    assert results(settled) == {ana.account_id: (600, 350, 9_750)}
    assert await wallet.violations() == []


async def test_a_stake_is_paid_what_is_left_of_it(wallet: InProcessWallet, ana: Seat) -> None:
    stake_id = await wallet.place(ana, "r1", 200)
    await wallet.cancel(ana, "r1", stake_id, 50)
    answer = await wallet.pay("t1", "r1", {stake_id: 75})
    assert results(answer) == {ana.account_id: (150, 75, 9_925)}
    assert await wallet.violations() == []


# -- once ------------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_payment_acts_once_and_other_content_is_refused(wallet: InProcessWallet, ana: Seat) -> None:
    first, second = [await wallet.place(ana, "r1", cents) for cents in (200, 300)]
    answer = await wallet.pay("t1", "r1", {first: 400}, "t1.1:pay:1")
    await wallet.open_table("t1", MULTI_PLAYER, "805/2015", epoch=2)
    # The next owner asks for the same, after a takeover and with another epoch.
    assert await wallet.pay("t1", "r1", {first: 400}, "t1.1:pay:1", epoch=2) == answer
    for payouts in ({first: 401}, {first: 400, second: 0}, {second: 400}):
        assert (await refusal(wallet, "r1", payouts, request_id="t1.1:pay:1", epoch=2)).reason == "REQUEST_REUSED"
    assert await money(wallet, ana) == (9_900, 300, 4)
    await wallet.settle("t1", "r1", {second: 0}, epoch=2)
    assert await wallet.pay("t1", "r1", {first: 400}, "t1.1:pay:1", epoch=2) == answer


@pytest.mark.guarantee("G3")
async def test_g3_the_first_answer_to_a_payment_is_found_again(wallet: InProcessWallet, ana: Seat) -> None:
    first, second = [await wallet.place(ana, "r1", cents) for cents in (200, 300)]
    answer = await wallet.pay("t1", "r1", {first: 400}, "t1.1:pay:1")
    third = await wallet.place(ana, "r1", 10)

    async def found(request_id: str) -> wallet_pb2.GetFirstAnswerResponse:
        return await wallet.wallet_service.get_first_answer(
            wallet_pb2.GetFirstAnswerRequest(request_id=request_id), GAME
        )

    again = await found("t1.1:pay:1")
    assert (again.paid, again.round_id, again.table_id) == (answer, "r1", "t1")
    # What was in play then: both stakes after the second was placed, without the paid one after the third was.
    assert {each.stake_id for each in (await found(second)).in_play} == {first, second}
    assert {each.stake_id for each in (await found(third)).in_play} == {second, third}


@pytest.mark.guarantee("G4")
async def test_g4_a_paid_stake_is_final(wallet: InProcessWallet, ana: Seat) -> None:
    first, second = [await wallet.place(ana, "r1", cents) for cents in (200, 300)]
    await wallet.pay("t1", "r1", {first: 400})
    again = await refusal(wallet, "r1", {first: 400})
    assert (again.reason, again.facts["stake_id"]) == ("STAKE_UNKNOWN", first)
    # All of a command or nothing.
    assert (await refusal(wallet, "r1", {second: 300, first: 400})).reason == "STAKE_UNKNOWN"
    for cents in (0, 100):
        with pytest.raises(Refused) as refused:
            await wallet.cancel(ana, "r1", first, cents)
        assert refused.value.reason == "STAKE_UNKNOWN"
    assert await money(wallet, ana) == (9_900, 300, 4)


# -- refused ---------------------------------------------------------------------------------------------------------


async def test_what_is_not_in_play_in_this_round_is_not_paid(wallet: InProcessWallet, ana: Seat) -> None:
    stake_id, elsewhere = await wallet.place(ana, "r1", 200), await wallet.place(ana, "r2", 100)
    cancelled = await wallet.place(ana, "r1", 50)
    await wallet.cancel(ana, "r1", cancelled)
    for unknown in (elsewhere, cancelled, "never"):
        assert (await refusal(wallet, "r1", {unknown: 10, stake_id: 10})).reason == "STAKE_UNKNOWN"
    assert (await refusal(wallet, "r3", {stake_id: 10})).reason == "ROUND_UNKNOWN"
    assert (await refusal(wallet, "r1", {})).reason == "INVALID"
    assert (await refusal(wallet, "r1", {stake_id: -1})).facts["field"] == "payouts[0].payout_cents"
    twice = wallet_pb2.PayStakesRequest(
        request_id="twice", round=round_ref("t1", "r1"), payouts=[wallet_pb2.StakePayout(stake_id=stake_id)] * 2
    )
    with pytest.raises(Refused) as refused:
        await wallet.wallet_service.pay_stakes(twice, GAME)
    assert refused.value.facts["field"] == "payouts[1].stake_id"


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_pays_nothing(wallet: InProcessWallet, ana: Seat) -> None:
    stake_id = await wallet.place(ana, "r1", 200)
    await wallet.open_table("t1", MULTI_PLAYER, "805/2015", epoch=2)
    assert (await refusal(wallet, "r1", {stake_id: 400}, request_id="pay")).reason == "STALE_EPOCH"
    # It is no answer: the owner pays by the same request.
    await wallet.pay("t1", "r1", {stake_id: 400}, "pay", epoch=2)
    assert await money(wallet, ana) == (10_200, 0, 3)


@pytest.mark.guarantee("G8")
async def test_g8_a_payment_with_a_higher_epoch_shuts_out_the_owner_before(wallet: InProcessWallet, ana: Seat) -> None:
    stake_id = await wallet.place(ana, "r1", 200)
    await wallet.pay("t1", "r1", {stake_id: 400}, epoch=2)
    with pytest.raises(Refused) as refused:
        await wallet.settle("t1", "r1")
    assert refused.value.reason == "STALE_EPOCH"


@pytest.mark.guarantee("G12")
async def test_g12_another_games_token_and_another_table_pay_nothing(wallet: InProcessWallet, ana: Seat) -> None:
    stake_id = await wallet.place(ana, "r1", 200)
    request = wallet_pb2.PayStakesRequest(
        request_id="pay",
        round=round_ref("t1", "r1"),
        payouts=[wallet_pb2.StakePayout(stake_id=stake_id, payout_cents=400)],
    )
    with pytest.raises(Refused) as refused:
        await wallet.wallet_service.pay_stakes(request, caller("game", "others", "other"))
    assert refused.value.reason == "WRONG_GAME"
    await wallet.open_table("t2", MULTI_PLAYER)
    with pytest.raises(Refused) as refused:
        await wallet.pay("t2", "r1", {stake_id: 400})
    assert refused.value.reason == "ROUND_MISMATCH"
    await wallet.open_table("holdem", POKER, "806/2015")
    with pytest.raises(Refused) as refused:
        await wallet.pay("holdem", "h1", {stake_id: 400})
    assert refused.value.reason == "WRONG_PLAY"
    assert await money(wallet, ana) == (9_800, 200, 2)


@pytest.mark.guarantee("G12")
async def test_g12_no_stake_and_no_round_is_paid_above_its_limit(wallet_database: WalletDatabase) -> None:
    limits = PayoutLimits(stake_cents=5_000, round_cents=8_000)
    async with open_wallet(wallet_database.url, payout_limits=limits) as wallet:
        await wallet.open_table("t1", MULTI_PLAYER, "805/2015")
        ana = await wallet.sit_down("ana", "t1", 10_000)
        order = wallet_pb2.StakeOrder(
            request_id="a",
            account_id=ana.account_id,
            session_id=ana.session_id,
            amount_cents=200,
            largest_payout_cents=400,
        )
        await wallet.wallet_service.place_stake(
            wallet_pb2.PlaceStakeRequest(round=round_ref("t1", "r1"), order=order), GAME
        )
        b, c = [await wallet.place(ana, "r1", 200) for _ in range(2)]

        async def refused_by(payouts: dict[str, int], request_id: str = "pay") -> tuple[str, str]:
            refused = await refusal(wallet, "r1", payouts, request_id=request_id)
            assert refused.reason == "PAYOUT_TOO_LARGE"
            return refused.facts["field"], refused.facts["limit_cents"]

        assert await refused_by({"a": 401}) == ("largest_payout_cents", "400")
        assert await refused_by({b: 5_001}) == ("stake", "5000")
        # The refusals are no answer.
        await wallet.pay("t1", "r1", {"a": 400, b: 5_000}, "pay")
        # What was paid before counts for the round.
        assert await refused_by({c: 2_601}, "again") == ("round", "8000")
        with pytest.raises(Refused) as refused:
            await wallet.settle("t1", "r1", {c: 2_601})
        assert (refused.value.reason, refused.value.facts["payout_cents"]) == ("PAYOUT_TOO_LARGE", "8001")
        await wallet.settle("t1", "r1", {c: 2_600})
        assert await wallet.violations() == []


# -- what clients see of it -------------------------------------------------------------------------------------------


async def test_the_player_and_the_operator_are_told_of_a_payment(wallet: InProcessWallet, ana: Seat) -> None:
    first, second = [await wallet.place(ana, "r1", cents) for cents in (200, 300)]
    answer = await wallet.pay("t1", "r1", {first: 400}, "t1.1:pay:1")
    await wallet.settle("t1", "r1", {second: 0})
    async with wallet.engine.connect() as connection:
        rows = (await connection.execute(text("SELECT facts FROM outbox ORDER BY outbox_no"))).scalars().all()
    found = [fact for row in rows for fact in unpack(row)]
    changes = [
        fact.balance_changed
        for fact in (events_pb2.PlayerFact.FromString(f.payload) for f in found if f.subject == player_subject("ana"))
        if fact.WhichOneof("fact") == "balance_changed"
    ]
    paid = [change for change in changes if change.transactions[0].kind == types_pb2.TRANSFER_KIND_STAKES_PAID]
    assert [(c.balance.free_cents, c.balance.locked_cents, c.transactions[0].transfer_id) for c in paid] == [
        (9_900, 300, answer.transfer_id)
    ]
    (ended,) = (events_pb2.RoundEnded.FromString(f.payload) for f in found if f.subject == rounds_subject("t1"))
    # The round as a whole, whenever its stakes were paid.
    assert (ended.staked_cents, ended.payout_cents) == (500, 400)

    listed = await wallet.wallet_service.list_transactions(
        wallet_pb2.ListTransactionsRequest(round_id="r1", kind=types_pb2.TRANSFER_KIND_STAKES_PAID), OPERATOR
    )
    (of_ana,) = [each for each in listed.transactions if each.account_id]
    assert (of_ana.request_id, of_ana.session_id) == ("t1.1:pay:1", ana.session_id)
    assert [(e.balance_part, e.amount_cents) for e in of_ana.entries] == [
        (types_pb2.BALANCE_PART_FREE, 400),
        (types_pb2.BALANCE_PART_LOCKED, -200),
    ]


async def test_a_round_with_payments_counts_once_in_the_summary_of_a_session(
    wallet: InProcessWallet, ana: Seat
) -> None:
    for round_id in ("r1", "r2"):
        first, second, third = [await wallet.place(ana, round_id, cents) for cents in (100, 200, 300)]
        await wallet.pay("t1", round_id, {first: 200})
        await wallet.pay("t1", round_id, {second: 100})
        if round_id == "r1":
            await wallet.settle("t1", round_id, {third: 600})
        else:
            await wallet.void("t1", round_id)
    summary = (await wallet.get_session(ana)).summary
    # The third stake of the void round came back: it was never at risk.
    assert (summary.staked_cents, summary.payout_cents, summary.net_cents) == (900, 1_200, 300)
    assert summary.rounds == 2


# -- sessions --------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G9")
async def test_g9_a_session_that_ends_waits_for_its_last_stake_to_be_paid(wallet: InProcessWallet, ana: Seat) -> None:
    first, second = [await wallet.place(ana, "r1", cents) for cents in (200, 300)]
    await wallet.end_session(ana)
    await wallet.pay("t1", "r1", {first: 400})
    assert await wallet.session_state(ana) == session_pb2.SESSION_STATE_ENDING
    await wallet.pay("t1", "r1", {second: 150})
    assert await wallet.session_state(ana) == session_pb2.SESSION_STATE_ENDED
    ended = [fact.session_ended for fact in await wallet.player_facts("ana") if fact.HasField("session_ended")]
    assert [(each.summary.staked_cents, each.summary.payout_cents) for each in ended] == [(500, 550)]

    settled = await wallet.settle("t1", "r1", report=[ana.session_in_round()])

    # The session is over and its summary is out; the balance is the account's all the same.
    assert results(settled) == {ana.account_id: (500, 550, 10_050)}
    assert list(settled.sessions.ended_session_ids) == []
    assert len([f for f in await wallet.player_facts("ana") if f.HasField("session_ended")]) == 1
    assert await wallet.violations() == []


async def test_a_player_who_comes_back_within_the_round_is_paid_by_the_session_of_each_stake(
    wallet: InProcessWallet, ana: Seat
) -> None:
    first = await wallet.place(ana, "r1", 200)
    await wallet.end_session(ana)
    await wallet.pay("t1", "r1", {first: 100})
    started = await wallet.start_session(ana.account_id, "t1")
    again = Seat("ana", ana.account_id, "t1", started.session.session_id)
    second = await wallet.place(again, "r1", 300)
    settled = await wallet.settle("t1", "r1", {second: 600})
    assert results(settled) == {ana.account_id: (500, 700, 10_200)}
    summaries = [(await wallet.get_session(seat)).summary for seat in (ana, again)]
    assert [(s.staked_cents, s.payout_cents, s.rounds) for s in summaries] == [(200, 100, 1), (300, 600, 1)]
    assert await wallet.violations() == []


@pytest.mark.rule("805/2015:35.b")
async def test_a_player_whose_stakes_were_all_paid_has_bet_in_the_round(wallet: InProcessWallet, ana: Seat) -> None:
    rui = await wallet.sit_down("rui", "t1", 10_000)
    for number in range(1, 11):
        round_id = f"r{number}"
        stake_id = await wallet.place(ana, round_id, 100)
        await wallet.pay("t1", round_id, {stake_id: 50})
        await wallet.settle("t1", round_id, report=[ana.session_in_round(), rui.session_in_round()])
    assert await wallet.session_state(ana) == session_pb2.SESSION_STATE_ACTIVE
    assert await wallet.session_state(rui) == session_pb2.SESSION_STATE_INVITED


@pytest.mark.rule("805/2015:35.a")
async def test_a_player_with_a_hand_in_play_is_not_inactive_and_the_time_counts_from_the_payment(
    wallet: InProcessWallet,
) -> None:
    await wallet.open_table("own", INDIVIDUAL, "805/2015")
    ana = await wallet.sit_down("ana", "own", 10_000)
    first, second = [await wallet.place(ana, "r1", cents) for cents in (200, 300)]
    await wallet.pay("own", "r1", {first: 400})
    await wallet.advance_clock(600)
    assert await wallet.session_state(ana) == session_pb2.SESSION_STATE_ACTIVE
    await wallet.pay("own", "r1", {second: 150})
    await wallet.advance_clock(180)
    assert await wallet.session_state(ana) == session_pb2.SESSION_STATE_ACTIVE
    await wallet.advance_clock(1)
    assert await wallet.session_state(ana) == session_pb2.SESSION_STATE_INVITED
