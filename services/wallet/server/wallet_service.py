"""`WalletService`: checks requests, submits them to the ledger as commands, and reads accounts and rounds."""

import logging
from collections.abc import Iterable, Sequence

from opentelemetry.trace import Span
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.access.identity import GAME, Caller
from services.kit.clock import Clock
from services.kit.command_digest import digest
from services.kit.paging import token_of
from services.kit.round_limits import STAKE_LIMIT_CENTS, STAKES_LIMIT
from services.kit.rpc.status import status_from
from services.kit.telemetry import trace
from services.kit.wire_format import embedded
from services.wallet.ledger import commands
from services.wallet.ledger.messages import balance_message
from services.wallet.model import refusals
from services.wallet.model.state import Mode, PayoutLimits, Play
from services.wallet.server import fields
from services.wallet.server.access import (
    verify_access,
    verify_game,
    verify_no_game,
    verify_owner,
    visible_account_no,
)
from services.wallet.sessions import rows as session_rows
from services.wallet.store import accounts, first_answers, queries
from services.wallet.store.answers import StoredAnswer, StoredRefusal
from services.wallet.store.group_commit import GroupCommit

ORDERS_LIMIT = 1_000
STAKE_DETAIL_BYTES_LIMIT = 4 * 1024
OUTCOME_BYTES_LIMIT = 64 * 1024
REFERENCE_CHARACTERS_LIMIT = 200
REASON_CHARACTERS_LIMIT = 500
SEATS_LIMIT = 10
REPORT_SESSIONS_LIMIT = 10_000
# No game pays five times the largest stake, or a prize of a thousand times any other amount.
PAYOUT_LIMIT_CENTS = fields.AMOUNT_LIMIT_CENTS * 1_000

# Field numbers of wallet.proto, for answers that are sent as they are stored. PlaceStakeResponse and an accepted
# StakeAnswer have the same bytes: both are a PlacedStake in field 1.
_ANSWERS = 1
_REFUSED = 2

_log = logging.getLogger(__name__)


_CashRequest = wallet_pb2.DepositRequest | wallet_pb2.WithdrawRequest | wallet_pb2.RefillDemoAccountRequest
_TableRequest = wallet_pb2.BuyInRequest | wallet_pb2.CashOutRequest
_RoundRequest = (
    wallet_pb2.CancelStakesRequest
    | wallet_pb2.PayStakesRequest
    | wallet_pb2.SettleRoundRequest
    | wallet_pb2.VoidRoundRequest
    | wallet_pb2.TransferHandRequest
)


