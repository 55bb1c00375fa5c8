"""`feltro replay` explains a round from journal and ledger alone, with no roulette running."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.roulette.v1 import roulette_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit.randomness.tape import Tape
from services.kit.table.banked.settlement import Settlement
from services.kit.table.journal.entries import (
    CancelledStake,
    Drawn,
    DrawTrigger,
    Ended,
    Ending,
    JournalStake,
    Opened,
    PlayerResult,
)
from services.kit.table.journal.history import RoundHistory
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.replay.command import AGREES, DIFFERS, NOT_CHECKED
from services.kit.table.wallet.table_wallet import TableWallet
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame, RouletteRules
from services.roulette.wheel import FRENCH_37
from stack.servers.ephemeral import free_port
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import GameDatabase
from tests.processes.roulette import configuration
from tests.processes.wallet import Seat, WalletClient, WalletProcess
from tests.service.table.journal.replays import owned_table, replay_here, replay_settings, wallet_of_tests

# 255 is not below 222, the largest multiple of 37 within a byte, and is thrown away.
ENTROPY = bytes([255, 37 + 17])
NUMBER = FRENCH_37.order[17]
LATER = timedelta(seconds=3)
LEDGER = "feltro_wallet_of_replay"


@dataclass
class Dealer:
    """Writes rounds, honest ones and others, into a real journal and a real ledger."""

    table_id: str
    wallet: WalletClient
    table_wallet: TableWallet
    journal: PostgresJournal
    engine: AsyncEngine
    epoch: int
    rules: RouletteRules
    seat: Seat
    environment: dict[str, str]
    rounds: int = 0

    async def open(self, *, second_stake: bool = False) -> tuple[Opened, list[JournalStake]]:
        """Opens a round with a stake of three bets, of which one wins, and on request with a second stake."""
        self.rounds += 1
        now, round_id = datetime.now(UTC), f"{self.table_id}.{self.rounds}"
        opened = Opened(round_id, self.table_id, self.table_id, self.rounds, 1, now, now + LATER)
        await self.journal.write_opened(self.epoch, opened)
        stakes = [await self._place(f"{round_id}:1", {NUMBER: 100, "0": 250, "1-2": 100}, round_id)]
        if second_stake:
            stakes.append(await self._place(f"{round_id}:2", {"red": 200}, round_id))
        return opened, stakes

    async def _place(self, stake_id: str, bets: Bets, round_id: str) -> JournalStake:
        cents, detail = sum(bets.values()), self.rules.bets_message(bets).SerializeToString()
        round_ref = self.table_wallet.round_ref(round_id)
        placed = await self.wallet.place(self.seat, round_ref, cents, stake_id, detail=detail)
        return JournalStake(
            placed.stake_id,
            "request",
            self.seat.player_id,
            self.seat.account_id,
            self.seat.session_id,
            1,
            cents,
            detail,
            placed.placed_at.ToDatetime(UTC),
        )

    async def draw(
        self,
        entropy: bytes = ENTROPY,
        outcome: bytes | None = None,
        *,
        of: tuple[Opened, list[JournalStake]] | None = None,
        draw_trigger: DrawTrigger = DrawTrigger.PLAYER,
        cancelled: tuple[CancelledStake, ...] = (),
    ) -> Drawn:
        """Records a draw; its outcome is the one that the entropy gives, unless another is given."""
        opened, stakes = of or await self.open()
        now = datetime.now(UTC)
        given = self.rules.outcome_message(self.rules.draw(Tape(entropy))).SerializeToString()
        drawn = Drawn(opened.round_id, now, now, entropy, outcome or given, stakes, [], draw_trigger, cancelled)
        await self.journal.write_drawn(self.epoch, drawn)
        return drawn

    async def settle(self, drawn: Drawn) -> None:
        settlement: Settlement[Bets, Outcome] = Settlement(self.table_wallet, self.journal, self.epoch)
        await settlement.settle(drawn, self.rules)

    async def void(self) -> str:
        opened, stakes = await self.open()
        await Settlement(self.table_wallet, self.journal, self.epoch).void(
            opened.round_id, "the wheel stood still", stakes
        )
        return opened.round_id

    async def replay(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """Replays in this process and returns status and output."""
        return await replay_here(("--game", "roulette", *arguments), {**self.environment, **environment})

    async def feltro_replay(self, *arguments: str) -> tuple[int, str]:
        """Runs `feltro replay …` as a process and returns its status and output."""
        return await asyncio.to_thread(_feltro_replay, arguments, self.environment)


def _feltro_replay(arguments: tuple[str, ...], environment: dict[str, str]) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "services.kit.command", "replay", "--game", "roulette", *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout


@pytest.fixture(scope="module")
def wallet(
    postgres: EmbeddedPostgres, wallet_template: str, nats_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WalletProcess]:
    """One wallet for all tests of this file: each has a table of its own."""
    with wallet_of_tests(postgres, wallet_template, LEDGER, nats_url, tmp_path_factory.mktemp("wallet")) as process:
        yield process


@pytest.fixture
async def dealer(
    wallet: WalletProcess, game_database: GameDatabase, engine: AsyncEngine, journal: PostgresJournal
) -> AsyncIterator[Dealer]:
    rules, table_id = configuration(), f"french{next(_numbers)}"
    async with owned_table(wallet, engine, journal, table_id, rules, RouletteGame()) as owned:
        yield Dealer(
            table_id,
            owned.client,
            owned.wallet,
            journal,
            engine,
            owned.epoch,
            RouletteGame().rules(rules),
            await owned.client.sit_down(f"ana-{table_id}", table_id, 100_000),
            replay_settings("roulette", wallet, game_database.url),
        )


_numbers = itertools.count(1)


@pytest.mark.guarantee("G10")
async def test_a_round_is_explained_from_its_entropy_to_the_last_cent(dealer: Dealer) -> None:
    drawn = await dealer.draw()
    await dealer.settle(drawn)

    status, output = await dealer.feltro_replay(drawn.round_id)

    assert status == AGREES, output
    for line in (
        f"version 1 of {dealer.table_id}, approved as SRIJ/2026/17",
        "entered by back-office",
        "roulette, 807/2015, real, multi player",
        drawn.drawn_at.isoformat(sep=" ", timespec="milliseconds")[:23],
        "ff 36 (hexadecimal)",
        "ff is 255: not below 222, thrown away",
        "36 is 54: divided by 37 it leaves 17",
        f"gives       number {NUMBER}",
        f"journal has number {NUMBER}",
        f"4.50 € of {dealer.seat.player_id}",
        f"place {NUMBER}, amount 1.00 €, payout 36.00 €, prize 35.00 €",
        "place 0, amount 2.50 €, payout 0.00 €, prize 0.00 €",
        "computed 36.00 €, journal 36.00 €, ledger 36.00 €",
        "launched    by the player",
        "It agrees",
    ):
        assert line in output, output


@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.guarantee("G10")
@pytest.mark.parametrize(
    ("draw_trigger", "sentence"),
    [
        (DrawTrigger.UNKNOWN, "not on record: the round is older than this record"),
        (DrawTrigger.CLOCK, "by the clock"),
        (DrawTrigger.SESSION_ENDED, "by the platform: the player's session ended with a bet on the felt"),
        (
            DrawTrigger.TABLE_HANDED_OVER,
            "by the platform: the table was handed over, and the player did not launch in time",
        ),
    ],
)
async def test_the_report_names_the_draw_trigger(dealer: Dealer, draw_trigger: DrawTrigger, sentence: str) -> None:
    drawn = await dealer.draw(draw_trigger=draw_trigger)
    await dealer.settle(drawn)
    status, output = await dealer.replay(drawn.round_id)
    assert status == AGREES, output
    assert f"launched    {sentence}" in output


@pytest.mark.rule("GLI-19 2.8.2")
@pytest.mark.guarantee("G10")
async def test_cancelled_stakes_are_compared_with_the_ledger(dealer: Dealer) -> None:
    for recorded in (True, False):
        opened, (stake, cancelled) = await dealer.open(second_stake=True)
        at = await take_back(dealer, opened.round_id, wallet_pb2.StakeToCancel(stake_id=cancelled.stake_id))
        entries = (CancelledStake(cancelled, at),) if recorded else ()
        drawn = await dealer.draw(of=(opened, [stake]), cancelled=entries)
        await dealer.settle(drawn)
        status, output = await dealer.replay(drawn.round_id)
        if recorded:
            assert status == AGREES, output
            assert f"Taken back {cancelled.stake_id}: 2.00 € of {dealer.seat.player_id}" in output
            assert f"taken back {at.isoformat(sep=' ', timespec='milliseconds')[:23]}" in output
            assert "place red, amount 2.00 €" in output
        else:
            assert status == DIFFERS
            assert f"stake {cancelled.stake_id}: 200 cents taken back in the ledger, not so in the journal" in output

    opened, (stake, cancelled) = await dealer.open(second_stake=True)
    invented = (CancelledStake(cancelled, datetime.now(UTC)),)
    drawn = await dealer.draw(of=(opened, [stake, cancelled]), cancelled=invented)
    await dealer.settle(drawn)
    status, output = await dealer.replay(drawn.round_id)
    assert status == DIFFERS
    assert f"stake {cancelled.stake_id}: 200 cents taken back in the journal, not so in the ledger" in output


async def take_back(dealer: Dealer, round_id: str, part: wallet_pb2.StakeToCancel) -> datetime:
    answer = await dealer.table_wallet.cancel_stakes(
        round_id, dealer.seat.account_id, [part], request_id=str(uuid4()), command_digest=b""
    )
    return answer.cancelled_at.ToDatetime(UTC)


@pytest.mark.guarantee("G10")
async def test_g10_a_part_of_a_stake_is_compared_with_the_ledger(dealer: Dealer) -> None:
    """What stays of the stake pays, and what was taken back is recorded: each as in the ledger, bets included."""
    for recorded_cents in (50, 60):
        opened, (stake, other) = await dealer.open(second_stake=True)
        left, gone = red(150), red(50)
        part = wallet_pb2.StakeToCancel(
            stake_id=other.stake_id, amount_cents=50, cancelled_detail=gone, remaining_detail=left
        )
        at = await take_back(dealer, opened.round_id, part)
        taken = CancelledStake(other._replace(amount_cents=recorded_cents, bets=red(recorded_cents)), at)
        rest = other._replace(amount_cents=150, bets=left)
        drawn = await dealer.draw(of=(opened, [stake, rest]), cancelled=(taken,))
        await dealer.settle(drawn)
        status, output = await dealer.replay(drawn.round_id)
        if recorded_cents == 50:
            assert status == AGREES, output
            assert f"Stake {other.stake_id}: 1.50 €" in output
            assert f"Taken back {other.stake_id}: 0.50 €" in output
        else:
            assert status == DIFFERS
            assert f"stake {other.stake_id}: 60 cents taken back in the journal, not so in the ledger" in output
            assert f"stake {other.stake_id}: 50 cents taken back in the ledger, not so in the journal" in output


def red(cents: int) -> bytes:
    bets = roulette_pb2.Bets(bets=[roulette_pb2.Bet(place="red", amount_cents=cents)])
    return bets.SerializeToString()


@pytest.mark.guarantee("G10")
async def test_a_void_round_returns_every_stake(dealer: Dealer) -> None:
    status, output = await dealer.replay(await dealer.void())
    assert status == AGREES, output
    assert "void: the wheel stood still" in output
    assert "nothing was drawn" in output
    assert "computed 4.50 €, journal 4.50 €, ledger 4.50 €" in output


@pytest.mark.guarantee("G10")
async def test_a_payment_that_the_rules_do_not_give_is_named(dealer: Dealer) -> None:
    drawn = await dealer.draw()
    paid = {drawn.stakes[0].stake_id: 99_00}
    answer = await dealer.table_wallet.settle_round(drawn.round_id, paid, drawn.outcome or b"", [])
    result = PlayerResult(dealer.seat.player_id, dealer.seat.session_id, 450, 99_00, 100_000, 109_450)
    ended = Ended(drawn.round_id, Ending.SETTLED, answer.ended_at.ToDatetime(UTC), "", [*paid.items()], [result])
    await dealer.journal.write_ended(dealer.epoch, ended)

    status, output = await dealer.replay(drawn.round_id)

    assert status == DIFFERS
    assert "IT DIFFERS" in output
    assert "3600 computed, 9900 in the journal" in output
    assert "3600 computed, 9900 in the ledger" in output


@pytest.mark.guarantee("G6")
@pytest.mark.guarantee("G10")
async def test_an_outcome_that_the_entropy_does_not_give_is_named(dealer: Dealer) -> None:
    another = dealer.rules.outcome_message(dealer.rules.draw(Tape(b"\0"))).SerializeToString()
    drawn = await dealer.draw(outcome=another)
    await dealer.settle(drawn)
    status, output = await dealer.replay(drawn.round_id)
    assert status == DIFFERS
    assert "the entropy gives another outcome than the journal has" in output
    assert "journal has number 0" in output


@pytest.mark.guarantee("G10")
async def test_a_round_that_the_ledger_never_paid_is_named(dealer: Dealer) -> None:
    drawn = await dealer.draw()
    paid = [(drawn.stakes[0].stake_id, 36_00)]
    result = PlayerResult(dealer.seat.player_id, dealer.seat.session_id, 450, 36_00, 100_000, 103_150)
    ended = Ended(drawn.round_id, Ending.SETTLED, datetime.now(UTC), "", paid, [result])
    await dealer.journal.write_ended(dealer.epoch, ended)
    status, output = await dealer.replay(drawn.round_id)
    assert status == DIFFERS
    assert "ROUND_STATE_SETTLED in the journal, ROUND_STATE_OPEN in the ledger" in output


@pytest.mark.guarantee("G10")
async def test_a_payment_for_a_stake_that_nobody_placed_is_named(dealer: Dealer) -> None:
    drawn = await dealer.draw()
    answer = await dealer.table_wallet.settle_round(
        drawn.round_id, {drawn.stakes[0].stake_id: 36_00}, drawn.outcome or b"", []
    )
    paid = [(drawn.stakes[0].stake_id, 36_00), ("nobody's", 1_00)]
    result = PlayerResult(dealer.seat.player_id, dealer.seat.session_id, 450, 36_00, 100_000, 103_150)
    ended_at = answer.ended_at.ToDatetime(UTC)
    await dealer.journal.write_ended(dealer.epoch, Ended(drawn.round_id, Ending.SETTLED, ended_at, "", paid, [result]))
    status, output = await dealer.replay(drawn.round_id)
    assert status == DIFFERS
    assert "stake nobody's: paid, and never placed" in output


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G10")
async def test_a_round_whose_draw_a_restored_journal_has_lost_is_named(dealer: Dealer) -> None:
    """The journal takes over what the ledger has; nobody can draw again."""
    opened, stakes = await dealer.open(second_stake=True)
    outcome = dealer.rules.outcome_message(dealer.rules.draw(Tape(ENTROPY))).SerializeToString()
    paid = {stake.stake_id: cents for stake, cents in zip(stakes, (36_00, 4_00), strict=True)}
    await dealer.table_wallet.settle_round(opened.round_id, paid, outcome, [dealer.seat.session_id])
    ledger = await dealer.table_wallet.get_round(opened.round_id)
    settlement: Settlement[Bets, Outcome] = Settlement(dealer.table_wallet, dealer.journal, dealer.epoch)
    # Its writer may be killed in between: the next one writes the same.
    for _ in range(2):
        await settlement.journal_settled_in_ledger(ledger, stakes, [])

    status, output = await dealer.replay(opened.round_id)

    assert status == DIFFERS, output
    assert "entropy     lost: the journal was restored from a backup" in output
    assert f"journal has number {NUMBER}" in output
    assert "computed 36.00 €, journal 36.00 €, ledger 36.00 €" in output
    assert "computed 4.00 €, journal 4.00 €, ledger 4.00 €" in output
    (difference,) = (line for line in (await dealer.replay("--all"))[1].splitlines() if opened.round_id in line)
    assert "the journal has no entropy" in difference
    balance = (await dealer.wallet.balance(dealer.seat.account_id)).free_cents
    record = await RoundHistory(dealer.engine).round_for_replay(opened.round_id)
    assert record is not None
    assert record.ended is not None
    (result,) = record.ended.player_results
    assert (result.balance_before_cents, result.balance_after_cents) == (100_000, balance)
    assert (result.staked_cents, result.payout_cents) == (650, 40_00)


async def test_an_open_round_is_shown_as_far_as_it_is_recorded(dealer: Dealer) -> None:
    opened, _ = await dealer.open()
    status, output = await dealer.replay(opened.round_id)
    assert status == AGREES, output
    assert "not yet" in output
    assert "in the journal once it is closed" in output


@pytest.mark.guarantee("G10")
async def test_all_rounds_are_replayed_and_counted(dealer: Dealer) -> None:
    for _ in range(2):
        await dealer.settle(await dealer.draw())
    await dealer.void()
    await dealer.open()

    status, output = await dealer.feltro_replay("--all")
    assert status == AGREES, output
    assert "3 rounds replayed: 2 settled, 1 void; 3 stakes, 76.50 € paid or given back" in output
    assert "0 differ, 0 could not be checked" in output

    assert "3 rounds replayed" in (await dealer.replay("--all", "--table", dealer.table_id))[1]
    assert "0 rounds replayed" in (await dealer.replay("--all", "--table", "american"))[1]
    since = datetime.now(UTC)
    await dealer.settle(await dealer.draw())
    assert "1 rounds replayed" in (await dealer.replay("--all", "--since", since.isoformat()))[1]

    wrong = await dealer.draw(outcome=dealer.rules.outcome_message(dealer.rules.outcomes[0]).SerializeToString())
    await dealer.settle(wrong)
    status, output = await dealer.replay("--all")
    assert status == DIFFERS
    assert f"{wrong.round_id} differs: the entropy gives another outcome" in output
    assert "1 differ, 0 could not be checked" in output


@pytest.mark.guarantee("G12")
async def test_an_unreadable_round_is_not_called_right(dealer: Dealer) -> None:
    drawn = await dealer.draw(outcome=b"\xff\xff")
    paid = [(drawn.stakes[0].stake_id, 36_00)]
    result = PlayerResult(dealer.seat.player_id, dealer.seat.session_id, 450, 36_00, 100_000, 103_150)
    ended = Ended(drawn.round_id, Ending.SETTLED, datetime.now(UTC), "", paid, [result])
    await dealer.journal.write_ended(dealer.epoch, ended)
    status, output = await dealer.replay(drawn.round_id)
    assert status == NOT_CHECKED
    assert "make no sense under version 1" in output
    status, output = await dealer.replay("--all")
    assert status == NOT_CHECKED
    assert f"{drawn.round_id} could not be checked" in output


@pytest.mark.guarantee("G12")
async def test_an_unchecked_round_is_never_called_right(dealer: Dealer, tmp_path: Path) -> None:
    drawn = await dealer.draw()
    await dealer.settle(drawn)
    closed_port = free_port()
    empty = tmp_path / "empty.token"
    empty.write_text("")
    for environment, sentence in (
        ({"FELTRO_WALLET_ADDRESS": f"127.0.0.1:{closed_port}"}, "the wallet does not answer"),
        ({"FELTRO_ROULETTE_TOKEN_FILE": str(empty)}, "the wallet refuses (TOKEN_INVALID"),
        (
            {"FELTRO_ROULETTE_TOKEN_FILE": ""},
            "FELTRO_ROULETTE_SIGNING_KEY has to be set, or FELTRO_ROULETTE_TOKEN_FILE",
        ),
        (
            {"FELTRO_ROULETTE_DATABASE_URL": f"postgresql+asyncpg://nobody:nothing@127.0.0.1:{closed_port}/none"},
            "FELTRO_ROULETTE_DATABASE_URL",
        ),
    ):
        status, output = await dealer.replay(drawn.round_id, **environment)
        assert status == NOT_CHECKED, output
        assert sentence in output
        assert "It agrees" not in output
        assert "Traceback" not in output
    for arguments, sentence in (
        (("french.999",), "the journal has no round 'french.999'"),
        ((drawn.round_id, "--game", "chess"), "there is no game 'chess'"),
        ((drawn.round_id, "--all"), "name one round, or --all"),
        ((drawn.round_id, "--table", "french"), "go with --all"),
        ((), "name one round, or --all"),
    ):
        status, output = await dealer.replay(*arguments)
        assert status == NOT_CHECKED, output
        assert sentence in output


def test_make_replay_fails_while_the_platform_is_not_running(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "stack.commands.replay", "--all"],
        env={**os.environ, "FELTRO_DATA": str(tmp_path), "FELTRO_POSTGRES_PORT": str(free_port())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == NOT_CHECKED
    assert "make run" in ran.stderr
