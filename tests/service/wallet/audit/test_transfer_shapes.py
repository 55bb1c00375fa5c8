"""Money given to the wrong account, in ways that break no other rule: the audit names each, and nothing else.

Everything here is written as the service's own role, with every trigger awake: entries sum to zero, follow one another
and have their request. Only what the kind of transfer may move tells that something is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import asyncpg
import pytest
from sqlalchemy import text

from services.wallet.audit import auditor
from services.wallet.audit.transfer_shapes import SHAPES
from services.wallet.model.state import Mode, Play, RoundState, TransferKind
from tests.service.wallet.in_process_wallet import DEMO, MULTI_PLAYER, POKER, open_wallet
from tests.service.wallet.ledger_writer import FREE, LOCKED, LedgerWriter, Leg, Session, Table, small_ledger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.processes.databases import WalletDatabase
    from tests.service.wallet.ledger_writer import SmallLedger

pytestmark = pytest.mark.guarantee("G1")


class Scene(NamedTuple):
    """A ledger without a fault, and a pen to write another transfer into it."""

    pen: LedgerWriter
    ledger: SmallLedger
    # Where Ana and Rui sit as well.
    other_table: Table
    at_other: tuple[Session, Session]
    other_caves: tuple[int, int]

    async def move(self, kind: TransferKind, *legs: Leg, mode: Mode = Mode.REAL, round_no: int | None = None) -> None:
        """Writes it under the request id `theft`."""
        await self.pen.transfer(kind, mode, legs, round_no=round_no, request_id="theft")

    async def end(self, round_no: int, state: RoundState = RoundState.SETTLED) -> None:
        """Says in the round's row that the transfer ended it."""
        await self.pen.connection.execute(
            "UPDATE rounds SET state = $2, ended_at = now(), end_transfer_no = transfer_no FROM transfers"
            " WHERE rounds.round_no = $1 AND request_id = 'theft'",
            round_no,
            state,
        )


@pytest.fixture
async def scene(wallet_database: WalletDatabase) -> AsyncIterator[Scene]:
    connection = await asyncpg.connect(wallet_database.url.replace("+asyncpg", ""))
    pen = LedgerWriter(connection)
    ledger = await small_ledger(pen)
    other_table = await pen.table("poker-2", Play.POKER)
    at_other = await pen.session(ledger.ana, other_table), await pen.session(ledger.rui, other_table)
    caves = await pen.cave(at_other[0]), await pen.cave(at_other[1])
    for session, cave_no in zip(at_other, caves, strict=True):
        await pen.buy_in(session, cave_no, 500)
    yield Scene(pen, ledger, other_table, at_other, caves)
    await connection.close()


async def _found(url: str) -> list[tuple[str, str]]:
    engine = auditor._connect(url)
    found: list[tuple[str, str]] = []
    # Nobody publishes here, and the desk's clock is of another year.
    checking = auditor.Auditor(engine, outbox_age_s=1e9, round_hours=1e9)
    await checking.run(lambda check, sentence: found.append((check.name, sentence)))
    await engine.dispose()
    return found


class Theft(NamedTuple):
    """How it is done, and what has to be said of it after the number of the transfer."""

    does: Callable[[Scene], Awaitable[None]]
    says: str


THEFTS: list[Theft] = []


def theft(says: str) -> Callable[[Callable[[Scene], Awaitable[None]]], Callable[[Scene], Awaitable[None]]]:
    """Collects it; `says` may name fields of the scene."""

    def keep(does: Callable[[Scene], Awaitable[None]]) -> Callable[[Scene], Awaitable[None]]:
        THEFTS.append(Theft(does, says))
        return does

    return keep


BETWEEN_PLAYERS = "it is between accounts {ledger.ana.no} and {ledger.rui.no}, two players'"


@theft(f"a deposit: it moved player +, player -, but a deposit moves player +, books -; {BETWEEN_PLAYERS}.")
async def a_deposit_out_of_another_players_account(scene: Scene) -> None:
    ana, rui = scene.ledger.ana, scene.ledger.rui
    await scene.move(TransferKind.DEPOSIT, Leg(rui.no, FREE, -700), Leg(ana.no, FREE, 700))


@theft(f"a deposit: {BETWEEN_PLAYERS}.")
async def a_deposit_at_the_cost_of_another_players_books(scene: Scene) -> None:
    ana, rui = scene.ledger.ana, scene.ledger.rui
    await scene.move(TransferKind.DEPOSIT, Leg(ana.no, FREE, 700), Leg(rui.operator_account_no, FREE, -700))


