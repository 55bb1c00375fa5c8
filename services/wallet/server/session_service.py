"""`SessionService`: checks what comes in over gRPC, decides who may, and starts, ends and shows sessions."""

from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from feltro.wallet.v1 import session_pb2
from services.kit.access.identity import Caller
from services.kit.clock import Clock
from services.wallet.model import inactivity, refusals
from services.wallet.model.state import (
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
from services.wallet.server import fields as edge
from services.wallet.sessions import changes as session_changes
from services.wallet.sessions import policy_changes
from services.wallet.sessions import rows as session_rows
from services.wallet.sessions import summary as session_summary
from services.wallet.sessions.clock import SessionClock
from services.wallet.sessions.messages import changed_fact, session_message, started_fact, timestamp
from services.wallet.store import accounts, answers
from services.wallet.store.accounts import PlayerAccount

DEVICE_CHARACTERS_LIMIT = 256

_RUNNING = text(
    "SELECT session_id::text FROM sessions WHERE player_id = :player_id AND table_no = :table_no AND state < 5"
)
_PREVIOUS = text(
    "SELECT started_at, ended_at FROM sessions WHERE player_id = :player_id ORDER BY session_no DESC LIMIT 1"
)
_SIGN_OF_LIFE = text(
    """
    UPDATE sessions SET last_activity_at = GREATEST(last_activity_at, :now)
    WHERE session_no = :session_no AND state < 5 RETURNING 1
    """
)
_ROUND = text("SELECT table_no, state FROM rounds WHERE round_id = :round_id")
_RAISE_EPOCH = text("UPDATE tables SET epoch = :epoch WHERE table_no = :table_no")
_NOTE_RULES = text("UPDATE tables SET rules_version = :version WHERE table_no = :table_no")
_SET_POLICY = text(
    """
    UPDATE tables
    SET invite = :invite, idle_seconds = :idle_seconds, missed_rounds = :missed_rounds,
        warn_after_seconds = :warn_after_seconds, end_after_seconds = :end_after_seconds,
        rebuy_grace_seconds = :rebuy_grace_seconds
    WHERE table_no = :table_no
    """
)


class SessionService:
    """One method per rpc; see session.proto for what each promises."""

    descriptor = session_pb2.DESCRIPTOR.services_by_name["SessionService"]

    def __init__(self, engine: AsyncEngine, clock: Clock, session_clock: SessionClock) -> None:
        self._engine = engine
        self._session_clock = session_clock
        self._clock = clock

    # -- starting and ending ----------------------------------------------------------------------------------------

    async def start_session(self, request: session_pb2.StartSessionRequest, caller: Caller) -> bytes:
        edge.printable_id("request_id", request.request_id)
        table_id, device = edge.bus_safe_id("table_id", request.table_id), _device(request.device)
        # Where it came from is no content: the same click may be repeated over another network.
        request.device.ClearField("address")

        async def admit(connection: AsyncConnection) -> tuple[PlayerAccount | None, Table | None]:
            account = await _account(connection, request.account_id)
            if account is not None:
                edge.verify_access(caller, account.player_id)
            return account, await session_rows.lock_table(connection, table_id)

        async def act(
            connection: AsyncConnection, subject: tuple[PlayerAccount | None, Table | None]
        ) -> session_pb2.StartSessionResponse:
            account, table = subject
            if account is None:
                raise refusals.account_unknown(request.account_id)
            if table is None:
                raise refusals.table_unknown(table_id)
            _verify_welcome(account, table)
            return await self._start(connection, account, table, device)

        return await answers.answer_once(self._engine, request, caller, self._clock.now(), authorize=admit, execute=act)

    async def _start(
        self, connection: AsyncConnection, account: PlayerAccount, table: Table, device: Device
    ) -> session_pb2.StartSessionResponse:
        whose = {"player_id": account.player_id, "table_no": table.no}
        running = (await connection.execute(_RUNNING, whose)).scalar_one_or_none()
        if running is not None:
            raise refusals.WalletRefused(
                "SESSION_RUNNING", "The player has a session at this table: play on in it.", session_id=running
            )
        previous = (await connection.execute(_PREVIOUS, {"player_id": account.player_id})).one_or_none()
        now = self._session_clock.now()
        session = await session_rows.insert(connection, account.no, table.no, device, now)
        inactivity.session_started(session, table.policy, now)
        await session_rows.save(connection, [session])
        previous_started_at = previous.started_at if previous else None
        await facts.insert(
            connection, [started_fact(session, previous_started_at), changed_fact(session)], self._clock.now()
        )
        return session_pb2.StartSessionResponse(
            session=session_message(session),
            previous_session_started_at=timestamp(previous_started_at),
            previous_session_ended_at=timestamp(previous.ended_at if previous else None),
        )

    async def end_session(
        self, request: session_pb2.EndSessionRequest, caller: Caller
    ) -> session_pb2.EndSessionResponse:
        cause = _cause(request.cause, caller)
        async with self._engine.begin() as connection:
            session_no, player_id = await session_rows.find(connection, request.session_id)
            edge.verify_access(caller, player_id)
            (session,) = await self._end(connection, [session_no], cause)
            summaries = await session_summary.summaries(connection, [session_no], self._session_clock.now())
        return session_pb2.EndSessionResponse(session=session_message(session), summary=summaries[session_no])

    async def end_player_sessions(
        self, request: session_pb2.EndPlayerSessionsRequest, caller: Caller
    ) -> session_pb2.EndPlayerSessionsResponse:
        player_id = edge.bus_safe_id("player_id", request.player_id)
        edge.verify_access(caller, player_id)
        cause = _cause(request.cause or EndCause.LOGOUT, caller)
        async with self._engine.begin() as connection:
            running = await session_rows.running_nos_of_player(connection, player_id)
            sessions = await self._end(connection, running, cause)
        return session_pb2.EndPlayerSessionsResponse(sessions=[session_message(session) for session in sessions])

    async def _end(self, connection: AsyncConnection, session_nos: list[int], cause: EndCause) -> list[Session]:
        """Ends sessions, or has them wait for what they have in play. What has ended stays as it ended."""
        await session_rows.lock_tables_of(connection, session_nos)
        now, at = self._session_clock.now(), self._clock.now()
        sessions = await session_rows.load(connection, session_nos)
        running = [session for session in sessions if session.state is not SessionState.ENDED]
        in_play = await session_rows.in_play(connection, [session.no for session in running])
        for session in running:
            inactivity.end(session, cause, now)
        await session_changes.save_changes(connection, running, [], in_play, now=now, at=at)
        return sessions

    # -- signs of life and rounds -----------------------------------------------------------------------------------

    async def record_activity(
        self, request: session_pb2.RecordActivityRequest, caller: Caller
    ) -> session_pb2.RecordActivityResponse:
        """Touches nothing that decides, so it does without the table's lock."""
        async with self._engine.begin() as connection:
            session_no, player_id = await session_rows.find(connection, request.session_id)
            edge.verify_access(caller, player_id)
            noted = await connection.execute(
                _SIGN_OF_LIFE, {"session_no": session_no, "now": self._session_clock.now()}
            )
            if noted.one_or_none() is None:
                raise refusals.session_ended(request.session_id, SessionState.ENDED.name)
        return session_pb2.RecordActivityResponse()

    async def announce_round(
        self,
        request: session_pb2.AnnounceRoundRequest,
        caller: Caller,
    ) -> session_pb2.AnnounceRoundResponse:
        """Sent again it warns nobody twice and names the same sessions."""
        table_id, epoch = edge.bus_safe_id("table_id", request.table.table_id), request.table.epoch
        round_id = edge.printable_id("round_id", request.round_id)
        async with self._engine.begin() as connection:
            table = await session_rows.lock_table(connection, table_id)
            if table is None:
                raise refusals.table_unknown(table_id)
            await _verify_owner(connection, table, epoch)
            refused = await _over(connection, table, round_id)
            warned = [] if refused else await self._warn(connection, table, round_id)
        if refused:
            # Only now: the epoch that came with it counts all the same.
            raise refused
        return session_pb2.AnnounceRoundResponse(warned_session_ids=[session.session_id for session in warned])

    async def _warn(self, connection: AsyncConnection, table: Table, round_id: str) -> list[Session]:
        told = await session_rows.at_table(connection, table.no, (SessionState.INVITED, SessionState.WARNED))
        now = self._session_clock.now()
        notices = [notice for session in told for notice in inactivity.round_announced(session, round_id, now)]
        warned = [session for session in told if session.warned_round_id == round_id]
        await session_changes.save_changes(connection, warned, notices, {}, now=now, at=self._clock.now())
        return warned

    # -- reading ----------------------------------------------------------------------------------------------------

    async def get_session(
        self, request: session_pb2.GetSessionRequest, caller: Caller
    ) -> session_pb2.GetSessionResponse:
        async with self._engine.connect() as connection:
            # The session and its summary as they were at one moment.
            await connection.execution_options(isolation_level="REPEATABLE READ")
            session_no, player_id = await session_rows.find(connection, request.session_id)
            edge.verify_access(caller, player_id)
            (session,) = await session_rows.load(connection, [session_no])
            summaries = await session_summary.summaries(connection, [session_no], self._session_clock.now())
        return session_pb2.GetSessionResponse(session=session_message(session), summary=summaries[session_no])

    async def list_sessions(
        self, request: session_pb2.ListSessionsRequest, caller: Caller
    ) -> session_pb2.ListSessionsResponse:
        player_id = edge.bus_safe_id("player_id", request.player_id)
        edge.verify_access(caller, player_id)
        size, before_no = edge.page_size(request.page_size), edge.page_position(request.page_token)
        async with self._engine.connect() as connection:
            # One more than asked for tells whether there is another page.
            found = await session_rows.page(
                connection, player_id, running_only=request.running_only, before_no=before_no, size=size + 1
            )
        return session_pb2.ListSessionsResponse(
            sessions=[session_message(session) for session in found[:size]],
            next_page_token=edge.page_token(found[size - 1].no) if len(found) > size else "",
        )

    async def list_table_sessions(
        self, request: session_pb2.ListTableSessionsRequest, caller: Caller
    ) -> session_pb2.ListTableSessionsResponse:
        table_id = edge.bus_safe_id("table_id", request.table_id)
        size, after_no = edge.page_size(request.page_size), edge.page_position(request.page_token)
        async with self._engine.connect() as connection:
            found = await session_rows.page_at_table(connection, table_id, after_no=after_no, size=size + 1)
        return session_pb2.ListTableSessionsResponse(
            sessions=[session_message(session) for session in found[:size]],
            next_page_token=edge.page_token(found[size - 1].no) if len(found) > size else "",
        )

    # -- the operator's -----------------------------------------------------------------------------------------------

    async def set_inactivity_policy(
        self, request: session_pb2.SetInactivityPolicyRequest, caller: Caller
    ) -> session_pb2.SetInactivityPolicyResponse:
        table_id = edge.bus_safe_id("table_id", request.table_id)
        if not request.HasField("policy"):
            raise refusals.invalid("policy", "has to be given: who is invited, and when.")
        async with self._engine.begin() as connection:
            table = await session_rows.lock_table(connection, table_id)
            if table is None:
                raise refusals.table_unknown(table_id)
            policy = inactivity.validated_policy(table.play, table.regulation, _policy(request.policy))
            await self._change_policy(connection, table, policy, caller)
        return session_pb2.SetInactivityPolicyResponse(policy=_policy_message(policy))

    async def apply_specific_rules(
        self, request: session_pb2.ApplySpecificRulesRequest, caller: Caller
    ) -> session_pb2.ApplySpecificRulesResponse:
        """Whoever takes a table over says its rules once more: that is no change, and undoes none of the operator's."""
        table_id, epoch = edge.bus_safe_id("table_id", request.table.table_id), request.table.epoch
        async with self._engine.begin() as connection:
            table = await session_rows.lock_table(connection, table_id)
            if table is None:
                raise refusals.table_unknown(table_id)
            await _verify_owner(connection, table, epoch)
            policy = table.policy
            if request.version > table.rules_version:
                policy = inactivity.validated_policy(table.play, table.regulation, _policy(request.policy))
                await self._change_policy(connection, table, policy, caller)
                await connection.execute(_NOTE_RULES, {"version": request.version, "table_no": table.no})
        return session_pb2.ApplySpecificRulesResponse(policy=_policy_message(policy))

    async def _change_policy(
        self, connection: AsyncConnection, table: Table, policy: InactivityPolicy, caller: Caller
    ) -> None:
        if policy == table.policy:
            return
        await connection.execute(_SET_POLICY, _columns(policy) | {"table_no": table.no})
        await self._apply(connection, table, policy)
        await policy_changes.insert(connection, self._clock.now(), caller.subject, table.table_id, table.policy, policy)

    async def list_inactivity_policy_changes(
        self, request: session_pb2.ListInactivityPolicyChangesRequest, caller: Caller
    ) -> session_pb2.ListInactivityPolicyChangesResponse:
        table_id = edge.bus_safe_id("table_id", request.table_id)
        size, before_no = edge.page_size(request.page_size), edge.page_position(request.page_token)
        async with self._engine.connect() as connection:
            found = await policy_changes.page(connection, table_id, before_no=before_no, size=size + 1)
        return session_pb2.ListInactivityPolicyChangesResponse(
            changes=found[:size],
            next_page_token=edge.page_token(found[size - 1].change_no) if len(found) > size else "",
        )

    async def _apply(self, connection: AsyncConnection, table: Table, policy: InactivityPolicy) -> None:
        now = self._session_clock.now()
        notices: list[Notice] = []
        waiting = (SessionState.ACTIVE, SessionState.INVITED, SessionState.WARNED)
        sessions = await session_rows.at_table(connection, table.no, waiting)
        for session in sessions:
            notices += inactivity.policy_changed(session, policy, now)
        await session_changes.save_changes(connection, sessions, notices, {}, now=now, at=self._clock.now())

    async def advance_session_clock(
        self, request: session_pb2.AdvanceSessionClockRequest, caller: Caller
    ) -> session_pb2.AdvanceSessionClockResponse:
        by = _advance(request)
        async with self._engine.begin() as connection:
            ahead = await self._session_clock.advance(connection, by)
        self._session_clock.set_ahead(ahead)
        return session_pb2.AdvanceSessionClockResponse(now=timestamp(self._session_clock.now()))


async def _account(connection: AsyncConnection, account_id: str) -> PlayerAccount | None:
    try:
        return await accounts.find(connection, account_id)
    except refusals.WalletRefused:
        return None


def _verify_welcome(account: PlayerAccount, table: Table) -> None:
    if account.mode is not table.mode:
        raise refusals.WalletRefused(
            "MODE_MISMATCH",
            "Account and table are of different modes.",
            account_id=account.account_id,
            account_mode=account.mode.name,
            table_mode=table.mode.name,
        )
    if account.blocked:
        raise refusals.account_blocked(account.account_id)


async def _verify_owner(connection: AsyncConnection, table: Table, epoch: int) -> None:
    """Only the table's owner speaks for it (G8); a higher epoch shuts out all lower ones from now on."""
    if epoch < table.epoch:
        raise refusals.stale_epoch(table.table_id, epoch, table.epoch)
    if epoch > table.epoch:
        await connection.execute(_RAISE_EPOCH, {"epoch": epoch, "table_no": table.no})


async def _over(connection: AsyncConnection, table: Table, round_id: str) -> refusals.WalletRefused | None:
    """The refusal, if nobody can bet in the round any more: nobody is warned of it then."""
    known = (await connection.execute(_ROUND, {"round_id": round_id})).one_or_none()
    if known is None:
        return None
    if known.table_no != table.no:
        return refusals.round_elsewhere(round_id, table.table_id)
    return None if known.state == RoundState.OPEN else refusals.round_ended(round_id, RoundState(known.state).name)


def _cause(asked: int, caller: Caller) -> EndCause:
    """A player ends his session for reasons of his own; inactivity is the wallet's alone to find (T15)."""
    if caller.scopes & {"operator", "game"}:
        allowed = {EndCause.PLAYER, EndCause.OPERATOR, EndCause.LOGOUT}
    else:
        allowed = {EndCause.PLAYER, EndCause.LOGOUT}
        asked = asked or EndCause.PLAYER
    if asked not in allowed:
        names = ", ".join(sorted(f"END_CAUSE_{cause.name}" for cause in allowed))
        raise refusals.invalid("cause", f"has to be one of {names}.")
    return EndCause(asked)


def _device(device: session_pb2.Device) -> Device:
    said = {"kind": device.kind, "agent": device.agent, "address": device.address, "fingerprint": device.fingerprint}
    for field, value in said.items():
        edge.verify_length(f"device.{field}", value, DEVICE_CHARACTERS_LIMIT)
    return Device(**said)


def _policy(asked: session_pb2.InactivityPolicy) -> InactivityPolicy:
    return InactivityPolicy(
        invite=asked.invite,
        idle_seconds=asked.idle_seconds,
        missed_rounds=asked.missed_rounds,
        warn_after_seconds=asked.warn_after_seconds,
        end_after_seconds=asked.end_after_seconds,
        rebuy_grace_seconds=asked.rebuy_grace_seconds,
    )


def _policy_message(policy: InactivityPolicy) -> session_pb2.InactivityPolicy:
    return session_pb2.InactivityPolicy(
        invite=policy.invite,
        idle_seconds=policy.idle_seconds,
        missed_rounds=policy.missed_rounds,
        warn_after_seconds=policy.warn_after_seconds,
        end_after_seconds=policy.end_after_seconds,
        rebuy_grace_seconds=policy.rebuy_grace_seconds,
    )


def _columns(policy: InactivityPolicy) -> dict[str, int]:
    return {
        "invite": policy.invite,
        "idle_seconds": policy.idle_seconds,
        "missed_rounds": policy.missed_rounds,
        "warn_after_seconds": policy.warn_after_seconds,
        "end_after_seconds": policy.end_after_seconds,
        "rebuy_grace_seconds": policy.rebuy_grace_seconds,
    }


def _advance(request: session_pb2.AdvanceSessionClockRequest) -> timedelta:
    try:
        by = request.by.ToTimedelta()
    except (ValueError, OverflowError):
        by = timedelta()
    if by <= timedelta():
        raise refusals.invalid("by", "has to be above zero: the clock goes forward only.")
    return by
