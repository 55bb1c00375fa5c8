"""`feltro replay`: why a round paid what it paid, from journal and ledger alone, with no roulette running."""

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

import grpc
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.clock import SystemClock
from services.kit.randomness.tape import Tape
from services.kit.table.banked.settlement import Settlement
from services.kit.table.configuration.versions import Configurations
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
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.replay.command import AGREES, DIFFERS, NOT_CHECKED
from services.kit.table.wallet.grpc_client import GrpcWallet
from services.kit.table.wallet.service_token import ServiceToken
from services.kit.table.wallet.table_wallet import TableWallet
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame, RouletteRules
from services.roulette.wheel import FRENCH_37
from stack.servers.ephemeral import free_port
from stack.servers.postgres import EmbeddedPostgres
from tests.conftest import OWNER_ROLE, WALLET_ROLE
from tests.processes.roulette import configuration
from tests.processes.wallet import Seat, WalletClient, WalletProcess
from tests.service.table.conftest import GameDatabase, engine, game_database, game_template, journal

__all__ = ["engine", "game_database", "game_template", "journal"]

# 255 is not below 222, the largest multiple of 37 among 256, and thrown away.
ENTROPY = bytes([255, 37 + 17])
NUMBER = FRENCH_37.order[17]
LATER = timedelta(seconds=3)
LEDGER = "feltro_wallet_of_replay"


@dataclass
class Dealer:
    """Plays rounds by hand, honestly or otherwise, into a real journal and a real ledger."""

    table_id: str
    wallet: WalletClient
    bank: TableWallet
    journal: PostgresJournal
    epoch: int
    rules: RouletteRules
    seat: Seat
    environment: dict[str, str]
    rounds: int = 0

    async def open(self, *, taken_back: bool = False) -> tuple[Opened, list[JournalStake]]:
        """A round with a stake of three bets, of which one wins; and another one, if it is to be taken back."""
        self.rounds += 1
        now, round_id = datetime.now(UTC), f"{self.table_id}.{self.rounds}"
        opened = Opened(round_id, self.table_id, self.table_id, self.rounds, 1, now, now + LATER)
        await self.journal.write_opened(self.epoch, opened)
        stakes = [await self._place(f"{round_id}:1", {NUMBER: 100, "0": 250, "1-2": 100}, round_id)]
        if taken_back:
            stakes.append(await self._place(f"{round_id}:2", {"red": 200}, round_id))
        return opened, stakes

    async def _place(self, stake_id: str, bets: Bets, round_id: str) -> JournalStake:
        cents = sum(bets.values())
        placed = await self.wallet.place(self.seat, self.bank.round_ref(round_id), cents, stake_id)
        return JournalStake(
            placed.stake_id,
            "request",
            self.seat.player_id,
            self.seat.account_id,
            self.seat.session_id,
            1,
            cents,
            self.rules.bets_message(bets).SerializeToString(),
            placed.placed_at.ToDatetime(UTC),
        )

    async def draw(
        self,
        entropy: bytes = ENTROPY,
        outcome: bytes | None = None,
        *,
        of: tuple[Opened, list[JournalStake]] | None = None,
        launch: DrawTrigger = DrawTrigger.PLAYER,
        taken_back: tuple[CancelledStake, ...] = (),
    ) -> Drawn:
        """The outcome is the one that the entropy gives, unless another is named."""
        opened, stakes = of or await self.open()
        now = datetime.now(UTC)
        given = self.rules.outcome_message(self.rules.draw(Tape(entropy))).SerializeToString()
        drawn = Drawn(opened.round_id, now, now, entropy, outcome or given, stakes, [], launch, taken_back)
        await self.journal.write_drawn(self.epoch, drawn)
        return drawn

    async def settle(self, drawn: Drawn) -> None:
        settlement: Settlement[Bets, Outcome] = Settlement(self.bank, self.journal, self.epoch)
        await settlement.settle(drawn, self.rules)

    async def void(self) -> str:
        opened, stakes = await self.open()
        await Settlement(self.bank, self.journal, self.epoch).void(opened.round_id, "the wheel stood still", stakes)
        return opened.round_id

    async def replay(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """`feltro replay …`: its status and all that it said."""
        return await asyncio.to_thread(_feltro_replay, arguments, {**self.environment, **environment})


def _feltro_replay(arguments: tuple[str, ...], environment: dict[str, str]) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "services.kit.command", "replay", *arguments],
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
    """One for all tests of this file: each has a table of its own."""
    postgres.ensure_database(LEDGER, OWNER_ROLE, WALLET_ROLE, template=wallet_template)
    process = WalletProcess(postgres.url(WALLET_ROLE, LEDGER), nats_url, tmp_path_factory.mktemp("wallet"))
    process.start()
    try:
        asyncio.run(process.ready())
        yield process
    finally:
        process.kill()
    postgres.drop_database(LEDGER)


