"""Money that goes to the wrong account without breaking any other rule: the audit names each case, and nothing else.

Everything is written in the service's own role, with every trigger on: entries sum to zero, follow one another and have
their request. Only the shape of the transfer's kind shows that something is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from sqlalchemy import text

from feltro.wallet.v1 import tournament_pb2
from services.wallet.audit.auditor import Auditor, connect
from services.wallet.audit.transfer_shapes import SHAPES
from services.wallet.model.state import Mode, Play, RoundState, TransferKind
from tests.processes.databases import connect_asyncpg
from tests.service.wallet.in_process_wallet import DEMO, MULTI_PLAYER, POKER, open_wallet
from tests.service.wallet.ledger_writer import FREE, LOCKED, LedgerWriter, Leg, Session, Table, small_ledger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.processes.databases import WalletDatabase
    from tests.service.wallet.ledger_writer import SmallLedger

pytestmark = pytest.mark.guarantee("G1")


class Scenario(NamedTuple):
    """A ledger without a fault, and a writer that adds another transfer to it."""

    writer: LedgerWriter
    ledger: SmallLedger
    # A second poker table where Ana and Rui sit, too.
    other_table: Table
    at_other: tuple[Session, Session]
    other_caves: tuple[int, int]

    async def move(self, kind: TransferKind, *legs: Leg, mode: Mode = Mode.REAL, round_no: int | None = None) -> int:
        """Writes the transfer under the request id `theft`, and returns its number."""
        number, _ = await self.writer.transfer(kind, mode, legs, round_no=round_no, request_id="theft")
        return number

    async def end_round(self, round_no: int, state: RoundState = RoundState.SETTLED) -> None:
        """Records in the round's row that the transfer ended it."""
        await self.writer.connection.execute(
            "UPDATE rounds SET state = $2, ended_at = now(), end_transfer_no = transfer_no FROM transfers"
            " WHERE rounds.round_no = $1 AND request_id = 'theft'",
            round_no,
            state,
        )


@pytest.fixture
async def scenario(wallet_database: WalletDatabase) -> AsyncIterator[Scenario]:
    connection = await connect_asyncpg(wallet_database.url)
    writer = LedgerWriter(connection)
    ledger = await small_ledger(writer)
    other_table = await writer.table("poker-2", Play.POKER)
    at_other = await writer.session(ledger.ana, other_table), await writer.session(ledger.rui, other_table)
    caves = await writer.cave(at_other[0]), await writer.cave(at_other[1])
    for session, cave_no in zip(at_other, caves, strict=True):
        await writer.buy_in(session, cave_no, 500)
    yield Scenario(writer, ledger, other_table, at_other, caves)
    await connection.close()


async def _found(url: str) -> list[tuple[str, str]]:
    engine = connect(url)
    found: list[tuple[str, str]] = []
    # Nothing is published here, and the wallet's clock shows another year.
    auditor = Auditor(engine, outbox_age_s=1e9, round_hours=1e9)
    await auditor.run(lambda check, sentence: found.append((check.name, sentence)))
    await engine.dispose()
    return found


class Theft(NamedTuple):
    """A transfer that takes money from its owner, and what the audit says after the transfer's number."""

    commit: Callable[[Scenario], Awaitable[None]]
    sentence: str


THEFTS: list[Theft] = []


def theft(sentence: str) -> Callable[[Callable[[Scenario], Awaitable[None]]], Callable[[Scenario], Awaitable[None]]]:
    """Adds a theft to the list; its sentence may name fields of the scenario."""

    def add(commit: Callable[[Scenario], Awaitable[None]]) -> Callable[[Scenario], Awaitable[None]]:
        THEFTS.append(Theft(commit, sentence))
        return commit

    return add


BETWEEN_PLAYERS = "it is between accounts {ledger.ana.no} and {ledger.rui.no}, two players'"


@theft(f"a deposit: it moved player +, player -, but a deposit moves player +, operator -; {BETWEEN_PLAYERS}.")
async def a_deposit_out_of_another_players_account(scenario: Scenario) -> None:
    ana, rui = scenario.ledger.ana, scenario.ledger.rui
    await scenario.move(TransferKind.DEPOSIT, Leg(rui.no, FREE, -700), Leg(ana.no, FREE, 700))


