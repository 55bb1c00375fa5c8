"""Complaints (mecanismos de reclamação, `804/2015:25`): filed by players, answered by operators, every step kept."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast
from uuid import uuid4

import asyncpg
import grpc
import pytest

from feltro.wallet.v1 import complaint_pb2 as pb
from feltro.wallet.v1 import events_pb2
from services.kit.access.identity import Caller
from services.kit.database import postgresql
from services.kit.refusal import Refused
from services.kit.rpc.status import code_of, status_from
from services.wallet.audit import auditor
from services.wallet.complaints import rows as complaints
from services.wallet.complaints.rows import ActionImpossible, ComplaintAction, ComplaintState
from services.wallet.outbox import facts
from services.wallet.server.complaint_service import TEXT_CHARACTERS_LIMIT, ComplaintService
from tests.processes.wallet import WalletClient, refusal_reason
from tests.service.wallet.ledger_writer import LedgerWriter, SmallLedger, small_ledger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.processes.databases import WalletDatabase

    Connection = asyncpg.Connection[asyncpg.Record]

NEW_YEAR = datetime(2026, 12, 31, 23, 59, 30, tzinfo=UTC)
ANA = Caller("ana", frozenset({"player"}), expires_at=0)
RUI = Caller("rui", frozenset({"player"}), expires_at=0)
OPERATOR = Caller("maria@desk", frozenset({"operator"}), expires_at=0)

FILED, IN_REVIEW = pb.COMPLAINT_STATE_FILED, pb.COMPLAINT_STATE_IN_REVIEW
ANSWERED, CLOSED = pb.COMPLAINT_STATE_ANSWERED, pb.COMPLAINT_STATE_CLOSED


class TickingClock:
    """Each look is ten seconds later than the one before."""

    def __init__(self) -> None:
        self._now = NEW_YEAR

    def now(self) -> datetime:
        now = self._now
        self._now += timedelta(seconds=10)
        return now


@pytest.fixture
async def connection(wallet_database: WalletDatabase) -> AsyncIterator[Connection]:
    """To look behind the service."""
    connection = await asyncpg.connect(wallet_database.url.replace("+asyncpg", ""))
    yield connection
    await connection.close()


@pytest.fixture
async def ledger(connection: Connection) -> SmallLedger:
    """Rounds and sessions to complain about."""
    return await small_ledger(LedgerWriter(connection))


class Desk:
    """The service, spoken to in few words."""

    def __init__(self, service: ComplaintService, ledger: SmallLedger) -> None:
        self.service = service
        self.ledger = ledger

    async def file(
        self,
        caller: Caller = ANA,
        *,
        account_id: str = "",
        round_id: str = "",
        session_id: str = "",
        text: str = "The ball was in 17.",
        request_id: str = "",
    ) -> pb.Complaint:
        request = pb.FileComplaintRequest(
            request_id=request_id or str(uuid4()),
            account_id=account_id or str(self.ledger.ana.account_id),
            round_id=round_id or ("" if session_id else "round-settled"),
            session_id=session_id,
            text=text,
        )
        return pb.FileComplaintResponse.FromString(await self.service.file_complaint(request, caller)).complaint

    async def add(self, reference: str, caller: Caller = ANA, text: str = "And one more thing.") -> pb.Complaint:
        request = pb.AddToComplaintRequest(reference=reference, request_id=str(uuid4()), text=text)
        return pb.AddToComplaintResponse.FromString(await self.service.add_to_complaint(request, caller)).complaint

    async def review(self, reference: str, text: str = "") -> pb.Complaint:
        request = pb.ReviewComplaintRequest(reference=reference, request_id=str(uuid4()), text=text)
        answer = await self.service.review_complaint(request, OPERATOR)
        return pb.ReviewComplaintResponse.FromString(answer).complaint

    async def answer(self, reference: str, text: str = "It was in 16; see the record.") -> pb.Complaint:
        request = pb.AnswerComplaintRequest(reference=reference, request_id=str(uuid4()), text=text)
        answer = await self.service.answer_complaint(request, OPERATOR)
        return pb.AnswerComplaintResponse.FromString(answer).complaint

    async def close(self, reference: str, request_id: str = "") -> pb.Complaint:
        request = pb.CloseComplaintRequest(reference=reference, request_id=request_id or str(uuid4()), text="Done.")
        return pb.CloseComplaintResponse.FromString(await self.service.close_complaint(request, OPERATOR)).complaint

    async def get(self, reference: str, caller: Caller = ANA) -> pb.Complaint:
        return (await self.service.get_complaint(pb.GetComplaintRequest(reference=reference), caller)).complaint


@pytest.fixture
async def desk(wallet_database: WalletDatabase, ledger: SmallLedger) -> AsyncIterator[Desk]:
    """The service on this test's database."""
    engine = postgresql.connect(wallet_database.url, "test", connections=8)
    yield Desk(ComplaintService(engine, TickingClock()), ledger)
    await engine.dispose()