class WalletService:
    """One method per rpc; wallet.proto says what each promises."""

    descriptor = wallet_pb2.DESCRIPTOR.services_by_name["WalletService"]

    def __init__(
        self, engine: AsyncEngine, group_commit: GroupCommit, clock: Clock, payout_limits: PayoutLimits
    ) -> None:
        self._engine = engine
        self._payout_limits = payout_limits
        self._group_commit = group_commit
        self._clock = clock

    # -- accounts ---------------------------------------------------------------------------------------------------

    async def open_account(
        self, request: wallet_pb2.OpenAccountRequest, caller: Caller
    ) -> wallet_pb2.OpenAccountResponse:
        player_id, mode = fields.registered_player_id("player_id", request.player_id), _mode(request.mode)
        async with self._engine.begin() as connection:
            account = await accounts.open_account(connection, player_id, mode, self._clock.now())
        return wallet_pb2.OpenAccountResponse(balance=balance_message(account))

    async def find_account(
        self, request: wallet_pb2.FindAccountRequest, caller: Caller
    ) -> wallet_pb2.FindAccountResponse:
        player_id, mode = fields.bus_safe_id("player_id", request.player_id), _mode(request.mode)
        verify_access(caller, player_id)
        async with self._engine.connect() as connection:
            account = await accounts.find_by_player(connection, player_id, mode)
        return wallet_pb2.FindAccountResponse(balance=balance_message(account), blocked=account.blocked)

    async def block_account(
        self, request: wallet_pb2.BlockAccountRequest, caller: Caller
    ) -> wallet_pb2.BlockAccountResponse:
        fields.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        await self._set_blocked(request.account_id, blocked=True)
        return wallet_pb2.BlockAccountResponse()

    async def unblock_account(
        self, request: wallet_pb2.UnblockAccountRequest, caller: Caller
    ) -> wallet_pb2.UnblockAccountResponse:
        fields.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        await self._set_blocked(request.account_id, blocked=False)
        return wallet_pb2.UnblockAccountResponse()

    async def _set_blocked(self, account_id: str, *, blocked: bool) -> None:
        async with self._engine.begin() as connection:
            account = await accounts.find(connection, account_id, lock=True)
            await accounts.set_blocked(connection, account.no, blocked=blocked)

    async def get_balance(self, request: wallet_pb2.GetBalanceRequest, caller: Caller) -> wallet_pb2.GetBalanceResponse:
        async with self._engine.connect() as connection:
            account = await accounts.find(connection, request.account_id)
            verify_owner(caller, account.player_id, refusals.account_unknown(request.account_id))
            caves = await accounts.caves_of(connection, account.no)
        return wallet_pb2.GetBalanceResponse(
            balance=balance_message(account),
            caves=[wallet_pb2.Cave(table_id=table_id, cave_cents=cents) for table_id, cents in caves],
            blocked=account.blocked,
            player_id=account.player_id,
        )

    async def deposit(self, request: wallet_pb2.DepositRequest, caller: Caller) -> bytes:
        return await self._move_cash(commands.Deposit, request, caller)

    async def withdraw(self, request: wallet_pb2.WithdrawRequest, caller: Caller) -> bytes:
        return await self._move_cash(commands.Withdraw, request, caller)

    async def _move_cash(
        self,
        command: type[commands.Deposit | commands.Withdraw],
        request: wallet_pb2.DepositRequest | wallet_pb2.WithdrawRequest,
        caller: Caller,
    ) -> bytes:
        fields.verify_length("reference", request.reference, REFERENCE_CHARACTERS_LIMIT)
        amount_cents = fields.positive_amount("amount_cents", request.amount_cents)
        moved = command(*_head(request, caller), request.account_id, amount_cents, request.reference)
        return await self._submit(moved, request.account_id)

    async def refill_demo_account(self, request: wallet_pb2.RefillDemoAccountRequest, caller: Caller) -> bytes:
        """Opens the account if needed: it is empty, so it does no harm if the refill is then refused."""
        head = _head(request, caller)
        player_id = fields.bus_safe_id("player_id", request.player_id)
        amount_cents = fields.positive_amount("amount_cents", request.amount_cents)
        named = fields.table_named_by(request.request_id)
        async with self._engine.begin() as connection:
            game = await accounts.find_table_game(connection, named) if named else None
            if game is not None:
                verify_game(caller, game, named)
            account = await accounts.open_account(connection, player_id, Mode.DEMO, self._clock.now())
        command = commands.RefillDemo(*head, account.account_id, amount_cents)
        return await self._submit(command, account.account_id)

    # -- tables and banked rounds -----------------------------------------------------------------------------------

    async def register_table(
        self, request: wallet_pb2.RegisterTableRequest, caller: Caller
    ) -> wallet_pb2.RegisterTableResponse:
        table = _registration(request, fields.bus_safe_id("table_id", request.table_id), 0, caller)
        largest, limit = request.largest_payout_cents, self._payout_limits.stake_cents
        if largest > limit:
            raise refusals.payout_too_large("", "stake", largest, limit)
        async with self._engine.begin() as connection:
            await accounts.register_table(connection, table, self._clock.now())
        return wallet_pb2.RegisterTableResponse()

    async def open_table(self, request: wallet_pb2.OpenTableRequest, caller: Caller) -> wallet_pb2.OpenTableResponse:
        table = _registration(request, *fields.table_ref("table", request.table), caller)
        async with self._engine.begin() as connection:
            rounds = await accounts.open_table(connection, table, self._clock.now())
        return wallet_pb2.OpenTableResponse(open_round_ids=rounds.open_ids, last_round_id=rounds.last_id)

    async def place_stake(self, request: wallet_pb2.PlaceStakeRequest, caller: Caller) -> bytes:
        round_id, table_id, epoch = _round(request.round)
        command = _stake("order", request.order, round_id, table_id, epoch, caller)
        return await self._submit(command, command.table_id)

    async def place_stakes(self, request: wallet_pb2.PlaceStakesRequest, caller: Caller) -> bytes:
        """Answers each order by itself: an invalid one does not fail the others."""
        if not 0 < len(request.orders) <= ORDERS_LIMIT:
            raise refusals.invalid("orders", f"has to have 1 to {ORDERS_LIMIT} orders.")
        round_id, table_id, epoch = _round(request.round)
        valid: list[commands.PlaceStake] = []
        answers: list[bytes] = []
        positions: list[int] = []
        traces = [order.traceparent for order in request.orders] if _log.isEnabledFor(logging.DEBUG) else []
        for position, order in enumerate(request.orders):
            try:
                valid.append(_stake(f"orders[{position}]", order, round_id, table_id, epoch, caller))
                positions.append(position)
                answers.append(b"")
            except refusals.WalletRefused as refused:
                answers.append(embedded(_REFUSED, status_from(refused).SerializeToString(deterministic=True)))
        if valid:
            spans = _begin_stake_spans(request, positions, valid) if trace.is_recording() else []
            try:
                stored_answers = await self._group_commit.submit(table_id, valid)
            finally:
                for span in spans:
                    span.end()
            _verify_sender(stored_answers[0])
            for position, stored in zip(positions, stored_answers, strict=True):
                answers[position] = embedded(_REFUSED, stored.answer) if stored.refused else stored.answer
                if traces:
                    stake_id = request.orders[position].request_id
                    _log_stake(traces[position], stake_id, round_id, refused=stored.refused)
        return b"".join([embedded(_ANSWERS, answer) for answer in answers])

    async def cancel_stakes(self, request: wallet_pb2.CancelStakesRequest, caller: Caller) -> bytes:
        if not 0 < len(request.stakes) <= ORDERS_LIMIT:
            raise refusals.invalid("stakes", f"has to have 1 to {ORDERS_LIMIT} stakes.")
        stakes = [_stake_to_cancel(f"stakes[{index}]", stake) for index, stake in enumerate(request.stakes)]
        if len({stake.stake_id for stake in stakes}) < len(stakes):
            raise refusals.invalid("stakes", "name a stake twice.")
        account_id = fields.printable_id("account_id", request.account_id)
        command = commands.CancelStakes(*_round_head(request, caller), account_id, stakes)
        if request.command_digest:
            command.digest = fields.command_digest("command_digest", request.command_digest)
        return await self._submit(command, command.table_id)

    async def get_first_answer(
        self, request: wallet_pb2.GetFirstAnswerRequest, caller: Caller
    ) -> wallet_pb2.GetFirstAnswerResponse:
        request_id = fields.printable_id("request_id", request.request_id)
        expected = None
        if request.command_digest:
            expected = fields.command_digest("command_digest", request.command_digest)

        def verify_sender(game: str | None, table_id: str | None, sender: str) -> None:
            if game is not None and table_id is not None:
                verify_game(caller, game, table_id)
            elif sender != caller.subject:
                # What was refused belongs to no table: it is for the process kind that sent it alone.
                raise refusals.request_unknown(request_id)

        async with self._engine.connect() as connection:
            return await first_answers.find(connection, request_id, expected, verify_sender)

    async def pay_stakes(self, request: wallet_pb2.PayStakesRequest, caller: Caller) -> bytes:
        if not request.payouts:
            raise refusals.invalid("payouts", "has to name a stake.")
        command = commands.PayStakes(*_round_head(request, caller), _payouts(request.payouts))
        return await self._submit(command, command.table_id)

    async def settle_round(self, request: wallet_pb2.SettleRoundRequest, caller: Caller) -> bytes:
        fields.verify_length("outcome", request.outcome, OUTCOME_BYTES_LIMIT)
        command = commands.SettleRound(
            *_round_head(request, caller),
            _payouts(request.payouts),
            request.outcome,
            _report(request.report.sessions),
        )
        return await self._submit(command, command.table_id)

    async def void_round(self, request: wallet_pb2.VoidRoundRequest, caller: Caller) -> bytes:
        fields.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        if not request.reason:
            raise refusals.invalid("reason", "has to say why: the players and the regulator will ask.")
        command = commands.VoidRound(
            *_round_head(request, caller),
            request.reason,
        )
        return await self._submit(command, command.table_id)

    # -- poker ------------------------------------------------------------------------------------------------------

    async def buy_in(self, request: wallet_pb2.BuyInRequest, caller: Caller) -> bytes:
        command = commands.BuyIn(
            *_table_head(request, caller),
            request.account_id,
            request.session_id,
            fields.positive_amount("amount_cents", request.amount_cents),
            fields.amount_or_zero("commission_cents", request.commission_cents),
        )
        if request.command_digest:
            command.digest = fields.command_digest("command_digest", request.command_digest)
        return await self._submit(command, command.table_id)

    async def cash_out(self, request: wallet_pb2.CashOutRequest, caller: Caller) -> bytes:
        command = commands.CashOut(
            *_table_head(request, caller),
            request.account_id,
            request.session_id,
            fields.amount_or_zero("amount_cents", request.amount_cents),
        )
        return await self._submit(command, command.table_id)

    async def transfer_hand(self, request: wallet_pb2.TransferHandRequest, caller: Caller) -> bytes:
        fields.verify_length("outcome", request.outcome, OUTCOME_BYTES_LIMIT)
        if len(request.seats) > SEATS_LIMIT:
            raise refusals.invalid("seats", f"has more than {SEATS_LIMIT}.")
        if len({seat.account_id for seat in request.seats}) != len(request.seats):
            raise refusals.invalid("seats", "name an account twice.")
        seats = [
            commands.SeatResult(
                seat.account_id,
                seat.session_id,
                fields.positive_amount(f"seats[{position}].staked_cents", seat.staked_cents),
                fields.amount_or_zero(f"seats[{position}].won_cents", seat.won_cents, PAYOUT_LIMIT_CENTS),
            )
            for position, seat in enumerate(request.seats)
        ]
        command = commands.TransferHand(
            *_round_head(request, caller),
            seats,
            fields.amount_or_zero("commission_cents", request.commission_cents, PAYOUT_LIMIT_CENTS),
            request.outcome,
            _report(request.report.sessions),
        )
        return await self._submit(command, command.table_id)

    # -- reading ----------------------------------------------------------------------------------------------------

    async def list_table_caves(
        self, request: wallet_pb2.ListTableCavesRequest, caller: Caller
    ) -> wallet_pb2.ListTableCavesResponse:
        table_id = fields.bus_safe_id("table_id", request.table_id)
        wanted = fields.page_request(request)
        async with self._engine.connect() as connection:
            game = await accounts.find_table_game(connection, table_id)
            if game is not None:
                verify_game(caller, game, table_id)
            found = await session_rows.caves_at_table(
                connection, table_id, after_no=wanted.position, size=wanted.row_limit
            )
        page = wanted.page([(cave.session_no, cave) for cave in found])
        return wallet_pb2.ListTableCavesResponse(
            caves=[
                wallet_pb2.TableCave(session_id=cave.session_id, account_id=cave.account_id, cave_cents=cave.cents)
                for cave in page.items
            ],
            next_page_token=page.next_page_token,
        )

    async def list_transactions(
        self, request: wallet_pb2.ListTransactionsRequest, caller: Caller
    ) -> wallet_pb2.ListTransactionsResponse:
        wanted = fields.page_request(request)
        if not (request.account_id or request.session_id or request.round_id):
            raise refusals.invalid("account_id", "or `session_id` or `round_id`: at least one of them has to be given.")
        fields.verify_length("round_id", request.round_id, fields.REQUEST_ID_CHARACTERS_LIMIT)
        if request.kind not in types_pb2.TransferKind.values():
            raise refusals.invalid("kind", "has to be a kind of transfer, or unspecified for all.")
        account_no = session_no = round_no = None
        async with self._engine.connect() as connection:
            if request.account_id:
                verify_no_game(caller)
                account = await accounts.find(connection, request.account_id)
                verify_owner(caller, account.player_id, refusals.account_unknown(request.account_id))
                account_no = account.no
            if request.session_id:
                session = await session_rows.find(connection, request.session_id)
                verify_owner(caller, session.player_id, refusals.session_unknown(request.session_id))
                verify_game(caller, session.game, session.table_id)
                session_no = session.no
            if request.round_id:
                unknown = refusals.round_unknown(request.round_id)
                found = await queries.find_round(connection, request.round_id)
                if found is None:
                    raise unknown
                verify_game(caller, found[1].game, found[1].table_id)
                round_no = found[0]
                # Asked even where an account is named: an empty page would tell a stranger that the round exists.
                visible = await visible_account_no(connection, caller, Mode(found[1].mode), round_no, unknown)
                account_no = visible if account_no is None else account_no
            chosen = queries.TransactionFilter(
                account_no=account_no,
                session_no=session_no,
                round_no=round_no,
                kind=request.kind or None,
                since=fields.optional_time("since", request),
                until=fields.optional_time("until", request),
            )
            page = await queries.transaction_page(connection, chosen, wanted.position, wanted.size)
        token = _next_page(page.next_before)
        return wallet_pb2.ListTransactionsResponse(transactions=page.transactions, next_page_token=token)

    async def get_round(self, request: wallet_pb2.GetRoundRequest, caller: Caller) -> wallet_pb2.GetRoundResponse:
        wanted = fields.page_request(request, queries.STAKES_PAGE_SIZE)
        after, size = wanted.position, wanted.size
        fields.verify_length("round_id", request.round_id, fields.REQUEST_ID_CHARACTERS_LIMIT)
        async with self._engine.connect() as connection:
            unknown = refusals.round_unknown(request.round_id)
            found = await queries.find_round(connection, request.round_id)
            if found is None:
                raise unknown
            verify_game(caller, found[1].game, found[1].table_id)
            own_account_no = await visible_account_no(connection, caller, Mode(found[1].mode), found[0], unknown)
            last = await queries.add_stakes(connection, [found], own_account_no, after, size)
        if own_account_no is not None:
            # The outcome may show what other players never had to (G7).
            found[1].ClearField("outcome")
        return wallet_pb2.GetRoundResponse(round=found[1], next_page_token=_next_page(last))

    async def list_open_rounds(
        self, request: wallet_pb2.ListOpenRoundsRequest, caller: Caller
    ) -> wallet_pb2.ListOpenRoundsResponse:
        if not (request.account_id or request.table_id):
            raise refusals.invalid("account_id", "or `table_id`: at least one of them has to be given.")
        if request.table_id:
            fields.bus_safe_id("table_id", request.table_id)
        wanted = fields.page_request(request, queries.STAKES_PAGE_SIZE)
        after, size = wanted.position, wanted.size
        async with self._engine.connect() as connection:
            if request.account_id:
                account = await accounts.find(connection, request.account_id)
                verify_owner(caller, account.player_id, refusals.account_unknown(request.account_id))
                found = await queries.open_rounds_of_account(connection, account.no, request.table_id or None)
                if GAME in caller.scopes:
                    found = [each for each in found if each[1].game == caller.game]
                last = await queries.add_stakes(connection, found, account.no, after, size)
            else:
                verify_access(caller, None)
                game = await accounts.find_table_game(connection, request.table_id)
                if game is not None:
                    verify_game(caller, game, request.table_id)
                found = await queries.open_rounds_at_table(connection, request.table_id)
                last = await queries.add_stakes(connection, found, None, after, size)
        # Every open round has stakes: a round without any here has them on another page.
        rounds = [round_ for _, round_ in found if round_.stakes]
        return wallet_pb2.ListOpenRoundsResponse(rounds=rounds, next_page_token=_next_page(last))

    async def _submit(self, command: commands.Command, key: str) -> bytes:
        """Carries one command out, and returns its answer as it is stored (G3)."""
        stored: StoredAnswer
        (stored,) = await self._group_commit.submit(key, [command])
        return stored.unwrap()