@theft(f"a deposit: {BETWEEN_PLAYERS}.")
async def a_deposit_at_the_cost_of_another_players_operator(scenario: Scenario) -> None:
    ana, rui = scenario.ledger.ana, scenario.ledger.rui
    await scenario.move(TransferKind.DEPOSIT, Leg(ana.no, FREE, 700), Leg(rui.operator_account_no, FREE, -700))


@theft("a deposit: it moved player +, bank -, but a deposit moves player +, operator -.")
async def a_deposit_out_of_a_bank(scenario: Scenario) -> None:
    ledger = scenario.ledger
    await scenario.move(TransferKind.DEPOSIT, Leg(ledger.ana.no, FREE, 700), Leg(ledger.roulette.bank_no, FREE, -700))


@theft("a deposit: it is of round {ledger.open_no}.")
async def a_deposit_in_a_round(scenario: Scenario) -> None:
    ana = scenario.ledger.ana
    legs = [Leg(ana.no, FREE, 700), Leg(ana.operator_account_no, FREE, -700)]
    await scenario.move(TransferKind.DEPOSIT, *legs, round_no=scenario.ledger.open_no)


@theft(f"a withdrawal: {BETWEEN_PLAYERS}.")
async def a_withdrawal_of_another_players_money(scenario: Scenario) -> None:
    ana, rui = scenario.ledger.ana, scenario.ledger.rui
    await scenario.move(TransferKind.WITHDRAWAL, Leg(ana.no, FREE, -700), Leg(rui.operator_account_no, FREE, 700))


@theft("a withdrawal: it paid out demonstration credits.")
async def a_withdrawal_of_credits(scenario: Scenario) -> None:
    demo = scenario.ledger.demo
    legs = [Leg(demo.no, FREE, -100), Leg(demo.operator_account_no, FREE, 100)]
    await scenario.move(TransferKind.WITHDRAWAL, *legs, mode=Mode.DEMO)


@theft(f"a stake: {BETWEEN_PLAYERS}.")
async def a_stake_with_another_players_money(scenario: Scenario) -> None:
    """Both players are in the round, so that its stakes agree with each player's entries."""
    writer, ledger = scenario.writer, scenario.ledger
    await writer.stake(ledger.at_roulette[1], ledger.open_no, 50)
    ana = ledger.at_roulette[0]
    legs = [Leg(ledger.rui.no, FREE, -100, ledger.at_roulette[1].no), Leg(ledger.ana.no, LOCKED, 100, ana.no)]
    await scenario.move(TransferKind.STAKE, *legs, round_no=ledger.open_no)
    await writer.connection.execute(
        "INSERT INTO stakes (stake_no, stake_id, round_no, account_no, session_no, placed_cents, placed_at, detail)"
        " SELECT transfer_no, request_id, round_no, $1, $2, 100, at, '' FROM transfers WHERE request_id = 'theft'",
        ledger.ana.no,
        ana.no,
    )


@theft(f"a cancelled stake: {BETWEEN_PLAYERS}.")
async def a_stake_taken_back_by_another_player(scenario: Scenario) -> None:
    writer, ledger = scenario.writer, scenario.ledger
    await writer.stake(ledger.at_roulette[1], ledger.open_no, 50)
    ana, rui = ledger.at_roulette
    legs = [Leg(ledger.ana.no, LOCKED, -100, ana.no), Leg(ledger.rui.no, FREE, 100, rui.no)]
    number = await scenario.move(TransferKind.STAKE_CANCELLED, *legs, round_no=ledger.open_no)
    await writer.take_back(number, ledger.stakes[2], 100)
    await writer.connection.execute(
        "UPDATE stakes SET cancelled_cents = cancelled_cents + 100 WHERE stake_no = $1", ledger.stakes[2]
    )


