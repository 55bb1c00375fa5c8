"""`ComplaintService`: checks what comes in over gRPC, decides who may, and answers from the rows of `complaints`."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from feltro.wallet.v1 import complaint_pb2 as pb
from feltro.wallet.v1 import events_pb2
from services.kit.access.identity import Caller
from services.kit.clock import Clock
from services.wallet.complaints import rows as complaints
from services.wallet.complaints.rows import Complainant, Complaint, ComplaintAction, ComplaintState, Step
from services.wallet.model import refusals
from services.wallet.outbox import facts
from services.wallet.server import fields as edge
from services.wallet.sessions.messages import timestamp
from services.wallet.store import answers

TEXT_CHARACTERS_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a new complaint is about: a round of the complainant's or a session of his."""

    round_no: int | None
    session_no: int | None


class ComplaintService:
    """The desk where complaints are filed and answered. Each command acts once (G3)."""

    descriptor = pb.DESCRIPTOR.services_by_name["ComplaintService"]

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def file_complaint(self, request: pb.FileComplaintRequest, caller: Caller) -> bytes:
        """Files a complaint about a round or a session of the account."""
        edge.printable_id("request_id", request.request_id)
        account_id = _uuid("account_id", request.account_id)
        if bool(request.round_id) == bool(request.session_id):
            raise refusals.invalid("round_id", "or `session_id` has to be set: one of them.")
        if request.round_id:
            edge.printable_id("round_id", request.round_id)
        session_id = _uuid("session_id", request.session_id) if request.session_id else None
        _check_text(request.text)
        now = self._clock.now()

        async def admit(connection: AsyncConnection) -> Complainant | None:
            whose = await complaints.find_complainant(connection, account_id)
            if whose is not None:
                edge.verify_access(caller, whose.player_id)
                # Before the request is looked up: a copy that waits here finds the answer, not the limit (G3).
                await complaints.lock_filing(connection, whose.account_no)
            return whose

        async def act(connection: AsyncConnection, whose: Complainant | None) -> pb.FileComplaintResponse:
            if whose is None:
                raise refusals.account_unknown(request.account_id)
            if await complaints.count_unanswered(connection, whose.account_no) >= complaints.UNANSWERED_LIMIT:
                raise _too_many_unanswered(request.account_id)
            about = await _subject(connection, whose, request.round_id, session_id)
            number, reference = await complaints.insert(
                connection, whose, round_number=about.round_no, session_number=about.session_no, filed_at=now
            )
            step = _step(1, caller, ComplaintState.FILED, request.text, now)
            await _write_step(connection, number, reference, whose.player_id, step)
            filed = await complaints.find(connection, reference)
            assert filed is not None, "it was written two lines above"  # noqa: S101
            return pb.FileComplaintResponse(complaint=_message(filed, [step]))

        return await answers.answer_once(self._engine, request, caller, now, authorize=admit, execute=act)

    async def get_complaint(self, request: pb.GetComplaintRequest, caller: Caller) -> pb.GetComplaintResponse:
        """A complaint with every step taken."""
        edge.printable_id("reference", request.reference)
        async with self._engine.connect() as connection:
            complaint = await complaints.find(connection, request.reference)
            if complaint is None:
                raise _complaint_unknown(request.reference)
            edge.verify_access(caller, complaint.player_id)
            steps = await complaints.load_steps(connection, complaint.no)
        return pb.GetComplaintResponse(complaint=_message(complaint, steps))

    async def list_complaints(self, request: pb.ListComplaintsRequest, caller: Caller) -> pb.ListComplaintsResponse:
        """Complaints, newest first."""
        size = edge.page_size(request.page_size)
        before_no = edge.page_position(request.page_token)
        if request.state not in pb.ComplaintState.values():
            raise refusals.invalid("state", "has to be a state of a complaint, or unspecified for all.")
        if not request.account_id and not _is_operator(caller):
            raise refusals.invalid("account_id", "has to name your account.")
        account_id = _uuid("account_id", request.account_id) if request.account_id else None
        async with self._engine.connect() as connection:
            whose = await self._complainant(connection, account_id, caller) if account_id else None
            found = await complaints.page(
                connection,
                account_no=whose.account_no if whose else None,
                state=ComplaintState(request.state) if request.state else None,
                before_no=before_no,
                # One more than asked for tells whether there is another page.
                size=size + 1,
            )
        return pb.ListComplaintsResponse(
            complaints=[_message(complaint, []) for complaint in found[:size]],
            next_page_token=edge.page_token(found[size - 1].no) if len(found) > size else "",
        )

    async def add_to_complaint(self, request: pb.AddToComplaintRequest, caller: Caller) -> bytes:
        """Adds the player's words; an answered complaint is open again."""
        return await self._move(request, caller, ComplaintAction.ADD, pb.AddToComplaintResponse)

    async def review_complaint(self, request: pb.ReviewComplaintRequest, caller: Caller) -> bytes:
        """The operator takes a complaint up."""
        return await self._move(request, caller, ComplaintAction.REVIEW, pb.ReviewComplaintResponse)

    async def answer_complaint(self, request: pb.AnswerComplaintRequest, caller: Caller) -> bytes:
        """The operator answers."""
        return await self._move(request, caller, ComplaintAction.ANSWER, pb.AnswerComplaintResponse)

    async def close_complaint(self, request: pb.CloseComplaintRequest, caller: Caller) -> bytes:
        """The operator closes an answered complaint."""
        return await self._move(request, caller, ComplaintAction.CLOSE, pb.CloseComplaintResponse)

    async def _move(
        self,
        request: pb.AddToComplaintRequest
        | pb.ReviewComplaintRequest
        | pb.AnswerComplaintRequest
        | pb.CloseComplaintRequest,
        caller: Caller,
        move: ComplaintAction,
        response: type[pb.AddToComplaintResponse]
        | type[pb.ReviewComplaintResponse]
        | type[pb.AnswerComplaintResponse]
        | type[pb.CloseComplaintResponse],
    ) -> bytes:
        edge.printable_id("request_id", request.request_id)
        edge.printable_id("reference", request.reference)
        _check_text(request.text, may_be_empty=move in {ComplaintAction.REVIEW, ComplaintAction.CLOSE})
        now = self._clock.now()

        async def admit(connection: AsyncConnection) -> Complaint | None:
            complaint = await complaints.find(connection, request.reference, lock=True)
            if complaint is not None:
                edge.verify_access(caller, complaint.player_id)
            return complaint

        async def act(
            connection: AsyncConnection, complaint: Complaint | None
        ) -> (
            pb.AddToComplaintResponse
            | pb.ReviewComplaintResponse
            | pb.AnswerComplaintResponse
            | pb.CloseComplaintResponse
        ):
            if complaint is None:
                raise _complaint_unknown(request.reference)
            after = _state_after(complaint, move)
            taken = await complaints.count_steps(connection, complaint.no)
            _check_room(taken, caller)
            step = _step(taken + 1, caller, after, request.text, now)
            await _write_step(connection, complaint.no, complaint.reference, complaint.player_id, step)
            # This step alone: the answer is kept for ever, and the steps before it are in the answers before it (G11).
            return response(complaint=_message(complaint, [step]))

        return await answers.answer_once(self._engine, request, caller, now, authorize=admit, execute=act)

    @staticmethod
    async def _complainant(connection: AsyncConnection, account_id: UUID, caller: Caller) -> Complainant:
        whose = await complaints.find_complainant(connection, account_id)
        if whose is None:
            raise refusals.account_unknown(str(account_id))
        edge.verify_access(caller, whose.player_id)
        return whose