def _registration(
    request: wallet_pb2.RegisterTableRequest | wallet_pb2.OpenTableRequest, table_id: str, epoch: int, caller: Caller
) -> accounts.TableRegistration:
    """What a game says of a table of its own."""
    if int(request.play) not in {play.value for play in Play}:
        raise refusals.invalid("play", "has to be PLAY_INDIVIDUAL, PLAY_MULTI_PLAYER, PLAY_POKER or PLAY_TOURNAMENT.")
    game = fields.bus_safe_id("game", request.game)
    verify_game(caller, game, table_id)
    configured_table_id = request.configured_table_id if isinstance(request, wallet_pb2.OpenTableRequest) else ""
    table = accounts.TableRegistration(
        table_id,
        epoch,
        game,
        fields.regulation_number("regulation", request.regulation),
        _mode(request.mode),
        Play(request.play),
        configured_table_id and fields.bus_safe_id("configured_table_id", configured_table_id),
    )
    if table.configured_table_id and (table.play is not Play.INDIVIDUAL or table.configured_table_id == table_id):
        raise refusals.invalid("configured_table_id", "is for a player's own table, and names another one.")
    return table


def _verify_sender(stored: StoredAnswer) -> None:
    """Refuses many stakes at once whose sender may not act for their table: they are all of one table."""
    if stored.refused:
        refusal = StoredRefusal(stored.answer)
        if refusal.reason in {"WRONG_GAME", "EPOCH_TOO_HIGH"}:
            raise refusal