@theft("a settled round: it joins tables {ledger.roulette.no} and {ledger.poker.no}.")
async def a_round_paid_by_the_bank_of_another_table(scenario: Scenario) -> None:
    ledger = scenario.ledger
    ana = ledger.at_roulette[0]
    legs = [Leg(ledger.ana.no, LOCKED, -250, ana.no), Leg(ledger.ana.no, FREE, 500, ana.no)]
    legs.append(Leg(ledger.poker.bank_no, FREE, -250))
    await scenario.move(TransferKind.ROUND_SETTLED, *legs, round_no=ledger.open_no)
    await scenario.writer.connection.execute(
        "UPDATE stakes SET state = 3, payout_cents = 500 WHERE stake_no = $1", ledger.stakes[2]
    )
    await scenario.end_round(ledger.open_no)


@theft(
    "a settled round: it moved player +, player locked -, bank -, cave +,"
    " but a settled round moves player locked -, and may move player +, bank +, bank -;"
    " it joins tables {ledger.roulette.no} and {ledger.poker.no}."
)
async def a_round_that_fills_a_cave(scenario: Scenario) -> None:
    ledger = scenario.ledger
    ana = ledger.at_roulette[0]
    legs = [Leg(ledger.ana.no, LOCKED, -250, ana.no), Leg(ledger.ana.no, FREE, 500, ana.no)]
    legs += [Leg(ledger.roulette.bank_no, FREE, -260), Leg(ledger.caves[0], FREE, 10, ledger.at_poker[0].no)]
    await scenario.move(TransferKind.ROUND_SETTLED, *legs, round_no=ledger.open_no)
    await scenario.writer.connection.execute(
        "UPDATE stakes SET state = 3, payout_cents = 500 WHERE stake_no = $1", ledger.stakes[2]
    )
    await scenario.end_round(ledger.open_no)


@theft(
    "a payment of stakes: it moved player +, player locked -, operator +, bank -,"
    " but a payment of stakes moves player locked -, and may move player +, bank +, bank -."
)
async def a_payment_that_also_pays_the_operator(scenario: Scenario) -> None:
    ledger = scenario.ledger
    ana = ledger.at_roulette[0]
    legs = [Leg(ledger.ana.no, LOCKED, -250, ana.no), Leg(ledger.ana.no, FREE, 500, ana.no)]
    legs += [Leg(ledger.roulette.bank_no, FREE, -260), Leg(ledger.ana.operator_account_no, FREE, 10)]
    number = await scenario.move(TransferKind.STAKES_PAID, *legs, round_no=ledger.open_no)
    await scenario.writer.connection.execute(
        "UPDATE stakes SET state = 5, payout_cents = 500, paid_transfer_no = $2 WHERE stake_no = $1",
        ledger.stakes[2],
        number,
    )


@theft(
    "a void round: it moved player +, player locked -, operator +, bank -,"
    " but a void round moves player +, player locked -."
)
async def a_void_round_that_costs_the_bank(scenario: Scenario) -> None:
    ledger = scenario.ledger
    ana = ledger.at_roulette[0]
    legs = [Leg(ledger.ana.no, LOCKED, -250, ana.no), Leg(ledger.ana.no, FREE, 250, ana.no)]
    legs += [Leg(ledger.roulette.bank_no, FREE, -90), Leg(ledger.ana.operator_account_no, FREE, 90)]
    await scenario.move(TransferKind.ROUND_VOID, *legs, round_no=ledger.open_no)
    await scenario.writer.connection.execute("UPDATE stakes SET state = 4 WHERE stake_no = $1", ledger.stakes[2])
    await scenario.end_round(ledger.open_no, RoundState.VOID)


@theft(f"a buy-in: {BETWEEN_PLAYERS}.")
async def a_buy_in_into_another_players_cave(scenario: Scenario) -> None:
    ledger = scenario.ledger
    ana, rui = ledger.at_poker
    await scenario.move(
        TransferKind.BUY_IN, Leg(ledger.ana.no, FREE, -300, ana.no), Leg(ledger.caves[1], FREE, 300, rui.no)
    )


@theft("a buy-in: it joins tables {ledger.poker.no} and {other_table.no}.")
async def a_buy_in_with_commission_for_another_table(scenario: Scenario) -> None:
    ledger = scenario.ledger
    ana = ledger.at_poker[0].no
    legs = [Leg(ledger.ana.no, FREE, -310, ana), Leg(ledger.caves[0], FREE, 300, ana)]
    await scenario.move(TransferKind.BUY_IN, *legs, Leg(scenario.other_table.bank_no, FREE, 10))