def _is(reason: str) -> Callable[[Refused], bool]:
    return lambda refused: refused.reason == reason


async def _facts(connection: Connection) -> list[facts.Fact]:
    rows = await connection.fetch("SELECT facts FROM outbox ORDER BY outbox_no")
    return [fact for row in rows for fact in facts.unpack(row["facts"])]


# -- the states, alone -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ComplaintState)
@pytest.mark.parametrize("move", ComplaintAction)
def test_every_move_from_every_state(state: ComplaintState, move: ComplaintAction) -> None:
    allowed = {
        (ComplaintState.FILED, ComplaintAction.ADD): ComplaintState.FILED,
        (ComplaintState.FILED, ComplaintAction.REVIEW): ComplaintState.IN_REVIEW,
        (ComplaintState.FILED, ComplaintAction.ANSWER): ComplaintState.ANSWERED,
        (ComplaintState.IN_REVIEW, ComplaintAction.ADD): ComplaintState.IN_REVIEW,
        (ComplaintState.IN_REVIEW, ComplaintAction.REVIEW): ComplaintState.IN_REVIEW,
        (ComplaintState.IN_REVIEW, ComplaintAction.ANSWER): ComplaintState.ANSWERED,
        (ComplaintState.ANSWERED, ComplaintAction.ADD): ComplaintState.IN_REVIEW,
        (ComplaintState.ANSWERED, ComplaintAction.REVIEW): ComplaintState.IN_REVIEW,
        (ComplaintState.ANSWERED, ComplaintAction.ANSWER): ComplaintState.ANSWERED,
        (ComplaintState.ANSWERED, ComplaintAction.CLOSE): ComplaintState.CLOSED,
    }
    if (state, move) in allowed:
        assert complaints.state_after(state, move) is allowed[state, move]
    else:
        with pytest.raises(ActionImpossible):
            complaints.state_after(state, move)


# -- filing ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:25")
async def test_a_complaint_goes_its_way_and_every_step_is_kept(desk: Desk) -> None:
    filed = await desk.file()
    assert filed.reference == "R-2026-000001"
    assert (filed.state, filed.player_id, filed.round_id, filed.session_id) == (FILED, "ana", "round-settled", "")
    assert filed.filed_at.ToDatetime(UTC) == NEW_YEAR
    await desk.review(filed.reference, "I am looking.")
    await desk.answer(filed.reference)
    await desk.add(filed.reference, text="I saw 17.")
    await desk.answer(filed.reference, text="Here is the film.")
    assert (await desk.close(filed.reference)).state == CLOSED
    closed = await desk.get(filed.reference)
    assert closed.state == CLOSED
    assert [(step.number, step.actor, step.by_operator, step.state, step.text) for step in closed.steps] == [
        (1, "ana", False, FILED, "The ball was in 17."),
        (2, "maria@desk", True, IN_REVIEW, "I am looking."),
        (3, "maria@desk", True, ANSWERED, "It was in 16; see the record."),
        (4, "ana", False, IN_REVIEW, "I saw 17."),
        (5, "maria@desk", True, ANSWERED, "Here is the film."),
        (6, "maria@desk", True, CLOSED, "Done."),
    ]
    times = [step.at.ToDatetime(UTC) for step in closed.steps]
    assert times == sorted(set(times))


