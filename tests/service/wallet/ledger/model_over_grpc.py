"""Sends the model's commands to a real wallet over gRPC, and turns its responses into the model's answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2
from services.kit.rpc.status import STATUS_DETAILS_KEY, error_info
from tests.processes.wallet import WalletClient, WalletProcess, refusal_facts
from tests.service.wallet.ledger.ledger_model import (
    Answer,
    BuyIn,
    CancelStakes,
    CashOut,
    Command,
    Deposit,
    EndSession,
    Facts,
    PayStakes,
    PlaceStake,
    SetBlocked,
    SettleRound,
    StartSession,
    TableCommand,
    TransferHand,
    VoidRound,
    Withdraw,
)

MessageT = TypeVar("MessageT", bound=Message)
EncodedCall = tuple[str, Message, Callable[[bytes], Facts]]


# A killed wallet is back in about a second: callers wait for that, and not for a back-off.
_CHANNEL = [
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 100),
]
_ANSWER_TIMEOUT_S = 240.0


class Unanswered(Exception):
    """The wallet was gone before it answered: whether it carried out the command is unknown."""


class Replica:
    """One wallet process, and the channel to it."""

    def __init__(self, channel: grpc.aio.Channel, client: WalletClient) -> None:
        self._channel = channel
        self.client = client

    @classmethod
    @asynccontextmanager
    async def connect(cls, process: WalletProcess) -> AsyncIterator[Replica]:
        """Connects to a process for the length of the context."""
        async with grpc.aio.insecure_channel(process.address, options=_CHANNEL) as channel:
            yield cls(channel, WalletClient(channel, process.issuer))

    async def send(self, command: Command) -> tuple[Answer, bytes]:
        """Sends a command; returns the answer and its bytes."""
        method, request, read = encode_call(command)
        metadata = self.client.game if isinstance(command, TableCommand) else self.client.operator
        # Not read by generated code, because the test compares the bytes (G3).
        call: grpc.aio.UnaryUnaryMultiCallable[Message, bytes] = self._channel.unary_unary(
            f"/feltro.wallet.v1.{method}", request_serializer=_bytes
        )
        try:
            response = await call(request, metadata=metadata, wait_for_ready=True, timeout=_ANSWER_TIMEOUT_S)
        except grpc.aio.AioRpcError as refused:
            _verify_answered(refused)
            reason, facts = refusal_facts(refused)
            details = [value for key, value in refused.trailing_metadata() or () if key == STATUS_DETAILS_KEY]
            return Answer(facts, reason), b"".join(detail for detail in details if isinstance(detail, bytes))
        return Answer(read(response)), response

    async def send_to_tournament(self, method: str, request: Message) -> bytes:
        """Sends a command of a tournament, which may not be refused; returns the bytes of its answer."""
        call: grpc.aio.UnaryUnaryMultiCallable[Message, bytes] = self._channel.unary_unary(
            f"/feltro.wallet.v1.TournamentMoneyService/{method}", request_serializer=_bytes
        )
        try:
            return await call(request, metadata=self.client.game, wait_for_ready=True, timeout=_ANSWER_TIMEOUT_S)
        except grpc.aio.AioRpcError as refused:
            _verify_answered(refused)
            raise

    async def send_many(self, orders: Sequence[PlaceStake]) -> list[tuple[Answer, bytes]]:
        """Sends stakes of one round in one call; returns the answer of each, and its bytes."""
        round_ = _round(orders[0], orders[0].round_id)
        request = wallet_pb2.PlaceStakesRequest(round=round_, orders=[_order(order) for order in orders])
        try:
            response = await self.client.wallet.PlaceStakes(
                request, metadata=self.client.game, wait_for_ready=True, timeout=_ANSWER_TIMEOUT_S
            )
        except grpc.aio.AioRpcError as refused:
            _verify_answered(refused)
            raise
        if len(response.answers) != len(orders):
            raise AssertionError(f"{len(orders)} orders got {len(response.answers)} answers")
        return [_one_of_many(answer) for answer in response.answers]


def _verify_answered(refused: grpc.aio.AioRpcError) -> None:
    if refused.code() is grpc.StatusCode.UNAVAILABLE:
        raise Unanswered(refused.details()) from None


def encode_call(command: Command) -> EncodedCall:
    """Returns the method, the request, and the function that reads its response."""
    if isinstance(command, TableCommand):
        return _at_table(command)
    match command:
        case Deposit(request_id, account, cents):
            money = wallet_pb2.DepositRequest(request_id=request_id, account_id=account, amount_cents=cents)
            return "WalletService/Deposit", money, _read(wallet_pb2.DepositResponse, _balance_of)
        case Withdraw(request_id, account, cents):
            out = wallet_pb2.WithdrawRequest(request_id=request_id, account_id=account, amount_cents=cents)
            return "WalletService/Withdraw", out, _read(wallet_pb2.WithdrawResponse, _balance_of)
        case SetBlocked(account, blocked):
            # The two requests have the same fields.
            block = wallet_pb2.BlockAccountRequest(account_id=account, reason="test")
            return f"WalletService/{'Block' if blocked else 'Unblock'}Account", block, _nothing
        case StartSession(request_id, account, table):
            start = session_pb2.StartSessionRequest(request_id=request_id, account_id=account, table_id=table)
            return "SessionService/StartSession", start, _read(session_pb2.StartSessionResponse, _started)
        case EndSession(session):
            end = session_pb2.EndSessionRequest(session_id=session, cause=session_pb2.END_CAUSE_PLAYER)
            return "SessionService/EndSession", end, _read(session_pb2.EndSessionResponse, _ended)
    raise TypeError(f"there is no call for {command}")


def _at_table(command: TableCommand) -> EncodedCall:
    name = f"WalletService/{type(command).__name__}"
    match command:
        case PlaceStake():
            place = wallet_pb2.PlaceStakeRequest(round=_round(command, command.round_id), order=_order(command))
            return name, place, _read(wallet_pb2.PlaceStakeResponse, lambda response: _balance(response.placed.balance))
        case CancelStakes(request_id, _, _, round_id, account, parts):
            stakes = [wallet_pb2.StakeToCancel(stake_id=stake, amount_cents=cents) for stake, cents in parts]
            cancel = wallet_pb2.CancelStakesRequest(
                request_id=request_id, round=_round(command, round_id), account_id=account, stakes=stakes
            )
            return name, cancel, _read(wallet_pb2.CancelStakesResponse, _cancelled)
        case PayStakes(request_id, _, _, round_id, payouts):
            named = [wallet_pb2.StakePayout(stake_id=stake, payout_cents=cents) for stake, cents in payouts]
            pay = wallet_pb2.PayStakesRequest(request_id=request_id, round=_round(command, round_id), payouts=named)
            return name, pay, _read(wallet_pb2.PayStakesResponse, _results)
        case SettleRound(request_id, _, _, round_id, payouts):
            given = [wallet_pb2.StakePayout(stake_id=stake, payout_cents=cents) for stake, cents in payouts]
            settle = wallet_pb2.SettleRoundRequest(
                request_id=request_id, round=_round(command, round_id), payouts=given, outcome=b"17"
            )
            return name, settle, _read(wallet_pb2.SettleRoundResponse, _results)
        case VoidRound(request_id, _, _, round_id):
            void = wallet_pb2.VoidRoundRequest(
                request_id=request_id, round=_round(command, round_id), reason="the wheel broke down"
            )
            return name, void, _read(wallet_pb2.VoidRoundResponse, _results)
        case _:
            return _at_poker(command, name)


def _at_poker(command: TableCommand, name: str) -> EncodedCall:
    match command:
        case BuyIn(request_id, _, _, account, session, cents, commission):
            buy_in = wallet_pb2.BuyInRequest(
                request_id=request_id,
                table=_table(command),
                account_id=account,
                session_id=session,
                amount_cents=cents,
                commission_cents=commission,
            )
            return name, buy_in, _read(wallet_pb2.BuyInResponse, _bought_in)
        case CashOut(request_id, _, _, account, session, cents):
            cash_out = wallet_pb2.CashOutRequest(
                request_id=request_id, table=_table(command), account_id=account, session_id=session, amount_cents=cents
            )
            return name, cash_out, _read(wallet_pb2.CashOutResponse, _cashed_out)
        case TransferHand(request_id, _, _, round_id, seats, commission):
            results = [
                wallet_pb2.SeatInHand(
                    account_id=seat.account, session_id=seat.session, staked_cents=seat.staked, won_cents=seat.won
                )
                for seat in seats
            ]
            hand = wallet_pb2.TransferHandRequest(
                request_id=request_id, round=_round(command, round_id), seats=results, commission_cents=commission
            )
            return name, hand, _read(wallet_pb2.TransferHandResponse, _hand)
    raise TypeError(f"there is no call for {command}")


# -- requests ----------------------------------------------------------------------------------------------------------


def _table(command: TableCommand) -> types_pb2.TableRef:
    return types_pb2.TableRef(table_id=command.table, epoch=command.epoch)


def _round(command: TableCommand, round_id: str) -> types_pb2.RoundRef:
    return types_pb2.RoundRef(round_id=round_id, table=_table(command))


def _order(command: PlaceStake) -> wallet_pb2.StakeOrder:
    return wallet_pb2.StakeOrder(
        request_id=command.request_id,
        account_id=command.account,
        session_id=command.session,
        amount_cents=command.cents,
        detail=b"red",
    )


def _bytes(message: Message) -> bytes:
    return message.SerializeToString()


# -- responses ---------------------------------------------------------------------------------------------------------


def _read(response: type[MessageT], facts_of: Callable[[MessageT], Facts]) -> Callable[[bytes], Facts]:
    return lambda encoded: facts_of(response.FromString(encoded))


def _nothing(encoded: bytes) -> Facts:
    return {"unexpected": encoded} if encoded else {}


def _balance(balance: types_pb2.Balance) -> dict[str, object]:
    return {"free": balance.free_cents, "locked": balance.locked_cents, "version": balance.version}


def _balance_of(response: wallet_pb2.DepositResponse | wallet_pb2.WithdrawResponse) -> Facts:
    return _balance(response.balance)


def _cancelled(response: wallet_pb2.CancelStakesResponse) -> Facts:
    return {**_balance(response.balance), "open": tuple(response.open_cents)}


def _results(
    response: wallet_pb2.PayStakesResponse | wallet_pb2.SettleRoundResponse | wallet_pb2.VoidRoundResponse,
) -> Facts:
    return {
        result.account_id: {"staked": result.staked_cents, "paid": result.payout_cents, **_balance(result.balance)}
        for result in response.results
    }


def _bought_in(response: wallet_pb2.BuyInResponse) -> Facts:
    return {**_balance(response.balance), "cave": response.cave_cents}


def _cashed_out(response: wallet_pb2.CashOutResponse) -> Facts:
    return {**_balance(response.balance), "cave": response.cave_cents, "session_ended": response.session_ended}


def _hand(response: wallet_pb2.TransferHandResponse) -> Facts:
    return {cave.account_id: cave.cave_cents for cave in response.caves}


def _started(response: session_pb2.StartSessionResponse) -> Facts:
    return {"session": response.session.session_id}


def _ended(response: session_pb2.EndSessionResponse) -> Facts:
    return {"state": session_pb2.SessionState.Name(response.session.state).removeprefix("SESSION_STATE_")}


def _one_of_many(answer: wallet_pb2.StakeAnswer) -> tuple[Answer, bytes]:
    if not answer.HasField("refused"):
        return Answer(_balance(answer.placed.balance)), answer.SerializeToString()
    info = error_info(answer.refused)
    if info is None:
        raise AssertionError(f"a refusal without its reason: {answer}")
    return Answer(dict(info.metadata), info.reason), answer.refused.SerializeToString()
