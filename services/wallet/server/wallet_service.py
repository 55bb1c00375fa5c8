"""The WalletService at its gRPC edge: checks what comes in, turns it into commands, and says what became of them."""

import logging
from collections.abc import Iterable
from contextlib import nullcontext

from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit import trace
from services.kit.access.identity import Caller
from services.kit.clock import Clock
from services.kit.command_digest import digest
from services.kit.round_limits import STAKES_LIMIT
from services.kit.rpc.status import status_from
from services.kit.wire_format import embedded
from services.wallet.ledger import commands
from services.wallet.model import refusals
from services.wallet.model.state import Mode, Play
from services.wallet.server import fields as edge
from services.wallet.sessions import rows as session_rows
from services.wallet.store import accounts, queries
from services.wallet.store.answers import REQUEST_ID_CHARACTERS_LIMIT, StoredAnswer
from services.wallet.store.group_commit import GroupCommit

ORDERS_LIMIT = 1_000
STAKE_DETAIL_BYTES_LIMIT = 4 * 1024
OUTCOME_BYTES_LIMIT = 64 * 1024
REFERENCE_CHARACTERS_LIMIT = 200
REASON_CHARACTERS_LIMIT = 500
SEATS_LIMIT = 10
REPORT_SESSIONS_LIMIT = 10_000
# The largest prize of any game is far below a thousand times the largest stake.
PAYOUT_LIMIT_CENTS = edge.AMOUNT_LIMIT_CENTS * 1_000

# Field numbers of wallet.proto, for answers that go out as they are stored. PlaceStakeResponse and an accepted
# StakeAnswer are the same bytes: both are a PlacedStake in field 1.
_ANSWERS = 1
_REFUSED = 2

_log = logging.getLogger(__name__)