def _head(request: _CashRequest | _TableRequest | _RoundRequest, caller: Caller) -> tuple[str, bytes, str]:
    """The first fields of every command: request id, digest, caller."""
    return fields.printable_id("request_id", request.request_id), digest(request), caller.subject


def _table_head(request: _TableRequest, caller: Caller) -> tuple[str, bytes, str, str, int, str]:
    """The first fields of a command at a table: the table, its epoch and the sender's game follow."""
    table_id, epoch = fields.table_ref("table", request.table)
    fields.id_of_table("request_id", request.request_id, table_id)
    return (*_head(request, caller), table_id, epoch, caller.game)


def _round_head(request: _RoundRequest, caller: Caller) -> tuple[str, bytes, str, str, int, str, str]:
    """The first fields of a command in a round: table, epoch, game and round follow."""
    round_id, table_id, epoch = _round(request.round)
    fields.id_of_table("request_id", request.request_id, table_id)
    return (*_head(request, caller), table_id, epoch, caller.game, round_id)


def _stake(
    path: str, order: wallet_pb2.StakeOrder, round_id: str, table_id: str, epoch: int, caller: Caller
) -> commands.PlaceStake:
    """The command of an order. Its digest is the same alone and among others: it may be sent again either way."""
    fields.verify_length(f"{path}.detail", order.detail, STAKE_DETAIL_BYTES_LIMIT)
    asked = order.command_digest
    return commands.PlaceStake(
        fields.id_of_table(f"{path}.request_id", order.request_id, table_id),
        fields.command_digest(f"{path}.command_digest", asked) if asked else digest(order, table_id, round_id),
        caller.subject,
        table_id,
        epoch,
        caller.game,
        round_id,
        order.account_id,
        order.session_id,
        fields.positive_amount(f"{path}.amount_cents", order.amount_cents, STAKE_LIMIT_CENTS),
        order.detail,
        fields.amount_or_zero(f"{path}.largest_payout_cents", order.largest_payout_cents, PAYOUT_LIMIT_CENTS) or None,
    )