def _is_operator(caller: Caller) -> bool:
    return "operator" in caller.scopes


async def _subject(connection: AsyncConnection, whose: Complainant, round_id: str, session_id: UUID | None) -> _Subject:
    if session_id is not None:
        session = await complaints.find_session(connection, session_id)
        if session is None:
            raise refusals.session_unknown(str(session_id))
        session_no, account_no = session
        if account_no != whose.account_no:
            raise refusals.not_yours()
        return _Subject(None, session_no)
    round_no = await complaints.find_round_no(connection, round_id)
    if round_no is None:
        raise refusals.round_unknown(round_id)
    if not await complaints.took_part(connection, whose.account_no, round_no):
        raise refusals.not_yours()
    return _Subject(round_no, None)


def _state_after(complaint: Complaint, move: ComplaintAction) -> ComplaintState:
    try:
        return complaints.state_after(complaint.state, move)
    except complaints.ActionImpossible as impossible:
        reason = "COMPLAINT_CLOSED" if complaint.state is ComplaintState.CLOSED else "COMPLAINT_NOT_ANSWERED"
        sentence = f"The complaint {impossible}"
        raise refusals.WalletRefused(reason, sentence, reference=complaint.reference) from None


def _check_room(taken: int, caller: Caller) -> None:
    limit = complaints.STEPS_LIMIT if _is_operator(caller) else complaints.PLAYER_STEPS_LIMIT
    if taken >= limit:
        raise refusals.invalid("reference", f"names a complaint with {taken} steps, all it takes: file a new one.")


def _step(number: int, caller: Caller, state: ComplaintState, words: str, at: datetime) -> Step:
    return Step(number, caller.subject, _is_operator(caller), state, words, at)


async def _write_step(
    connection: AsyncConnection, complaint_no: int, reference: str, player_id: str, step: Step
) -> None:
    await complaints.insert_step(connection, complaint_no, step)
    moved = events_pb2.ComplaintUpdated(reference=reference, step=_step_message(step))
    fact = events_pb2.PlayerFact(at=timestamp(step.at), complaint_updated=moved)
    await facts.insert(connection, [facts.player_fact(player_id, fact)], step.at)


def _message(complaint: Complaint, steps: list[Step]) -> pb.Complaint:
    # What was just written is newer than the row that was read under the lock.
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
    limit = complaints.UNANSWERED_LIMIT
    sentence = (
        f"The account has {limit} complaints without an answer: add to one of them, or wait until one is answered."
    )
    return refusals.WalletRefused("COMPLAINTS_UNANSWERED", sentence, account_id=account_id, limit=limit)


def _uuid(field: str, value: str) -> UUID:
    try:
        return UUID(value)
    except ValueError:
        raise refusals.invalid(field, "has to be an id as the wallet gave it, a UUID.") from None


def _check_text(words: str, *, may_be_empty: bool = False) -> None:
    if not words.strip() and not may_be_empty:
        raise refusals.invalid("text", "has to say something.")
    edge.verify_length("text", words, TEXT_CHARACTERS_LIMIT)
    if "\0" in words:
        raise refusals.invalid("text", "has to be without NUL characters.")