@theft("a deposit: it moved player +, bank -, but a deposit moves player +, books -.")
async def a_deposit_out_of_a_bank(scene: Scene) -> None:
    ledger = scene.ledger
    await scene.move(TransferKind.DEPOSIT, Leg(ledger.ana.no, FREE, 700), Leg(ledger.roulette.bank_no, FREE, -700))


@theft("a deposit: it is of round {ledger.open_no}.")
async def a_deposit_in_a_round(scene: Scene) -> None:
    ana = scene.ledger.ana
    legs = [Leg(ana.no, FREE, 700), Leg(ana.operator_account_no, FREE, -700)]
    await scene.move(TransferKind.DEPOSIT, *legs, round_no=scene.ledger.open_no)


@theft(f"a withdrawal: {BETWEEN_PLAYERS}.")
async def a_withdrawal_of_another_players_money(scene: Scene) -> None:
    ana, rui = scene.ledger.ana, scene.ledger.rui
    await scene.move(TransferKind.WITHDRAWAL, Leg(ana.no, FREE, -700), Leg(rui.operator_account_no, FREE, 700))


@theft("a withdrawal: it paid out demonstration credits.")
async def a_withdrawal_of_credits(scene: Scene) -> None:
    demo = scene.ledger.demo
    legs = [Leg(demo.no, FREE, -100), Leg(demo.operator_account_no, FREE, 100)]
    await scene.move(TransferKind.WITHDRAWAL, *legs, mode=Mode.DEMO)


@theft(f"a stake: {BETWEEN_PLAYERS}.")
async def a_stake_with_another_players_money(scene: Scene) -> None:
    """Both are in the round, so that what its stakes say of each is so."""
    pen, ledger = scene.pen, scene.ledger
    await pen.stake(ledger.at_roulette[1], ledger.open_no, 50)
    ana = ledger.at_roulette[0]
    legs = [Leg(ledger.rui.no, FREE, -100, ledger.at_roulette[1].no), Leg(ledger.ana.no, LOCKED, 100, ana.no)]
    await scene.move(TransferKind.STAKE, *legs, round_no=ledger.open_no)
    await pen.connection.execute(
        "INSERT INTO stakes (stake_no, stake_id, round_no, account_no, session_no, placed_cents, placed_at, detail)"
        " SELECT transfer_no, request_id, round_no, $1, $2, 100, at, '' FROM transfers WHERE request_id = 'theft'",
        ledger.ana.no,
        ana.no,
    )


@theft(f"a cancelled stake: {BETWEEN_PLAYERS}.")
async def a_stake_taken_back_by_another_player(scene: Scene) -> None:
    pen, ledger = scene.pen, scene.ledger
    await pen.stake(ledger.at_roulette[1], ledger.open_no, 50)
    ana, rui = ledger.at_roulette
    legs = [Leg(ledger.ana.no, LOCKED, -100, ana.no), Leg(ledger.rui.no, FREE, 100, rui.no)]
    await scene.move(TransferKind.STAKE_CANCELLED, *legs, round_no=ledger.open_no)
    await pen.connection.execute(
        "UPDATE stakes SET cancelled_cents = cancelled_cents + 100 WHERE stake_no = $1", ledger.stakes[2]
    )


@theft("a settled round: it joins tables {ledger.roulette.no} and {ledger.poker.no}.")
async def a_round_paid_by_the_bank_of_another_table(scene: Scene) -> None:
    ledger = scene.ledger
    ana = ledger.at_roulette[0]
    legs = [Leg(ledger.ana.no, LOCKED, -250, ana.no), Leg(ledger.ana.no, FREE, 500, ana.no)]
    legs.append(Leg(ledger.poker.bank_no, FREE, -250))
    await scene.move(TransferKind.ROUND_SETTLED, *legs, round_no=ledger.open_no)
    await scene.pen.connection.execute(
        "UPDATE stakes SET state = 3, payout_cents = 500 WHERE stake_no = $1", ledger.stakes[2]
    )
    await scene.end(ledger.open_no)