async def test_a_reference_names_the_year_and_counts(desk: Desk) -> None:
    references = [(await desk.file()).reference for _ in range(5)]
    # The clock passes midnight between the third and the fourth.
    assert references == ["R-2026-000001", "R-2026-000002", "R-2026-000003", "R-2027-000004", "R-2027-000005"]


async def test_about_a_session_and_about_a_hand(desk: Desk, ledger: SmallLedger) -> None:
    session = ledger.ended.session_id
    about_session = await desk.file(session_id=str(session))
    assert (about_session.session_id, about_session.round_id) == (str(session), "")
    about_hand = await desk.file(RUI, account_id=str(ledger.rui.account_id), round_id="hand-1")
    assert about_hand.round_id == "hand-1"
    for_a_player = await desk.file(OPERATOR, text="He telephoned.")
    assert (for_a_player.player_id, for_a_player.steps[0].by_operator) == ("ana", True)


async def test_only_about_what_is_his(desk: Desk, ledger: SmallLedger) -> None:
    rui, demo = str(ledger.rui.account_id), str(ledger.demo.account_id)
    with pytest.raises(Refused, check=_is("NOT_YOURS")):
        await desk.file(RUI)
    with pytest.raises(Refused, check=_is("NOT_YOURS")):
        await desk.file(round_id="round-void")
    with pytest.raises(Refused, check=_is("NOT_YOURS")):
        await desk.file(account_id=demo, round_id="round-settled")
    with pytest.raises(Refused, check=_is("NOT_YOURS")):
        await desk.file(OPERATOR, account_id=demo, round_id="hand-1")
    with pytest.raises(Refused, check=_is("NOT_YOURS")):
        await desk.file(session_id=str(ledger.at_roulette[1].session_id))
    with pytest.raises(Refused, check=_is("ROUND_UNKNOWN")):
        await desk.file(round_id="round-of-yesterday")
    with pytest.raises(Refused, check=_is("SESSION_UNKNOWN")):
        await desk.file(session_id=str(uuid4()))
    with pytest.raises(Refused, check=_is("ACCOUNT_UNKNOWN")):
        await desk.file(account_id=str(uuid4()))
    assert (await desk.file(RUI, account_id=rui)).player_id == "rui"


async def test_the_house_has_no_complaints(desk: Desk, ledger: SmallLedger, connection: Connection) -> None:
    account_id = await connection.fetchval(
        "SELECT account_id::text FROM accounts WHERE account_no = $1", ledger.ana.operator_account_no
    )
    with pytest.raises(Refused, check=_is("ACCOUNT_UNKNOWN")):
        await desk.file(OPERATOR, account_id=account_id)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("request_id", {"request_id": ""}),
        ("request_id", {"request_id": "x" * 129}),
        ("account_id", {"account_id": "1"}),
        ("round_id", {"round_id": ""}),
        ("round_id", {"session_id": str(uuid4())}),
        ("round_id", {"round_id": "x" * 129}),
        ("session_id", {"round_id": "", "session_id": "s"}),
        ("text", {"text": "  \n"}),
        ("text", {"text": "a" * (TEXT_CHARACTERS_LIMIT + 1)}),
        ("text", {"text": "nul\0"}),
    ],
)
async def test_what_is_not_valid_is_refused_by_field(desk: Desk, field: str, change: dict[str, str]) -> None:
    valid = {
        "request_id": "one",
        "account_id": str(desk.ledger.ana.account_id),
        "round_id": "round-settled",
        "session_id": "",
        "text": "à" * TEXT_CHARACTERS_LIMIT,
    }
    with pytest.raises(Refused, check=_is("INVALID")) as refused:
        await desk.service.file_complaint(pb.FileComplaintRequest(**(valid | change)), ANA)
    assert refused.value.facts == {"field": field}
    # Nothing of it is remembered: the same request id may be sent again.
    assert await desk.service.file_complaint(pb.FileComplaintRequest(**valid), ANA)