def _stake_to_cancel(path: str, stake: wallet_pb2.StakeToCancel) -> commands.StakeToCancel:
    fields.verify_length(f"{path}.cancelled_detail", stake.cancelled_detail, STAKE_DETAIL_BYTES_LIMIT)
    fields.verify_length(f"{path}.remaining_detail", stake.remaining_detail, STAKE_DETAIL_BYTES_LIMIT)
    return commands.StakeToCancel(
        fields.printable_id(f"{path}.stake_id", stake.stake_id),
        fields.amount_or_zero(f"{path}.amount_cents", stake.amount_cents, STAKE_LIMIT_CENTS),
        stake.cancelled_detail,
        stake.remaining_detail,
    )


def _payouts(requested: Sequence[wallet_pb2.StakePayout]) -> dict[str, int]:
    """Returns the payouts by stake; each stake is named once."""
    if len(requested) > STAKES_LIMIT:
        raise refusals.invalid("payouts", f"has more than {STAKES_LIMIT}.")
    payouts: dict[str, int] = {}
    for position, payout in enumerate(requested):
        path = f"payouts[{position}]"
        stake_id = fields.printable_id(f"{path}.stake_id", payout.stake_id)
        if stake_id in payouts:
            raise refusals.invalid(f"{path}.stake_id", f"names the stake {stake_id} a second time.")
        payouts[stake_id] = fields.amount_or_zero(f"{path}.payout_cents", payout.payout_cents, PAYOUT_LIMIT_CENTS)
    return payouts


