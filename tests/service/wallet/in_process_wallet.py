"""A whole wallet inside the test: its services over a real database, with a clock that the test advances."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import uuid4

from google.protobuf.message import Message
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import (
    events_pb2,
    relevant_events_pb2,
    session_pb2,
    ticket_pb2,
    tournament_pb2,
    types_pb2,
    wallet_pb2,
)
from services.kit.access.identity import Caller
from services.kit.database import postgresql
from services.kit.refusal import Refused
from services.wallet.model.state import PayoutLimits, RelevantEventLimits
from services.wallet.outbox.facts import Fact, player_subject, unpack
from services.wallet.server.relevant_event_service import RelevantEventService
from services.wallet.server.revocation_service import RevocationService
from services.wallet.server.session_service import SessionService
from services.wallet.server.ticket_service import TicketService
from services.wallet.server.tournament_service import TournamentMoneyService
from services.wallet.server.wallet_service import WalletService
from services.wallet.sessions.clock import SessionClock, SessionClockKind
from services.wallet.sessions.ended_facts import EndedSessionFacts
from services.wallet.sessions.inactivity_watch import InactivityWatch
from services.wallet.store.group_commit import GroupCommit
from services.wallet.store.ledger_store import LedgerStore
from tests.processes import ledger_audit

REAL, DEMO = types_pb2.MODE_REAL, types_pb2.MODE_DEMO
INDIVIDUAL, MULTI_PLAYER, POKER = types_pb2.PLAY_INDIVIDUAL, types_pb2.PLAY_MULTI_PLAYER, types_pb2.PLAY_POKER
TOURNAMENT = types_pb2.PLAY_TOURNAMENT
ACTIVE, INVITED, WARNED, ENDING, ENDED = (
    session_pb2.SESSION_STATE_ACTIVE,
    session_pb2.SESSION_STATE_INVITED,
    session_pb2.SESSION_STATE_WARNED,
    session_pb2.SESSION_STATE_ENDING,
    session_pb2.SESSION_STATE_ENDED,
)
T0 = datetime(2026, 1, 5, 20, 0, tzinfo=UTC)

AnswerT = TypeVar("AnswerT", bound=Message)


def caller(scope: str, subject: str, game: str = "") -> Caller:
    return Caller(subject, frozenset({scope}), time.time() + 3600, game=game)


GAME, OPERATOR = caller("game", "games", "game"), caller("operator", "back-office")


def player(player_id: str) -> Caller:
    return caller("player", player_id)


class ManualClock:
    """Shows the same time until it is advanced."""

    def __init__(self, at: datetime = T0) -> None:
        self._now = at

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Seat:
    """A player in a session at a table."""

    player_id: str
    account_id: str
    table_id: str
    session_id: str

    def session_in_round(
        self, *, bet: bool = False, excused: bool = False, cave_below_minimum: bool = False
    ) -> wallet_pb2.SessionInRound:
        return wallet_pb2.SessionInRound(
            session_id=self.session_id, bet=bet, excused=excused, cave_below_minimum=cave_below_minimum
        )


class InProcessWallet:
    """One replica of the wallet, whose services are called directly."""

    def __init__(
        self,
        engine: AsyncEngine,
        clock: ManualClock,
        kind: SessionClockKind,
        limits: RelevantEventLimits,
        payout_limits: PayoutLimits | None = None,
    ) -> None:
        self.engine = engine
        self.clock = clock
        self.session_clock = SessionClock(engine, clock, kind)
        store = LedgerStore(clock, self.session_clock, limits, payout_limits)
        self.group_commit = GroupCommit(engine, store, 2, lambda: None)
        self.wallet_service = WalletService(engine, self.group_commit, clock, payout_limits or PayoutLimits())
        self.tournament_service = TournamentMoneyService(engine, self.group_commit)
        self.ticket_service = TicketService(engine)
        self.ended_facts = EndedSessionFacts(engine, lambda: None)
        self.session_service = SessionService(engine, clock, self.session_clock, self.ended_facts)
        self.inactivity_watch = InactivityWatch(engine, clock, self.session_clock)
        self.relevant_event_service = RelevantEventService(engine)
        self.revocation_service = RevocationService(engine, clock)

    # -- the first steps of nearly every test -----------------------------------------------------------------------

    async def open_table(
        self,
        table_id: str,
        play: types_pb2.Play.ValueType,
        regulation: str = "804/2015",
        mode: types_pb2.Mode.ValueType = REAL,
        epoch: int = 1,
        configured_table_id: str = "",
    ) -> str:
        request = wallet_pb2.OpenTableRequest(
            table=types_pb2.TableRef(table_id=table_id, epoch=epoch),
            game="game",
            regulation=regulation,
            mode=mode,
            play=play,
            configured_table_id=configured_table_id,
        )
        await self.wallet_service.open_table(request, GAME)
        return table_id

    async def open_account(self, player_id: str, cents: int = 0, mode: types_pb2.Mode.ValueType = REAL) -> str:
        request = wallet_pb2.OpenAccountRequest(player_id=player_id, mode=mode)
        account_id = (await self.wallet_service.open_account(request, OPERATOR)).balance.account_id
        if cents:
            await self.deposit(account_id, cents)
        return account_id

    async def start_session(
        self, account_id: str, table_id: str, caller: Caller = GAME, request_id: str = ""
    ) -> session_pb2.StartSessionResponse:
        request = session_pb2.StartSessionRequest(
            request_id=request_id or str(uuid4()),
            account_id=account_id,
            table_id=table_id,
            device=session_pb2.Device(kind="phone", agent="test/1", address="192.0.2.1", fingerprint="f"),
        )
        return session_pb2.StartSessionResponse.FromString(await self.session_service.start_session(request, caller))

    async def sit_down(self, player_id: str, table_id: str, cents: int = 100_000) -> Seat:
        account_id = await self.open_account(player_id, cents)
        started = await self.start_session(account_id, table_id)
        return Seat(player_id, account_id, table_id, started.session.session_id)

    # -- money ------------------------------------------------------------------------------------------------------

    async def deposit(self, account_id: str, cents: int) -> None:
        request = wallet_pb2.DepositRequest(request_id=str(uuid4()), account_id=account_id, amount_cents=cents)
        await self.wallet_service.deposit(request, OPERATOR)

    async def withdraw(self, account_id: str, cents: int) -> None:
        request = wallet_pb2.WithdrawRequest(request_id=str(uuid4()), account_id=account_id, amount_cents=cents)
        await self.wallet_service.withdraw(request, OPERATOR)

    async def place(self, seat: Seat, round_id: str, cents: int) -> str:
        order = wallet_pb2.StakeOrder(
            request_id=str(uuid4()), account_id=seat.account_id, session_id=seat.session_id, amount_cents=cents
        )
        request = wallet_pb2.PlaceStakeRequest(round=round_ref(seat.table_id, round_id), order=order)
        await self.wallet_service.place_stake(request, GAME)
        return order.request_id

    async def cancel(self, seat: Seat, round_id: str, stake_id: str, cents: int = 0) -> None:
        request = wallet_pb2.CancelStakesRequest(
            request_id=str(uuid4()),
            round=round_ref(seat.table_id, round_id),
            account_id=seat.account_id,
            stakes=[wallet_pb2.StakeToCancel(stake_id=stake_id, amount_cents=cents)],
        )
        await self.wallet_service.cancel_stakes(request, GAME)

    async def pay(
        self, table_id: str, round_id: str, payouts: dict[str, int], request_id: str = "", epoch: int = 1
    ) -> wallet_pb2.PayStakesResponse:
        request = wallet_pb2.PayStakesRequest(
            request_id=request_id or str(uuid4()),
            round=types_pb2.RoundRef(round_id=round_id, table=table_ref(table_id, epoch)),
            payouts=[
                wallet_pb2.StakePayout(stake_id=stake_id, payout_cents=cents) for stake_id, cents in payouts.items()
            ],
        )
        return wallet_pb2.PayStakesResponse.FromString(await self.wallet_service.pay_stakes(request, GAME))

    async def settle(
        self,
        table_id: str,
        round_id: str,
        payouts: dict[str, int] | None = None,
        report: Sequence[wallet_pb2.SessionInRound] = (),
        epoch: int = 1,
    ) -> wallet_pb2.SettleRoundResponse:
        request = wallet_pb2.SettleRoundRequest(
            request_id=str(uuid4()),
            round=types_pb2.RoundRef(round_id=round_id, table=table_ref(table_id, epoch)),
            payouts=[
                wallet_pb2.StakePayout(stake_id=stake_id, payout_cents=cents)
                for stake_id, cents in (payouts or {}).items()
            ],
            report=wallet_pb2.RoundReport(sessions=report),
        )
        return wallet_pb2.SettleRoundResponse.FromString(await self.wallet_service.settle_round(request, GAME))

    async def void(self, table_id: str, round_id: str) -> wallet_pb2.VoidRoundResponse:
        request = wallet_pb2.VoidRoundRequest(
            request_id=str(uuid4()), round=round_ref(table_id, round_id), reason="the ball left the wheel"
        )
        return wallet_pb2.VoidRoundResponse.FromString(await self.wallet_service.void_round(request, GAME))

    async def buy_in(self, seat: Seat, cents: int, commission_cents: int = 0) -> None:
        request = wallet_pb2.BuyInRequest(
            request_id=str(uuid4()),
            table=table_ref(seat.table_id),
            account_id=seat.account_id,
            session_id=seat.session_id,
            amount_cents=cents,
            commission_cents=commission_cents,
        )
        await self.wallet_service.buy_in(request, GAME)

    async def cash_out(self, seat: Seat, cents: int = 0) -> wallet_pb2.CashOutResponse:
        request = wallet_pb2.CashOutRequest(
            request_id=str(uuid4()),
            table=table_ref(seat.table_id),
            account_id=seat.account_id,
            session_id=seat.session_id,
            amount_cents=cents,
        )
        return wallet_pb2.CashOutResponse.FromString(await self.wallet_service.cash_out(request, GAME))

    async def list_caves(self, table_id: str, page_size: int = 0) -> list[tuple[str, int]]:
        """Returns the sessions of the caves at a table that are not empty, each with what is in it."""
        request = wallet_pb2.ListTableCavesRequest(table_id=table_id, page_size=page_size)
        found: list[tuple[str, int]] = []
        while True:
            answer = await self.wallet_service.list_table_caves(request, GAME)
            found += [(cave.session_id, cave.cave_cents) for cave in answer.caves]
            if not answer.next_page_token:
                return found
            request.page_token = answer.next_page_token

    async def transfer_hand(
        self,
        table_id: str,
        round_id: str,
        seats: Sequence[tuple[Seat, int, int]] = (),
        report: Sequence[wallet_pb2.SessionInRound] = (),
        request_id: str = "",
    ) -> wallet_pb2.TransferHandResponse:
        """Transfers a hand of seats, each with its stake and winnings; the difference is commission."""
        request = wallet_pb2.TransferHandRequest(
            request_id=request_id or str(uuid4()),
            round=round_ref(table_id, round_id),
            seats=[
                wallet_pb2.SeatInHand(
                    account_id=seat.account_id, session_id=seat.session_id, staked_cents=staked, won_cents=won
                )
                for seat, staked, won in seats
            ],
            commission_cents=sum(staked - won for _, staked, won in seats),
            report=wallet_pb2.RoundReport(sessions=report),
        )
        return wallet_pb2.TransferHandResponse.FromString(await self.wallet_service.transfer_hand(request, GAME))

    # -- tournaments ------------------------------------------------------------------------------------------------

    async def open_tournament(self, table_id: str, mode: types_pb2.Mode.ValueType = REAL, epoch: int = 1) -> str:
        return await self.open_table(table_id, TOURNAMENT, "810/2015", mode, epoch)

    async def pay_in(
        self,
        table_id: str,
        account_id: str,
        prize_cents: int = 1_000,
        fee_cents: int = 100,
        bounty_cents: int = 0,
        *,
        kind: tournament_pb2.PayInKind.ValueType = tournament_pb2.PAY_IN_KIND_ENTRY,
        ticket_id: str = "",
        request_id: str = "",
        epoch: int = 1,
    ) -> str:
        """Pays into a tournament, and returns the id of the request."""
        request = tournament_pb2.PayInRequest(
            request_id=request_id or str(uuid4()),
            tournament=table_ref(table_id, epoch),
            account_id=account_id,
            kind=kind,
            prize_cents=prize_cents,
            fee_cents=fee_cents,
            bounty_cents=bounty_cents,
            ticket_id=ticket_id,
        )
        await self.tournament_service.pay_in(request, GAME)
        return request.request_id

    async def pay_out(
        self,
        table_id: str,
        awards: Sequence[tournament_pb2.Award],
        overlay_cents: int = 0,
        shortfall_cents: int = 0,
        *,
        request_id: str = "",
        epoch: int = 1,
    ) -> tournament_pb2.PayOutResponse:
        request = tournament_pb2.PayOutRequest(
            request_id=request_id or str(uuid4()),
            tournament=table_ref(table_id, epoch),
            awards=awards,
            overlay_cents=overlay_cents,
            shortfall_cents=shortfall_cents,
        )
        return tournament_pb2.PayOutResponse.FromString(await self.tournament_service.pay_out(request, GAME))

    async def settle_tickets(
        self,
        table_id: str,
        settlement: tournament_pb2.TicketSettlement.ValueType = tournament_pb2.TICKET_SETTLEMENT_EXPIRE,
        of_freerolls: tournament_pb2.TicketSettlement.ValueType = tournament_pb2.TICKET_SETTLEMENT_EXPIRE,
        replacement: str = "",
        *,
        request_id: str = "",
        epoch: int = 1,
    ) -> tournament_pb2.SettleTicketsResponse:
        request = tournament_pb2.SettleTicketsRequest(
            request_id=request_id or str(uuid4()),
            tournament=table_ref(table_id, epoch),
            settlement=settlement,
            freeroll_settlement=of_freerolls,
            replacement_tournament_id=replacement,
        )
        answer = await self.tournament_service.settle_tickets(request, GAME)
        return tournament_pb2.SettleTicketsResponse.FromString(answer)

    async def tickets(self, table_id: str, account_id: str = "", *, open_only: bool = False) -> list[ticket_pb2.Ticket]:
        """Returns the tickets to a tournament, up to a page."""
        request = ticket_pb2.ListTicketsRequest(tournament_id=table_id, account_id=account_id, open_only=open_only)
        return list((await self.ticket_service.list_tickets(request, GAME)).tickets)

    async def ticket_history(self, ticket_id: str) -> list[ticket_pb2.TicketChange]:
        request = ticket_pb2.ListTicketChangesRequest(ticket_id=ticket_id)
        return list((await self.ticket_service.list_ticket_changes(request, GAME)).changes)

    async def close_tournament(self, table_id: str, request_id: str = "") -> None:
        request = tournament_pb2.CloseTournamentRequest(
            request_id=request_id or str(uuid4()), tournament=table_ref(table_id)
        )
        await self.tournament_service.close_tournament(request, GAME)

    async def tournament_money(self, table_id: str, account_id: str = "") -> tournament_pb2.GetTournamentMoneyResponse:
        request = tournament_pb2.GetTournamentMoneyRequest(tournament_id=table_id, account_id=account_id)
        return await self.tournament_service.get_tournament_money(request, GAME)

    # -- sessions ---------------------------------------------------------------------------------------------------

    async def miss_rounds(self, table_id: str, present: Sequence[Seat], count: int, first: int = 1) -> None:
        for number in range(first, first + count):
            await self.settle(table_id, f"{table_id}-{number}", report=[seat.session_in_round() for seat in present])

    async def announce(self, table_id: str, round_id: str, epoch: int = 1) -> list[str]:
        request = session_pb2.AnnounceRoundRequest(
            table=types_pb2.TableRef(table_id=table_id, epoch=epoch), round_id=round_id
        )
        return list((await self.session_service.announce_round(request, GAME)).warned_session_ids)

    async def end_session(
        self,
        seat: Seat,
        caller: Caller | None = None,
        cause: session_pb2.EndCause.ValueType = session_pb2.END_CAUSE_PLAYER,
    ) -> session_pb2.EndSessionResponse:
        request = session_pb2.EndSessionRequest(session_id=seat.session_id, cause=cause)
        return await self.session_service.end_session(request, caller or player(seat.player_id))

    async def get_session(self, seat: Seat) -> session_pb2.GetSessionResponse:
        return await self.session_service.get_session(
            session_pb2.GetSessionRequest(session_id=seat.session_id), OPERATOR
        )

    async def session_state(self, seat: Seat) -> session_pb2.SessionState.ValueType:
        return (await self.get_session(seat)).session.state

    async def advance_clock(self, seconds: float) -> None:
        """Advances the clock, and lets the inactivity watch sweep."""
        self.clock.advance(seconds)
        await self.inactivity_watch.sweep()

    async def advance_session_clock(self, seconds: float) -> session_pb2.AdvanceSessionClockResponse:
        request = session_pb2.AdvanceSessionClockRequest(by_ms=round(seconds * 1000))
        return await self.session_service.advance_session_clock(request, OPERATOR)

    # -- results ----------------------------------------------------------------------------------------------------

    async def facts(self) -> list[Fact]:
        """Returns all facts that wait in the outbox, in order."""
        async with self.engine.connect() as connection:
            rows = (await connection.execute(text("SELECT facts FROM outbox ORDER BY outbox_no"))).scalars().all()
        return [fact for row in rows for fact in unpack(row)]

    async def player_facts(self, player_id: str) -> list[events_pb2.PlayerFact]:
        """Returns all facts about the player's sessions, in order."""
        await self.ended_facts.publish()
        found = [fact for fact in await self.facts() if fact.subject == player_subject(player_id)]
        facts = [events_pb2.PlayerFact.FromString(fact.payload) for fact in found]
        return [fact for fact in facts if fact.WhichOneof("fact") != "balance_changed"]

    async def publish_ended_facts(self, *_: object) -> int:
        """Tells the players of ended sessions."""
        return await self.ended_facts.publish()

    async def fact_names(self, player_id: str) -> list[str]:
        """Returns the names of all facts about the player's sessions, in order."""
        return [_name(fact) for fact in await self.player_facts(player_id)]

    async def relevant_events(self, account_id: str) -> list[relevant_events_pb2.RelevantEvent]:
        """Returns the relevant events of one account among the latest 500, newest first."""
        request = relevant_events_pb2.ListRelevantEventsRequest(page_size=500)
        listed = await self.relevant_event_service.list_relevant_events(request, OPERATOR)
        return [event for event in listed.events if event.account_id == account_id]

    async def policy_changes(self, table_id: str, **fields: object) -> session_pb2.ListInactivityPolicyChangesResponse:
        request = session_pb2.ListInactivityPolicyChangesRequest(table_id=table_id, **fields)  # type: ignore[arg-type]
        return await self.session_service.list_inactivity_policy_changes(request, OPERATOR)

    async def count(self, statement: str) -> int:
        """Returns the one number that a statement selects, in a transaction of its own."""
        async with self.engine.connect() as connection:
            return int((await connection.execute(text(statement))).scalar_one())

    async def wait_for_blocked(self, backends: int = 1) -> None:
        """Waits until so many backends of the database wait for a lock."""
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        # Each count in a new transaction: PostgreSQL shows a transaction the same activity however often it asks.
        while await self.count(waiting) < backends:
            await asyncio.sleep(0)

    async def violations(self) -> list[str]:
        """Returns the audit's violations, without those of age: nothing is published, and the test's clock is old."""
        return await ledger_audit.violations(self.engine, of_any_age=True)