@pytest.fixture
async def dealer(
    wallet: WalletProcess, game_database: GameDatabase, engine: AsyncEngine, journal: PostgresJournal
) -> AsyncIterator[Dealer]:
    token, rules, table_id = wallet.issuer.service_token_file("roulette"), configuration(), f"french{next(_numbers)}"
    await Configurations(engine, SystemClock()).add_version(
        request_id="rules",
        table_id=table_id,
        configuration=rules,
        approval_reference="SRIJ/2026/17",
        effective_at=None,
        entered_by="back-office",
        game=RouletteGame(),
    )
    async with wallet.client() as client, grpc.aio.insecure_channel(wallet.address) as channel:
        epoch = await journal.take_ownership(table_id)
        await client.open_table(table_id, epoch=epoch, regulation=rules.regulation)
        yield Dealer(
            table_id,
            client,
            TableWallet(GrpcWallet(channel, ServiceToken(token).metadata), table_id, epoch),
            journal,
            epoch,
            RouletteGame().rules(rules),
            await client.sit_down(f"ana-{table_id}", table_id, 100_000),
            {
                "FELTRO_ROULETTE_DATABASE_URL": game_database.url,
                "FELTRO_ROULETTE_TOKEN_FILE": str(token),
                "FELTRO_WALLET_ADDRESS": wallet.address,
            },
        )


_numbers = itertools.count(1)


@pytest.mark.guarantee("G10")
async def test_a_round_is_explained_from_its_entropy_to_the_last_cent(dealer: Dealer) -> None:
    drawn = await dealer.draw()
    await dealer.settle(drawn)

    status, said = await dealer.replay(drawn.round_id)

    assert status == AGREES, said
    for words in (
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
        assert words in said, said


@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.guarantee("G10")
@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (DrawTrigger.UNKNOWN, "not on record: the round is older than this record"),
        (DrawTrigger.CLOCK, "by the clock"),
        (DrawTrigger.SESSION_ENDED, "by the platform: the player's session ended with a bet on the felt"),
        (
            DrawTrigger.TABLE_HANDED_OVER,
            "by the platform: the table was handed over, and he did not launch in time",
        ),
    ],
)
async def test_it_says_on_whose_word_the_ball_was_launched(dealer: Dealer, launch: DrawTrigger, words: str) -> None:
    drawn = await dealer.draw(launch=launch)
    await dealer.settle(drawn)
    status, said = await dealer.replay(drawn.round_id)
    assert status == AGREES, said
    assert f"launched    {words}" in said


@pytest.mark.rule("GLI-19 2.8.2")
@pytest.mark.guarantee("G10")
async def test_what_was_taken_back_is_held_against_the_ledger(dealer: Dealer) -> None:
    for noted in (True, False):
        opened, (stake, back) = await dealer.open(taken_back=True)
        await dealer.bank.cancel_stake(opened.round_id, back.stake_id)
        at = (await dealer.bank.list_cancellation_times(opened.round_id))[back.stake_id]
        taken = (CancelledStake(back, at),) if noted else ()
        drawn = await dealer.draw(of=(opened, [stake]), taken_back=taken)
        await dealer.settle(drawn)
        status, said = await dealer.replay(drawn.round_id)
        if noted:
            assert status == AGREES, said
            assert f"Taken back {back.stake_id}: 2.00 € of {dealer.seat.player_id}" in said
            assert f"taken back {at.isoformat(sep=' ', timespec='milliseconds')[:23]}" in said
            assert "place red, amount 2.00 €" in said
        else:
            assert status == DIFFERS
            assert f"stake {back.stake_id}: taken back in the ledger, not in the journal" in said

    opened, (stake, back) = await dealer.open(taken_back=True)
    invented = (CancelledStake(back, datetime.now(UTC)),)
    drawn = await dealer.draw(of=(opened, [stake, back]), taken_back=invented)
    await dealer.settle(drawn)
    status, said = await dealer.replay(drawn.round_id)
    assert status == DIFFERS
    assert f"stake {back.stake_id}: taken back in the journal, not so in the ledger" in said