# -- moving ----------------------------------------------------------------------------------------------------------


async def test_a_closed_complaint_takes_nothing_more(desk: Desk) -> None:
    reference = (await desk.file()).reference
    await desk.answer(reference)
    await desk.close(reference)
    closed = await desk.get(reference)
    for attempt in (desk.add(reference), desk.review(reference), desk.answer(reference), desk.close(reference)):
        with pytest.raises(Refused, check=_is("COMPLAINT_CLOSED")) as refused:
            await attempt
        assert refused.value.facts == {"reference": reference}
    assert await desk.get(reference) == closed


async def test_nothing_is_closed_without_an_answer(desk: Desk) -> None:
    reference = (await desk.file()).reference
    with pytest.raises(Refused, match="has not been answered", check=_is("COMPLAINT_NOT_ANSWERED")) as refused:
        await desk.close(reference, request_id="early")
    assert refused.value.facts == {"reference": reference}
    await desk.answer(reference)
    # It was refused for the moment only.
    assert (await desk.close(reference, request_id="early")).state == CLOSED


async def test_others_see_and_add_nothing(desk: Desk) -> None:
    reference = (await desk.file()).reference
    for attempt in (desk.get(reference, RUI), desk.add(reference, RUI)):
        with pytest.raises(Refused, check=_is("NOT_YOURS")):
            await attempt
    assert len((await desk.get(reference, OPERATOR)).steps) == 1
    for unknown in (desk.get("R-2026-999999"), desk.add("R-2026-999999")):
        with pytest.raises(Refused, check=_is("COMPLAINT_UNKNOWN")):
            await unknown


async def test_a_complaint_fits_into_a_message(desk: Desk, connection: Connection) -> None:
    """However much is added, the operator can answer and close."""
    reference = (await desk.file()).reference
    await connection.execute(
        "INSERT INTO complaint_steps SELECT 1, number, 'ana', false, 1, repeat('€', $1), $2"
        " FROM generate_series(2, $3) number",
        TEXT_CHARACTERS_LIMIT,
        NEW_YEAR,
        complaints.PLAYER_STEPS_LIMIT,
    )
    with pytest.raises(Refused, match="180 steps, all it takes"):
        await desk.add(reference)
    await desk.answer(reference, "€" * TEXT_CHARACTERS_LIMIT)
    await desk.close(reference)
    assert (await desk.get(reference)).ByteSize() < 4 * 1024 * 1024


# -- not without end (G11) -------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G11")
async def test_g11_a_step_is_answered_with_itself(desk: Desk) -> None:
    """Answers are kept for ever: with all steps before it in each, they would grow with the square of the steps."""
    reference = (await desk.file()).reference
    answers = [await desk.add(reference), await desk.review(reference), await desk.answer(reference)]
    answers.append(await desk.close(reference))
    whole = await desk.get(reference)
    assert [list(answer.steps) for answer in answers] == [[step] for step in whole.steps[1:]]
    for answer, step in zip(answers, whole.steps[1:], strict=True):
        answer.ClearField("steps")
        # The rest is the complaint as it stood then.
        as_it_stood = pb.Complaint()
        as_it_stood.CopyFrom(whole)
        as_it_stood.ClearField("steps")
        as_it_stood.state = step.state
        assert answer == as_it_stood


@pytest.mark.guarantee("G11")
async def test_g11_the_last_answer_that_is_kept_is_as_long_as_the_first(desk: Desk, connection: Connection) -> None:
    words = "The same words."
    reference = (await desk.file(text=words)).reference
    for _ in range(9):
        await desk.add(reference, text=words)
    kept = await connection.fetch("SELECT octet_length(answer) AS size FROM requests WHERE caller = 'ana'")
    assert len(kept) == 10
    assert len({row["size"] for row in kept}) == 1