@theft(f"a cash-out: {BETWEEN_PLAYERS}.")
async def a_cash_out_of_another_players_cave(scenario: Scenario) -> None:
    ledger = scenario.ledger
    ana, rui = ledger.at_poker
    await scenario.move(
        TransferKind.CASH_OUT, Leg(ledger.caves[0], FREE, -1090, ana.no), Leg(ledger.rui.no, FREE, 1090, rui.no)
    )


@theft("a cash-out: it joins tables {ledger.poker.no} and {other_table.no}.")
async def a_cash_out_of_a_cave_elsewhere(scenario: Scenario) -> None:
    ledger = scenario.ledger
    session_no, other_session_no = ledger.at_poker[0].no, scenario.at_other[0].no
    await scenario.move(
        TransferKind.CASH_OUT,
        Leg(scenario.other_caves[0], FREE, -100, other_session_no),
        Leg(ledger.ana.no, FREE, 100, session_no),
    )


@theft("a cash-out: it moved player +, bank -, cave -, but a cash-out moves player +, cave -.")
async def a_cash_out_that_costs_the_bank(scenario: Scenario) -> None:
    ledger = scenario.ledger
    session = ledger.at_poker[0].no
    legs = [Leg(ledger.caves[0], FREE, -100, session), Leg(ledger.ana.no, FREE, 150, session)]
    await scenario.move(TransferKind.CASH_OUT, *legs, Leg(ledger.poker.bank_no, FREE, -50))


async def _hand(scenario: Scenario, *legs: Leg) -> None:
    round_no = await scenario.writer.round("hand-2", scenario.ledger.poker)
    await scenario.move(TransferKind.HAND, *legs, round_no=round_no)
    await scenario.end_round(round_no)


@theft("a hand: it joins tables {ledger.poker.no} and {other_table.no}.")
async def a_hand_won_by_a_cave_of_another_table(scenario: Scenario) -> None:
    loser, winner = scenario.ledger.at_poker[1].no, scenario.at_other[0].no
    await _hand(
        scenario, Leg(scenario.ledger.caves[1], FREE, -80, loser), Leg(scenario.other_caves[0], FREE, 80, winner)
    )


@theft("a hand: it joins tables {ledger.poker.no} and {other_table.no}.")
async def a_hand_at_another_table_than_its_round(scenario: Scenario) -> None:
    loser, winner = scenario.at_other[1].no, scenario.at_other[0].no
    await _hand(
        scenario, Leg(scenario.other_caves[1], FREE, -80, loser), Leg(scenario.other_caves[0], FREE, 80, winner)
    )


@theft("a hand: it moved player +, cave -, but a hand moves cave -, and may move cave +, bank +.")
async def a_hand_that_is_paid_into_an_account(scenario: Scenario) -> None:
    ana, rui = scenario.ledger.at_poker
    await _hand(
        scenario, Leg(scenario.ledger.caves[1], FREE, -80, rui.no), Leg(scenario.ledger.ana.no, FREE, 80, ana.no)
    )


@theft("a hand: it moved bank -, cave +, cave -, but a hand moves cave -, and may move cave +, bank +.")
async def a_hand_that_the_bank_pays(scenario: Scenario) -> None:
    ana, rui = scenario.ledger.at_poker
    legs = [Leg(scenario.ledger.caves[1], FREE, -80, rui.no), Leg(scenario.ledger.caves[0], FREE, 180, ana.no)]
    await _hand(scenario, *legs, Leg(scenario.ledger.poker.bank_no, FREE, -100))


@pytest.mark.parametrize("planted", [pytest.param(each, id=each.commit.__name__.replace("_", "-")) for each in THEFTS])
async def test_only_the_check_of_shapes_finds_a_theft(
    planted: Theft, scenario: Scenario, wallet_database: WalletDatabase
) -> None:
    assert await _found(wallet_database.url) == []
    await planted.commit(scenario)
    number = await scenario.writer.connection.fetchval("SELECT transfer_no FROM transfers WHERE request_id = 'theft'")
    sentence = planted.sentence.format(**scenario._asdict())
    assert await _found(wallet_database.url) == [("transfers-move", f"Transfer {number} (request theft), {sentence}")]


