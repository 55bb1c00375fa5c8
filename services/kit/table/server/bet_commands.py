"""Carries out the bets of players at banked tables: each command acts once and gets its first answer for ever (G3).

A table remembers the commands of its current round and of the last one. The answer to any other is read from the
ledger, or a round's result from the journal: after the round, without a session, at whichever process the table is now.
Every banked game's service uses this; the game only reads its requests and builds its answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar, cast

from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit import background
from services.kit.access.identity import Caller
from services.kit.paging import Page, PageRequest
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.answers import CancelledBets, PlacedBets, cancelled_bets, placed_bets
from services.kit.table.banked.commands import BetCommand, BetRequest
from services.kit.table.banked.round import Deal, FinishedRound
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import Ending, Journal, JournalStake
from services.kit.table.journal.history import RecordedRound, RoundRecord
from services.kit.table.live.table import LiveTable, round_id_of
from services.kit.table.owned.registry import TableRegistry
from services.kit.table.refusals import TableRefused
from services.kit.table.server import validation
from services.kit.table.wallet.client import Wallet
from services.kit.table.wallet.table_wallet import settling_request_id, voiding_request_id

_Answer = TypeVar("_Answer")

# Refusals that say nothing about the command: it is sent again, perhaps elsewhere, and may be carried out then.
SEND_AGAIN = frozenset({"TABLE_ELSEWHERE", "UNAVAILABLE", "OVERLOADED", "REQUEST_REUSED"})


@dataclass(frozen=True, slots=True)
class PlayedRound(Generic[Bets, Outcome]):
    """A round that has ended, as one player played it."""

    round_id: str
    next_round_id: str
    next_round_opens_at: datetime | None
    """When it opens at the earliest; None if that is long past."""
    rules: Rules[Bets, Outcome]
    outcome: Outcome | None
    """None if the round is void."""
    void_reason: str
    stakes: Sequence[JournalStake]
    """The player's."""
    payout_cents: int
    balance: wallet_types.Balance | None


class StartedDeal(NamedTuple):
    """A deal that a player has started."""

    round_id: str
    staked_cents: int
    """The player's stakes when betting closed; decisions make others."""
    void_reason: str
    """Why nothing was dealt; empty if the cards are."""