@theft(
    "a settled round: it moved player +, player locked -, bank -, cave +,"
    " but a settled round moves player locked -, and may move player +, bank +, bank -;"
    " it joins tables {ledger.roulette.no} and {ledger.poker.no}."
)
async def a_round_that_fills_a_cave(scene: Scene) -> None:
    ledger = scene.ledger
    ana = ledger.at_roulette[0]
    legs = [Leg(ledger.ana.no, LOCKED, -250, ana.no), Leg(ledger.ana.no, FREE, 500, ana.no)]
    legs += [Leg(ledger.roulette.bank_no, FREE, -260), Leg(ledger.caves[0], FREE, 10, ledger.at_poker[0].no)]
    await scene.move(TransferKind.ROUND_SETTLED, *legs, round_no=ledger.open_no)
    await scene.pen.connection.execute(
        "UPDATE stakes SET state = 3, payout_cents = 500 WHERE stake_no = $1", ledger.stakes[2]
    )
    await scene.end(ledger.open_no)


@theft(
    "a void round: it moved player +, player locked -, books +, bank -,"
    " but a void round moves player +, player locked -."
)
async def a_void_round_that_costs_the_bank(scene: Scene) -> None:
    ledger = scene.ledger
    ana = ledger.at_roulette[0]
    legs = [Leg(ledger.ana.no, LOCKED, -250, ana.no), Leg(ledger.ana.no, FREE, 250, ana.no)]
    legs += [Leg(ledger.roulette.bank_no, FREE, -90), Leg(ledger.ana.operator_account_no, FREE, 90)]
    await scene.move(TransferKind.ROUND_VOID, *legs, round_no=ledger.open_no)
    await scene.pen.connection.execute("UPDATE stakes SET state = 4 WHERE stake_no = $1", ledger.stakes[2])
    await scene.end(ledger.open_no, RoundState.VOID)


@theft(f"a buy-in: {BETWEEN_PLAYERS}.")
async def a_buy_in_into_another_players_cave(scene: Scene) -> None:
    ledger = scene.ledger
    ana, rui = ledger.at_poker
    await scene.move(
        TransferKind.BUY_IN, Leg(ledger.ana.no, FREE, -300, ana.no), Leg(ledger.caves[1], FREE, 300, rui.no)
    )


@theft("a buy-in: it joins tables {ledger.poker.no} and {other_table.no}.")
async def a_buy_in_with_commission_for_another_table(scene: Scene) -> None:
    ledger = scene.ledger
    ana = ledger.at_poker[0].no
    legs = [Leg(ledger.ana.no, FREE, -310, ana), Leg(ledger.caves[0], FREE, 300, ana)]
    await scene.move(TransferKind.BUY_IN, *legs, Leg(scene.other_table.bank_no, FREE, 10))


@theft(f"a cash-out: {BETWEEN_PLAYERS}.")
async def a_cash_out_of_another_players_cave(scene: Scene) -> None:
    ledger = scene.ledger
    ana, rui = ledger.at_poker
    await scene.move(
        TransferKind.CASH_OUT, Leg(ledger.caves[0], FREE, -1090, ana.no), Leg(ledger.rui.no, FREE, 1090, rui.no)
    )


@theft("a cash-out: it joins tables {ledger.poker.no} and {other_table.no}.")
async def a_cash_out_of_a_cave_elsewhere(scene: Scene) -> None:
    ledger = scene.ledger
    here, there = ledger.at_poker[0].no, scene.at_other[0].no
    await scene.move(
        TransferKind.CASH_OUT, Leg(scene.other_caves[0], FREE, -100, there), Leg(ledger.ana.no, FREE, 100, here)
    )


@theft("a cash-out: it moved player +, bank -, cave -, but a cash-out moves player +, cave -.")
async def a_cash_out_that_costs_the_bank(scene: Scene) -> None:
    ledger = scene.ledger
    session = ledger.at_poker[0].no
    legs = [Leg(ledger.caves[0], FREE, -100, session), Leg(ledger.ana.no, FREE, 150, session)]
    await scene.move(TransferKind.CASH_OUT, *legs, Leg(ledger.poker.bank_no, FREE, -50))


async def _hand(scene: Scene, *legs: Leg) -> None:
    round_no = await scene.pen.round("hand-2", scene.ledger.poker)
    await scene.move(TransferKind.HAND, *legs, round_no=round_no)
    await scene.end(round_no)


@theft("a hand: it joins tables {ledger.poker.no} and {other_table.no}.")
async def a_hand_won_by_a_cave_of_another_table(scene: Scene) -> None:
    loser, winner = scene.ledger.at_poker[1].no, scene.at_other[0].no
    await _hand(scene, Leg(scene.ledger.caves[1], FREE, -80, loser), Leg(scene.other_caves[0], FREE, 80, winner))


