"""The wallet in memory: the real service and the real decisions, on a book that is never written to a database."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar, cast

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2
from services.kit.access.identity import Caller
from services.kit.clock import Clock
from services.kit.rpc.status import status_from
from services.kit.wire_format import timestamp
from services.wallet.ledger import commands
from services.wallet.ledger.book import Book, Entry, Movement, StakeCancellation
from services.wallet.ledger.commands import BuyIn, CashCommand, CashOut, Command, PlaceStake, TableCommand
from services.wallet.ledger.messages import balance_message
from services.wallet.model import inactivity, refusals
from services.wallet.model.refusals import WalletRefused
from services.wallet.model.state import (
    Account,
    AccountKind,
    Device,
    EndCause,
    InactivityPolicy,
    Mode,
    PayoutLimits,
    Play,
    Round,
    RoundState,
    Session,
    SessionKey,
    SessionState,
    Stake,
    StakeState,
    Table,
)
from services.wallet.server.wallet_service import WalletService
from services.wallet.sessions.messages import session_message
from services.wallet.sessions.policies import policy_from_message
from services.wallet.store import groups
from services.wallet.store.answers import StoredAnswer
from services.wallet.store.group_commit import GroupCommit

# Small, so that readers have to follow pages.
PAGE_SIZE = 3

_T = TypeVar("_T")


@dataclass(slots=True)
class StoredStake:
    """A stake as the ledger stores it."""

    stake: Stake
    detail: bytes
    placed_at: datetime
    cancellations: list[tuple[StakeCancellation, datetime]] = field(default_factory=list)
    # When it was paid, if that was before its round ended.
    paid_at: datetime | None = None

    def detail_after(self, transfer_no: float) -> bytes:
        """Returns the bets that were in play after a transfer."""
        rest = self.detail
        for cancellation, _ in self.cancellations:
            if cancellation.transfer_no <= transfer_no and cancellation.remaining_detail is not None:
                rest = cancellation.remaining_detail
        return rest

    def cents_after(self, transfer_no: float) -> int:
        """Returns how much was in play after a transfer."""
        paid_no = self.stake.paid_transfer_no
        if paid_no is not None and paid_no <= transfer_no:
            return 0
        taken = (each.amount_cents for each, _ in self.cancellations if each.transfer_no <= transfer_no)
        return self.stake.placed_cents - sum(taken)


@dataclass(slots=True)
class StoredRound:
    """A round as the ledger stores it."""

    round: Round
    opened_at: datetime
    ended_at: datetime | None = None
    void_reason: str = ""
    outcome: bytes = b""


@dataclass(frozen=True, slots=True)
class StoredMovement:
    """The movement of one transfer on one account."""

    movement: Movement
    entries: tuple[Entry, ...]
    at: datetime


class InMemoryWallet:
    """Stores all that the wallet knows, and carries out each command at once and as a whole."""

    def __init__(self, game: str, clock: Clock, on_session_change: Callable[[session_pb2.Session], None]) -> None:
        """`game` calls it; `on_session_change` gets every session that starts, moves on or ends."""
        # Tables of any limits are played here.
        payout_limits = PayoutLimits(10**15, 10**15)
        self.book = Book(clock.now(), clock.now(), payout_limits=payout_limits)
        self.stakes: dict[str, StoredStake] = {}
        self.rounds: dict[str, StoredRound] = {}
        self.movements: list[StoredMovement] = []
        self.requests: dict[str, tuple[bytes, StoredAnswer]] = {}
        self.tables: dict[str, Table] = {}
        self.accounts: dict[str, Account] = {}
        self._game = Caller(game, frozenset({"game"}), 0.0, game=game)
        self._clock = clock
        self.on_commit: Callable[[], None] = lambda: None
        """Is called after each transaction."""
        self._on_session_change = on_session_change
        self._numbers = itertools.count(1)
        self._operator_accounts: dict[int, Account] = {}
        # The real service: none of the methods that are used here needs a database.
        self._service = WalletService(cast("Any", None), cast("GroupCommit", self), clock, payout_limits)

    # -- calls -------------------------------------------------------------------------------------------------------

    def handle(self, method: str, payload: bytes) -> bytes:
        """Answers one call; raises what the wallet refuses."""
        read_request, answer_request = self._methods[method]
        answer = answer_request(read_request(payload))
        return answer if isinstance(answer, bytes) else answer.SerializeToString()

    @cached_property
    def _methods(self) -> dict[str, tuple[Callable[[bytes], Any], Callable[[Any], Message | bytes]]]:
        service, game = self._service, self._game
        return {
            "OpenTable": (wallet_pb2.OpenTableRequest.FromString, self._open_table),
            "PlaceStakes": (wallet_pb2.PlaceStakesRequest.FromString, lambda r: _run(service.place_stakes(r, game))),
            "CancelStakes": (wallet_pb2.CancelStakesRequest.FromString, lambda r: _run(service.cancel_stakes(r, game))),
            "GetFirstAnswer": (wallet_pb2.GetFirstAnswerRequest.FromString, self._get_first_answer),
            "PayStakes": (wallet_pb2.PayStakesRequest.FromString, lambda r: _run(service.pay_stakes(r, game))),
            "SettleRound": (wallet_pb2.SettleRoundRequest.FromString, lambda r: _run(service.settle_round(r, game))),
            "VoidRound": (wallet_pb2.VoidRoundRequest.FromString, lambda r: _run(service.void_round(r, game))),
            "BuyIn": (wallet_pb2.BuyInRequest.FromString, lambda r: _run(service.buy_in(r, game))),
            "CashOut": (wallet_pb2.CashOutRequest.FromString, lambda r: _run(service.cash_out(r, game))),
            "TransferHand": (wallet_pb2.TransferHandRequest.FromString, lambda r: _run(service.transfer_hand(r, game))),
            "ListTableCaves": (wallet_pb2.ListTableCavesRequest.FromString, self._list_caves),
            "ListTransactions": (wallet_pb2.ListTransactionsRequest.FromString, self._list_transactions),
            "GetRound": (wallet_pb2.GetRoundRequest.FromString, self._get_round),
            "FindAccount": (wallet_pb2.FindAccountRequest.FromString, self._find_account),
            "RefillDemoAccount": (wallet_pb2.RefillDemoAccountRequest.FromString, self._refill),
            "AnnounceRound": (session_pb2.AnnounceRoundRequest.FromString, self._announce),
            "ApplySpecificRules": (session_pb2.ApplySpecificRulesRequest.FromString, self._apply_rules),
            "ListTableSessions": (session_pb2.ListTableSessionsRequest.FromString, self._list_sessions),
            "StartSession": (session_pb2.StartSessionRequest.FromString, self._start_session),
            "GetSession": (session_pb2.GetSessionRequest.FromString, self._get_session),
            "EndSession": (session_pb2.EndSessionRequest.FromString, self._end_session),
        }

    # -- lanes and store ---------------------------------------------------------------------------------------------

    async def submit(self, key: str, submitted: list[Command]) -> list[StoredAnswer]:
        """Replaces `GroupCommit.submit` and `LedgerStore.write`: looks up, decides and stores."""
        self._set_time()
        for command in submitted:
            self._look_up(command)
        lookups = [groups.Lookup(next(self._numbers), self.requests.get(command.request_id)) for command in submitted]
        group = groups.Group(submitted, self.book, lookups=lookups)
        answers = groups.decide_group(group)
        for request_id, digest, refused, answer, *_ in group.answered:
            self.requests[request_id] = digest, StoredAnswer(refused, answer)
        self._store()
        return answers

    def _set_time(self) -> None:
        self.book.now = self.book.session_now = self._clock.now()
        self.book.timestamp = Timestamp()
        self.book.timestamp.FromDatetime(self.book.now)

    def _look_up(self, command: Command) -> None:
        if isinstance(command, TableCommand):
            table = self.tables.get(command.table_id)
            command.table_no = 0 if table is None else table.no
        if isinstance(command, PlaceStake | CashCommand | BuyIn | CashOut):
            account = self.accounts.get(command.account_id)
            command.account_no = 0 if account is None else account.no
            if isinstance(command, BuyIn):
                self._make_cave(command)
            if isinstance(command, CashOut):
                self.book.running_session_nos = {
                    (each.account_no, each.table_no): each.no for each in self.running_sessions(command.table_id)
                }
            if isinstance(command, CashCommand):
                command.operator_account_no = 0 if account is None else self._operator_accounts[account.no].no

    def _make_cave(self, command: BuyIn) -> None:
        """Makes the cave that a command fills, as the store does before the ledger decides."""
        pair, table = (command.account_no, command.table_no), self.book.tables.get(command.table_no)
        if pair not in self.book.caves and table is not None and command.account_no:
            cave = self._account(f"{command.account_id}-cave-{command.table_id}", AccountKind.CAVE, table.mode, None)
            cave.owner_no, cave.table_no = pair
            self.book.caves[pair] = cave

    def _store(self) -> None:
        """Stores what the transaction would write, and reports the sessions that it would publish."""
        book, now = self.book, self.book.now
        for round_ in book.new_rounds.values():
            self.rounds[round_.round_id] = StoredRound(round_, now)
        for stake, detail in book.new_stakes:
            self.stakes[stake.stake_id] = StoredStake(stake, detail, now)
        by_no = {stored.stake.no: stored for stored in self.stakes.values()} if book.cancellations else {}
        for cancellation in book.cancellations:
            by_no[cancellation.stake_no].cancellations.append((cancellation, now))
        for stake in book.changed_stakes.values():
            if stake.state is StakeState.PAID:
                self.stakes[stake.stake_id].paid_at = now
        for ending in book.endings:
            stored = self.rounds[ending.round.round_id]
            stored.ended_at, stored.void_reason, stored.outcome = now, ending.void_reason or "", ending.outcome or b""
        self.movements += [
            StoredMovement(movement, tuple(book.entries_of(movement)), now) for movement in book.movements
        ]
        moved_on = {notice.session.no for notice in book.notices}
        changed = [s for s in book.changed_sessions.values() if s.no in moved_on or s.state >= SessionState.ENDING]
        for written in (
            book.new_rounds,
            book.changed_stakes,
            book.tables_with_raised_epoch,
            book.changed_sessions,
            book.transfers,
            book.round_growth,
        ):
            cast("dict[Any, Any]", written).clear()
        for appended in (
            book.new_stakes,
            book.cancellations,
            book.endings,
            book.movements,
            book.postings,
            book.notices,
        ):
            cast("list[Any]", appended).clear()
        # As in the database, where the store reads the open and the paid stakes of open rounds only.
        open_nos = {stored.round.no for stored in self.rounds.values() if stored.round.state is RoundState.OPEN}
        book.stakes = {
            stake_id: stake
            for stake_id, stake in book.stakes.items()
            if stake.state in {StakeState.OPEN, StakeState.PAID} and stake.round_no in open_nos
        }
        self.on_commit()
        for session in changed:
            self._on_session_change(session_message(session))

    # -- accounts ----------------------------------------------------------------------------------------------------

    def open_account(self, player_id: str, mode: Mode, cents: int = 0) -> Account:
        """Opens the player's account if there is none, and deposits this amount."""
        account_id = f"{player_id}-{mode.name.lower()}"
        account = self.accounts.get(account_id)
        if account is None:
            account = self.accounts[account_id] = self._account(account_id, AccountKind.PLAYER, mode, player_id)
            self._operator_accounts[account.no] = self._account(
                f"{account_id}-operator", AccountKind.OPERATOR, mode, player_id
            )
        if cents:
            request_id = f"deposit-{next(self._numbers)}"
            deposit = commands.Deposit(request_id, b"", "operator", account_id, cents, "")
            (answer,) = _run(self.submit(account_id, [deposit]))
            answer.unwrap()
        return account

    def _account(self, account_id: str, kind: AccountKind, mode: Mode, player_id: str | None) -> Account:
        no = next(self._numbers)
        account = Account(no, account_id, kind, mode, player_id, None, None, 0, 0, 0, blocked=False)
        self.book.accounts[no] = account
        return account

    def _find_account(self, request: wallet_pb2.FindAccountRequest) -> wallet_pb2.FindAccountResponse:
        account = self.accounts.get(f"{request.player_id}-{Mode(request.mode).name.lower()}")
        if account is None:
            raise refusals.player_without_account(request.player_id, Mode(request.mode))
        return wallet_pb2.FindAccountResponse(balance=balance_message(account), blocked=account.blocked)

    def _refill(self, request: wallet_pb2.RefillDemoAccountRequest) -> bytes:
        account = self.open_account(request.player_id, Mode.DEMO)
        digest = hashlib.blake2b(request.SerializeToString(deterministic=True), digest_size=16).digest()
        refill = commands.RefillDemo(
            request.request_id, digest, self._game.subject, account.account_id, request.amount_cents
        )
        (answer,) = _run(self.submit(account.account_id, [refill]))
        return answer.unwrap()

    # -- tables and rounds -------------------------------------------------------------------------------------------

    def _open_table(self, request: wallet_pb2.OpenTableRequest) -> wallet_pb2.OpenTableResponse:
        table_id, epoch = request.table.table_id, request.table.epoch
        table = self.tables.get(table_id)
        if table is None:
            mode, play = Mode(request.mode), Play(request.play)
            bank = self._account(f"{table_id}-bank", AccountKind.BANK, mode, None)
            no = next(self._numbers)
            table = Table(
                no, table_id, request.game, request.regulation, mode, play, epoch, bank.no, InactivityPolicy()
            )
            self.tables[table_id] = self.book.tables[no] = table
        if epoch < table.epoch:
            raise refusals.stale_epoch(table_id, epoch, table.epoch)
        table.epoch = epoch
        open_round_ids = [
            round_id
            for round_id, known in self.rounds.items()
            if known.round.table_no == table.no and known.round.state is RoundState.OPEN
        ]
        of_table = (round_id for round_id, known in self.rounds.items() if known.round.table_no == table.no)
        return wallet_pb2.OpenTableResponse(
            open_round_ids=open_round_ids, last_round_id=max(of_table, key=self._round_no, default="")
        )

    def _round_no(self, round_id: str) -> int:
        return self.rounds[round_id].round.no

    def stakes_of(self, round_id: str) -> list[StoredStake]:
        """Returns the stakes of a round in the order of placing."""
        known = self.rounds.get(round_id)
        if known is None:
            return []
        return [stake for stake in self.stakes.values() if stake.stake.round_no == known.round.no]

    def _get_round(self, request: wallet_pb2.GetRoundRequest) -> wallet_pb2.GetRoundResponse:
        known = self.rounds.get(request.round_id)
        if known is None:
            raise refusals.round_unknown(request.round_id)
        table = self.book.tables[known.round.table_no]
        message = wallet_pb2.Round(
            round_id=request.round_id,
            table_id=table.table_id,
            game=table.game,
            mode=types_pb2.Mode.ValueType(table.mode),
            state=types_pb2.RoundState.ValueType(known.round.state),
            opened_at=timestamp(known.opened_at),
            ended_at=timestamp(known.ended_at),
            void_reason=known.void_reason,
            outcome=known.outcome,
        )
        stakes, first = self.stakes_of(request.round_id), int(request.page_token or 0)
        more = str(first + PAGE_SIZE) if len(stakes) > first + PAGE_SIZE else ""
        message.stakes.extend(self._stake_message(stake) for stake in stakes[first : first + PAGE_SIZE])
        return wallet_pb2.GetRoundResponse(round=message, next_page_token=more)

    def _stake_message(self, known: StoredStake) -> types_pb2.Stake:
        stake = known.stake
        detail = known.detail_after(math.inf)
        return types_pb2.Stake(
            stake_id=stake.stake_id,
            account_id=self.book.accounts[stake.account_no].account_id,
            session_id=self.book.sessions[stake.session_no].session_id,
            placed_cents=stake.placed_cents,
            cancelled_cents=stake.cancelled_cents,
            payout_cents=stake.payout_cents,
            state=types_pb2.StakeState.ValueType(stake.state),
            detail=detail,
            placed_at=timestamp(known.placed_at),
            paid_at=timestamp(known.paid_at),
            cancellations=[
                types_pb2.Cancellation(
                    transfer_id=cancellation.transfer_no,
                    cancelled_at=timestamp(at),
                    amount_cents=cancellation.amount_cents,
                    detail=detail if cancellation.cancelled_detail is None else cancellation.cancelled_detail,
                )
                for cancellation, at in known.cancellations
            ],
        )

    def _get_first_answer(self, request: wallet_pb2.GetFirstAnswerRequest) -> wallet_pb2.GetFirstAnswerResponse:
        known = self.requests.get(request.request_id)
        if known is None:
            raise refusals.request_unknown(request.request_id)
        digest, answer = known
        if request.command_digest and digest != b"game:" + request.command_digest:
            raise refusals.request_reused(request.request_id)
        stored = answer.unwrap()
        response = wallet_pb2.GetFirstAnswerResponse()
        placed = self.stakes.get(request.request_id)
        if placed is not None:
            response.placed.CopyFrom(wallet_pb2.PlaceStakeResponse.FromString(stored).placed)
            response.amount_cents, response.detail = placed.stake.placed_cents, placed.detail
            self._add_in_play(response, placed.stake, placed.stake.no)
        elif kind := _first_answer_kind(request.request_id):
            getattr(response, kind).ParseFromString(stored)
        else:
            response.cancelled.ParseFromString(stored)
            transfer_no = response.cancelled.transfer_id
            for each in self.stakes.values():
                for cancellation, _ in each.cancellations:
                    if cancellation.transfer_no == transfer_no:
                        response.cancelled_parts.add(
                            stake_id=each.stake.stake_id, amount_cents=cancellation.amount_cents
                        )
                        placed = each
            assert placed is not None
            self._add_in_play(response, placed.stake, transfer_no)
        return response

    def _add_in_play(self, response: wallet_pb2.GetFirstAnswerResponse, stake: Stake, transfer_no: int) -> None:
        """Adds what the stake's account had in play in its round after a transfer."""
        (response.round_id,) = (r for r, stored in self.rounds.items() if stored.round.no == stake.round_no)
        response.table_id = self.book.tables[self.rounds[response.round_id].round.table_no].table_id
        for each in self.stakes_of(response.round_id):
            other, cents = each.stake, each.cents_after(transfer_no)
            if other.account_no == stake.account_no and other.no <= transfer_no and cents:
                response.in_play.add(stake_id=other.stake_id, amount_cents=cents, detail=each.detail_after(transfer_no))

    def _list_transactions(self, request: wallet_pb2.ListTransactionsRequest) -> wallet_pb2.ListTransactionsResponse:
        if request.round_id not in self.rounds:
            raise refusals.round_unknown(request.round_id)
        found = [stored for stored in reversed(self.movements) if stored.movement.round_id == request.round_id]
        first = int(request.page_token or 0)
        more = str(first + PAGE_SIZE) if len(found) > first + PAGE_SIZE else ""
        shown = [self._transaction(movement) for movement in found[first : first + PAGE_SIZE]]
        return wallet_pb2.ListTransactionsResponse(transactions=shown, next_page_token=more)

    def _transaction(self, stored: StoredMovement) -> types_pb2.Transaction:
        movement = stored.movement
        player = movement.account.kind is AccountKind.PLAYER
        return types_pb2.Transaction(
            transfer_id=movement.transfer_no,
            kind=types_pb2.TransferKind.ValueType(movement.kind),
            at=timestamp(stored.at),
            request_id=movement.request_id,
            account_id=movement.account.account_id if player else "",
            round_id=movement.round_id,
            session_id=movement.session_id,
            entries=[
                types_pb2.Entry(
                    balance_part=types_pb2.BalancePart.ValueType(part),
                    before_cents=before,
                    amount_cents=cents,
                    after_cents=before + cents,
                )
                for part, before, cents in stored.entries
            ],
        )

    # -- sessions ----------------------------------------------------------------------------------------------------

    def running_sessions(self, table_id: str) -> list[Session]:
        """Returns the sessions at a table that have not ended."""
        sessions = self.book.sessions.values()
        return [s for s in sessions if s.table_id == table_id and s.state is not SessionState.ENDED]

    def _start_session(self, request: session_pb2.StartSessionRequest) -> bytes:
        digest = hashlib.blake2b(request.SerializeToString(deterministic=True), digest_size=16).digest()
        known = self.requests.get(request.request_id)
        if known is not None:
            if known[0] != digest:
                raise refusals.request_reused(request.request_id)
            return known[1].unwrap()
        try:
            answer = session_pb2.StartSessionResponse(session=session_message(self._start(request)))
        except WalletRefused as refused:
            self.requests[request.request_id] = (
                digest,
                StoredAnswer(refused=True, answer=status_from(refused).SerializeToString()),
            )
            raise
        kept = StoredAnswer(refused=False, answer=answer.SerializeToString())
        self.requests[request.request_id] = digest, kept
        self._on_session_change(answer.session)
        return kept.answer

    def _start(self, request: session_pb2.StartSessionRequest) -> Session:
        account, table = self.accounts.get(request.account_id), self.tables.get(request.table_id)
        if account is None:
            raise refusals.account_unknown(request.account_id)
        if table is None:
            raise refusals.table_unknown(request.table_id)
        for session in self.running_sessions(table.table_id):
            if session.account_no == account.no:
                raise WalletRefused("SESSION_RUNNING", "The player has a session.", session_id=session.session_id)
        now, no = self._clock.now(), next(self._numbers)
        session = Session(
            no=no, session_id=f"session-{no}", player_id=account.player_id or "", account_no=account.no,
            account_id=account.account_id, table_no=table.no, table_id=table.table_id, game=table.game,
            regulation=table.regulation, mode=table.mode, play=table.play, state=SessionState.ACTIVE, device=Device(),
            started_at=now, started_version=account.version, ended_at=None, ended_version=None, end_cause=None,
            last_activity_at=now, idle_since=now, missed_rounds=0, warned_at=None, warned_round_id=None,
            cave_short_since=None, next_step_at=None,
        )  # fmt: skip
        inactivity.session_started(session, table.policy, now)
        self.book.sessions[no] = session
        self.book.session_states[no] = session.state
        self.book.session_keys[session.session_id] = SessionKey(no, account.no, table.no)
        return session

    def end_session(self, session_id: str) -> None:
        """Ends a session as its player does."""
        self._set_time()
        session = self.book.sessions[self.book.session_keys[session_id].no]
        if session.state is SessionState.ENDED:
            return
        inactivity.end(session, EndCause.PLAYER, self.book.session_now)
        self.book.record_session_change(session, [])
        self.book.close_if_done(session)
        self._store()

    def _end_session(self, request: session_pb2.EndSessionRequest) -> session_pb2.EndSessionResponse:
        self.end_session(request.session_id)
        session = self.book.sessions[self.book.session_keys[request.session_id].no]
        return session_pb2.EndSessionResponse(session=session_message(session))

    def _get_session(self, request: session_pb2.GetSessionRequest) -> session_pb2.GetSessionResponse:
        key = self.book.session_keys.get(request.session_id)
        if key is None:
            raise refusals.session_unknown(request.session_id)
        return session_pb2.GetSessionResponse(session=session_message(self.book.sessions[key.no]))

    def _list_sessions(self, request: session_pb2.ListTableSessionsRequest) -> session_pb2.ListTableSessionsResponse:
        # By key, as in the database: what ends between two pages hides no other session.
        after_no = int(request.page_token or 0)
        running = [
            session
            for session in sorted(self.book.sessions.values(), key=lambda each: each.no)
            if session.state is not SessionState.ENDED
            and session.no > after_no
            and (
                session.table_id == request.table_id
                or (request.include_individual and session.table_id.startswith(f"{request.table_id}-"))
            )
        ]
        page = running[:PAGE_SIZE]
        more = str(page[-1].no) if len(running) > len(page) else ""
        shown = [session_message(session) for session in page]
        return session_pb2.ListTableSessionsResponse(sessions=shown, next_page_token=more)

    def _list_caves(self, request: wallet_pb2.ListTableCavesRequest) -> wallet_pb2.ListTableCavesResponse:
        table = self.tables.get(request.table_id)
        if table is None:
            raise refusals.table_unknown(request.table_id)
        found = [
            wallet_pb2.TableCave(session_id=session.session_id, account_id=session.account_id, cave_cents=cents)
            for session in sorted(self.running_sessions(request.table_id), key=lambda each: each.no)
            if (cents := self.cave_cents(session.account_no, table.no))
        ]
        return wallet_pb2.ListTableCavesResponse(caves=found)

    def cave_cents(self, account_no: int, table_no: int) -> int:
        """Returns what a player has in the cave at a table."""
        cave = self.book.caves.get((account_no, table_no))
        return 0 if cave is None else cave.free_cents

    def _announce(self, request: session_pb2.AnnounceRoundRequest) -> session_pb2.AnnounceRoundResponse:
        table = self._table_of_owner(request.table)
        known = self.rounds.get(request.round_id)
        if known is not None and known.round.state is not RoundState.OPEN:
            raise refusals.round_ended(request.round_id, known.round.state)
        self._set_time()
        for session in self.running_sessions(table.table_id):
            if session.state in {SessionState.INVITED, SessionState.WARNED}:
                self.book.record_session_change(
                    session, inactivity.round_announced(session, request.round_id, self.book.session_now)
                )
        warned = [s.session_id for s in self.running_sessions(table.table_id) if s.warned_round_id == request.round_id]
        self._store()
        return session_pb2.AnnounceRoundResponse(warned_session_ids=warned)

    def _apply_rules(self, request: session_pb2.ApplySpecificRulesRequest) -> session_pb2.ApplySpecificRulesResponse:
        table = self._table_of_owner(request.table)
        if request.version > table.rules_version:
            table.policy = inactivity.validated_policy(
                table.play, table.regulation, policy_from_message(request.policy)
            )
            table.rules_version = request.version
        return session_pb2.ApplySpecificRulesResponse()

    def _table_of_owner(self, table_ref: types_pb2.TableRef) -> Table:
        table = self.tables.get(table_ref.table_id)
        if table is None:
            raise refusals.table_unknown(table_ref.table_id)
        if table_ref.epoch < table.epoch:
            raise refusals.stale_epoch(table.table_id, table_ref.epoch, table.epoch)
        table.epoch = table_ref.epoch
        return table


def _first_answer_kind(request_id: str) -> str:
    """Returns the field for the first answer to a command of a table's own; nothing if it was a player's."""
    endings = {":hand": "transferred", ":settle": "settled", ":void": "voided"}
    if ":pay:" in request_id:
        return "paid"
    if ":buy-in:" in request_id:
        return "bought_in"
    return next((kind for ending, kind in endings.items() if request_id.endswith(ending)), "")


def _run(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """What a coroutine returns that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast("_T", done.value)
    raise AssertionError("the wallet in memory never waits")