@pytest.mark.guarantee("G11")
async def test_g11_so_many_may_wait_for_an_answer(desk: Desk, ledger: SmallLedger) -> None:
    account = str(ledger.ana.account_id)
    references = [(await desk.file()).reference for _ in range(complaints.UNANSWERED_LIMIT)]
    await desk.review(references[0])
    for caller in (ANA, OPERATOR):
        with pytest.raises(Refused, match="20 complaints without an answer", check=_is("COMPLAINTS_UNANSWERED")) as no:
            await desk.file(caller, request_id="one-more")
        assert no.value.facts == {"account_id": account, "limit": "20"}
    # Of that account only.
    assert (await desk.file(RUI, account_id=str(ledger.rui.account_id))).state == FILED
    # He may always add, and the operator answer; it was refused for the moment only.
    await desk.add(references[1])
    await desk.answer(references[0])
    assert (await desk.file(request_id="one-more")).state == FILED
    # One that is opened again waits again.
    await desk.answer(references[1])
    await desk.add(references[1])
    with pytest.raises(Refused, check=_is("COMPLAINTS_UNANSWERED")):
        await desk.file()


@pytest.mark.guarantee("G11")
async def test_g11_no_more_at_the_same_moment_either(desk: Desk, connection: Connection) -> None:
    many = complaints.UNANSWERED_LIMIT + 8
    filed = await asyncio.gather(*(desk.file() for _ in range(many)), return_exceptions=True)
    refused = [why.reason for why in filed if isinstance(why, Refused)]
    assert refused == ["COMPLAINTS_UNANSWERED"] * 8
    assert await connection.fetchval("SELECT count(*) FROM complaints") == complaints.UNANSWERED_LIMIT


# -- once (G3) -------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_a_repeat_gets_the_first_answer_byte_for_byte(desk: Desk, connection: Connection) -> None:
    request = pb.FileComplaintRequest(
        request_id="file-1",
        account_id=str(desk.ledger.ana.account_id),
        round_id="round-settled",
        text="The ball was in 17.",
    )
    first = await desk.service.file_complaint(request, ANA)
    reference = pb.FileComplaintResponse.FromString(first).complaint.reference
    addition = pb.AddToComplaintRequest(reference=reference, request_id="add-1", text="Black 17.")
    added = await desk.service.add_to_complaint(addition, ANA)
    await desk.answer(reference)
    assert await desk.service.file_complaint(request, ANA) == first
    assert await desk.service.add_to_complaint(addition, ANA) == added
    assert await connection.fetchval("SELECT count(*) FROM complaints") == 1
    assert len((await desk.get(reference)).steps) == 3


@pytest.mark.guarantee("G3")
async def test_g3_copies_of_the_last_that_may_wait_get_its_answer(desk: Desk, connection: Connection) -> None:
    for _ in range(complaints.UNANSWERED_LIMIT - 1):
        await desk.file()
    copies = await asyncio.gather(*(desk.file(request_id="the-last") for _ in range(8)))
    copies.append(await desk.file(request_id="the-last"))
    assert {complaint.reference for complaint in copies} == {copies[0].reference}
    assert await connection.fetchval("SELECT count(*) FROM complaints") == complaints.UNANSWERED_LIMIT


@pytest.mark.guarantee("G3")
async def test_g3_a_refusal_is_repeated_too(desk: Desk, connection: Connection) -> None:
    reference = (await desk.file()).reference
    unknown = pb.FileComplaintRequest(
        request_id="file-1", account_id=str(desk.ledger.ana.account_id), round_id="round-new", text="Where is it?"
    )
    refusals = []
    for _ in range(2):
        with pytest.raises(Refused, check=_is("ROUND_UNKNOWN")) as refused:
            await desk.service.file_complaint(unknown, ANA)
        refusals.append(status_from(refused.value).SerializeToString())
        # Now there is one, but the answer was given.
        await connection.execute(
            "INSERT INTO rounds (round_no, round_id, table_no, state, opened_at) VALUES (9999, 'round-new', $1, 1, $2)"
            " ON CONFLICT DO NOTHING",
            desk.ledger.roulette.no,
            NEW_YEAR,
        )
    assert refusals[0] == refusals[1]
    assert (await desk.get(reference)).state == FILED