@theft("a hand: it joins tables {ledger.poker.no} and {other_table.no}.")
async def a_hand_at_another_table_than_its_round(scene: Scene) -> None:
    loser, winner = scene.at_other[1].no, scene.at_other[0].no
    await _hand(scene, Leg(scene.other_caves[1], FREE, -80, loser), Leg(scene.other_caves[0], FREE, 80, winner))


@theft("a hand: it moved player +, cave -, but a hand moves cave -, and may move cave +, bank +.")
async def a_hand_that_is_paid_into_an_account(scene: Scene) -> None:
    ana, rui = scene.ledger.at_poker
    await _hand(scene, Leg(scene.ledger.caves[1], FREE, -80, rui.no), Leg(scene.ledger.ana.no, FREE, 80, ana.no))


@theft("a hand: it moved bank -, cave +, cave -, but a hand moves cave -, and may move cave +, bank +.")
async def a_hand_that_the_bank_pays(scene: Scene) -> None:
    ana, rui = scene.ledger.at_poker
    legs = [Leg(scene.ledger.caves[1], FREE, -80, rui.no), Leg(scene.ledger.caves[0], FREE, 180, ana.no)]
    await _hand(scene, *legs, Leg(scene.ledger.poker.bank_no, FREE, -100))


@pytest.mark.parametrize("planted", [pytest.param(one, id=one.does.__name__.replace("_", "-")) for one in THEFTS])
async def test_only_this_check_sees_it(planted: Theft, scene: Scene, wallet_database: WalletDatabase) -> None:
    assert await _found(wallet_database.url) == []
    await planted.does(scene)
    number = await scene.pen.connection.fetchval("SELECT transfer_no FROM transfers WHERE request_id = 'theft'")
    says = planted.says.format(**scene._asdict())
    assert await _found(wallet_database.url) == [("transfers-move", f"Transfer {number} (request theft), {says}")]


def test_every_kind_of_transfer_has_its_shape() -> None:
    assert [shape.kind for shape in SHAPES] == list(TransferKind)


async def test_whatever_the_wallet_does_is_as_it_may_be(wallet_database: WalletDatabase) -> None:
    async with open_wallet(wallet_database.url) as desk:
        await desk.open_table("roulette-1", MULTI_PLAYER)
        await desk.open_table("poker-1", POKER, "806/2015")
        ana, rui = await desk.sit_down("ana", "roulette-1"), await desk.sit_down("rui", "roulette-1")
        await desk.withdraw(ana.account_id, 500)
        await desk.open_account("ana", 700, DEMO)

        # The house loses, wins, and has nothing of it; a stake was taken back in part, and a whole one.
        for number, (to_ana, to_rui) in enumerate([(3_600, 200), (0, 200), (250, 0), (0, 0)]):
            round_id = f"round-{number}"
            stakes = {await desk.place(ana, round_id, 100): to_ana, await desk.place(rui, round_id, 100): to_rui}
            partly, wholly = await desk.place(ana, round_id, 90), await desk.place(rui, round_id, 80)
            await desk.cancel(ana, round_id, partly, 40)
            await desk.cancel(rui, round_id, wholly)
            await desk.settle("roulette-1", round_id, stakes | {partly: 0})
        await desk.place(ana, "void", 100)
        await desk.place(rui, "void", 200)
        await desk.void("roulette-1", "void")
        await desk.void("roulette-1", "nobody-played")
        await desk.settle("roulette-1", "nobody-won", {})
        await desk.place(ana, "open", 100)

        ana, rui = await desk.sit_down("ana", "poker-1"), await desk.sit_down("rui", "poker-1")
        await desk.buy_in(ana, 1_000, 50)
        await desk.buy_in(rui, 1_000)
        await desk.transfer_hand("poker-1", "hand-1", [(ana, 100, 190), (rui, 100, 0)])
        await desk.transfer_hand("poker-1", "hand-2", [(ana, 50, 0), (rui, 100, 150)])
        await desk.transfer_hand("poker-1", "nobody-bet")
        await desk.cash_out(ana, 300)
        await desk.cash_out(ana)

        async with desk.engine.connect() as connection:
            kinds = (await connection.execute(text("SELECT DISTINCT kind FROM transfers"))).scalars().all()
        assert set(kinds) == set(TransferKind)
        assert await _found(wallet_database.url) == []
