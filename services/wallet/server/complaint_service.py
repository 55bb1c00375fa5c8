"""`ComplaintService`: files complaints and acts on them, for players and operators (*reclamação*, `804/2015:25`)."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from feltro.wallet.v1 import complaint_pb2 as pb
from feltro.wallet.v1 import events_pb2
from services.kit.access.identity import Caller
from services.kit.clock import Clock
from services.kit.wire_format import timestamp
from services.wallet.complaints import rows as complaint_rows
from services.wallet.complaints import states
from services.wallet.complaints.states import Complainant, Complaint, ComplaintAction, ComplaintState, Step
from services.wallet.model import refusals
from services.wallet.outbox import facts
from services.wallet.server import fields
from services.wallet.server.access import is_operator, verify_owner
from services.wallet.server.idempotency import answer_once
from services.wallet.store import queries

TEXT_CHARACTERS_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a new complaint is about: a round or a session of the complainant."""

    round_no: int | None
    session_no: int | None


class ComplaintService:
    """Files complaints, acts on them and lists them. Each command acts once (G3)."""

    descriptor = pb.DESCRIPTOR.services_by_name["ComplaintService"]

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def file_complaint(self, request: pb.FileComplaintRequest, caller: Caller) -> bytes:
        """Files a complaint about a round or a session of the account."""
        fields.printable_id("request_id", request.request_id)
        account_id = fields.uuid("account_id", request.account_id)
        if bool(request.round_id) == bool(request.session_id):
            raise refusals.invalid("round_id", "or `session_id` has to be set: one of them.")
        if request.round_id:
            fields.printable_id("round_id", request.round_id)
        session_id = fields.uuid("session_id", request.session_id) if request.session_id else None
        _verify_text(request.text)
        now = self._clock.now()

        async def authorize(connection: AsyncConnection) -> Complainant | None:
            complainant = await self._complainant(connection, account_id, caller)
            if complainant is not None:
                # Locked before the request is looked up: a copy that waits here finds the answer, not the limit (G3).
                await complaint_rows.lock_filing(connection, complainant.account_no)
            return complainant

        async def execute(connection: AsyncConnection, complainant: Complainant | None) -> pb.FileComplaintResponse:
            if complainant is None:
                raise refusals.account_unknown(request.account_id)
            if await complaint_rows.count_unanswered(connection, complainant.account_no) >= states.UNANSWERED_LIMIT:
                raise _too_many_unanswered(request.account_id)
            about = await _subject(connection, complainant, request.round_id, session_id)
            complaint_no, reference = await complaint_rows.insert(
                connection, complainant, round_no=about.round_no, session_no=about.session_no, filed_at=now
            )
            step = _step(1, caller, ComplaintState.FILED, request.text, now)
            await _write_step(connection, complaint_no, reference, complainant.player_id, step)
            filed = await complaint_rows.find(connection, reference)
            assert filed is not None, "it was inserted two lines above"  # noqa: S101
            return pb.FileComplaintResponse(complaint=_message(filed, [step]))

        return await answer_once(self._engine, request, caller, now, authorize=authorize, execute=execute)

    async def get_complaint(self, request: pb.GetComplaintRequest, caller: Caller) -> pb.GetComplaintResponse:
        """Returns a complaint with all its steps."""
        fields.printable_id("reference", request.reference)
        async with self._engine.connect() as connection:
            complaint = await complaint_rows.find(connection, request.reference)
            if complaint is None:
                raise _complaint_unknown(request.reference)
            verify_owner(caller, complaint.player_id, _complaint_unknown(request.reference))
            steps = await complaint_rows.load_steps(connection, complaint.no)
        return pb.GetComplaintResponse(complaint=_message(complaint, steps))

    async def list_complaints(self, request: pb.ListComplaintsRequest, caller: Caller) -> pb.ListComplaintsResponse:
        """Lists complaints, newest first."""
        wanted = fields.page_request(request)
        if request.state not in pb.ComplaintState.values():
            raise refusals.invalid("state", "has to be a state of a complaint, or unspecified for all.")
        if not request.account_id and not is_operator(caller):
            raise refusals.invalid("account_id", "has to name your account.")
        account_id = fields.uuid("account_id", request.account_id) if request.account_id else None
        async with self._engine.connect() as connection:
            complainant = await self._complainant(connection, account_id, caller) if account_id else None
            if account_id and complainant is None:
                raise refusals.account_unknown(request.account_id)
            found = await complaint_rows.page(
                connection,
                account_no=complainant.account_no if complainant else None,
                state=ComplaintState(request.state) if request.state else None,
                before_no=wanted.position,
                size=wanted.row_limit,
            )
        page = wanted.page([(complaint.no, _message(complaint, [])) for complaint in found])
        return pb.ListComplaintsResponse(complaints=page.items, next_page_token=page.next_page_token)

    async def add_to_complaint(self, request: pb.AddToComplaintRequest, caller: Caller) -> bytes:
        """Adds a text to a complaint; an answered complaint is open again."""
        return await self._act(request, caller, ComplaintAction.ADD, pb.AddToComplaintResponse)

    async def review_complaint(self, request: pb.ReviewComplaintRequest, caller: Caller) -> bytes:
        """The operator takes a complaint up."""
        return await self._act(request, caller, ComplaintAction.REVIEW, pb.ReviewComplaintResponse)

    async def answer_complaint(self, request: pb.AnswerComplaintRequest, caller: Caller) -> bytes:
        """The operator answers."""
        return await self._act(request, caller, ComplaintAction.ANSWER, pb.AnswerComplaintResponse)

    async def close_complaint(self, request: pb.CloseComplaintRequest, caller: Caller) -> bytes:
        """The operator closes an answered complaint."""
        return await self._act(request, caller, ComplaintAction.CLOSE, pb.CloseComplaintResponse)

    async def _act(
        self,
        request: pb.AddToComplaintRequest
        | pb.ReviewComplaintRequest
        | pb.AnswerComplaintRequest
        | pb.CloseComplaintRequest,
        caller: Caller,
        action: ComplaintAction,
        response: type[pb.AddToComplaintResponse]
        | type[pb.ReviewComplaintResponse]
        | type[pb.AnswerComplaintResponse]
        | type[pb.CloseComplaintResponse],
    ) -> bytes:
        fields.printable_id("request_id", request.request_id)
        fields.printable_id("reference", request.reference)
        _verify_text(request.text, may_be_empty=action in {ComplaintAction.REVIEW, ComplaintAction.CLOSE})
        now = self._clock.now()

        async def authorize(connection: AsyncConnection) -> Complaint | None:
            complaint = await complaint_rows.find(connection, request.reference, lock=True)
            if not is_operator(caller) and (complaint is None or complaint.player_id != caller.subject):
                # Not stored either way: a second command under the same id would show which it was.
                raise _complaint_unknown(request.reference)
            return complaint

        async def execute(
            connection: AsyncConnection, complaint: Complaint | None
        ) -> (
            pb.AddToComplaintResponse
            | pb.ReviewComplaintResponse
            | pb.AnswerComplaintResponse
            | pb.CloseComplaintResponse
        ):
            if complaint is None:
                raise _complaint_unknown(request.reference)
            after = _state_after(complaint, action)
            steps = await complaint_rows.count_steps(connection, complaint.no)
            _verify_step_limit(steps, caller)
            step = _step(steps + 1, caller, after, request.text, now)
            await _write_step(connection, complaint.no, complaint.reference, complaint.player_id, step)
            # This step alone: answers are stored for ever, and earlier answers hold the earlier steps (G11).
            return response(complaint=_message(complaint, [step]))

        return await answer_once(self._engine, request, caller, now, authorize=authorize, execute=execute)

    @staticmethod
    async def _complainant(connection: AsyncConnection, account_id: UUID, caller: Caller) -> Complainant | None:
        """Finds an account; refuses a player another's as if there were none (G7), and an operator nothing."""
        complainant = await complaint_rows.find_complainant(connection, account_id)
        if not is_operator(caller) and (complainant is None or complainant.player_id != caller.subject):
            # Not stored either way: a second command under the same id would show which it was.
            raise refusals.account_unknown(str(account_id))
        return complainant