@pytest.mark.guarantee("G3")
async def test_g3_other_content_under_a_used_id_is_refused(desk: Desk) -> None:
    filed = await desk.file(request_id="one")
    with pytest.raises(Refused, check=_is("REQUEST_REUSED")) as refused:
        await desk.file(request_id="one", text="The ball was in 18.")
    assert code_of(refused.value) is grpc.StatusCode.ALREADY_EXISTS
    assert refused.value.facts == {"request_id": "one"}
    # Another command is other content, even with the same words.
    answer = pb.AnswerComplaintRequest(reference=filed.reference, request_id="two", text="Words.")
    await desk.service.answer_complaint(answer, OPERATOR)
    addition = pb.AddToComplaintRequest(reference=filed.reference, request_id="two", text="Words.")
    with pytest.raises(Refused, check=_is("REQUEST_REUSED")):
        await desk.service.add_to_complaint(addition, OPERATOR)


@pytest.mark.guarantee("G3")
async def test_g3_nobody_is_given_the_answer_of_another(desk: Desk) -> None:
    request = pb.FileComplaintRequest(
        request_id="file-1", account_id=str(desk.ledger.ana.account_id), round_id="round-settled", text="Mine."
    )
    await desk.service.file_complaint(request, ANA)
    with pytest.raises(Refused, check=_is("NOT_YOURS")):
        await desk.service.file_complaint(request, RUI)


@pytest.mark.guarantee("G3")
async def test_g3_duplicates_at_the_same_moment_act_once(desk: Desk, connection: Connection) -> None:
    request = pb.FileComplaintRequest(
        request_id="file-1", account_id=str(desk.ledger.ana.account_id), round_id="round-settled", text="Once."
    )
    filings = await asyncio.gather(*(desk.service.file_complaint(request, ANA) for _ in range(8)))
    assert len(set(filings)) == 1
    assert await connection.fetchval("SELECT count(*) FROM complaints") == 1
    reference = pb.FileComplaintResponse.FromString(filings[0]).complaint.reference
    addition = pb.AddToComplaintRequest(reference=reference, request_id="add-1", text="Once too.")
    additions = await asyncio.gather(*(desk.service.add_to_complaint(addition, ANA) for _ in range(8)))
    assert len(set(additions)) == 1
    assert len((await desk.get(reference)).steps) == 2
    assert len(await _facts(connection)) == 2


async def test_moves_at_the_same_moment_follow_one_another(desk: Desk, connection: Connection) -> None:
    reference = (await desk.file()).reference
    await asyncio.gather(*(desk.add(reference, text=f"Thought {n}.") for n in range(6)), desk.answer(reference))
    steps = (await desk.get(reference)).steps
    assert [step.number for step in steps] == list(range(1, 9))
    assert {step.text for step in steps[1:]} >= {f"Thought {n}." for n in range(6)}
    assert await connection.fetchval("SELECT state FROM complaints") == steps[-1].state


# -- telling ---------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G5")
async def test_g5_the_player_is_told_of_every_step(desk: Desk, connection: Connection) -> None:
    reference = (await desk.file()).reference
    await desk.review(reference)
    await desk.answer(reference)
    answered = await desk.get(reference)
    with pytest.raises(Refused, check=_is("NOT_YOURS")):
        await desk.add(reference, RUI)
    told = await _facts(connection)
    assert {fact.subject for fact in told} == {"feltro.player.ana.wallet"}
    moved = [events_pb2.PlayerFact.FromString(fact.payload).complaint_updated for fact in told]
    assert {fact.reference for fact in moved} == {reference}
    assert [fact.step for fact in moved] == list(answered.steps)