class WalletService:
    """One method per rpc; see wallet.proto for what each promises."""

    descriptor = wallet_pb2.DESCRIPTOR.services_by_name["WalletService"]

    def __init__(self, engine: AsyncEngine, group_commit: GroupCommit, clock: Clock) -> None:
        self._engine = engine
        self._group_commit = group_commit
        self._clock = clock

    # -- accounts ---------------------------------------------------------------------------------------------------

    async def open_account(
        self, request: wallet_pb2.OpenAccountRequest, caller: Caller
    ) -> wallet_pb2.OpenAccountResponse:
        player_id, mode = edge.registered_player_id("player_id", request.player_id), _mode(request.mode)
        async with self._engine.begin() as connection:
            account = await accounts.open_account(connection, player_id, mode, self._clock.now())
        return wallet_pb2.OpenAccountResponse(balance=_balance(account))

    async def find_account(
        self, request: wallet_pb2.FindAccountRequest, caller: Caller
    ) -> wallet_pb2.FindAccountResponse:
        player_id, mode = edge.bus_safe_id("player_id", request.player_id), _mode(request.mode)
        edge.verify_access(caller, player_id)
        async with self._engine.connect() as connection:
            account = await accounts.find_by_player(connection, player_id, mode)
        return wallet_pb2.FindAccountResponse(balance=_balance(account), blocked=account.blocked)

    async def block_account(
        self, request: wallet_pb2.BlockAccountRequest, caller: Caller
    ) -> wallet_pb2.BlockAccountResponse:
        edge.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        await self._set_blocked(request.account_id, blocked=True)
        return wallet_pb2.BlockAccountResponse()

    async def unblock_account(
        self, request: wallet_pb2.UnblockAccountRequest, caller: Caller
    ) -> wallet_pb2.UnblockAccountResponse:
        edge.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        await self._set_blocked(request.account_id, blocked=False)
        return wallet_pb2.UnblockAccountResponse()

    async def _set_blocked(self, account_id: str, *, blocked: bool) -> None:
        async with self._engine.begin() as connection:
            account = await accounts.find(connection, account_id, lock=True)
            await accounts.set_blocked(connection, account.no, blocked=blocked)

    async def get_balance(self, request: wallet_pb2.GetBalanceRequest, caller: Caller) -> wallet_pb2.GetBalanceResponse:
        async with self._engine.connect() as connection:
            account = await accounts.find(connection, request.account_id)
            edge.verify_access(caller, account.player_id)
            caves = await accounts.caves_of(connection, account.no)
        return wallet_pb2.GetBalanceResponse(
            balance=_balance(account),
            caves=[wallet_pb2.Cave(table_id=table_id, cave_cents=cents) for table_id, cents in caves],
            blocked=account.blocked,
            player_id=account.player_id,
        )

    async def deposit(self, request: wallet_pb2.DepositRequest, caller: Caller) -> bytes:
        edge.verify_length("reference", request.reference, REFERENCE_CHARACTERS_LIMIT)
        command = commands.Deposit(
            edge.printable_id("request_id", request.request_id),
            digest(request),
            caller.subject,
            request.account_id,
            edge.positive_amount("amount_cents", request.amount_cents),
            request.reference,
        )
        return await self._do(command, request.account_id)

    async def withdraw(self, request: wallet_pb2.WithdrawRequest, caller: Caller) -> bytes:
        edge.verify_length("reference", request.reference, REFERENCE_CHARACTERS_LIMIT)
        command = commands.Withdraw(
            edge.printable_id("request_id", request.request_id),
            digest(request),
            caller.subject,
            request.account_id,
            edge.positive_amount("amount_cents", request.amount_cents),
            request.reference,
        )
        return await self._do(command, request.account_id)

    async def refill_demo_account(self, request: wallet_pb2.RefillDemoAccountRequest, caller: Caller) -> bytes:
        """An account that is opened for it is empty: it may stay if the refill is refused, or never comes."""
        request_id = edge.printable_id("request_id", request.request_id)
        player_id = edge.bus_safe_id("player_id", request.player_id)
        amount_cents = edge.positive_amount("amount_cents", request.amount_cents)
        async with self._engine.begin() as connection:
            account = await accounts.open_account(connection, player_id, Mode.DEMO, self._clock.now())
        command = commands.RefillDemo(request_id, digest(request), caller.subject, account.account_id, amount_cents)
        return await self._do(command, account.account_id)

    # -- tables and banked rounds -----------------------------------------------------------------------------------

    async def open_table(self, request: wallet_pb2.OpenTableRequest, caller: Caller) -> wallet_pb2.OpenTableResponse:
        table_id, epoch = _table(request.table)
        if int(request.play) not in {play.value for play in Play}:
            raise refusals.invalid("play", "has to be PLAY_INDIVIDUAL, PLAY_MULTI_PLAYER or PLAY_POKER.")
        table = accounts.TableRegistration(
            table_id,
            epoch,
            edge.bus_safe_id("game", request.game),
            edge.regulation_number("regulation", request.regulation),
            _mode(request.mode),
            Play(request.play),
        )
        async with self._engine.begin() as connection:
            open_rounds = await accounts.open_table(connection, table, self._clock.now())
        return wallet_pb2.OpenTableResponse(open_round_ids=open_rounds)

    async def place_stake(self, request: wallet_pb2.PlaceStakeRequest, caller: Caller) -> bytes:
        round_id, table_id, epoch = _round(request.round)
        command = _stake(request.order, round_id, table_id, epoch, caller.subject)
        return await self._do(command, table_id)

    async def place_stakes(self, request: wallet_pb2.PlaceStakesRequest, caller: Caller) -> bytes:
        """Each order with its own answer; one that is not even valid does not fail the others."""
        if not 0 < len(request.orders) <= ORDERS_LIMIT:
            raise refusals.invalid("orders", f"has to have 1 to {ORDERS_LIMIT} orders.")
        round_id, table_id, epoch = _round(request.round)
        valid: list[commands.PlaceStake] = []
        answers: list[bytes] = []
        places: list[int] = []
        traces = [order.traceparent for order in request.orders] if _log.isEnabledFor(logging.DEBUG) else []
        for place, order in enumerate(request.orders):
            try:
                valid.append(_stake(order, round_id, table_id, epoch, caller.subject))
                places.append(place)
                answers.append(b"")
            except refusals.WalletRefused as refused:
                answers.append(embedded(_REFUSED, status_from(refused).SerializeToString(deterministic=True)))
        if valid:
            for place, kept in zip(places, await self._group_commit.submit(table_id, valid), strict=True):
                answers[place] = embedded(_REFUSED, kept.answer) if kept.refused else kept.answer
                if traces:
                    _follow(traces[place], request.orders[place].request_id, round_id, refused=kept.refused)
        return b"".join([embedded(_ANSWERS, answer) for answer in answers])

    async def cancel_stake(self, request: wallet_pb2.CancelStakeRequest, caller: Caller) -> bytes:
        round_id, table_id, epoch = _round(request.round)
        command = commands.CancelStake(
            edge.printable_id("request_id", request.request_id),
            digest(request),
            caller.subject,
            table_id,
            epoch,
            round_id,
            edge.printable_id("stake_id", request.stake_id),
            edge.amount_or_zero("amount_cents", request.amount_cents),
        )
        return await self._do(command, table_id)

    async def settle_round(self, request: wallet_pb2.SettleRoundRequest, caller: Caller) -> bytes:
        round_id, table_id, epoch = _round(request.round)
        if len(request.payouts) > STAKES_LIMIT:
            raise refusals.invalid("payouts", f"has more than {STAKES_LIMIT}.")
        edge.verify_length("outcome", request.outcome, OUTCOME_BYTES_LIMIT)
        payouts: dict[str, int] = {}
        for payout in request.payouts:
            if payout.stake_id in payouts:
                raise refusals.invalid("payouts", f"name the stake {payout.stake_id} twice.")
            payouts[payout.stake_id] = edge.amount_or_zero("payout_cents", payout.payout_cents, PAYOUT_LIMIT_CENTS)
        command = commands.SettleRound(
            edge.printable_id("request_id", request.request_id),
            digest(request),
            caller.subject,
            table_id,
            epoch,
            round_id,
            payouts,
            request.outcome,
            _report(request.report.sessions),
        )
        return await self._do(command, table_id)

    async def void_round(self, request: wallet_pb2.VoidRoundRequest, caller: Caller) -> bytes:
        round_id, table_id, epoch = _round(request.round)
        edge.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        if not request.reason:
            raise refusals.invalid("reason", "has to say why: the players and the regulator will ask.")
        command = commands.VoidRound(
            edge.printable_id("request_id", request.request_id),
            digest(request),
            caller.subject,
            table_id,
            epoch,
            round_id,
            request.reason,
        )
        return await self._do(command, table_id)

    # -- poker ------------------------------------------------------------------------------------------------------

    async def buy_in(self, request: wallet_pb2.BuyInRequest, caller: Caller) -> bytes:
        table_id, epoch = _table(request.table)
        command = commands.BuyIn(
            edge.printable_id("request_id", request.request_id),
            digest(request),
            caller.subject,
            table_id,
            epoch,
            request.account_id,
            request.session_id,
            edge.positive_amount("amount_cents", request.amount_cents),
            edge.amount_or_zero("commission_cents", request.commission_cents),
        )
        return await self._do(command, table_id)

    async def cash_out(self, request: wallet_pb2.CashOutRequest, caller: Caller) -> bytes:
        table_id, epoch = _table(request.table)
        command = commands.CashOut(
            edge.printable_id("request_id", request.request_id),
            digest(request),
            caller.subject,
            table_id,
            epoch,
            request.account_id,
            request.session_id,
            edge.amount_or_zero("amount_cents", request.amount_cents),
        )
        return await self._do(command, table_id)

    async def transfer_hand(self, request: wallet_pb2.TransferHandRequest, caller: Caller) -> bytes:
        round_id, table_id, epoch = _round(request.round)
        edge.verify_length("outcome", request.outcome, OUTCOME_BYTES_LIMIT)
        if len(request.seats) > SEATS_LIMIT:
            raise refusals.invalid("seats", f"has more than {SEATS_LIMIT}.")
        if len({seat.account_id for seat in request.seats}) != len(request.seats):
            raise refusals.invalid("seats", "name an account twice.")
        seats = [
            commands.SeatResult(
                seat.account_id,
                seat.session_id,
                edge.positive_amount("staked_cents", seat.staked_cents),
                edge.amount_or_zero("won_cents", seat.won_cents, PAYOUT_LIMIT_CENTS),
            )
            for seat in request.seats
        ]
        command = commands.TransferHand(
            edge.printable_id("request_id", request.request_id),
            digest(request),
            caller.subject,
            table_id,
            epoch,
            round_id,
            seats,
            edge.amount_or_zero("commission_cents", request.commission_cents, PAYOUT_LIMIT_CENTS),
            request.outcome,
            _report(request.report.sessions),
        )
        return await self._do(command, table_id)

    # -- reading ----------------------------------------------------------------------------------------------------

    async def list_transactions(
        self, request: wallet_pb2.ListTransactionsRequest, caller: Caller
    ) -> wallet_pb2.ListTransactionsResponse:
        size, before = edge.page_size(request.page_size), edge.page_position(request.page_token)
        if sum(map(bool, (request.account_id, request.session_id, request.round_id))) != 1:
            raise refusals.invalid("account_id", "or `session_id` or `round_id`: exactly one of them has to be given.")
        edge.verify_length("round_id", request.round_id, REQUEST_ID_CHARACTERS_LIMIT)
        async with self._engine.connect() as connection:
            if request.account_id:
                account = await accounts.find(connection, request.account_id)
                edge.verify_access(caller, account.player_id)
                page = await queries.account_page(connection, account.no, before, size)
            elif request.session_id:
                session_no, player_id = await session_rows.find(connection, request.session_id)
                edge.verify_access(caller, player_id)
                page = await queries.session_page(connection, session_no, before, size)
            else:
                found = await queries.find_round(connection, request.round_id)
                if found is None:
                    raise refusals.round_unknown(request.round_id)
                mine = await accounts.visible_account_no(connection, caller, Mode(found[1].mode))
                page = await queries.round_page(connection, found[0], mine, before, size)
        token = _next_page(page.next_before)
        return wallet_pb2.ListTransactionsResponse(transactions=page.transactions, next_page_token=token)

    async def get_round(self, request: wallet_pb2.GetRoundRequest, caller: Caller) -> wallet_pb2.GetRoundResponse:
        after, size = _stakes_page(request)
        edge.verify_length("round_id", request.round_id, REQUEST_ID_CHARACTERS_LIMIT)
        async with self._engine.connect() as connection:
            found = await queries.find_round(connection, request.round_id)
            if found is None:
                raise refusals.round_unknown(request.round_id)
            mine = await accounts.visible_account_no(connection, caller, Mode(found[1].mode))
            last = await queries.add_stakes(connection, [found], mine, after, size)
        if mine is not None:
            # It may hold what others never had to show (G7).
            found[1].ClearField("outcome")
        return wallet_pb2.GetRoundResponse(round=found[1], next_page_token=_next_page(last))

    async def list_open_rounds(
        self, request: wallet_pb2.ListOpenRoundsRequest, caller: Caller
    ) -> wallet_pb2.ListOpenRoundsResponse:
        if bool(request.account_id) == bool(request.table_id):
            raise refusals.invalid("account_id", "or `table_id`: exactly one of them has to be given.")
        edge.verify_length("table_id", request.table_id, REQUEST_ID_CHARACTERS_LIMIT)
        after, size = _stakes_page(request)
        async with self._engine.connect() as connection:
            if request.account_id:
                account = await accounts.find(connection, request.account_id)
                edge.verify_access(caller, account.player_id)
                found = await queries.open_rounds_of_account(connection, account.no)
                last = await queries.add_stakes(connection, found, account.no, after, size)
            else:
                edge.verify_access(caller, None)
                found = await queries.open_rounds_at_table(connection, request.table_id)
                last = await queries.add_stakes(connection, found, None, after, size)
        # No round is open without a stake that was placed: one without any here has them on another page.
        rounds = [round_ for _, round_ in found if round_.stakes]
        return wallet_pb2.ListOpenRoundsResponse(rounds=rounds, next_page_token=_next_page(last))

    async def _do(self, command: commands.Command, key: str) -> bytes:
        """Carries one command out; its answer goes out as it is stored (G3)."""
        kept: StoredAnswer
        (kept,) = await self._group_commit.submit(key, [command])
        return kept.unwrap()