async def _subject(
    connection: AsyncConnection, complainant: Complainant, round_id: str, session_id: UUID | None
) -> _Subject:
    if session_id is not None:
        session = await complaint_rows.find_session(connection, session_id)
        if session is None:
            raise refusals.session_unknown(str(session_id))
        session_no, account_no = session
        if account_no != complainant.account_no:
            raise refusals.session_unknown(str(session_id))
        return _Subject(None, session_no)
    round_no = await complaint_rows.find_round_no(connection, round_id)
    if round_no is None:
        raise refusals.round_unknown(round_id)
    if not await queries.took_part(connection, complainant.account_no, round_no):
        raise refusals.round_unknown(round_id)
    return _Subject(round_no, None)


def _state_after(complaint: Complaint, action: ComplaintAction) -> ComplaintState:
    try:
        return states.state_after(complaint.state, action)
    except states.ActionImpossible as impossible:
        reason = "COMPLAINT_CLOSED" if complaint.state is ComplaintState.CLOSED else "COMPLAINT_NOT_ANSWERED"
        sentence = f"The complaint {impossible}"
        raise refusals.WalletRefused(reason, sentence, reference=complaint.reference) from None


def _verify_step_limit(steps: int, caller: Caller) -> None:
    limit = states.STEPS_LIMIT if is_operator(caller) else states.PLAYER_STEPS_LIMIT
    if steps >= limit:
        raise refusals.invalid("reference", f"names a complaint with {steps} steps, all it takes: file a new one.")


