"""Complaints (*mecanismos de reclamação*, `804/2015:25`): players file them, operators answer, every step stays."""

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
from services.wallet.complaints import states
from services.wallet.complaints.states import ActionImpossible, ComplaintAction, ComplaintState
from services.wallet.outbox import facts
from services.wallet.server.complaint_service import TEXT_CHARACTERS_LIMIT, ComplaintService
from tests.processes import ledger_audit
from tests.processes.databases import connect_asyncpg
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
    """Shows a time ten seconds later at each call."""

    def __init__(self) -> None:
        self._now = NEW_YEAR

    def now(self) -> datetime:
        now = self._now
        self._now += timedelta(seconds=10)
        return now


@pytest.fixture
async def connection(wallet_database: WalletDatabase) -> AsyncIterator[Connection]:
    """A connection that reads and writes the rows behind the service."""
    connection = await connect_asyncpg(wallet_database.url)
    yield connection
    await connection.close()


@pytest.fixture
async def ledger(connection: Connection) -> SmallLedger:
    """Rounds and sessions to complain about."""
    return await small_ledger(LedgerWriter(connection))


class ComplaintDriver:
    """Calls the service in few words."""

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
async def complaints(wallet_database: WalletDatabase, ledger: SmallLedger) -> AsyncIterator[ComplaintDriver]:
    """The complaint service on this test's database."""
    engine = postgresql.connect(wallet_database.url, "test", connections=8)
    yield ComplaintDriver(ComplaintService(engine, TickingClock()), ledger)
    await engine.dispose()


def _has_reason(reason: str) -> Callable[[Refused], bool]:
    return lambda refused: refused.reason == reason


async def _facts(connection: Connection) -> list[facts.Fact]:
    rows = await connection.fetch("SELECT facts FROM outbox ORDER BY outbox_no")
    return [fact for row in rows for fact in facts.unpack(row["facts"])]


# -- states -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ComplaintState)
@pytest.mark.parametrize("action", ComplaintAction)
def test_every_action_in_every_state(state: ComplaintState, action: ComplaintAction) -> None:
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
    if (state, action) in allowed:
        assert states.state_after(state, action) is allowed[state, action]
    else:
        with pytest.raises(ActionImpossible):
            states.state_after(state, action)


# -- filing -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:25")
async def test_every_step_of_a_complaint_is_recorded(complaints: ComplaintDriver) -> None:
    filed = await complaints.file()
    assert filed.reference == "R-2026-000001"
    assert (filed.state, filed.player_id, filed.round_id, filed.session_id) == (FILED, "ana", "round-settled", "")
    assert filed.filed_at.ToDatetime(UTC) == NEW_YEAR
    await complaints.review(filed.reference, "I am looking.")
    await complaints.answer(filed.reference)
    await complaints.add(filed.reference, text="I saw 17.")
    await complaints.answer(filed.reference, text="Here is the film.")
    assert (await complaints.close(filed.reference)).state == CLOSED
    closed = await complaints.get(filed.reference)
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


async def test_a_reference_has_the_year_and_a_number(complaints: ComplaintDriver) -> None:
    references = [(await complaints.file()).reference for _ in range(5)]
    # The clock passes midnight between the third and the fourth.
    assert references == ["R-2026-000001", "R-2026-000002", "R-2026-000003", "R-2027-000004", "R-2027-000005"]


async def test_a_complaint_may_be_about_a_session_or_a_hand(complaints: ComplaintDriver, ledger: SmallLedger) -> None:
    session = ledger.ended.session_id
    about_session = await complaints.file(session_id=str(session))
    assert (about_session.session_id, about_session.round_id) == (str(session), "")
    about_hand = await complaints.file(RUI, account_id=str(ledger.rui.account_id), round_id="hand-1")
    assert about_hand.round_id == "hand-1"
    for_a_player = await complaints.file(OPERATOR, text="The player telephoned.")
    assert (for_a_player.player_id, for_a_player.steps[0].by_operator) == ("ana", True)