class BetCommands(Generic[Bets, Outcome]):
    """Places, repeats and cancels bets, launches draws, and reads past outcomes, for the tables of one process."""

    def __init__(
        self,
        registry: TableRegistry[Bets, Outcome],
        journal: Journal,
        wallet: Wallet,
        read_round: Callable[[str], Awaitable[RoundRecord | None]],
        list_rounds: Callable[[str, PageRequest], Awaitable[Page[RecordedRound]]],
    ) -> None:
        """Takes what reads the journal: everything about a round, and a table's rounds, newest first."""
        self._registry = registry
        self._journal = journal
        self._wallet = wallet
        self._read_round = read_round
        self._list_rounds = list_rounds

    def rules_in_force(self, table_id: str, caller: Caller) -> VersionedRules[Bets, Outcome]:
        """Returns the specific rules by which a table plays."""
        return self._registry.rules_in_force(validation.table_id(table_id), caller)

    async def last_outcomes(self, table_id: str, caller: Caller, count: int) -> list[tuple[str, Outcome]]:
        """Returns the last rounds of a table that were paid, oldest first: their ids and outcomes.

        Any process answers, whichever runs the table. A round that still shows its cards is left out.
        """
        self._registry.verify_visible(validation.table_id(table_id), caller)
        page = await self._list_rounds(table_id, PageRequest(count))
        return [
            (round_.round_id, (await self._rules_of(round_)).read_outcome(round_.outcome))
            for round_ in reversed(page.items)
            if round_.ending is Ending.SETTLED and round_.outcome is not None
        ]

    async def _rules_of(self, round_: RecordedRound) -> Rules[Bets, Outcome]:
        """Returns the rules that a round was opened under: no others can read its outcome."""
        version = await self._registry.rules_of_version(round_.placement_id, round_.configuration_version)
        return version.rules

    # -- bets --------------------------------------------------------------------------------------------------------

    async def place(
        self, request: BetRequest, caller: Caller, read_bets: Callable[[Rules[Bets, Outcome]], Bets]
    ) -> PlacedBets[Bets]:
        """Places the bets that `read_bets` reads from the request by the table's rules."""

        async def begin(table: LiveTable[Bets, Outcome], command: BetCommand) -> PlacedBets[Bets]:
            round_, seat = table.open_round_and_seat(request.round_id, caller.subject)
            return await round_.place(seat, command, read_bets(round_.rules))

        return await self._carry_out(request, caller, begin, placed_bets)

    async def repeat(self, request: BetRequest, caller: Caller) -> PlacedBets[Bets]:
        """Places the bets of the player's last round at this table again."""

        async def begin(table: LiveTable[Bets, Outcome], command: BetCommand) -> PlacedBets[Bets]:
            messages = await self._journal.last_bets(table.table_id, caller.subject)
            round_, seat = table.open_round_and_seat(request.round_id, caller.subject)
            # Judged when they are placed, like any other bets.
            bets = round_.rules.together(map(round_.rules.read_bets, messages))
            if bets is None:
                sentence = "You have not played a round at this table yet."
                raise TableRefused("NOTHING_TO_REPEAT", sentence, table_id=table.table_id)
            return await round_.place(seat, command, bets)

        return await self._carry_out(request, caller, begin, placed_bets)

    async def cancel(
        self, request: BetRequest, caller: Caller, read_bets: Callable[[Rules[Bets, Outcome]], Bets | None]
    ) -> CancelledBets[Bets]:
        """Takes back the bets that `read_bets` reads from the request, or all of the player's if it names none."""

        async def begin(table: LiveTable[Bets, Outcome], command: BetCommand) -> CancelledBets[Bets]:
            round_, seat = table.open_round_and_seat(request.round_id, caller.subject)
            if table.current_rules.configuration.cancel_forbidden:
                sentence = "At this table bets cannot be taken back."
                raise TableRefused("CANCEL_FORBIDDEN", sentence, table_id=request.table_id)
            return await round_.cancel_bets(seat, command, read_bets(round_.rules))

        return await self._carry_out(request, caller, begin, cancelled_bets)

    async def _carry_out(
        self,
        request: BetRequest,
        caller: Caller,
        begin: Callable[[LiveTable[Bets, Outcome], BetCommand], Awaitable[_Answer]],
        read_answer: Callable[[wallet_pb2.GetFirstAnswerResponse, Rules[Bets, Outcome]], _Answer],
    ) -> _Answer:
        """Carries a command out, or returns its first answer, wherever that is."""
        validation.table_id(request.table_id)
        validation.round_id(request.round_id)
        validation.request_id(request.request_id)
        command = BetCommand.of(request)
        remembered = False
        try:
            table = await self._registry.table(request.table_id, caller)
            await table.wait_if_opening(request.round_id)
            commands = table.commands_of(request.round_id)
            if commands is not None:
                remembered = True
                earlier = commands.find(caller.subject, command)
                if earlier is not None:
                    return cast("_Answer", await background.shared_result(earlier))
            return await begin(table, command)
        except TableRefused as refused:
            if remembered or refused.reason in SEND_AGAIN:
                raise
            first = await self._first_answer(request.table_id, caller.subject, command)
            if first is None:
                raise
            return read_answer(first, self._registry.configured_rules(request.table_id).rules)
        except Refused as refused:
            if refused.reason != "REQUEST_REUSED":
                raise
            # The wallet names its own id of the command.
            raise refusals.request_reused(request.request_id) from None

    async def _first_answer(
        self, table_id: str, player_id: str, command: BetCommand
    ) -> wallet_pb2.GetFirstAnswerResponse | None:
        """Reads the first answer from the ledger; None if there was no such command."""
        mode = self._registry.configured_rules(table_id).configuration.mode
        try:
            account = await self._wallet.find_account(wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode))
            return await self._wallet.get_first_answer(
                wallet_pb2.GetFirstAnswerRequest(
                    request_id=command.wallet_request_id(account.balance.account_id), command_digest=command.digest
                )
            )
        except Refused as refused:
            if refused.reason == "REQUEST_REUSED":
                raise refusals.request_reused(command.request_id) from None
            if refused.reason not in {"ACCOUNT_UNKNOWN", "REQUEST_UNKNOWN"}:
                raise
            return None

    # -- draws -------------------------------------------------------------------------------------------------------

    async def draw(self, table_id: str, round_id: str, caller: Caller) -> PlayedRound[Bets, Outcome]:
        """Launches the draw at an individual table, or returns the result of a round that the player has played."""
        validation.table_id(table_id)
        validation.round_id(round_id)
        try:
            table = await self._registry.table(table_id, caller)
            finished = await table.trigger_draw(caller.subject, round_id)
        except TableRefused as refused:
            if refused.reason not in {"TABLE_UNKNOWN", "NOT_SEATED", "BETTING_CLOSED"}:
                raise
            played = await self._recorded_round(table_id, round_id, caller.subject)
            if played is None:
                raise
            return played
        return _finished_round(table, finished, caller.subject)

    async def deal(self, table_id: str, round_id: str, caller: Caller) -> StartedDeal:
        """Starts the deal at an individual table, or says again that it was started."""
        validation.table_id(table_id)
        validation.round_id(round_id)
        try:
            table = await self._registry.table(table_id, caller)
            deal = await table.trigger_deal(caller.subject, round_id)
        except TableRefused as refused:
            if refused.reason not in {"TABLE_UNKNOWN", "NOT_SEATED", "BETTING_CLOSED"}:
                raise
            record = await self._read_round(round_id)
            if record is None or record.opened.table_id != table_id:
                raise
            deal = _recorded_deal(record)
            if not deal.staked_cents(caller.subject):
                raise
        return StartedDeal(round_id, deal.staked_cents(caller.subject), deal.void_reason)

    async def _recorded_round(self, table_id: str, round_id: str, player_id: str) -> PlayedRound[Bets, Outcome] | None:
        """Reads a round from the journal; None if the player had no stake in it."""
        record = await self._read_round(round_id)
        if record is None or record.opened.table_id != table_id:
            return None
        mine = [stake for stake in record.stakes if stake.player_id == player_id]
        if not mine:
            return None
        if record.ended is None:
            raise refusals.unavailable("The round has not ended yet")
        opened, ended = record.opened, record.ended
        rules = (await self._registry.rules_of_version(opened.placement_id, opened.configuration_version)).rules
        payouts = dict(ended.payouts)
        return PlayedRound(
            round_id,
            round_id_of(table_id, opened.number + 1),
            None,
            rules,
            None if record.outcome is None else rules.read_outcome(record.outcome),
            ended.void_reason,
            mine,
            sum(payouts[stake.stake_id] for stake in mine),
            await self._balance_after(round_id, ended.ending, mine[0].account_id),
        )

    async def _balance_after(self, round_id: str, ending: Ending, account_id: str) -> wallet_types.Balance | None:
        request_id = settling_request_id(round_id) if ending is Ending.SETTLED else voiding_request_id(round_id)
        answer = await self._wallet.get_first_answer(wallet_pb2.GetFirstAnswerRequest(request_id=request_id))
        results = answer.settled.results if ending is Ending.SETTLED else answer.voided.results
        return next((result.balance for result in results if result.account_id == account_id), None)


def _recorded_deal(record: RoundRecord) -> Deal:
    """Returns what came of the bets of a round when they were closed; a dealt round that is void now was dealt."""
    if record.drawn is not None:
        return Deal(record.drawn.stakes, "")
    return Deal(record.stakes, "" if record.ended is None else record.ended.void_reason)


def _finished_round(
    table: LiveTable[Bets, Outcome], finished: FinishedRound[Bets, Outcome], player_id: str
) -> PlayedRound[Bets, Outcome]:
    mine = [stake for stake in finished.stakes if stake.player_id == player_id]
    payouts = dict(finished.entry.payouts)
    return PlayedRound(
        finished.round_id,
        round_id_of(table.table_id, finished.number + 1),
        finished.next_round_opens_at,
        finished.rules,
        None if finished.entry.ending is Ending.VOID else finished.outcome,
        finished.entry.void_reason,
        mine,
        sum(payouts[stake.stake_id] for stake in mine),
        next((finished.balances[s.account_id] for s in mine if s.account_id in finished.balances), None),
    )
