"""Breaks each guarantee on purpose: the checks have to find it, for a check that cannot fail proves nothing."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.table.banked.answers import PlacedBets
from services.kit.table.banked.commands import BetCommand, PlayerCommands
from services.kit.table.banked.felt import Stake
from services.kit.table.banked.round import Round
from services.kit.table.banked.settlement import OWNER_LOST, RoundResult, Settlement
from services.kit.table.banked.stake_batcher import StakeBatcher
from services.kit.table.events import messages
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import DealtRound, Rules
from services.kit.table.journal.entries import Drawn, DrawTrigger, Ended, JournalStake, UnfinishedRound
from services.kit.table.live.table import LiveTable
from services.kit.table.owned.recovery import RoundRecovery
from services.kit.table.wallet.table_wallet import TableWallet
from services.wallet.ledger import commands, decisions, rounds
from services.wallet.ledger.book import Book
from services.wallet.model.state import Table
from tests.simulation.environment.journal import InMemoryJournal
from tests.simulation.environment.wallet import InMemoryWallet
from tests.simulation.guarantees import violations
from tests.simulation.random_run import RandomRun
from tests.simulation.test_faults_at_every_step import SCRIPTS, run_script

# Some breaks show in one run of a hundred only.
SEEDS = range(150)

StartCommand = Callable[[], object]
Dealt = tuple[Drawn, DealtRound[Any, Any]] | None
BreakGuarantee = Callable[[pytest.MonkeyPatch], None]


def _pays_twice(patch: pytest.MonkeyPatch) -> None:
    """The wallet pays every winner once more."""
    settle = rounds.settle_round

    def again(book: Book, command: commands.SettleRound, no: int) -> wallet_pb2.SettleRoundResponse:
        answer = settle(book, command, no)
        for result in answer.results:
            account = next(a for a in book.accounts.values() if a.account_id == result.account_id)
            account.free_cents += result.payout_cents
        return answer

    patch.setitem(decisions.DECISIONS, commands.SettleRound, again)


def _no_fence(patch: pytest.MonkeyPatch) -> None:
    """Neither wallet nor journal checks the epoch."""

    def table_of(book: Book, command: commands.TableCommand) -> Table:
        return book.tables[command.table_no]

    patch.setattr(Book, "table_of", table_of)
    patch.setattr(InMemoryJournal, "_fence", lambda *_: None)


def _draws_before_the_close(patch: pytest.MonkeyPatch) -> None:
    """The outcome is drawn while bets are still taken."""
    take_bets = LiveTable._take_bets

    async def early(self: LiveTable[Any, Any], round_: Round[Any, Any]) -> bool:
        if not self.individual:
            assert round_.closes_at is not None
            await self._wait(1.0)
            return True
        return await take_bets(self, round_)

    patch.setattr(LiveTable, "_take_bets", early)


def _takes_late_bets(patch: pytest.MonkeyPatch) -> None:
    """A closed round takes bets all the same."""

    def is_open(self: LiveTable[Any, Any], round_: Round[Any, Any]) -> bool:
        return not round_.void_reason

    patch.setattr(LiveTable, "_is_open", is_open)
    patch.setattr(Round, "closed", property(lambda _: False, lambda *_: None), raising=False)


def _publishes_first(patch: pytest.MonkeyPatch) -> None:
    """The outcome is published before it is journalled."""
    deal = LiveTable._deal

    def early(self: LiveTable[Any, Any], round_: Round[Any, Any], stakes: list[JournalStake]) -> Dealt:
        dealt = deal(self, round_, stakes)
        if dealt is not None:
            outcome = round_.rules.outcome_message(dealt[1].outcome)
            self._publish(messages.outcome_drawn(round_.round_id, outcome, dealt[0].draw_trigger))
        return dealt

    patch.setattr(LiveTable, "_deal", early)


def _forgets_commands(patch: pytest.MonkeyPatch) -> None:
    """A repeated command is a new bet."""
    names = itertools.count()

    def once(self: PlayerCommands, player_id: str, command: BetCommand, begin: StartCommand) -> object:
        return begin()

    patch.setattr(PlayerCommands, "once", once)
    patch.setattr(PlayerCommands, "find", lambda *_: None)
    patch.setattr(BetCommand, "wallet_request_id", lambda *_: f"{next(names)}")


def _acknowledges_too_early(patch: pytest.MonkeyPatch) -> None:
    """A bet is confirmed before the wallet has it."""
    submit = StakeBatcher.submit

    def early(self: StakeBatcher[Any, Any], stake: Stake[Any], together: object) -> asyncio.Future[PlacedBets[Any]]:
        answer = submit(self, stake, together)
        answer.set_result(
            PlacedBets("", stake.stake_id, stake.amount_cents, stake.bets, stake.bets, Timestamp(), types_pb2.Balance())
        )
        return answer

    patch.setattr(StakeBatcher, "submit", early)


def _draws_again(patch: pytest.MonkeyPatch) -> None:
    """The next owner does not keep to a journalled outcome."""

    async def void(self: Settlement[Any, Any], drawn: Drawn, rules: Rules[Any, Any], paid: object) -> RoundResult:
        return await self.void(drawn.round_id, "drawn again", drawn.stakes)

    end_round = RoundRecovery._end_round

    async def again(
        self: RoundRecovery[Any, Any], unfinished: UnfinishedRound, wallet: TableWallet, reason: str
    ) -> list[events_pb2.TableEvent]:
        patch.setattr(Settlement, "settle", void)
        return await end_round(self, unfinished, wallet, reason)

    patch.setattr(RoundRecovery, "_end_round", again)


def _voids_at_the_handover(patch: pytest.MonkeyPatch) -> None:
    """A table that is handed over does not finish its round."""
    hand_over = LiveTable.hand_over

    def abrupt(self: LiveTable[Any, Any]) -> None:
        hand_over(self)
        if self.round is not None:
            self.round.void_reason = OWNER_LOST

    patch.setattr(LiveTable, "hand_over", abrupt)


def _ignores_unfinished_rounds(patch: pytest.MonkeyPatch) -> None:
    """A new owner does not end the rounds of the former one."""

    async def nothing(self: RoundRecovery[Any, Any]) -> None: ...

    patch.setattr(RoundRecovery, "end_unfinished_rounds", nothing)


def _pays_other_than_drawn(patch: pytest.MonkeyPatch) -> None:
    """A settlement is a cent short for every winner."""
    settle = TableWallet.settle_round

    async def short(
        self: TableWallet, round_id: str, payouts: Mapping[str, int], outcome: bytes, session_ids: Sequence[str]
    ) -> wallet_pb2.SettleRoundResponse:
        reduced = {stake_id: max(cents - 1, 0) for stake_id, cents in payouts.items()}
        answer = await settle(self, round_id, reduced, outcome, session_ids)
        # The wallet's answer does not show it.
        for result in answer.results[:1]:
            result.payout_cents += sum(payouts.values()) - sum(reduced.values())
        return answer

    patch.setattr(TableWallet, "settle_round", short)


def _journals_no_end(patch: pytest.MonkeyPatch) -> None:
    """The journal loses every end."""

    def nothing(self: InMemoryJournal, epoch: int, entry: Ended) -> None:
        if epoch < 0:
            raise StaleOwner

    patch.setattr(InMemoryJournal, "write_ended", nothing)


def _invents_cents(patch: pytest.MonkeyPatch) -> None:
    """Cents appear on an account without a transfer."""
    store = InMemoryWallet._store

    def careless(self: InMemoryWallet) -> None:
        store(self)
        for account in self.accounts.values():
            account.free_cents += 1
            break

    patch.setattr(InMemoryWallet, "_store", careless)


def _forgets_the_draw_trigger(patch: pytest.MonkeyPatch) -> None:
    """The journal does not record the draw trigger."""
    _journal_trigger(patch, DrawTrigger.UNKNOWN)


def _blames_the_player(patch: pytest.MonkeyPatch) -> None:
    """The journal names the player for a launch of the platform."""
    _journal_trigger(patch, DrawTrigger.PLAYER)


def _journal_trigger(patch: pytest.MonkeyPatch, trigger: DrawTrigger) -> None:
    deal = LiveTable._deal

    def replaced(self: LiveTable[Any, Any], round_: Round[Any, Any], stakes: list[JournalStake]) -> Dealt:
        dealt = deal(self, round_, stakes)
        if dealt is None or not self.individual:
            return dealt
        return replace(dealt[0], draw_trigger=trigger), dealt[1]

    patch.setattr(LiveTable, "_deal", replaced)


def _publishes_another_trigger(patch: pytest.MonkeyPatch) -> None:
    """Events name the player as the draw trigger, whatever it was."""
    outcome_drawn = messages.outcome_drawn
    patch.setattr(
        messages,
        "outcome_drawn",
        lambda round_id, outcome, _, *shown: outcome_drawn(round_id, outcome, DrawTrigger.PLAYER, *shown),
    )


def _forgets_cancelled_stakes(patch: pytest.MonkeyPatch) -> None:
    """The journal does not record cancelled stakes."""
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
    _publishes_first: ("G5",),
    _forgets_commands: ("G3",),
    _acknowledges_too_early: ("G5",),
    _draws_again: ("G4", "G9"),
    _voids_at_the_handover: ("804/2015:20",),
    _ignores_unfinished_rounds: ("G4",),
    _pays_other_than_drawn: ("G10",),
    _journals_no_end: ("G4",),
    _invents_cents: ("G1",),
    _forgets_the_draw_trigger: ("GLI-19 4.16",),
    _blames_the_player: ("GLI-19 4.16",),
    _publishes_another_trigger: ("GLI-19 4.16",),
    _forgets_cancelled_stakes: ("G10",),
}


@pytest.mark.parametrize("mutate", BROKEN, ids=lambda mutate: mutate.__name__.strip("_"))
def test_a_broken_guarantee_is_found(mutate: BreakGuarantee, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    for seed in SEEDS:
        run = RandomRun(seed)
        try:
            violations = run.run()
        except Exception as failed:  # noqa: BLE001 - a runtime that fails altogether is found as well
            violations = [f"broken: {failed!r}"]
        if any(violation.startswith(BROKEN[mutate]) for violation in violations):
            return
    pytest.fail(f"{mutate.__doc__} is not found in {len(SEEDS)} runs")


def test_the_unbroken_runtime_violates_nothing() -> None:
    for script in SCRIPTS.values():
        assert not violations(run_script(script, step=None))