async def test_a_complaint_is_about_what_belongs_to_the_player(
    complaints: ComplaintDriver, ledger: SmallLedger
) -> None:
    rui, demo = str(ledger.rui.account_id), str(ledger.demo.account_id)
    with pytest.raises(Refused, check=_has_reason("ACCOUNT_UNKNOWN")):
        await complaints.file(RUI)
    with pytest.raises(Refused, check=_has_reason("ROUND_UNKNOWN")):
        await complaints.file(round_id="round-void")
    with pytest.raises(Refused, check=_has_reason("ROUND_UNKNOWN")):
        await complaints.file(account_id=demo, round_id="round-settled")
    with pytest.raises(Refused, check=_has_reason("ROUND_UNKNOWN")):
        await complaints.file(OPERATOR, account_id=demo, round_id="hand-1")
    with pytest.raises(Refused, check=_has_reason("SESSION_UNKNOWN")):
        await complaints.file(session_id=str(ledger.at_roulette[1].session_id))
    with pytest.raises(Refused, check=_has_reason("ROUND_UNKNOWN")):
        await complaints.file(round_id="round-of-yesterday")
    with pytest.raises(Refused, check=_has_reason("SESSION_UNKNOWN")):
        await complaints.file(session_id=str(uuid4()))
    with pytest.raises(Refused, check=_has_reason("ACCOUNT_UNKNOWN")):
        await complaints.file(account_id=str(uuid4()))
    assert (await complaints.file(RUI, account_id=rui)).player_id == "rui"


async def test_an_operator_account_has_no_complaints(
    complaints: ComplaintDriver, ledger: SmallLedger, connection: Connection
) -> None:
    account_id = await connection.fetchval(
        "SELECT account_id::text FROM accounts WHERE account_no = $1", ledger.ana.operator_account_no
    )
    with pytest.raises(Refused, check=_has_reason("ACCOUNT_UNKNOWN")):
        await complaints.file(OPERATOR, account_id=account_id)


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
async def test_invalid_fields_are_refused_by_name(
    complaints: ComplaintDriver, field: str, change: dict[str, str]
) -> None:
    valid = {
        "request_id": "one",
        "account_id": str(complaints.ledger.ana.account_id),
        "round_id": "round-settled",
        "session_id": "",
        "text": "à" * TEXT_CHARACTERS_LIMIT,
    }
    with pytest.raises(Refused, check=_has_reason("INVALID")) as refused:
        await complaints.service.file_complaint(pb.FileComplaintRequest(**(valid | change)), ANA)
    assert refused.value.facts == {"field": field}
    # The refusal is not stored: the same request id may be sent again.
    assert await complaints.service.file_complaint(pb.FileComplaintRequest(**valid), ANA)


# -- acting -----------------------------------------------------------------------------------------------------------


async def test_a_closed_complaint_does_not_change(complaints: ComplaintDriver) -> None:
    reference = (await complaints.file()).reference
    await complaints.answer(reference)
    await complaints.close(reference)
    closed = await complaints.get(reference)
    for attempt in (
        complaints.add(reference),
        complaints.review(reference),
        complaints.answer(reference),
        complaints.close(reference),
    ):
        with pytest.raises(Refused, check=_has_reason("COMPLAINT_CLOSED")) as refused:
            await attempt
        assert refused.value.facts == {"reference": reference}
    assert await complaints.get(reference) == closed


async def test_no_complaint_is_closed_without_an_answer(complaints: ComplaintDriver) -> None:
    reference = (await complaints.file()).reference
    with pytest.raises(Refused, match="has not been answered", check=_has_reason("COMPLAINT_NOT_ANSWERED")) as refused:
        await complaints.close(reference, request_id="early")
    assert refused.value.facts == {"reference": reference}
    await complaints.answer(reference)
    # The refusal was not stored.
    assert (await complaints.close(reference, request_id="early")).state == CLOSED