def _stake(order: wallet_pb2.StakeOrder, round_id: str, table_id: str, epoch: int, caller: str) -> commands.PlaceStake:
    """The same digest whether it comes alone or with others: it may be sent again either way."""
    edge.verify_length("detail", order.detail, STAKE_DETAIL_BYTES_LIMIT)
    return commands.PlaceStake(
        edge.printable_id("request_id", order.request_id),
        digest(order, table_id, round_id),
        caller,
        table_id,
        epoch,
        round_id,
        order.account_id,
        order.session_id,
        edge.positive_amount("amount_cents", order.amount_cents),
        order.detail,
    )


def _follow(traceparent: str, stake_id: str, round_id: str, *, refused: bool) -> None:
    """A line in the trace of the player's call: it ends here, where the money moved or did not."""
    with trace.parse(traceparent) or nullcontext():
        _log.debug("a stake", extra={"stake_id": stake_id, "round_id": round_id, "refused": refused})


def _mode(value: int) -> Mode:
    if value not in (Mode.REAL, Mode.DEMO):
        raise refusals.invalid("mode", "has to be MODE_REAL or MODE_DEMO.")
    return Mode(value)


def _table(table: types_pb2.TableRef) -> tuple[str, int]:
    if table.epoch < 1:
        raise refusals.invalid("epoch", "has to be the epoch of the table's lease, 1 or above.")
    return edge.bus_safe_id("table_id", table.table_id), table.epoch


