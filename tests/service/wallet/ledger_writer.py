"""Writes a small ledger by SQL, like the wallet's own, for tests of code that reads it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from services.wallet.model.state import (
    AccountKind,
    Mode,
    Play,
    Pocket,
    RelevantKind,
    RoundState,
    StakeState,
    TicketState,
    TransferKind,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

FREE, LOCKED = Pocket.FREE, Pocket.LOCKED
AT = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)

_ENTRIES = (
    "INSERT INTO entries SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::smallint[],"
    " $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])"
)


@dataclass(frozen=True)
class Player:
    """A player's account with its operator account."""

    no: int
    account_id: UUID
    operator_account_no: int
    mode: Mode


@dataclass(frozen=True)
class Table:
    """A table with its bank; of a tournament with its pool, and with the account of the tickets to it."""

    no: int
    bank_no: int
    mode: Mode
    pool_no: int = 0
    table_id: str = ""
    tickets_no: int = 0


@dataclass(frozen=True)
class Session:
    """A session of a player at a table."""

    no: int
    session_id: UUID
    player: Player
    table: Table


@dataclass(frozen=True)
class WonTicket:
    """A ticket, and its number of changes so far."""

    no: int
    player: Player
    target: Table
    cents: int
    changes: int


@dataclass(frozen=True)
class Leg:
    """One entry to be written."""

    account_no: int
    pocket: Pocket
    amount_cents: int
    session_no: int | None = None


