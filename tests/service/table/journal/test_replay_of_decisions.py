"""`feltro replay` explains rounds with decisions from a sealed journal and a real ledger."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from datetime import UTC
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.table.journal.entries import ActedBy, JournalStake
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.replay import command as replay_command
from services.kit.table.journal.replay.command import AGREES, DIFFERS, NOT_CHECKED
from services.kit.table.wallet.table_wallet import TableWallet
from stack.servers.postgres import EmbeddedPostgres
from tests.card_guess import KING, Bets, GuessGame, GuessRound, move
from tests.card_guess_records import RULES, deal, entropy_where, recorded_round
from tests.processes.databases import GameDatabase
from tests.processes.roulette import configuration
from tests.processes.wallet import Seat, WalletClient, WalletProcess
from tests.service.table.journal.replays import owned_table, replay_here, replay_settings, wallet_of_tests

LEDGER = "feltro_wallet_of_guesses"
BETS = {1: 200, 2: 400}
DECISIONS = [(1, "cover"), (2, "decline"), (1, "raise"), (1, "card"), (1, "lower"), (2, "give_up")]


def _nobody_wins_at_once(round_: GuessRound) -> bool:
    return all(cards[0] // 4 != KING for cards in round_.hands.values())


ENTROPY = entropy_where(BETS, _nobody_wins_at_once)


@dataclass
class Dealer:
    """Plays rounds into a real journal and a real ledger."""

    table_id: str
    wallet: WalletClient
    table_wallet: TableWallet
    journal: PostgresJournal
    epoch: int
    seats: dict[int, Seat]
    environment: dict[str, str]
    rounds: int = 0

    async def play(self, entropy: bytes = ENTROPY) -> RoundRecord:
        """Returns a round as it has to be recorded; its stakes lie in the ledger."""
        self.rounds += 1
        round_id, placed = f"{self.table_id}.{self.rounds}", dict[tuple[int, str], JournalStake]()
        await self.journal.write_opened(self.epoch, recorded_round(entropy, BETS, DECISIONS, round_id=round_id).opened)

        def place(seat: int, bets: Bets) -> JournalStake:
            return placed[seat, "+".join(bets)]

        for seat, bets in (
            (1, {"1": 200}), (2, {"2": 400}), (1, {"1.cover": 100}), (1, {"1.raise": 200}),
        ):  # fmt: skip
            placed[seat, "+".join(bets)] = await self._place(round_id, seat, bets)
        return recorded_round(entropy, BETS, DECISIONS, round_id=round_id, place=place)

    async def _place(self, round_id: str, seat: int, bets: Bets) -> JournalStake:
        cents, detail, player = RULES.total_cents(bets), RULES.bets_message(bets).SerializeToString(), self.seats[seat]
        stake_id = f"{round_id}:{'+'.join(bets)}"
        placed = await self.wallet.place(player, self.table_wallet.round_ref(round_id), cents, stake_id, detail=detail)
        return JournalStake(
            placed.stake_id,
            "request",
            player.player_id,
            player.account_id,
            player.session_id,
            seat,
            cents,
            detail,
            placed.placed_at.ToDatetime(UTC),
        )

    async def write(self, record: RoundRecord, *, ended: bool = True) -> None:
        """Writes what the record says, in the order in which it happened."""
        assert record.drawn is not None
        assert record.ended is not None
        await self.journal.write_drawn(self.epoch, record.drawn)
        for position in range(len(record.moves) + 1):
            if position:
                await self.journal.write_moved(self.epoch, record.moves[position - 1])
            for paid in (each for each in record.paid if each.position == position):
                await self.journal.write_paid(self.epoch, paid)
        if ended:
            answer = await self.table_wallet.settle_round(
                record.opened.round_id, dict(record.ended.payouts), record.outcome or b"", []
            )
            at = answer.ended_at.ToDatetime(UTC)
            await self.journal.write_ended(self.epoch, replace(record.ended, ended_at=at))

    async def replay(self, *arguments: str, **environment: str) -> tuple[int, str]:
        return await replay_here(arguments, {**self.environment, **environment})


@pytest.fixture(scope="module")
def wallet(
    postgres: EmbeddedPostgres, wallet_template: str, nats_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WalletProcess]:
    with wallet_of_tests(postgres, wallet_template, LEDGER, nats_url, tmp_path_factory.mktemp("wallet")) as process:
        yield process


@pytest.fixture
async def dealer(
    wallet: WalletProcess,
    game_database: GameDatabase,
    engine: AsyncEngine,
    journal: PostgresJournal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Dealer]:
    game = EntryPoint("guess", "tests.card_guess:GuessGame", replay_command.GAMES_GROUP)
    monkeypatch.setattr(replay_command, "entry_points", lambda group: [game])  # noqa: ARG005 - called by name
    # The ledger is one for all tests.
    table_id = f"guess{next(_numbers)}"
    rules = configuration()
    rules.game = "guess"
    rules.decision_ms = 3_000
    keys = tmp_path / "entropy.keys"
    keys.write_text(f"1 {b'k'.hex() * 32}\n")
    async with owned_table(wallet, engine, journal, table_id, rules, GuessGame()) as owned:
        yield Dealer(
            table_id,
            owned.client,
            owned.wallet,
            journal,
            owned.epoch,
            {seat: await owned.client.sit_down(f"player-{seat}-{table_id}", table_id, 100_000) for seat in BETS},
            {**replay_settings("guess", wallet, game_database.url), "FELTRO_GUESS_ENTROPY_KEYS_FILE": str(keys)},
        )


_numbers = itertools.count(1)


@pytest.mark.guarantee("G10")
@pytest.mark.rule("GLI-19 4.16")
async def test_a_round_with_decisions_is_explained_with_on_whose_word_each_was_made(dealer: Dealer) -> None:
    record = await dealer.play()
    words = dict(enumerate(ActedBy))
    moves = [replace(each, acted_by=words[at % len(words)]) for at, each in enumerate(record.moves)]
    await dealer.write(replace(record, moves=moves))

    status, output = await dealer.replay(record.opened.round_id)

    assert status == AGREES, output
    for line in (
        f"{ENTROPY.hex(' ')} (hexadecimal)",
        "Decision 1: seat 1, decision cover",
        "    by the player, 2026-11-02 20:00:31.000 UTC",
        f"    for stake {record.opened.round_id}:1.cover of 1.00 €",
        "Decision 2: seat 2, decision decline",
        "    by the clock: the time to decide was over",
        "Decision 3: seat 1, decision raise",
        "    by the platform: the player had left",
        "Decision 4: seat 1, decision card",
        "    by the player, who had given the instruction before",
        "Decision 5: seat 1, decision lower",
        "    by the platform, 2026-11-02 20:00:35.000 UTC",
        "Decision 6: seat 2, decision give_up",
        f"    stake {record.opened.round_id}:2 is decided, and paid 2.00 € on 2026-11-02 20:00:36.000 UTC",
        "gives       bank card",
        "journal has bank card",
        "computed 2.00 €, journal 2.00 €, ledger 2.00 €",
        "It agrees",
    ):
        assert line in output, output


@pytest.mark.guarantee("G10")
async def test_every_round_is_replayed_and_those_that_were_altered_are_named(dealer: Dealer) -> None:
    honest = await dealer.play()
    await dealer.write(honest)
    other_cards = await dealer.play()
    # Byte by byte what was drawn, but for the cards that were shown.
    entropy = entropy_where(BETS, lambda round_: round_.deck[:4] != deal(ENTROPY, BETS).deck[:4])
    assert other_cards.drawn is not None
    await dealer.write(replace(other_cards, drawn=replace(other_cards.drawn, entropy=entropy)))
    other_move = await dealer.play()
    moves = [replace(each, move=move("higher")) if each.position == 5 else each for each in other_move.moves]
    await dealer.write(replace(other_move, moves=moves))
    other_payout = await dealer.play()
    assert other_payout.ended is not None
    payouts = [(stake_id, cents + (stake_id.endswith("raise"))) for stake_id, cents in other_payout.ended.payouts]
    await dealer.write(replace(other_payout, ended=replace(other_payout.ended, payouts=payouts)))

    status, output = await dealer.replay("--all")

    assert status == DIFFERS, output
    assert "4 rounds replayed: 4 settled, 0 void; 16 stakes" in output
    assert "3 differ, 0 could not be checked" in output
    assert f"{honest.opened.round_id} differs" not in output
    for record, sentence in (
        (other_cards, "differs: "),
        (other_move, "differs: the entropy and the decisions give another outcome than the journal has"),
        (other_payout, "differs: stake"),
    ):
        assert f"{record.opened.round_id} {sentence}" in output, output


@pytest.mark.guarantee("G7")
async def test_g7_a_round_that_has_not_ended_tells_nothing_of_its_cards(dealer: Dealer) -> None:
    record = await dealer.play()
    await dealer.write(record, ended=False)
    status, output = await dealer.replay(record.opened.round_id)
    assert status == AGREES, output
    assert "sealed until the round has ended" in output
    assert "Decision 6" in output
    assert "gives" not in output
    assert ENTROPY.hex(" ")[:11] not in output


@pytest.mark.guarantee("G12")
async def test_g12_a_round_whose_key_is_missing_is_not_called_right(dealer: Dealer, tmp_path: Path) -> None:
    record = await dealer.play()
    await dealer.write(record)
    other = tmp_path / "other.keys"
    other.write_text(f"1 {'ab' * 32}\n")
    for keys, sentence in (
        ("", "is sealed with key 1, which is missing"),
        (str(other), "was not sealed with this key 1 for this round"),
    ):
        status, output = await dealer.replay(record.opened.round_id, FELTRO_GUESS_ENTROPY_KEYS_FILE=keys)
        assert status == NOT_CHECKED, output
        assert sentence in output
        assert "FELTRO_GUESS_ENTROPY_KEYS_FILE" in output
        assert "It agrees" not in output
        status, output = await dealer.replay("--all", FELTRO_GUESS_ENTROPY_KEYS_FILE=keys)
        assert (status, "1 could not be checked" in output) == (NOT_CHECKED, True)
