"""`TournamentMoneyService`: checks payments into tournaments and out of them, and reads what was paid."""

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from feltro.wallet.v1 import tournament_pb2 as pb
from feltro.wallet.v1 import types_pb2
from services.kit.access.identity import Caller
from services.kit.command_digest import digest
from services.kit.wire_format import timestamp
from services.wallet.ledger import commands
from services.wallet.model import refusals
from services.wallet.model.state import AwardReason, PayInKind
from services.wallet.server import fields
from services.wallet.server.access import verify_game
from services.wallet.store import accounts, tournaments
from services.wallet.store.group_commit import GroupCommit
from services.wallet.store.tournaments import Tournament

# In one payment: the largest cancellation takes several.
AWARDS_LIMIT = 5_000
# No award is larger than what a thousand of the dearest entries bring, as no payout is.
AWARD_LIMIT_CENTS = fields.AMOUNT_LIMIT_CENTS * 1_000

_Request = pb.PayInRequest | pb.PayOutRequest | pb.CloseTournamentRequest
_ListRequest = pb.GetTournamentMoneyRequest | pb.ListTournamentPayInsRequest | pb.ListTournamentAwardsRequest


class TournamentMoneyService:
    """One method per rpc; tournament.proto says what each promises."""

    descriptor = pb.DESCRIPTOR.services_by_name["TournamentMoneyService"]

    def __init__(self, engine: AsyncEngine, group_commit: GroupCommit) -> None:
        self._engine = engine
        self._group_commit = group_commit

    async def pay_in(self, request: pb.PayInRequest, caller: Caller) -> bytes:
        if int(request.kind) not in {kind.value for kind in PayInKind}:
            raise refusals.invalid("kind", "has to be an entry, a re-entry, a rebuy or an add-on.")
        command = commands.PayIn(
            *_head(request, caller),
            fields.printable_id("account_id", request.account_id),
            PayInKind(request.kind),
            fields.amount_or_zero("prize_cents", request.prize_cents),
            fields.amount_or_zero("fee_cents", request.fee_cents),
            fields.amount_or_zero("bounty_cents", request.bounty_cents),
        )
        if not command.prize_cents + command.bounty_cents:
            raise refusals.invalid("prize_cents", "or `bounty_cents` has to be above 0: what is free is not paid in.")
        if request.command_digest:
            command.digest = fields.command_digest("command_digest", request.command_digest)
        return await self._submit(command)

    async def pay_out(self, request: pb.PayOutRequest, caller: Caller) -> bytes:
        if not 0 < len(request.awards) <= AWARDS_LIMIT:
            raise refusals.invalid("awards", f"has to have 1 to {AWARDS_LIMIT} awards.")
        command = commands.PayOut(
            *_head(request, caller),
            [_award(f"awards[{position}]", award) for position, award in enumerate(request.awards)],
            fields.amount_or_zero("overlay_cents", request.overlay_cents, AWARD_LIMIT_CENTS),
            fields.amount_or_zero("shortfall_cents", request.shortfall_cents, AWARD_LIMIT_CENTS),
        )
        winnings = sum(award.amount_cents for award in command.awards if award.reason is not AwardReason.REFUND)
        if command.from_bank_cents > winnings:
            raise refusals.invalid(
                "overlay_cents", "and `shortfall_cents` together are at most the awards that are no refunds."
            )
        return await self._submit(command)

    async def close_tournament(self, request: pb.CloseTournamentRequest, caller: Caller) -> bytes:
        return await self._submit(commands.CloseTournament(*_head(request, caller)))

    async def get_tournament_money(
        self, request: pb.GetTournamentMoneyRequest, caller: Caller
    ) -> pb.GetTournamentMoneyResponse:
        # One snapshot: the sums add up to the pool while players go on paying.
        async with self._engine.connect() as connection:
            await connection.execution_options(isolation_level="REPEATABLE READ")
            found, account_no = await _find(connection, request, caller)
            sums = await tournaments.sums(connection, found, account_no)
        response = pb.GetTournamentMoneyResponse(
            pool_cents=found.pool_cents,
            paid_in=[
                pb.PaidInSum(kind=kind, count=count, prize_cents=prize, fee_cents=fee, bounty_cents=bounty)
                for kind, count, prize, fee, bounty in map(tuple, sums.paid_in)
            ],
            awarded=[
                pb.AwardedSum(reason=reason, count=count, amount_cents=cents)
                for reason, count, cents, _ in map(tuple, sums.awarded)
            ],
            fees_returned_cents=sum(fees for *_, fees in sums.awarded),
            overlay_cents=sums.overlay_cents,
            shortfall_cents=sums.shortfall_cents,
            mode=types_pb2.Mode.ValueType(found.mode),
        )
        if found.closed_at is not None:
            response.closed_at.CopyFrom(timestamp(found.closed_at))
        return response

    async def list_tournament_pay_ins(
        self, request: pb.ListTournamentPayInsRequest, caller: Caller
    ) -> pb.ListTournamentPayInsResponse:
        wanted = fields.page_request(request)
        async with self._engine.connect() as connection:
            found, account_no = await _find(connection, request, caller)
            rows = await tournaments.pay_ins(connection, found, account_no, wanted.position, wanted.row_limit)
        page = wanted.page([(row.transfer_no, row) for row in rows])
        return pb.ListTournamentPayInsResponse(
            pay_ins=[
                pb.TournamentPayIn(
                    request_id=row.request_id,
                    transfer_id=row.transfer_no,
                    account_id=row.account_id,
                    kind=row.kind,
                    prize_cents=row.prize_cents,
                    fee_cents=row.fee_cents,
                    bounty_cents=row.bounty_cents,
                    paid_at=timestamp(row.at),
                    refunded=row.refunded,
                )
                for row in page.items
            ],
            next_page_token=page.next_page_token,
        )

    async def list_tournament_awards(
        self, request: pb.ListTournamentAwardsRequest, caller: Caller
    ) -> pb.ListTournamentAwardsResponse:
        wanted = fields.page_request(request)
        async with self._engine.connect() as connection:
            found, account_no = await _find(connection, request, caller)
            rows = await tournaments.awards(connection, found, account_no, wanted.position, wanted.row_limit)
        page = wanted.page([(row.award_no, row) for row in rows])
        return pb.ListTournamentAwardsResponse(
            awards=[
                pb.TournamentAward(
                    request_id=row.request_id,
                    transfer_id=row.transfer_no,
                    award=pb.Award(
                        account_id=row.account_id,
                        reason=row.reason,
                        amount_cents=row.amount_cents,
                        refunded_request_id=row.refunded_request_id or "",
                    ),
                    paid_at=timestamp(row.at),
                )
                for row in page.items
            ],
            next_page_token=page.next_page_token,
        )

    async def _submit(self, command: commands.TournamentCommand) -> bytes:
        """Carries one command out, and returns its answer as it is stored (G3)."""
        (stored,) = await self._group_commit.submit(command.table_id, [command])
        return stored.unwrap()


