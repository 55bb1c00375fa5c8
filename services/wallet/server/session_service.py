"""`SessionService`: starts, ends and shows game sessions, and keeps the inactivity policies of tables."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from feltro.wallet.v1 import session_pb2, types_pb2
from services.kit.access.identity import GAME, Caller
from services.kit.clock import Clock
from services.kit.wire_format import timestamp
from services.wallet.model import ids, inactivity, refusals
from services.wallet.model.state import (
    EPOCH_JUMP_LIMIT,
    Device,
    EndCause,
    InactivityPolicy,
    Notice,
    RoundState,
    Session,
    SessionState,
    Table,
)
from services.wallet.outbox import facts
from services.wallet.server import fields
from services.wallet.server.access import sees_everybody, verify_access, verify_game, verify_owner
from services.wallet.server.idempotency import answer_once, stored_request_id
from services.wallet.sessions import changes as session_changes
from services.wallet.sessions import policies
from services.wallet.sessions import rows as session_rows
from services.wallet.sessions import summary as session_summary
from services.wallet.sessions.clock import AHEAD_LIMIT, SessionClock
from services.wallet.sessions.ended_facts import EndedSessionFacts
from services.wallet.sessions.messages import changed_fact, session_message, started_fact
from services.wallet.settings import WalletSettings
from services.wallet.store import accounts, queries, shared_devices
from services.wallet.store.accounts import PlayerAccount

DEVICE_CHARACTERS_LIMIT = 256


class SessionService:
    """One method per rpc; session.proto says what each promises."""

    descriptor = session_pb2.DESCRIPTOR.services_by_name["SessionService"]

    def __init__(
        self, engine: AsyncEngine, clock: Clock, session_clock: SessionClock, ended_facts: EndedSessionFacts
    ) -> None:
        self._engine = engine
        self._ended_facts = ended_facts
        self._session_clock = session_clock
        self._clock = clock

    # -- starting and ending ------------------------------------------------------------------------------------------

    async def start_session(self, request: session_pb2.StartSessionRequest, caller: Caller) -> bytes:
        fields.printable_id("request_id", request.request_id)
        table_id, device = fields.bus_safe_id("table_id", request.table_id), _device(request.device)
        if GAME in caller.scopes:
            fields.id_of_table("request_id", request.request_id, table_id)

        on_device: Sequence[int] = ()

        if ids.is_wallet_id(request.account_id):
            await self._ended_facts.publish_of_account(request.account_id)

        async def authorize(connection: AsyncConnection) -> tuple[PlayerAccount | None, Table | None]:
            nonlocal on_device
            on_device = ()
            account = await _account(connection, request.account_id)
            table = await session_rows.lock_table(connection, table_id)
            if table is not None:
                verify_game(caller, table.game, table_id)
            return account, table

        async def execute(
            connection: AsyncConnection, subject: tuple[PlayerAccount | None, Table | None]
        ) -> session_pb2.StartSessionResponse:
            account, table = _verify_known(request, subject)
            _verify_admission(account, table)
            await _verify_no_session(connection, account, table)
            nonlocal on_device
            on_device = await shared_devices.others_on(connection, table, account.player_id, device)
            if on_device and request.refuses_shared_devices:
                raise refusals.shared_device(table_id)
            started = await self._start(connection, account, table, device)
            await record_shared(connection, subject, started.session.session_id)
            return started

        async def record_shared(
            connection: AsyncConnection, subject: tuple[PlayerAccount | None, Table | None], session_id: str = ""
        ) -> None:
            if on_device:
                account, table = _verify_known(request, subject)
                await shared_devices.record(
                    connection,
                    table,
                    account.no,
                    device,
                    on_device,
                    session_id=session_id,
                    request_id=stored_request_id(request.request_id, caller),
                    at=self._clock.now(),
                )

        answer = await answer_once(
            self._engine,
            request,
            caller,
            self._clock.now(),
            authorize=authorize,
            execute=execute,
            on_refused=record_shared,
        )
        shared_devices.count_metrics(len(on_device))
        return answer

    async def _start(
        self, connection: AsyncConnection, account: PlayerAccount, table: Table, device: Device
    ) -> session_pb2.StartSessionResponse:
        previous = await session_rows.latest_period(connection, account.player_id)
        now = self._session_clock.now()
        session = await session_rows.insert(connection, account.no, table.no, device, now)
        inactivity.session_started(session, table.policy, now)
        await session_rows.save(connection, [session])
        started = [started_fact(session, previous.started_at), changed_fact(session)]
        await facts.insert(connection, started, self._clock.now())
        return session_pb2.StartSessionResponse(
            session=session_message(session),
            previous_session_started_at=timestamp(previous.started_at),
            previous_session_ended_at=timestamp(previous.ended_at),
        )

    async def end_session(
        self, request: session_pb2.EndSessionRequest, caller: Caller
    ) -> session_pb2.EndSessionResponse:
        cause = _cause(request.cause, caller)
        async with self._engine.begin() as connection:
            session_no = await _find(connection, request.session_id, caller)
            await self._end(connection, [session_no], cause)
        # Without the table's lock: a long session's summary takes long, and others play on at the table.
        session, summary = await self._session_with_summary(session_no)
        return session_pb2.EndSessionResponse(session=session, summary=summary)

    async def end_player_sessions(
        self, request: session_pb2.EndPlayerSessionsRequest, caller: Caller
    ) -> session_pb2.EndPlayerSessionsResponse:
        player_id = fields.bus_safe_id("player_id", request.player_id)
        verify_access(caller, player_id)
        cause = _cause(request.cause or EndCause.LOGOUT, caller)
        async with self._engine.begin() as connection:
            running = await session_rows.running_nos_of_player(connection, player_id)
            sessions = await self._end(connection, running, cause)
        return session_pb2.EndPlayerSessionsResponse(sessions=[session_message(session) for session in sessions])

    async def _end(self, connection: AsyncConnection, session_nos: list[int], cause: EndCause) -> list[Session]:
        """Ends sessions, or lets them wait for what they have in play. A session that has ended does not change."""
        await session_rows.lock_tables_of(connection, session_nos)
        now, at = self._session_clock.now(), self._clock.now()
        sessions = await session_rows.load(connection, session_nos)
        running = [session for session in sessions if session.state is not SessionState.ENDED]
        in_play = await session_rows.in_play(connection, [session.no for session in running])
        for session in running:
            inactivity.end(session, cause, now)
        await session_changes.save_changes(connection, running, [], in_play, now=now, at=at)
        return sessions

    # -- activity and rounds ------------------------------------------------------------------------------------------

    async def record_activity(
        self, request: session_pb2.RecordActivityRequest, caller: Caller
    ) -> session_pb2.RecordActivityResponse:
        async with self._engine.begin() as connection:
            session_no = await _find(connection, request.session_id, caller)
            if not await session_rows.record_activity(connection, session_no, self._session_clock.now()):
                raise refusals.session_ended(request.session_id, SessionState.ENDED)
        return session_pb2.RecordActivityResponse()

    async def announce_round(
        self, request: session_pb2.AnnounceRoundRequest, caller: Caller
    ) -> session_pb2.AnnounceRoundResponse:
        """Warns invited sessions. A repeated announcement warns nobody twice and names the same sessions."""
        table_id = fields.bus_safe_id("table.table_id", request.table.table_id)
        round_id = fields.id_of_table("round_id", request.round_id, table_id)
        async with self._engine.begin() as connection:
            table = await _lock_owned_table(connection, table_id, request.table.epoch, caller)
            refused = await _betting_refusal(connection, table, round_id)
            warned = [] if refused else await self._warn(connection, table, round_id)
        if refused:
            # Raised after the commit: the request's epoch counts all the same.
            raise refused
        return session_pb2.AnnounceRoundResponse(warned_session_ids=[session.session_id for session in warned])

    async def _warn(self, connection: AsyncConnection, table: Table, round_id: str) -> list[Session]:
        invited = await session_rows.at_table(connection, table.no, (SessionState.INVITED, SessionState.WARNED))
        now = self._session_clock.now()
        notices = [notice for session in invited for notice in inactivity.round_announced(session, round_id, now)]
        warned = [session for session in invited if session.warned_round_id == round_id]
        await session_changes.save_changes(connection, warned, notices, {}, now=now, at=self._clock.now())
        return warned

    # -- reading ------------------------------------------------------------------------------------------------------

    async def get_session(
        self, request: session_pb2.GetSessionRequest, caller: Caller
    ) -> session_pb2.GetSessionResponse:
        async with self._engine.connect() as connection:
            session_no = await _find(connection, request.session_id, caller)
        session, summary = await self._session_with_summary(session_no)
        return session_pb2.GetSessionResponse(session=session, summary=summary)

    async def _session_with_summary(self, session_no: int) -> tuple[session_pb2.Session, session_pb2.SessionSummary]:
        """Reads a session and its summary, of one moment."""
        async with self._engine.connect() as connection:
            await connection.execution_options(isolation_level="REPEATABLE READ")
            (session,) = await session_rows.load(connection, [session_no])
            await session_rows.count_open_bets(connection, [session], self._session_clock.ahead)
            summaries = await session_summary.summaries(connection, [session_no], self._session_clock.now())
        return session_message(session), summaries[session_no]

    async def list_sessions(
        self, request: session_pb2.ListSessionsRequest, caller: Caller
    ) -> session_pb2.ListSessionsResponse:
        player_id = fields.bus_safe_id("player_id", request.player_id)
        verify_access(caller, player_id)
        wanted = fields.page_request(request)
        async with self._engine.connect() as connection:
            found = await session_rows.page(
                connection,
                player_id,
                running_only=request.running_only,
                before_no=wanted.position,
                size=wanted.row_limit,
            )
            await session_rows.count_open_bets(connection, found, self._session_clock.ahead)
        page = wanted.page([(session.no, session_message(session)) for session in found])
        return session_pb2.ListSessionsResponse(sessions=page.items, next_page_token=page.next_page_token)

    async def list_table_sessions(
        self, request: session_pb2.ListTableSessionsRequest, caller: Caller
    ) -> session_pb2.ListTableSessionsResponse:
        table_id = fields.bus_safe_id("table_id", request.table_id)
        wanted = fields.page_request(request)
        async with self._engine.connect() as connection:
            game = await accounts.find_table_game(connection, table_id)
            if game is not None:
                verify_game(caller, game, table_id)
            list_page = session_rows.page_at_tables if request.include_individual else session_rows.page_at_table
            found = await list_page(connection, table_id, after_no=wanted.position, size=wanted.row_limit)
            await session_rows.count_open_bets(connection, found, self._session_clock.ahead)
        page = wanted.page([(session.no, session_message(session)) for session in found])
        return session_pb2.ListTableSessionsResponse(sessions=page.items, next_page_token=page.next_page_token)

    # -- inactivity policies and the clock ----------------------------------------------------------------------------

    async def get_inactivity_policy(
        self, request: session_pb2.GetInactivityPolicyRequest, caller: Caller
    ) -> session_pb2.GetInactivityPolicyResponse:
        table_id = fields.bus_safe_id("table_id", request.table_id)
        async with self._engine.connect() as connection:
            policy = await policies.policy_in_force(connection, table_id)
        if policy is None:
            raise refusals.table_unknown(table_id)
        return session_pb2.GetInactivityPolicyResponse(policy=policies.policy_message(policy))

    async def set_inactivity_policy(
        self, request: session_pb2.SetInactivityPolicyRequest, caller: Caller
    ) -> session_pb2.SetInactivityPolicyResponse:
        table_id = fields.bus_safe_id("table_id", request.table_id)
        if not request.HasField("policy"):
            raise refusals.invalid("policy", "has to be given: who is invited, and when.")
        if not request.policy.HasField("invite"):
            # Left out by mistake it would switch invitations off.
            raise refusals.invalid("policy.invite", "has to be given: true or false.")
        async with self._engine.begin() as connection:
            table = await _lock_table(connection, table_id)
            policy = _validated_policy(table, request.policy)
            await self._change_policy(connection, table, policy, caller)
        return session_pb2.SetInactivityPolicyResponse(policy=policies.policy_message(policy))

    async def apply_specific_rules(
        self, request: session_pb2.ApplySpecificRulesRequest, caller: Caller
    ) -> session_pb2.ApplySpecificRulesResponse:
        """Applies the policy of a newer version of the specific rules.

        A new owner of the table sends its rules once more: that changes nothing, and undoes no operator's change.
        """
        table_id = fields.bus_safe_id("table.table_id", request.table.table_id)
        async with self._engine.begin() as connection:
            # A player's own table has the policy of its configured table, which only newer rules change: that table is
            # not locked for each of the others that opens.
            holder_id, applied = await policies.configured_table(connection, table_id) or (table_id, None)
            if applied is None or request.version > applied:
                holder = await _lock_table(connection, holder_id)
                verify_game(caller, holder.game, holder_id)
                if request.version > holder.rules_version:
                    await self._change_policy(connection, holder, _validated_policy(holder, request.policy), caller)
                    await policies.set_rules_version(connection, holder.no, request.version)
            # After the tables that a change locks, in their order; the refusal of a stale owner undoes the change.
            policy = (await _lock_owned_table(connection, table_id, request.table.epoch, caller)).policy
        return session_pb2.ApplySpecificRulesResponse(policy=policies.policy_message(policy))

    async def _change_policy(
        self, connection: AsyncConnection, table: Table, policy: InactivityPolicy, caller: Caller
    ) -> None:
        if policy == table.policy:
            return
        now = self._clock.now()
        await policies.set_policy(connection, table, policy)
        await self._apply_policy(connection, table, policy)
        await policies.insert_change(connection, now, caller.subject, table.table_id, table.policy, policy)

    async def list_inactivity_policy_changes(
        self, request: session_pb2.ListInactivityPolicyChangesRequest, caller: Caller
    ) -> session_pb2.ListInactivityPolicyChangesResponse:
        table_id = fields.bus_safe_id("table_id", request.table_id)
        wanted = fields.page_request(request)
        async with self._engine.connect() as connection:
            found = await policies.page_of_changes(
                connection, table_id, before_no=wanted.position, size=wanted.row_limit
            )
        page = wanted.page([(change.change_no, change) for change in found])
        return session_pb2.ListInactivityPolicyChangesResponse(changes=page.items, next_page_token=page.next_page_token)

    async def _apply_policy(self, connection: AsyncConnection, table: Table, policy: InactivityPolicy) -> None:
        now = self._session_clock.now()
        notices: list[Notice] = []
        playing = (SessionState.ACTIVE, SessionState.INVITED, SessionState.WARNED)
        sessions = await session_rows.at_tables_of(connection, table, playing)
        for session in sessions:
            notices += inactivity.policy_changed(session, policy, now)
        await session_changes.save_changes(connection, sessions, notices, {}, now=now, at=self._clock.now())

    async def advance_session_clock(
        self, request: session_pb2.AdvanceSessionClockRequest, caller: Caller
    ) -> session_pb2.AdvanceSessionClockResponse:
        by = _positive_duration(request)
        if not self._session_clock.advanceable:
            raise refusals.WalletRefused(
                "NOT_OFFERED",
                "The session clock is real here: only a development stack moves it.",
                setting=WalletSettings.variable_name("session_clock"),
            )
        async with self._engine.begin() as connection:
            ahead = await self._session_clock.advance(connection, by)
        self._session_clock.set_ahead(ahead)
        return session_pb2.AdvanceSessionClockResponse(at=timestamp(self._session_clock.now()))


async def _account(connection: AsyncConnection, account_id: str) -> PlayerAccount | None:
    try:
        return await accounts.find(connection, account_id)
    except refusals.WalletRefused:
        return None


def _verify_known(
    request: session_pb2.StartSessionRequest, subject: tuple[PlayerAccount | None, Table | None]
) -> tuple[PlayerAccount, Table]:
    account, table = subject
    if account is None:
        raise refusals.account_unknown(request.account_id)
    if table is None:
        raise refusals.table_unknown(request.table_id)
    return account, table


def _verify_admission(account: PlayerAccount, table: Table) -> None:
    if account.mode is not table.mode:
        raise refusals.mode_mismatch(account.account_id, account.mode, table)
    if account.blocked:
        raise refusals.account_blocked(account.account_id)


async def _verify_no_session(connection: AsyncConnection, account: PlayerAccount, table: Table) -> None:
    running = await session_rows.find_running(connection, account.player_id, table.no)
    if running is not None:
        raise refusals.WalletRefused(
            "SESSION_RUNNING", "The player has a session at this table: play on in it.", session_id=running
        )


async def _lock_table(connection: AsyncConnection, table_id: str) -> Table:
    table = await session_rows.lock_table(connection, table_id)
    if table is None:
        raise refusals.table_unknown(table_id)
    return table


async def _find(connection: AsyncConnection, session_id: str, caller: Caller) -> int:
    """Returns the number of a session that the caller may see and end."""
    found = await session_rows.find(connection, session_id)
    verify_owner(caller, found.player_id, refusals.session_unknown(session_id))
    verify_game(caller, found.game, found.table_id)
    return found.no


async def _lock_owned_table(connection: AsyncConnection, table_id: str, epoch: int, caller: Caller) -> Table:
    """Locks a table for its owner (G8); a higher epoch shuts out all lower ones from now on."""
    table = await _lock_table(connection, table_id)
    verify_game(caller, table.game, table_id)
    if epoch < table.epoch:
        raise refusals.stale_epoch(table.table_id, epoch, table.epoch)
    if epoch - table.epoch > EPOCH_JUMP_LIMIT:
        raise refusals.epoch_too_high(table.table_id, epoch, table.epoch)
    if epoch > table.epoch:
        await accounts.raise_epoch(connection, table.no, epoch)
    return table


async def _betting_refusal(connection: AsyncConnection, table: Table, round_id: str) -> refusals.WalletRefused | None:
    """Returns the refusal of a round in which nobody can bet any more: nobody is warned of it."""
    found = await queries.find_round(connection, round_id)
    if found is None:
        return None
    _, round_ = found
    if round_.table_id != table.table_id:
        return refusals.round_elsewhere(round_id, table.table_id)
    if round_.state == types_pb2.ROUND_STATE_OPEN:
        return None
    return refusals.round_ended(round_id, RoundState(round_.state))


def _validated_policy(table: Table, message: session_pb2.InactivityPolicy) -> InactivityPolicy:
    return inactivity.validated_policy(table.play, table.regulation, policies.policy_from_message(message))


def _cause(requested: int, caller: Caller) -> EndCause:
    """Checks why the caller says that a session ends: inactivity is for the wallet alone to find (T15)."""
    if sees_everybody(caller):
        allowed = {EndCause.PLAYER, EndCause.OPERATOR, EndCause.LOGOUT}
    else:
        allowed = {EndCause.PLAYER, EndCause.LOGOUT}
        requested = requested or EndCause.PLAYER
    if requested not in allowed:
        names = ", ".join(sorted(refusals.enum_word(cause) for cause in allowed))
        raise refusals.invalid("cause", f"has to be one of {names}.")
    return EndCause(requested)


def _device(device: session_pb2.Device) -> Device:
    texts = {"kind": device.kind, "agent": device.agent, "address": device.address, "fingerprint": device.fingerprint}
    for field, value in texts.items():
        fields.verify_length(f"device.{field}", value, DEVICE_CHARACTERS_LIMIT)
    return Device(**texts)


def _positive_duration(request: session_pb2.AdvanceSessionClockRequest) -> timedelta:
    limit_ms = AHEAD_LIMIT // timedelta(milliseconds=1)
    if not 0 < request.by_ms <= limit_ms:
        raise refusals.invalid("by_ms", f"has to be from 1 to {limit_ms}: the clock goes forward only.")
    return timedelta(milliseconds=request.by_ms)