def table_ref(table_id: str, epoch: int = 1) -> types_pb2.TableRef:
    return types_pb2.TableRef(table_id=table_id, epoch=epoch)


def round_ref(table_id: str, round_id: str) -> types_pb2.RoundRef:
    return types_pb2.RoundRef(round_id=round_id, table=table_ref(table_id))


def _name(fact: events_pb2.PlayerFact) -> str:
    if fact.WhichOneof("fact") == "session_notice":
        kind = events_pb2.SessionNoticeKind.Name(fact.session_notice.kind)
        return kind.removeprefix("SESSION_NOTICE_KIND_").lower()
    return (fact.WhichOneof("fact") or "").removeprefix("session_")


@asynccontextmanager
async def open_wallet(
    url: str,
    clock: ManualClock | None = None,
    kind: SessionClockKind = SessionClockKind.ADVANCEABLE,
    limits: RelevantEventLimits | None = None,
    payout_limits: PayoutLimits | None = None,
) -> AsyncIterator[InProcessWallet]:
    """Runs a wallet on a database; leaving it and opening another one is a restart."""
    engine = postgresql.connect(url, "feltro-wallet", 8, settings=postgresql.BY_INDEX)
    wallet = InProcessWallet(engine, clock or ManualClock(), kind, limits or RelevantEventLimits(), payout_limits)
    await wallet.session_clock.refresh()
    lanes = asyncio.create_task(wallet.group_commit.run())
    try:
        yield wallet
    finally:
        lanes.cancel()
        await asyncio.gather(lanes, return_exceptions=True)
        await engine.dispose()


async def reason_of(call: Awaitable[object]) -> str:
    """Returns the reason for which a call is refused; empty if it is not."""
    try:
        await call
    except Refused as refused:
        return refused.reason
    return ""