async def test_another_player_sees_and_adds_nothing(complaints: ComplaintDriver) -> None:
    reference = (await complaints.file()).reference
    for attempt in (complaints.get(reference, RUI), complaints.add(reference, RUI)):
        with pytest.raises(Refused, check=_has_reason("COMPLAINT_UNKNOWN")):
            await attempt
    assert len((await complaints.get(reference, OPERATOR)).steps) == 1
    for unknown in (complaints.get("R-2026-999999"), complaints.add("R-2026-999999")):
        with pytest.raises(Refused, check=_has_reason("COMPLAINT_UNKNOWN")):
            await unknown


async def test_a_complaint_with_all_its_steps_fits_into_a_message(
    complaints: ComplaintDriver, connection: Connection
) -> None:
    """However much the player adds, the operator can answer and close."""
    reference = (await complaints.file()).reference
    await connection.execute(
        "INSERT INTO complaint_steps SELECT 1, number, 'ana', false, 1, repeat('€', $1), $2"
        " FROM generate_series(2, $3) number",
        TEXT_CHARACTERS_LIMIT,
        NEW_YEAR,
        states.PLAYER_STEPS_LIMIT,
    )
    with pytest.raises(Refused, match="180 steps, all it takes"):
        await complaints.add(reference)
    await complaints.answer(reference, "€" * TEXT_CHARACTERS_LIMIT)
    await complaints.close(reference)
    assert (await complaints.get(reference)).ByteSize() < 4 * 1024 * 1024


# -- limits (G11) -----------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G11")
async def test_g11_the_answer_to_a_step_holds_that_step_alone(complaints: ComplaintDriver) -> None:
    """Answers are stored for ever: with all earlier steps in each, they would grow with the square of the steps."""
    reference = (await complaints.file()).reference
    answers = [await complaints.add(reference), await complaints.review(reference), await complaints.answer(reference)]
    answers.append(await complaints.close(reference))
    whole = await complaints.get(reference)
    assert [list(answer.steps) for answer in answers] == [[step] for step in whole.steps[1:]]
    for answer, step in zip(answers, whole.steps[1:], strict=True):
        answer.ClearField("steps")
        # The rest is the complaint as it was then.
        as_it_was = pb.Complaint()
        as_it_was.CopyFrom(whole)
        as_it_was.ClearField("steps")
        as_it_was.state = step.state
        assert answer == as_it_was


@pytest.mark.guarantee("G11")
async def test_g11_the_last_stored_answer_is_as_long_as_the_first(
    complaints: ComplaintDriver, connection: Connection
) -> None:
    text = "The same words."
    reference = (await complaints.file(text=text)).reference
    for _ in range(9):
        await complaints.add(reference, text=text)
    stored = await connection.fetch("SELECT octet_length(answer) AS size FROM requests WHERE caller = 'ana'")
    assert len(stored) == 10
    assert len({row["size"] for row in stored}) == 1


@pytest.mark.guarantee("G11")
async def test_g11_the_unanswered_complaints_of_an_account_are_limited(
    complaints: ComplaintDriver, ledger: SmallLedger
) -> None:
    account = str(ledger.ana.account_id)
    references = [(await complaints.file()).reference for _ in range(states.UNANSWERED_LIMIT)]
    await complaints.review(references[0])
    for caller in (ANA, OPERATOR):
        with pytest.raises(
            Refused, match="20 complaints without an answer", check=_has_reason("COMPLAINTS_UNANSWERED")
        ) as refused:
            await complaints.file(caller, request_id="one-more")
        assert refused.value.facts == {"account_id": account, "limit": "20"}
    # The limit is the account's own.
    assert (await complaints.file(RUI, account_id=str(ledger.rui.account_id))).state == FILED
    # The player may still add, and the operator answer; the refusal was not stored.
    await complaints.add(references[1])
    await complaints.answer(references[0])
    assert (await complaints.file(request_id="one-more")).state == FILED
    # A complaint that is opened again counts again.
    await complaints.answer(references[1])
    await complaints.add(references[1])
    with pytest.raises(Refused, check=_has_reason("COMPLAINTS_UNANSWERED")):
        await complaints.file()