def _step(number: int, caller: Caller, state: ComplaintState, text: str, at: datetime) -> Step:
    return Step(number, caller.subject, is_operator(caller), state, text, at)


async def _write_step(
    connection: AsyncConnection, complaint_no: int, reference: str, player_id: str, step: Step
) -> None:
    await complaint_rows.insert_step(connection, complaint_no, step)
    updated = events_pb2.ComplaintUpdated(reference=reference, step=_step_message(step))
    fact = events_pb2.PlayerFact(at=timestamp(step.at), complaint_updated=updated)
    await facts.insert(connection, [facts.player_fact(player_id, fact)], step.at)


def _message(complaint: Complaint, steps: list[Step]) -> pb.Complaint:
    # A step that was just written is newer than the row that was read under the lock.
    state = steps[-1].state if steps else complaint.state
    return pb.Complaint(
        reference=complaint.reference,
        player_id=complaint.player_id,
        account_id=str(complaint.account_id),
        round_id=complaint.round_id or "",
        session_id=str(complaint.session_id or ""),
        state=pb.ComplaintState.ValueType(state.value),
        filed_at=timestamp(complaint.filed_at),
        steps=[_step_message(step) for step in steps],
    )


def _step_message(step: Step) -> pb.ComplaintStep:
    return pb.ComplaintStep(
        number=step.number,
        actor=step.actor,
        by_operator=step.by_operator,
        state=pb.ComplaintState.ValueType(step.state.value),
        text=step.text,
        at=timestamp(step.at),
    )


def _complaint_unknown(reference: str) -> refusals.WalletRefused:
    return refusals.WalletRefused("COMPLAINT_UNKNOWN", "There is no such complaint.", reference=reference)


def _too_many_unanswered(account_id: str) -> refusals.WalletRefused:
    limit = states.UNANSWERED_LIMIT
    sentence = (
        f"The account has {limit} complaints without an answer: add to one of them, or wait until one is answered."
    )
    return refusals.WalletRefused("COMPLAINTS_UNANSWERED", sentence, account_id=account_id, limit=limit)


def _verify_text(text: str, *, may_be_empty: bool = False) -> None:
    if not text.strip() and not may_be_empty:
        raise refusals.invalid("text", "has to say something.")
    fields.verify_length("text", text, TEXT_CHARACTERS_LIMIT)