@pytest.mark.guarantee("G10")
async def test_a_void_round_gives_back_what_was_staked(dealer: Dealer) -> None:
    status, said = await dealer.replay(await dealer.void())
    assert status == AGREES, said
    assert "void: the wheel stood still" in said
    assert "nothing was drawn" in said
    assert "computed 4.50 €, journal 4.50 €, ledger 4.50 €" in said


@pytest.mark.guarantee("G10")
async def test_a_payment_that_the_rules_do_not_give_is_named(dealer: Dealer) -> None:
    drawn = await dealer.draw()
    paid = {drawn.stakes[0].stake_id: 99_00}
    answer = await dealer.bank.settle_round(drawn.round_id, paid, drawn.outcome, [])
    share = PlayerResult(dealer.seat.player_id, dealer.seat.session_id, 450, 99_00, 100_000, 109_450)
    ended = Ended(drawn.round_id, Ending.SETTLED, answer.ended_at.ToDatetime(UTC), "", [*paid.items()], [share])
    await dealer.journal.write_ended(dealer.epoch, ended)

    status, said = await dealer.replay(drawn.round_id)

    assert status == DIFFERS
    assert "IT DIFFERS" in said
    assert "3600 computed, 9900 in the journal" in said
    assert "3600 computed, 9900 in the ledger" in said


@pytest.mark.guarantee("G6")
@pytest.mark.guarantee("G10")
async def test_an_outcome_that_the_entropy_does_not_give_is_named(dealer: Dealer) -> None:
    another = dealer.rules.outcome_message(dealer.rules.draw(Tape(b"\0"))).SerializeToString()
    drawn = await dealer.draw(outcome=another)
    await dealer.settle(drawn)
    status, said = await dealer.replay(drawn.round_id)
    assert status == DIFFERS
    assert "the entropy gives another outcome than the journal has" in said
    assert "journal has number 0" in said


@pytest.mark.guarantee("G10")
async def test_a_round_that_the_ledger_never_paid_is_named(dealer: Dealer) -> None:
    drawn = await dealer.draw()
    paid = [(drawn.stakes[0].stake_id, 36_00)]
    share = PlayerResult(dealer.seat.player_id, dealer.seat.session_id, 450, 36_00, 100_000, 103_150)
    ended = Ended(drawn.round_id, Ending.SETTLED, datetime.now(UTC), "", paid, [share])
    await dealer.journal.write_ended(dealer.epoch, ended)
    status, said = await dealer.replay(drawn.round_id)
    assert status == DIFFERS
    assert "ROUND_STATE_SETTLED in the journal, ROUND_STATE_OPEN in the ledger" in said


@pytest.mark.guarantee("G10")
async def test_a_payment_for_a_stake_that_nobody_placed_is_named(dealer: Dealer) -> None:
    drawn = await dealer.draw()
    answer = await dealer.bank.settle_round(drawn.round_id, {drawn.stakes[0].stake_id: 36_00}, drawn.outcome, [])
    paid = [(drawn.stakes[0].stake_id, 36_00), ("nobody's", 1_00)]
    share = PlayerResult(dealer.seat.player_id, dealer.seat.session_id, 450, 36_00, 100_000, 103_150)
    ended_at = answer.ended_at.ToDatetime(UTC)
    await dealer.journal.write_ended(dealer.epoch, Ended(drawn.round_id, Ending.SETTLED, ended_at, "", paid, [share]))
    status, said = await dealer.replay(drawn.round_id)
    assert status == DIFFERS
    assert "stake nobody's: paid, and never placed" in said


async def test_a_round_that_is_open_is_shown_as_far_as_it_has_come(dealer: Dealer) -> None:
    opened, _ = await dealer.open()
    status, said = await dealer.replay(opened.round_id)
    assert status == AGREES, said
    assert "not yet" in said
    assert "in the journal once it is closed" in said