@pytest.mark.guarantee("G11")
async def test_g11_concurrent_complaints_do_not_exceed_the_limit(
    complaints: ComplaintDriver, connection: Connection
) -> None:
    filings = (complaints.file() for _ in range(states.UNANSWERED_LIMIT + 8))
    filed = await asyncio.gather(*filings, return_exceptions=True)
    refused = [answer.reason for answer in filed if isinstance(answer, Refused)]
    assert refused == ["COMPLAINTS_UNANSWERED"] * 8
    assert await connection.fetchval("SELECT count(*) FROM complaints") == states.UNANSWERED_LIMIT


# -- once (G3) --------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_a_repeat_gets_the_first_answer_byte_for_byte(
    complaints: ComplaintDriver, connection: Connection
) -> None:
    request = pb.FileComplaintRequest(
        request_id="file-1",
        account_id=str(complaints.ledger.ana.account_id),
        round_id="round-settled",
        text="The ball was in 17.",
    )
    first = await complaints.service.file_complaint(request, ANA)
    reference = pb.FileComplaintResponse.FromString(first).complaint.reference
    addition = pb.AddToComplaintRequest(reference=reference, request_id="add-1", text="Black 17.")
    added = await complaints.service.add_to_complaint(addition, ANA)
    await complaints.answer(reference)
    assert await complaints.service.file_complaint(request, ANA) == first
    assert await complaints.service.add_to_complaint(addition, ANA) == added
    assert await connection.fetchval("SELECT count(*) FROM complaints") == 1
    assert len((await complaints.get(reference)).steps) == 3


@pytest.mark.guarantee("G3")
async def test_g3_copies_of_the_last_complaint_below_the_limit_get_its_answer(
    complaints: ComplaintDriver, connection: Connection
) -> None:
    for _ in range(states.UNANSWERED_LIMIT - 1):
        await complaints.file()
    copies = await asyncio.gather(*(complaints.file(request_id="the-last") for _ in range(8)))
    copies.append(await complaints.file(request_id="the-last"))
    assert {complaint.reference for complaint in copies} == {copies[0].reference}
    assert await connection.fetchval("SELECT count(*) FROM complaints") == states.UNANSWERED_LIMIT


@pytest.mark.guarantee("G3")
async def test_g3_a_repeat_gets_the_first_refusal(complaints: ComplaintDriver, connection: Connection) -> None:
    reference = (await complaints.file()).reference
    unknown = pb.FileComplaintRequest(
        request_id="file-1", account_id=str(complaints.ledger.ana.account_id), round_id="round-new", text="Where is it?"
    )
    refusals = []
    for _ in range(2):
        with pytest.raises(Refused, check=_has_reason("ROUND_UNKNOWN")) as refused:
            await complaints.service.file_complaint(unknown, ANA)
        refusals.append(status_from(refused.value).SerializeToString())
        # Now the round exists, but the answer was given.
        await connection.execute(
            "INSERT INTO rounds (round_no, round_id, table_no, state, opened_at) VALUES (9999, 'round-new', $1, 1, $2)"
            " ON CONFLICT DO NOTHING",
            complaints.ledger.roulette.no,
            NEW_YEAR,
        )
    assert refusals[0] == refusals[1]
    assert (await complaints.get(reference)).state == FILED


@pytest.mark.guarantee("G3")
async def test_g3_other_content_under_a_used_id_is_refused(complaints: ComplaintDriver) -> None:
    filed = await complaints.file(request_id="one")
    with pytest.raises(Refused, check=_has_reason("REQUEST_REUSED")) as refused:
        await complaints.file(request_id="one", text="The ball was in 18.")
    assert code_of(refused.value) is grpc.StatusCode.ALREADY_EXISTS
    assert refused.value.facts == {"request_id": "one"}
    # Another command is other content, even with the same text.
    answer = pb.AnswerComplaintRequest(reference=filed.reference, request_id="two", text="Words.")
    await complaints.service.answer_complaint(answer, OPERATOR)
    addition = pb.AddToComplaintRequest(reference=filed.reference, request_id="two", text="Words.")
    with pytest.raises(Refused, check=_has_reason("REQUEST_REUSED")):
        await complaints.service.add_to_complaint(addition, OPERATOR)