def _begin_stake_spans(
    request: wallet_pb2.PlaceStakesRequest, positions: Sequence[int], placing: Sequence[commands.PlaceStake]
) -> list[Span]:
    """Begins a span for each stake that came with a trace, in that trace and linked to the batch that brought it."""
    batch, spans = trace.traceparent(), []
    facts = {"feltro.round_id": request.round.round_id}
    for position, command in zip(positions, placing, strict=True):
        if cause := request.orders[position].traceparent:
            span = trace.begin("place a stake", cause, links=[batch], attributes=facts)
            command.traceparent = trace.header_of(span)
            spans.append(span)
    return spans


def _log_stake(traceparent: str, stake_id: str, round_id: str, *, refused: bool) -> None:
    """Logs the end of the player's call in its own trace, where the money moved or did not."""
    with trace.continued(traceparent):
        _log.debug("a stake", extra={"stake_id": stake_id, "round_id": round_id, "refused": refused})


def _mode(value: int) -> Mode:
    if value not in (Mode.REAL, Mode.DEMO):
        raise refusals.invalid("mode", "has to be MODE_REAL or MODE_DEMO.")
    return Mode(value)


def _round(round_: types_pb2.RoundRef) -> tuple[str, str, int]:
    table_id, epoch = fields.table_ref("round.table", round_.table)
    return fields.id_of_table("round.round_id", round_.round_id, table_id), table_id, epoch


def _next_page(position: int | None) -> str:
    return "" if position is None else token_of(position)


def _report(sessions: Iterable[wallet_pb2.SessionInRound]) -> list[commands.SessionInRound]:
    report = [
        commands.SessionInRound(each.session_id, each.bet, each.excused, each.cave_below_minimum) for each in sessions
    ]
    if len(report) > REPORT_SESSIONS_LIMIT:
        raise refusals.invalid("report.sessions", f"names more than {REPORT_SESSIONS_LIMIT} sessions.")
    return report