def _head(request: _Request, caller: Caller) -> tuple[str, bytes, str, str, int, str]:
    """The first fields of a command: request id, digest, caller, tournament, epoch and the sender's game."""
    table_id, epoch = fields.table_ref("tournament", request.tournament)
    request_id = fields.id_of_table("request_id", request.request_id, table_id)
    return request_id, digest(request), caller.subject, table_id, epoch, caller.game


def _award(path: str, award: pb.Award) -> commands.Award:
    if int(award.reason) not in {reason.value for reason in AwardReason}:
        raise refusals.invalid(f"{path}.reason", "has to be one of those that there are.")
    refunded = award.refunded_request_id
    if (int(award.reason) == AwardReason.REFUND) != bool(refunded):
        raise refusals.invalid(f"{path}.refunded_request_id", "is of a refund, and of nothing else.")
    return commands.Award(
        fields.printable_id(f"{path}.account_id", award.account_id),
        AwardReason(award.reason),
        fields.positive_amount(f"{path}.amount_cents", award.amount_cents, AWARD_LIMIT_CENTS),
        refunded and fields.printable_id(f"{path}.refunded_request_id", refunded),
    )


async def _find(connection: AsyncConnection, request: _ListRequest, caller: Caller) -> tuple[Tournament, int | None]:
    """Returns the tournament of a request, and the number of the account that it is narrowed to."""
    table_id = fields.bus_safe_id("tournament_id", request.tournament_id)
    found = await tournaments.find(connection, table_id)
    if found is None:
        raise refusals.table_unknown(table_id)
    verify_game(caller, found.game, table_id)
    if not request.account_id:
        return found, None
    return found, (await accounts.find(connection, request.account_id)).no