@pytest.mark.guarantee("G3")
async def test_g3_no_player_gets_the_answer_of_another(complaints: ComplaintDriver) -> None:
    request = pb.FileComplaintRequest(
        request_id="file-1", account_id=str(complaints.ledger.ana.account_id), round_id="round-settled", text="Mine."
    )
    await complaints.service.file_complaint(request, ANA)
    with pytest.raises(Refused, check=_has_reason("ACCOUNT_UNKNOWN")):
        await complaints.service.file_complaint(request, RUI)


@pytest.mark.guarantee("G7")
async def test_g7_a_repeated_command_does_not_show_whose_what_it_names_is(complaints: ComplaintDriver) -> None:
    """Were only one refusal stored, the same request id with other content would be refused after that one alone."""
    ana, nobody = str(complaints.ledger.ana.account_id), str(uuid4())
    reference = (await complaints.file()).reference
    for number, (account_id, named) in enumerate(((ana, reference), (nobody, "R-2026-999999"))):
        for text in ("One.", "Another."):
            file = pb.FileComplaintRequest(
                request_id=f"file-{number}", account_id=account_id, round_id="round-settled", text=text
            )
            add = pb.AddToComplaintRequest(request_id=f"add-{number}", reference=named, text=text)
            with pytest.raises(Refused, check=_has_reason("ACCOUNT_UNKNOWN")):
                await complaints.service.file_complaint(file, RUI)
            with pytest.raises(Refused, check=_has_reason("COMPLAINT_UNKNOWN")):
                await complaints.service.add_to_complaint(add, RUI)


@pytest.mark.guarantee("G3")
async def test_g3_concurrent_duplicates_act_once(complaints: ComplaintDriver, connection: Connection) -> None:
    request = pb.FileComplaintRequest(
        request_id="file-1", account_id=str(complaints.ledger.ana.account_id), round_id="round-settled", text="Once."
    )
    filings = await asyncio.gather(*(complaints.service.file_complaint(request, ANA) for _ in range(8)))
    assert len(set(filings)) == 1
    assert await connection.fetchval("SELECT count(*) FROM complaints") == 1
    reference = pb.FileComplaintResponse.FromString(filings[0]).complaint.reference
    addition = pb.AddToComplaintRequest(reference=reference, request_id="add-1", text="Once too.")
    additions = await asyncio.gather(*(complaints.service.add_to_complaint(addition, ANA) for _ in range(8)))
    assert len(set(additions)) == 1
    assert len((await complaints.get(reference)).steps) == 2
    assert len(await _facts(connection)) == 2


async def test_concurrent_actions_follow_one_another(complaints: ComplaintDriver, connection: Connection) -> None:
    reference = (await complaints.file()).reference
    await asyncio.gather(
        *(complaints.add(reference, text=f"Thought {n}.") for n in range(6)), complaints.answer(reference)
    )
    steps = (await complaints.get(reference)).steps
    assert [step.number for step in steps] == list(range(1, 9))
    assert {step.text for step in steps[1:]} >= {f"Thought {n}." for n in range(6)}
    assert await connection.fetchval("SELECT state FROM complaints") == steps[-1].state


# -- facts and lists --------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G5")
async def test_g5_the_player_gets_a_fact_for_every_step(complaints: ComplaintDriver, connection: Connection) -> None:
    reference = (await complaints.file()).reference
    await complaints.review(reference)
    await complaints.answer(reference)
    answered = await complaints.get(reference)
    with pytest.raises(Refused, check=_has_reason("COMPLAINT_UNKNOWN")):
        await complaints.add(reference, RUI)
    player_facts = await _facts(connection)
    assert {fact.subject for fact in player_facts} == {"feltro.player.ana.wallet"}
    updates = [events_pb2.PlayerFact.FromString(fact.payload).complaint_updated for fact in player_facts]
    assert {update.reference for update in updates} == {reference}
    assert [update.step for update in updates] == list(answered.steps)