class LedgerWriter:
    """Writes over one connection, with the permissions of its role."""

    def __init__(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        self.connection = connection
        self._requests = itertools.count(1)

    async def player(self, player_id: str, mode: Mode = Mode.REAL) -> Player:
        row = await self.connection.fetchrow(
            "INSERT INTO accounts (kind, mode, player_id, opened_at) VALUES (1, $1, $2, $3)"
            " RETURNING account_no, account_id",
            mode,
            player_id,
            AT,
        )
        assert row is not None
        operator_account_no = await self._account(AccountKind.OPERATOR, mode, owner_no=row["account_no"])
        return Player(row["account_no"], row["account_id"], operator_account_no, mode)

    async def table(self, table_id: str, play: Play = Play.MULTI_PLAYER, mode: Mode = Mode.REAL) -> Table:
        table_no = await self._number(
            "INSERT INTO tables (table_id, game, regulation, mode, play, epoch, bank_no, pool_no, opened_at)"
            " VALUES ($1, 'roulette', '804/2015', $2, $3, 1, 0, $5, $4) RETURNING table_no",
            table_id,
            mode,
            play,
            AT,
            0 if play is Play.TOURNAMENT else None,
        )
        bank_no = await self._account(AccountKind.BANK, mode, table_no=table_no)
        await self.connection.execute("UPDATE tables SET bank_no = $1 WHERE table_no = $2", bank_no, table_no)
        pool_no = tickets_no = 0
        if play is Play.TOURNAMENT:
            pool_no = await self._account(AccountKind.POOL, mode, table_no=table_no)
            # The database itself has made the account of its tickets.
            tickets_no = await self._number(
                "UPDATE tables SET pool_no = $1 WHERE table_no = $2 RETURNING tickets_no", pool_no, table_no
            )
        return Table(table_no, bank_no, mode, pool_no, table_id, tickets_no)

    async def cave(self, session: Session) -> int:
        owner, table = session.player, session.table
        return await self._account(AccountKind.CAVE, owner.mode, owner_no=owner.no, table_no=table.no)

    async def session(self, player: Player, table: Table) -> Session:
        row = await self.connection.fetchrow(
            "INSERT INTO sessions (player_id, account_no, table_no, state, device_kind, device_agent, device_address,"
            " device_fingerprint, started_at, started_version, last_activity_at, idle_since)"
            " SELECT player_id, account_no, $2, 1, '', '', '', '', $3, version, $3, $3 FROM accounts"
            " WHERE account_no = $1 RETURNING session_no, session_id",
            player.no,
            table.no,
            AT,
        )
        assert row is not None
        return Session(row["session_no"], row["session_id"], player, table)

    async def end_session(self, session: Session) -> None:
        await self.connection.execute(
            "UPDATE sessions SET state = 5, ended_at = $2, end_cause = 1, ended_version = a.version FROM accounts a"
            " WHERE session_no = $1 AND a.account_no = sessions.account_no",
            session.no,
            AT,
        )

    async def transfer(
        self,
        kind: TransferKind,
        mode: Mode,
        legs: Sequence[Leg],
        *,
        round_no: int | None = None,
        request_id: str = "",
        reference: str | None = None,
    ) -> tuple[int, str]:
        """Writes one transfer with its request; returns its number and request id."""
        number, request_id = await self.next_no(), request_id or f"request-{next(self._requests)}"
        async with self.connection.transaction():
            await self.connection.execute(
                "INSERT INTO transfers VALUES ($1, $2, $3, $4, $5, $6, $7)",
                number,
                kind,
                mode,
                AT,
                request_id,
                round_no,
                reference,
            )
            await self._entries(number, legs)
            await self.connection.execute(
                "INSERT INTO requests VALUES ($1, '', false, '', $2, 'test', $3)", request_id, number, AT
            )
        return number, request_id

    async def round(self, round_id: str, table: Table, opened_at: datetime = AT) -> int:
        number = await self.next_no()
        await self.connection.execute(
            "INSERT INTO rounds (round_no, round_id, table_no, state, opened_at) VALUES ($1, $2, $3, 1, $4)",
            number,
            round_id,
            table.no,
            opened_at,
        )
        return number

    async def deposit(self, player: Player, cents: int) -> int:
        legs = [Leg(player.no, FREE, cents), Leg(player.operator_account_no, FREE, -cents)]
        return (await self.transfer(TransferKind.DEPOSIT, player.mode, legs))[0]

    async def stake(self, session: Session, round_no: int, cents: int) -> int:
        account_no = session.player.no
        legs = [Leg(account_no, FREE, -cents, session.no), Leg(account_no, LOCKED, cents, session.no)]
        number, request_id = await self.transfer(TransferKind.STAKE, session.player.mode, legs, round_no=round_no)
        await self.connection.execute(
            "INSERT INTO stakes (stake_no, stake_id, round_no, account_no, session_no, placed_cents, placed_at, detail)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, '')",
            number,
            request_id,
            round_no,
            account_no,
            session.no,
            cents,
            AT,
        )
        return number

    async def cancel(self, session: Session, round_no: int, stake_no: int, cents: int) -> None:
        account_no = session.player.no
        legs = [Leg(account_no, LOCKED, -cents, session.no), Leg(account_no, FREE, cents, session.no)]
        number, _ = await self.transfer(TransferKind.STAKE_CANCELLED, session.player.mode, legs, round_no=round_no)
        await self.take_back(number, stake_no, cents)
        await self.connection.execute(
            "UPDATE stakes SET cancelled_cents = cancelled_cents + $2,"
            " state = CASE WHEN cancelled_cents + $2 = placed_cents THEN 2 ELSE 1 END WHERE stake_no = $1",
            stake_no,
            cents,
        )

    async def take_back(self, transfer_no: int, stake_no: int, cents: int) -> None:
        await self.connection.execute(
            "INSERT INTO stake_cancellations (transfer_no, stake_no, amount_cents, at) VALUES ($1, $2, $3, $4)",
            transfer_no,
            stake_no,
            cents,
            AT,
        )

    async def settle(self, table: Table, round_no: int, payouts: dict[int, int]) -> int:
        """Settles the open stakes of a round with payouts by stake number."""
        number, _ = await self.transfer(
            TransferKind.ROUND_SETTLED, table.mode, await self._payment(table, payouts), round_no=round_no
        )
        for stake_no, payout in payouts.items():
            await self._end_stake(stake_no, StakeState.SETTLED, payout)
        await self._end_round(round_no, RoundState.SETTLED, number)
        return number

    async def pay(self, table: Table, round_no: int, payouts: dict[int, int]) -> int:
        """Pays open stakes of a round that goes on, by stake number."""
        number, _ = await self.transfer(
            TransferKind.STAKES_PAID, table.mode, await self._payment(table, payouts), round_no=round_no
        )
        for stake_no, payout in payouts.items():
            await self.connection.execute(
                "UPDATE stakes SET state = 5, payout_cents = $2, paid_transfer_no = $3 WHERE stake_no = $1",
                stake_no,
                payout,
                number,
            )
        return number

    async def void(self, table: Table, round_no: int, stake_nos: Sequence[int]) -> int:
        legs = []
        for stake_no in stake_nos:
            stake = await self._stake(stake_no)
            legs.append(Leg(stake["account_no"], LOCKED, -stake["open_cents"], stake["session_no"]))
            legs.append(Leg(stake["account_no"], FREE, stake["open_cents"], stake["session_no"]))
        number, _ = await self.transfer(TransferKind.ROUND_VOID, table.mode, legs, round_no=round_no)
        for stake_no in stake_nos:
            await self._end_stake(stake_no, StakeState.RETURNED, 0)
        await self._end_round(round_no, RoundState.VOID, number)
        return number

    async def buy_in(self, session: Session, cave_no: int, cents: int) -> None:
        legs = [Leg(session.player.no, FREE, -cents, session.no), Leg(cave_no, FREE, cents, session.no)]
        await self.transfer(TransferKind.BUY_IN, session.player.mode, legs)

    async def hand(self, table: Table, round_no: int, legs: Sequence[Leg]) -> int:
        number, _ = await self.transfer(TransferKind.HAND, table.mode, legs, round_no=round_no)
        await self._end_round(round_no, RoundState.SETTLED, number)
        return number

    async def pay_in(
        self, player: Player, tournament: Table, prize: int, fee: int, bounty: int = 0, ticket: WonTicket | None = None
    ) -> int:
        payer_no, kind = player.no, TransferKind.TOURNAMENT_PAID_IN
        if ticket is not None:
            payer_no, kind = tournament.tickets_no, TransferKind.TICKET_USED
        legs = [Leg(payer_no, FREE, -prize - fee - bounty), Leg(tournament.pool_no, FREE, prize + bounty)]
        legs.append(Leg(tournament.bank_no, FREE, fee))
        number, _ = await self.transfer(kind, player.mode, legs, reference=tournament.table_id)
        if ticket is not None:
            await self.change_ticket(ticket, TicketState.USED, number)
        await self.connection.execute(
            "INSERT INTO tournament_pay_ins VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8)",
            number,
            tournament.no,
            player.no,
            prize,
            fee,
            bounty,
            AT,
            None if ticket is None else ticket.no,
        )
        return number

    async def pay_out(
        self,
        tournament: Table,
        player: Player,
        cents: int,
        *,
        from_bank: int = 0,
        refunded_no: int | None = None,
        request_id: str = "",
    ) -> int:
        """Pays one prize, or refunds a pay-in whose fee comes from the bank; of a prize the bank's part is overlay."""
        legs = [Leg(player.no, FREE, cents), Leg(tournament.bank_no, FREE, -from_bank)]
        legs.append(Leg(tournament.pool_no, FREE, from_bank - cents))
        number, _ = await self.transfer(
            TransferKind.TOURNAMENT_PAID_OUT, player.mode, legs, request_id=request_id, reference=tournament.table_id
        )
        await self.connection.execute(
            "INSERT INTO tournament_awards (transfer_no, table_no, account_no, reason, amount_cents, refunded_no, at)"
            " VALUES ($1, $2, $3, CASE WHEN $5::bigint IS NULL THEN 1 ELSE 3 END, $4, $5, $6)",
            number,
            tournament.no,
            player.no,
            cents,
            refunded_no,
            AT,
        )
        if from_bank and refunded_no is None:
            await self.connection.execute(
                "INSERT INTO tournament_bank_payments VALUES ($1, $2, $3, 0)", number, tournament.no, from_bank
            )
        return number

    async def award_ticket(
        self,
        satellite: Table,
        target: Table,
        player: Player,
        cents: int,
        *,
        freeroll: bool = False,
        converted: bool = False,
    ) -> tuple[WonTicket, int]:
        """Awards a ticket out of a pool, or its value as a second entry; returns it and the transfer's number."""
        gets_it = player.no if converted else target.tickets_no
        legs = [Leg(satellite.pool_no, FREE, -cents), Leg(gets_it, FREE, cents)]
        number, _ = await self.transfer(
            TransferKind.TOURNAMENT_PAID_OUT, player.mode, legs, reference=satellite.table_id
        )
        states = [TicketState.ISSUED, TicketState.CONVERTED] if converted else [TicketState.ISSUED]
        ticket = await self.issue_ticket(satellite, target, player, cents, number, states, freeroll=freeroll)
        await self.connection.execute(
            "INSERT INTO tournament_awards"
            " (transfer_no, table_no, account_no, reason, amount_cents, ticket_no, ticket_state, at)"
            " VALUES ($1, $2, $3, 1, $4, $5, $6, $7)",
            number,
            satellite.no,
            player.no,
            cents,
            ticket.no,
            states[-1],
            AT,
        )
        return ticket, number

    async def issue_ticket(
        self,
        awarded_by: Table,
        target: Table,
        player: Player,
        cents: int,
        transfer_no: int,
        states: Sequence[TicketState],
        *,
        freeroll: bool,
        replaced: WonTicket | None = None,
    ) -> WonTicket:
        """Writes a ticket and the changes by the transfer that issued it."""
        no = await self._number(
            "INSERT INTO tickets (ticket_id, account_no, table_no, awarded_by_no, replaced_no, value_cents,"
            " from_freeroll, won, state, changes, issued_at, changed_at)"
            " VALUES (uuidv7(), $1, $2, $3, $4, $5, $6, true, $7, $8, $9, $9) RETURNING ticket_no",
            player.no,
            target.no,
            awarded_by.no,
            None if replaced is None else replaced.no,
            cents,
            freeroll,
            states[-1],
            len(states),
            AT,
        )
        for number, state in enumerate(states, 1):
            await self._ticket_change(no, number, state, transfer_no)
        return WonTicket(no, player, target, cents, len(states))

    async def change_ticket(self, ticket: WonTicket, state: TicketState, transfer_no: int) -> None:
        await self._ticket_change(ticket.no, ticket.changes + 1, state, transfer_no)
        await self.connection.execute(
            "UPDATE tickets SET state = $2, changes = $3, changed_at = $4 WHERE ticket_no = $1",
            ticket.no,
            state,
            ticket.changes + 1,
            AT,
        )

    async def _ticket_change(self, ticket_no: int, number: int, state: TicketState, transfer_no: int) -> None:
        await self.connection.execute(
            "INSERT INTO ticket_changes VALUES ($1, $2, $3, $4, $5)", ticket_no, number, state, transfer_no, AT
        )

    async def relevant_event(
        self, kind: RelevantKind, transfer_no: int, player: Player, cents: int, staked_cents: int = 0,
        session: Session | None = None,
    ) -> None:  # fmt: skip
        """Writes an event whose amount is exactly the limit."""
        await self.connection.execute(
            "INSERT INTO relevant_events"
            " (at, kind, transfer_no, account_no, session_no, amount_cents, staked_cents, limit_cents)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $6)",
            AT,
            kind,
            transfer_no,
            player.no,
            None if session is None else session.no,
            cents,
            staked_cents,
        )

    async def next_no(self) -> int:
        return await self._number("SELECT nextval('ledger_no')")

    async def _entries(self, transfer_no: int, legs: Sequence[Leg]) -> None:
        rows, versions, legs_of = [], dict[int, int](), dict[int, int]()
        for leg in (leg for leg in legs if leg.amount_cents):
            column = "free_cents" if leg.pocket is FREE else "locked_cents"
            first = leg.account_no not in versions
            row = await self.connection.fetchrow(
                f"UPDATE accounts SET {column} = {column} + $2, version = version + $3 WHERE account_no = $1"  # noqa: S608
                f" RETURNING {column} AS after_cents, version",
                leg.account_no,
                leg.amount_cents,
                int(first),
            )
            assert row is not None
            versions[leg.account_no] = row["version"]
            legs_of[leg.account_no] = legs_of.get(leg.account_no, 0) + 1
            before = row["after_cents"] - leg.amount_cents
            place = (transfer_no, leg.account_no, row["version"], legs_of[leg.account_no], leg.pocket, leg.session_no)
            rows.append((*place, before, leg.amount_cents, row["after_cents"]))
        # One statement, because the database balances each statement (G1).
        await self.connection.execute(_ENTRIES, *(list(column) for column in zip(*rows, strict=True)))

    async def _payment(self, table: Table, payouts: dict[int, int]) -> list[Leg]:
        legs, staked = [], 0
        for stake_no, payout in payouts.items():
            stake = await self._stake(stake_no)
            staked += stake["open_cents"]
            legs.append(Leg(stake["account_no"], LOCKED, -stake["open_cents"], stake["session_no"]))
            legs.append(Leg(stake["account_no"], FREE, payout, stake["session_no"]))
        legs.append(Leg(table.bank_no, FREE, staked - sum(payouts.values())))
        return legs

    async def _stake(self, stake_no: int) -> asyncpg.Record:
        row = await self.connection.fetchrow(
            "SELECT account_no, session_no, placed_cents - cancelled_cents AS open_cents"
            " FROM stakes WHERE stake_no = $1",
            stake_no,
        )
        assert row is not None
        return row

    async def _end_stake(self, stake_no: int, state: StakeState, payout_cents: int) -> None:
        await self.connection.execute(
            "UPDATE stakes SET state = $2, payout_cents = $3 WHERE stake_no = $1", stake_no, state, payout_cents
        )

    async def _end_round(self, round_no: int, state: RoundState, transfer_no: int) -> None:
        await self.connection.execute(
            "UPDATE rounds SET state = $2, ended_at = $3, end_transfer_no = $4 WHERE round_no = $1",
            round_no,
            state,
            AT,
            transfer_no,
        )

    async def _account(
        self, kind: AccountKind, mode: Mode, owner_no: int | None = None, table_no: int | None = None
    ) -> int:
        return await self._number(
            "INSERT INTO accounts (kind, mode, owner_no, table_no, opened_at) VALUES ($1, $2, $3, $4, $5)"
            " RETURNING account_no",
            kind,
            mode,
            owner_no,
            table_no,
            AT,
        )

    async def _number(self, statement: str, *given: object) -> int:
        number: int = await self.connection.fetchval(statement, *given)
        return number


@dataclass(frozen=True)
class SmallTickets:
    """The numbers of the rows of tournaments that award tickets and take them."""

    # It awards tickets to the next one, where the first of them is used; the last one's tickets are settled.
    satellite: Table
    target: Table
    cancelled: Table
    # Gil's used and converted ones, and Ana's open one from a freeroll.
    used: WonTicket
    converted: WonTicket
    open_ticket: WonTicket
    # Rui's reimbursed one, and Ana's from a freeroll with the one in its place.
    reimbursed: WonTicket
    replaced: WonTicket
    replacement: WonTicket
    # The transfers that awarded the first two, used the first, and settled the last.
    award_no: int
    conversion_no: int
    use_no: int
    settlement_no: int


@dataclass(frozen=True)
class SmallLedger:
    """The numbers of the rows that `small_ledger` writes."""

    ana: Player
    rui: Player
    demo: Player
    roulette: Table
    poker: Table
    # Ana's and Rui's at the roulette, both running.
    at_roulette: tuple[Session, Session]
    # Ana's and Rui's at the poker table, both running.
    at_poker: tuple[Session, Session]
    # Ana's earlier one at the roulette.
    ended: Session
    caves: tuple[int, int]
    settled_no: int
    void_no: int
    open_no: int
    hand_no: int
    # Ana's in the settled round, Rui's in the void one, Ana's in the open one.
    stakes: tuple[int, int, int]
    # Rui's two in the open round, each paid by a transfer of its own.
    paid_stakes: tuple[int, int]
    deposit_no: int
    settle_no: int
    # Paid the second of the paid stakes.
    pay_no: int
    hand_transfer_no: int
    # Plays tournaments only.
    gil: Player
    # An open one, and one that is closed.
    tournament: Table
    closed: Table
    # Gil's into the open tournament, the second of them given back.
    pay_ins: tuple[int, int]
    refund_no: int
    # Gil's prize, a part of it the operator's.
    prize_no: int
    tickets: SmallTickets


async def small_ledger(writer: LedgerWriter) -> SmallLedger:
    """Writes players and a guest, rounds of every state, a hand, tournaments, tickets, and relevant events."""
    ana, rui, demo = await writer.player("ana"), await writer.player("rui"), await writer.player("ana", Mode.DEMO)
    roulette, poker = await writer.table("roulette-1"), await writer.table("poker-1", Play.POKER)
    deposit_no = await writer.deposit(ana, 10_000)
    await writer.deposit(rui, 20_000)
    await writer.deposit(demo, 500)
    ended = await writer.session(ana, roulette)
    await writer.end_session(ended)
    at_roulette = await writer.session(ana, roulette), await writer.session(rui, roulette)
    at_poker = await writer.session(ana, poker), await writer.session(rui, poker)

    settled_no = await writer.round("round-settled", roulette)
    first, second = (
        await writer.stake(at_roulette[0], settled_no, 300),
        await writer.stake(at_roulette[1], settled_no, 200),
    )
    cancelled = await writer.stake(at_roulette[1], settled_no, 50)
    await writer.cancel(at_roulette[1], settled_no, cancelled, 50)
    await writer.cancel(at_roulette[0], settled_no, first, 100)
    settle_no = await writer.settle(roulette, settled_no, {first: 400, second: 0})
    void_no = await writer.round("round-void", roulette)
    returned = await writer.stake(at_roulette[1], void_no, 700)
    await writer.void(roulette, void_no, [returned])
    # Opened now: the audit reports a round that has been open for long.
    open_no = await writer.round("round-open", roulette, datetime.now(UTC))
    playing = await writer.stake(at_roulette[0], open_no, 250)
    paid = await writer.stake(at_roulette[1], open_no, 60), await writer.stake(at_roulette[1], open_no, 40)
    await writer.pay(roulette, open_no, {paid[0]: 90})
    pay_no = await writer.pay(roulette, open_no, {paid[1]: 20})

    caves = await writer.cave(at_poker[0]), await writer.cave(at_poker[1])
    for session, cave_no in zip(at_poker, caves, strict=True):
        await writer.buy_in(session, cave_no, 1_000)
    hand_no = await writer.round("hand-1", poker)
    won = [Leg(caves[0], FREE, -100, at_poker[0].no), Leg(caves[0], FREE, 190, at_poker[0].no)]
    lost = [Leg(caves[1], FREE, -100, at_poker[1].no)]
    hand_transfer_no = await writer.hand(poker, hand_no, [*won, *lost, Leg(poker.bank_no, FREE, 10)])

    await writer.relevant_event(RelevantKind.LARGE_DEPOSIT, deposit_no, ana, 10_000)
    await writer.relevant_event(RelevantKind.LARGE_PRIZE, settle_no, ana, 400, 200, at_roulette[0])
    await writer.relevant_event(RelevantKind.LARGE_PRIZE, hand_transfer_no, ana, 190, 100, at_poker[0])
    # What was paid of one round by two transfers is one prize.
    await writer.relevant_event(RelevantKind.LARGE_PRIZE, pay_no, rui, 110, 100, at_roulette[1])

    gil = await writer.player("gil")
    await writer.deposit(gil, 9_000)
    tournament = await writer.table("sunday", Play.TOURNAMENT)
    closed = await writer.table("saturday", Play.TOURNAMENT)
    pay_ins = await writer.pay_in(gil, tournament, 600, 100, 300), await writer.pay_in(gil, tournament, 1_000, 100)
    refund_no = await writer.pay_out(tournament, gil, 1_100, from_bank=100, refunded_no=pay_ins[1])
    prize_no = await writer.pay_out(tournament, gil, 800, from_bank=200)
    await writer.relevant_event(RelevantKind.LARGE_PRIZE, prize_no, gil, 800)
    await writer.pay_in(gil, closed, 1_000, 100)
    await writer.pay_out(closed, gil, 1_000)
    await writer.connection.execute("UPDATE tables SET closed_at = $1 WHERE table_no = $2", AT, closed.no)
    tickets = await _small_tickets(writer, ana, rui, gil)
    return SmallLedger(
        ana=ana,
        rui=rui,
        demo=demo,
        roulette=roulette,
        poker=poker,
        at_roulette=at_roulette,
        at_poker=at_poker,
        ended=ended,
        caves=caves,
        settled_no=settled_no,
        void_no=void_no,
        open_no=open_no,
        hand_no=hand_no,
        stakes=(first, returned, playing),
        paid_stakes=paid,
        deposit_no=deposit_no,
        settle_no=settle_no,
        pay_no=pay_no,
        hand_transfer_no=hand_transfer_no,
        gil=gil,
        tournament=tournament,
        closed=closed,
        pay_ins=pay_ins,
        refund_no=refund_no,
        prize_no=prize_no,
        tickets=tickets,
    )


async def _small_tickets(writer: LedgerWriter, ana: Player, rui: Player, gil: Player) -> SmallTickets:
    satellite, target, cancelled = [
        await writer.table(table_id, Play.TOURNAMENT) for table_id in ("satellite", "monday", "tuesday")
    ]
    await writer.pay_in(gil, satellite, 2_000, 0)
    used, award_no = await writer.award_ticket(satellite, target, gil, 330)
    use_no = await writer.pay_in(gil, target, 300, 30, ticket=used)
    converted, conversion_no = await writer.award_ticket(satellite, target, gil, 330, converted=True)
    open_ticket, _ = await writer.award_ticket(satellite, target, ana, 330, freeroll=True)
    reimbursed, _ = await writer.award_ticket(satellite, cancelled, rui, 220)
    replaced, _ = await writer.award_ticket(satellite, cancelled, ana, 220, freeroll=True)
    legs = [Leg(rui.no, FREE, 220), Leg(target.tickets_no, FREE, 220), Leg(cancelled.tickets_no, FREE, -440)]
    settlement_no, _ = await writer.transfer(
        TransferKind.TICKETS_SETTLED, Mode.REAL, legs, reference=cancelled.table_id
    )
    await writer.change_ticket(reimbursed, TicketState.REIMBURSED, settlement_no)
    await writer.change_ticket(replaced, TicketState.REPLACED, settlement_no)
    replacement = await writer.issue_ticket(
        cancelled, target, ana, 220, settlement_no, [TicketState.ISSUED], freeroll=True, replaced=replaced
    )
    return SmallTickets(
        satellite=satellite,
        target=target,
        cancelled=cancelled,
        used=used,
        converted=converted,
        open_ticket=open_ticket,
        reimbursed=reimbursed,
        replaced=replaced,
        replacement=replacement,
        award_no=award_no,
        conversion_no=conversion_no,
        use_no=use_no,
        settlement_no=settlement_no,
    )