def _round(round_: types_pb2.RoundRef) -> tuple[str, str, int]:
    table_id, epoch = _table(round_.table)
    return edge.printable_id("round_id", round_.round_id), table_id, epoch


def _stakes_page(request: wallet_pb2.GetRoundRequest | wallet_pb2.ListOpenRoundsRequest) -> tuple[int | None, int]:
    """The stake after which the page begins, and how many it may have."""
    size = edge.page_size(request.page_size) if request.page_size else queries.STAKES_PAGE_SIZE
    return edge.page_position(request.page_token), size


def _next_page(position: int | None) -> str:
    return "" if position is None else edge.page_token(position)


def _report(sessions: Iterable[wallet_pb2.SessionInRound]) -> list[commands.SessionInRound]:
    report = [
        commands.SessionInRound(line.session_id, line.bet, line.excused, line.cave_below_minimum) for line in sessions
    ]
    if len(report) > REPORT_SESSIONS_LIMIT:
        raise refusals.invalid("report", f"names more than {REPORT_SESSIONS_LIMIT} sessions.")
    return report


def _balance(account: accounts.PlayerAccount) -> types_pb2.Balance:
    return types_pb2.Balance(
        account_id=account.account_id,
        mode=types_pb2.Mode.ValueType(account.mode),
        free_cents=account.free_cents,
        locked_cents=account.locked_cents,
        version=account.version,
    )