def test_every_kind_of_transfer_has_its_shape() -> None:
    assert [shape.kind for shape in SHAPES] == list(TransferKind)


async def test_every_transfer_of_the_wallet_has_its_shape(wallet_database: WalletDatabase) -> None:
    async with open_wallet(wallet_database.url) as wallet:
        await wallet.open_table("roulette-1", MULTI_PLAYER)
        await wallet.open_table("poker-1", POKER, "806/2015")
        ana, rui = await wallet.sit_down("ana", "roulette-1"), await wallet.sit_down("rui", "roulette-1")
        await wallet.withdraw(ana.account_id, 500)
        await wallet.open_account("ana", 700, DEMO)

        # The bank loses, wins, and breaks even; one stake is cancelled in part, another one whole.
        for number, (to_ana, to_rui) in enumerate([(3_600, 200), (0, 200), (250, 0), (0, 0)]):
            round_id = f"round-{number}"
            stakes = {await wallet.place(ana, round_id, 100): to_ana, await wallet.place(rui, round_id, 100): to_rui}
            partly, wholly = await wallet.place(ana, round_id, 90), await wallet.place(rui, round_id, 80)
            await wallet.cancel(ana, round_id, partly, 40)
            await wallet.cancel(rui, round_id, wholly)
            await wallet.settle("roulette-1", round_id, stakes | {partly: 0})
        early = {await wallet.place(ana, "void", 100): 250, await wallet.place(rui, "void", 80): 0}
        await wallet.pay("roulette-1", "void", early)
        # Nothing comes from the bank, and nothing goes to it.
        await wallet.pay("roulette-1", "void", {await wallet.place(ana, "void", 70): 70})
        await wallet.place(ana, "void", 100)
        await wallet.place(rui, "void", 200)
        await wallet.void("roulette-1", "void")
        await wallet.void("roulette-1", "nobody-played")
        await wallet.settle("roulette-1", "nobody-won", {})
        await wallet.place(ana, "open", 100)

        ana, rui = await wallet.sit_down("ana", "poker-1"), await wallet.sit_down("rui", "poker-1")
        await wallet.buy_in(ana, 1_000, 50)
        await wallet.buy_in(rui, 1_000)
        await wallet.transfer_hand("poker-1", "hand-1", [(ana, 100, 190), (rui, 100, 0)])
        await wallet.transfer_hand("poker-1", "hand-2", [(ana, 50, 0), (rui, 100, 150)])
        await wallet.transfer_hand("poker-1", "nobody-bet")
        await wallet.cash_out(ana, 300)
        await wallet.cash_out(ana)

        await wallet.open_tournament("sunday")
        entries = [await wallet.pay_in("sunday", seat.account_id, 500, fee) for seat, fee in ((ana, 50), (rui, 0))]
        refund = tournament_pb2.Award(
            account_id=ana.account_id,
            reason=tournament_pb2.AWARD_REASON_REFUND,
            amount_cents=550,
            refunded_request_id=entries[0],
        )
        prize = tournament_pb2.Award(
            account_id=rui.account_id, reason=tournament_pb2.AWARD_REASON_PRIZE, amount_cents=900
        )
        await wallet.pay_out("sunday", [refund, prize], overlay_cents=400)

        await wallet.open_tournament("monday")
        tickets = [
            tournament_pb2.Award(
                account_id=seat.account_id,
                reason=tournament_pb2.AWARD_REASON_PRIZE,
                amount_cents=330,
                ticket=tournament_pb2.TicketPrize(tournament_id="monday"),
            )
            for seat in (ana, rui)
        ]
        paid = await wallet.pay_out("sunday", tickets, overlay_cents=660)
        await wallet.pay_in("monday", ana.account_id, 300, 30, ticket_id=paid.tickets[0].ticket_id)
        await wallet.settle_tickets("monday")

        async with wallet.engine.connect() as connection:
            kinds = (await connection.execute(text("SELECT DISTINCT kind FROM transfers"))).scalars().all()
        assert set(kinds) == set(TransferKind)
        assert await _found(wallet_database.url) == []
