"""Guarantees that are broken on purpose are seen to be broken: a verdict that cannot fall would prove nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit.table.banked.felt import Seat, Stake
from services.kit.table.banked.round import Round
from services.kit.table.banked.settlement import OWNER_LOST, RoundResult, Settlement
from services.kit.table.banked.stake_batcher import StakeBatcher, StakeConfirmation
from services.kit.table.events import messages as appearance
from services.kit.table.game import Rules
from services.kit.table.journal.entries import Drawn, DrawTrigger, Ended, StaleOwner, UnfinishedRound
from services.kit.table.live.owned_tables import OwnedTables
from services.kit.table.live.table import LiveTable
from services.kit.table.wallet.table_wallet import TableWallet
from services.wallet.ledger import commands, decisions, rounds
from services.wallet.ledger.book import Book
from services.wallet.model.state import Table
from tests.simulation.environment.journal import InMemoryJournal
from tests.simulation.environment.wallet import InMemoryWallet
from tests.simulation.guarantees import violations
from tests.simulation.random_run import RandomRun
from tests.simulation.test_faults_at_every_step import SCRIPTS, _told

SEEDS = range(60)

StartCommand = Callable[[], object]
BreakGuarantee = Callable[[pytest.MonkeyPatch], None]


def _pays_twice(patch: pytest.MonkeyPatch) -> None:
    """A wallet that pays everybody once more."""
    settle = rounds.settle_round

    def again(book: Book, command: commands.SettleRound, no: int) -> wallet_pb2.SettleRoundResponse:
        answer = settle(book, command, no)
        for result in answer.results:
            account = next(a for a in book.accounts.values() if a.account_id == result.account_id)
            account.free_cents += result.payout_cents
        return answer

    patch.setitem(decisions.DECISIONS, commands.SettleRound, again)


def _no_fence(patch: pytest.MonkeyPatch) -> None:
    """Neither wallet nor journal asks who owns the table."""

    def table_of(book: Book, command: commands.TableCommand) -> Table:
        return book.tables[command.table_no]

    patch.setattr(Book, "table_of", table_of)
    patch.setattr(InMemoryJournal, "_fence", lambda *_: None)


def _draws_before_the_close(patch: pytest.MonkeyPatch) -> None:
    """The ball is launched while one can still bet."""
    take_bets = LiveTable._take_bets

    async def hasty(self: LiveTable[Any, Any], round_: Round[Any, Any]) -> bool:
        if not self.individual:
            assert round_.closes_at is not None
            await self._wait(1.0)
            return True
        return await take_bets(self, round_)

    patch.setattr(LiveTable, "_take_bets", hasty)


def _takes_late_bets(patch: pytest.MonkeyPatch) -> None:
    """A round that is closed is open to whoever comes all the same."""

    def open_(self: LiveTable[Any, Any], round_: Round[Any, Any]) -> bool:
        return not round_.void_reason

    patch.setattr(LiveTable, "_open", open_)
    patch.setattr(Round, "closed", property(lambda _: False, lambda *_: None), raising=False)


def _says_it_first(patch: pytest.MonkeyPatch) -> None:
    """The outcome is shown before it is journalled."""
    note = LiveTable._note_drawn

    async def hasty(self: LiveTable[Any, Any], round_: Round[Any, Any], drawn: Drawn) -> None:
        outcome = round_.rules.read_outcome(drawn.outcome)
        self._say(appearance.outcome_drawn(round_.round_id, round_.rules.outcome_message(outcome), drawn.draw_trigger))
        await note(self, round_, drawn)

    patch.setattr(LiveTable, "_note_drawn", hasty)


def _forgets_clicks(patch: pytest.MonkeyPatch) -> None:
    """A repeated click is a new bet."""

    def once(self: Round[Any, Any], seat: Seat, request_id: str, content: object, begin: StartCommand) -> object:
        return begin()

    patch.setattr(Round, "_once", once)


def _acknowledges_too_early(patch: pytest.MonkeyPatch) -> None:
    """A bet is confirmed before the wallet has it."""
    carry = StakeBatcher.submit

    def hasty(self: StakeBatcher[Any, Any], stake: Stake[Any]) -> asyncio.Future[StakeConfirmation[Any]]:
        answer = carry(self, stake)
        answer.set_result((stake, wallet_pb2.PlacedStake(stake_id=stake.stake_id)))
        return answer

    patch.setattr(StakeBatcher, "submit", hasty)


def _draws_again(patch: pytest.MonkeyPatch) -> None:
    """Whoever takes a table over draws what was drawn, again."""

    async def void(self: Settlement[Any, Any], drawn: Drawn, rules: Rules[Any, Any]) -> RoundResult:
        return await self.void(drawn.round_id, "drawn again", drawn.stakes)

    end_round = OwnedTables._end_round

    async def anew(
        self: OwnedTables[Any, Any], left: UnfinishedRound, bank: TableWallet, why: str
    ) -> list[events_pb2.TableEvent]:
        patch.setattr(Settlement, "settle", void)
        return await end_round(self, left, bank, why)

    patch.setattr(OwnedTables, "_end_round", anew)


def _voids_at_the_handover(patch: pytest.MonkeyPatch) -> None:
    """A table that is handed over does not finish its round."""
    leave = LiveTable.hand_over

    def hasty(self: LiveTable[Any, Any]) -> None:
        leave(self)
        if self.round is not None:
            self.round.void_reason = OWNER_LOST

    patch.setattr(LiveTable, "hand_over", hasty)


def _leaves_what_was_left(patch: pytest.MonkeyPatch) -> None:
    """A new owner does not look for the rounds of the former one."""

    async def nothing(self: OwnedTables[Any, Any]) -> None: ...

    patch.setattr(OwnedTables, "_end_what_was_left", nothing)


def _pays_other_than_drawn(patch: pytest.MonkeyPatch) -> None:
    """A settlement that is a cent short for everybody who has won."""
    settle = TableWallet.settle_round

    async def short(
        self: TableWallet, round_id: str, payouts: dict[str, int], outcome: bytes, session_ids: Sequence[str]
    ) -> object:
        for stake_id, cents in payouts.items():
            payouts[stake_id] = max(cents - 1, 0)
        return await settle(self, round_id, payouts, outcome, session_ids)

    patch.setattr(TableWallet, "settle_round", short)


def _notes_no_end(patch: pytest.MonkeyPatch) -> None:
    """The journal loses every end."""

    def nothing(self: InMemoryJournal, epoch: int, entry: Ended) -> None:
        if epoch < 0:
            raise StaleOwner

    patch.setattr(InMemoryJournal, "write_ended", nothing)


def _loses_cents(patch: pytest.MonkeyPatch) -> None:
    """A refill that comes from nowhere."""
    keep = InMemoryWallet._keep

    def careless(self: InMemoryWallet) -> None:
        keep(self)
        for account in self.accounts.values():
            account.free_cents += 1
            break

    patch.setattr(InMemoryWallet, "_keep", careless)


def _forgets_who_launched(patch: pytest.MonkeyPatch) -> None:
    """The journal does not say on whose word a round was drawn."""
    _launched_by(patch, DrawTrigger.UNKNOWN)


def _blames_the_player(patch: pytest.MonkeyPatch) -> None:
    """What the platform launched is put down to the player."""
    _launched_by(patch, DrawTrigger.PLAYER)


def _launched_by(patch: pytest.MonkeyPatch, launch: DrawTrigger) -> None:
    draw = LiveTable._draw

    async def noted(self: LiveTable[Any, Any], round_: Round[Any, Any]) -> Drawn | None:
        drawn = await draw(self, round_)
        return drawn if drawn is None or not self.individual else replace(drawn, draw_trigger=launch)

    patch.setattr(LiveTable, "_draw", noted)


def _tells_otherwise(patch: pytest.MonkeyPatch) -> None:
    """Who watches is told that it was the player, whoever it was."""
    said = appearance.outcome_drawn
    patch.setattr(appearance, "outcome_drawn", lambda round_id, outcome, _: said(round_id, outcome, DrawTrigger.PLAYER))


def _forgets_what_was_taken_back(patch: pytest.MonkeyPatch) -> None:
    """The journal knows nothing of bets that were taken back."""
    close = Round.close

    def forgetful(self: Round[Any, Any]) -> None:
        close(self)
        self.cancelled_stakes.clear()

    patch.setattr(Round, "close", forgetful)


BROKEN: dict[BreakGuarantee, tuple[str, ...]] = {
    _pays_twice: ("G1",),
    _no_fence: ("G4", "G9"),
    _draws_before_the_close: ("G6",),
    _takes_late_bets: ("804/2015:14", "G6"),
    _says_it_first: ("G5",),
    _forgets_clicks: ("G3",),
    _acknowledges_too_early: ("G5",),
    _draws_again: ("G4", "G9"),
    _voids_at_the_handover: ("804/2015:20",),
    _leaves_what_was_left: ("G4",),
    _pays_other_than_drawn: ("G10",),
    _notes_no_end: ("G4",),
    _loses_cents: ("G1",),
    _forgets_who_launched: ("GLI-19 4.16",),
    _blames_the_player: ("GLI-19 4.16",),
    _tells_otherwise: ("GLI-19 4.16",),
    _forgets_what_was_taken_back: ("G10",),
}


@pytest.mark.parametrize("mutate", BROKEN, ids=lambda mutate: mutate.__name__.strip("_"))
def test_a_broken_guarantee_is_found(mutate: BreakGuarantee, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    for seed in SEEDS:
        storm = RandomRun(seed)
        try:
            found = storm.run()
        except Exception as failed:  # noqa: BLE001 - a runtime that breaks altogether is found as well
            found = [f"broken: {failed!r}"]
        if any(one.startswith(BROKEN[mutate]) for one in found):
            return
    pytest.fail(f"{mutate.__doc__} is not found in {len(SEEDS)} stories")


def test_the_unbroken_runtime_violates_nothing() -> None:
    for story in SCRIPTS.values():
        assert not violations(_told(story, step=None))