@pytest.mark.guarantee("G10")
async def test_all_rounds_are_replayed_and_summed_up(dealer: Dealer) -> None:
    for _ in range(2):
        await dealer.settle(await dealer.draw())
    await dealer.void()
    await dealer.open()

    status, said = await dealer.replay("--all")
    assert status == AGREES, said
    assert "3 rounds replayed: 2 settled, 1 void; 3 stakes, 76.50 € paid or given back" in said
    assert "0 differ, 0 could not be checked" in said

    assert "3 rounds replayed" in (await dealer.replay("--all", "--table", dealer.table_id))[1]
    assert "0 rounds replayed" in (await dealer.replay("--all", "--table", "american"))[1]
    since = datetime.now(UTC)
    await dealer.settle(await dealer.draw())
    assert "1 rounds replayed" in (await dealer.replay("--all", "--since", since.isoformat()))[1]

    crooked = await dealer.draw(outcome=dealer.rules.outcome_message(dealer.rules.outcomes[0]).SerializeToString())
    await dealer.settle(crooked)
    status, said = await dealer.replay("--all")
    assert status == DIFFERS
    assert f"{crooked.round_id} differs: the entropy gives another outcome" in said
    assert "1 differ, 0 could not be checked" in said


@pytest.mark.guarantee("G12")
async def test_what_makes_no_sense_is_not_called_right(dealer: Dealer) -> None:
    drawn = await dealer.draw(outcome=b"\xff\xff")
    paid = [(drawn.stakes[0].stake_id, 36_00)]
    share = PlayerResult(dealer.seat.player_id, dealer.seat.session_id, 450, 36_00, 100_000, 103_150)
    ended = Ended(drawn.round_id, Ending.SETTLED, datetime.now(UTC), "", paid, [share])
    await dealer.journal.write_ended(dealer.epoch, ended)
    status, said = await dealer.replay(drawn.round_id)
    assert status == NOT_CHECKED
    assert "make no sense under version 1" in said
    status, said = await dealer.replay("--all")
    assert status == NOT_CHECKED
    assert f"{drawn.round_id} could not be checked" in said


@pytest.mark.guarantee("G12")
async def test_what_could_not_be_checked_is_never_called_right(dealer: Dealer, tmp_path: Path) -> None:
    drawn = await dealer.draw()
    await dealer.settle(drawn)
    nobody = free_port()
    empty = tmp_path / "empty.token"
    empty.write_text("")
    for environment, words in (
        ({"FELTRO_WALLET_ADDRESS": f"127.0.0.1:{nobody}"}, "the wallet does not answer"),
        ({"FELTRO_ROULETTE_TOKEN_FILE": str(empty)}, "the wallet refuses (TOKEN_INVALID"),
        ({"FELTRO_ROULETTE_TOKEN_FILE": ""}, "FELTRO_ROULETTE_TOKEN_FILE is not set"),
        (
            {"FELTRO_ROULETTE_DATABASE_URL": f"postgresql+asyncpg://nobody:nothing@127.0.0.1:{nobody}/none"},
            "FELTRO_ROULETTE_DATABASE_URL",
        ),
    ):
        status, said = await dealer.replay(drawn.round_id, **environment)
        assert status == NOT_CHECKED, said
        assert words in said
        assert "It agrees" not in said
        assert "Traceback" not in said
    for arguments, words in (
        (("french.999",), "the journal has no round 'french.999'"),
        ((drawn.round_id, "--game", "poker"), "there is no game 'poker'"),
        ((drawn.round_id, "--all"), "name one round, or --all"),
        ((drawn.round_id, "--table", "french"), "go with --all"),
        ((), "name one round, or --all"),
    ):
        status, said = await dealer.replay(*arguments)
        assert status == NOT_CHECKED, said
        assert words in said


def test_make_replay_says_that_the_platform_is_not_running(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "stack.commands.replay", "--all"],
        env={**os.environ, "FELTRO_DATA": str(tmp_path), "FELTRO_POSTGRES_PORT": str(free_port())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == NOT_CHECKED
    assert "make run" in ran.stderr