async def test_complaints_are_listed_newest_first_in_pages(complaints: ComplaintDriver, ledger: SmallLedger) -> None:
    mine = [(await complaints.file()).reference for _ in range(5)]
    other = (await complaints.file(RUI, account_id=str(ledger.rui.account_id))).reference
    await complaints.answer(mine[1])

    async def references(
        caller: Caller, account_id: str = "", state: pb.ComplaintState.ValueType = pb.COMPLAINT_STATE_UNSPECIFIED
    ) -> list[str]:
        found: list[str] = []
        token = ""
        while True:
            request = pb.ListComplaintsRequest(account_id=account_id, state=state, page_size=2, page_token=token)
            page = await complaints.service.list_complaints(request, caller)
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


async def test_an_invalid_list_request_is_refused(complaints: ComplaintDriver, ledger: SmallLedger) -> None:
    ana = str(ledger.ana.account_id)
    cases = [
        (pb.ListComplaintsRequest(), ANA, "INVALID"),
        (pb.ListComplaintsRequest(account_id=ana), RUI, "ACCOUNT_UNKNOWN"),
        (pb.ListComplaintsRequest(account_id=str(uuid4())), ANA, "ACCOUNT_UNKNOWN"),
        (pb.ListComplaintsRequest(account_id=ana, page_size=501), ANA, "INVALID"),
        (pb.ListComplaintsRequest(account_id=ana, page_size=-1), ANA, "INVALID"),
        (pb.ListComplaintsRequest(account_id=ana, page_token="nonsense"), ANA, "INVALID"),  # noqa: S106
        (pb.ListComplaintsRequest(account_id=ana, state=cast("pb.ComplaintState.ValueType", 9)), ANA, "INVALID"),
    ]
    for request, caller, reason in cases:
        with pytest.raises(Refused, check=_has_reason(reason)):
            await complaints.service.list_complaints(request, caller)


async def test_the_audit_finds_nothing_wrong_with_complaints(
    complaints: ComplaintDriver, wallet_database: WalletDatabase
) -> None:
    reference = (await complaints.file()).reference
    await complaints.answer(reference)
    await complaints.add(reference)
    await complaints.file(session_id=str(complaints.ledger.ended.session_id))
    # The service's clock is ahead of the database's, so its facts in the outbox are not old.
    assert await ledger_audit.violations_at(wallet_database.url) == []


# -- over gRPC --------------------------------------------------------------------------------------------------------


async def test_players_file_and_operators_answer_over_grpc(wallet_client: WalletClient) -> None:
    """Each with their own token: neither can do the other's part."""
    await wallet_client.open_table("roulette-1")
    seat = await wallet_client.sit_down("ana", "roulette-1", cents=1000)
    ana, rui = wallet_client.bearer("player", "ana"), wallet_client.bearer("player", "rui")
    request = pb.FileComplaintRequest(
        request_id="file-1", account_id=seat.account_id, session_id=seat.session_id, text="My bet was not taken."
    )
    filed = await wallet_client.complaints.FileComplaint(request, metadata=ana)
    assert await wallet_client.complaints.FileComplaint(request, metadata=ana) == filed
    reference = filed.complaint.reference

    answer = pb.AnswerComplaintRequest(reference=reference, request_id="answer-1", text="It came after the close.")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.complaints.AnswerComplaint(answer, metadata=ana)
    assert refusal_reason(refused.value) == "SCOPE_MISSING"
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.complaints.GetComplaint(pb.GetComplaintRequest(reference=reference), metadata=rui)
    assert (refused.value.code(), refusal_reason(refused.value)) == (grpc.StatusCode.NOT_FOUND, "COMPLAINT_UNKNOWN")

    await wallet_client.complaints.AnswerComplaint(answer, metadata=wallet_client.operator)
    shown = await wallet_client.complaints.GetComplaint(pb.GetComplaintRequest(reference=reference), metadata=ana)
    assert [step.state for step in shown.complaint.steps] == [FILED, ANSWERED]