async def test_pages_newest_first(desk: Desk, ledger: SmallLedger) -> None:
    mine = [(await desk.file()).reference for _ in range(5)]
    other = (await desk.file(RUI, account_id=str(ledger.rui.account_id))).reference
    await desk.answer(mine[1])

    async def references(
        caller: Caller, account_id: str = "", state: pb.ComplaintState.ValueType = pb.COMPLAINT_STATE_UNSPECIFIED
    ) -> list[str]:
        found: list[str] = []
        token = ""
        while True:
            request = pb.ListComplaintsRequest(account_id=account_id, state=state, page_size=2, page_token=token)
            page = await desk.service.list_complaints(request, caller)
            assert 0 < len(page.complaints) <= 2
            assert not any(complaint.steps for complaint in page.complaints)
            found += [complaint.reference for complaint in page.complaints]
            token = page.next_page_token
            if not token:
                return found

    ana = str(ledger.ana.account_id)
    assert await references(ANA, account_id=ana) == mine[::-1]
    assert await references(OPERATOR) == [other, *mine[::-1]]
    assert await references(OPERATOR, state=FILED) == [other, mine[4], mine[3], mine[2], mine[0]]
    assert await references(ANA, account_id=ana, state=ANSWERED) == [mine[1]]


async def test_what_a_list_refuses(desk: Desk, ledger: SmallLedger) -> None:
    ana = str(ledger.ana.account_id)
    refusals = [
        (pb.ListComplaintsRequest(), ANA, "INVALID"),
        (pb.ListComplaintsRequest(account_id=ana), RUI, "NOT_YOURS"),
        (pb.ListComplaintsRequest(account_id=str(uuid4())), ANA, "ACCOUNT_UNKNOWN"),
        (pb.ListComplaintsRequest(account_id=ana, page_size=501), ANA, "INVALID"),
        (pb.ListComplaintsRequest(account_id=ana, page_size=-1), ANA, "INVALID"),
        (pb.ListComplaintsRequest(account_id=ana, page_token="nonsense"), ANA, "INVALID"),  # noqa: S106
        (pb.ListComplaintsRequest(account_id=ana, state=cast("pb.ComplaintState.ValueType", 9)), ANA, "INVALID"),
    ]
    for request, caller, why in refusals:
        with pytest.raises(Refused, check=_is(why)):
            await desk.service.list_complaints(request, caller)


async def test_the_audit_holds_afterwards(desk: Desk, wallet_database: WalletDatabase) -> None:
    reference = (await desk.file()).reference
    await desk.answer(reference)
    await desk.add(reference)
    await desk.file(session_id=str(desk.ledger.ended.session_id))
    engine = postgresql.connect(wallet_database.url, "test", connections=1)
    told: list[str] = []
    # The desk's clock is ahead of the database's, so what it wrote into the outbox is not old.
    await auditor.Auditor(engine).run(lambda _, sentence: told.append(sentence))
    await engine.dispose()
    assert told == []


# -- over gRPC -------------------------------------------------------------------------------------------------------


async def test_the_desk_over_grpc(wallet: WalletClient) -> None:
    """The player files and adds with his token, the operator answers with hers, and neither does the other's part."""
    await wallet.open_table("roulette-1")
    seat = await wallet.sit_down("ana", "roulette-1", cents=1000)
    ana, rui = wallet.bearer("player", "ana"), wallet.bearer("player", "rui")
    request = pb.FileComplaintRequest(
        request_id="file-1", account_id=seat.account_id, session_id=seat.session_id, text="My bet was not taken."
    )
    filed = await wallet.complaints.FileComplaint(request, metadata=ana)
    assert await wallet.complaints.FileComplaint(request, metadata=ana) == filed
    reference = filed.complaint.reference

    answer = pb.AnswerComplaintRequest(reference=reference, request_id="answer-1", text="It came after the close.")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet.complaints.AnswerComplaint(answer, metadata=ana)
    assert refusal_reason(refused.value) == "SCOPE_MISSING"
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet.complaints.GetComplaint(pb.GetComplaintRequest(reference=reference), metadata=rui)
    assert (refused.value.code(), refusal_reason(refused.value)) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_YOURS")

    await wallet.complaints.AnswerComplaint(answer, metadata=wallet.operator)
    shown = await wallet.complaints.GetComplaint(pb.GetComplaintRequest(reference=reference), metadata=ana)
    assert [step.state for step in shown.complaint.steps] == [FILED, ANSWERED]
