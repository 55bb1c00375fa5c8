"""Explains a tournament from its journal, and holds it against the ledger: every payment in and out (G10)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from feltro.wallet.v1 import ticket_pb2, tournament_pb2
from services.kit.table.journal.tournament_entries import JournalledFact
from services.poker.directing.award_messages import award_message
from services.poker.directing.course import Course, Step, replay
from services.poker.directing.explaining_tickets import explain_tickets
from services.poker.directing.fact_messages import read_fact
from services.poker.tournament.money.awards import Award, Form
from services.poker.tournament.money.entries import PaidBy
from services.poker.tournament.refusals import rule
from services.poker.tournament.running.facts import AddedOn, Rebought, TimePassed
from services.poker.tournament.running.facts import Paid as EntryPaid
from services.poker.tournament.running.orders import DrawsMade, Eliminate, FreezePrizes, Ranked

# What tells an award from all others of a transfer: account, reason, cents, refunded pay-in, ticket, and its refund.
_Key = tuple[str, int, int, str, tuple[str, bool], tuple[int, str]]


class Explanation:
    """What happened in a tournament, line by line, and where journal and ledger differ."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.differences: list[str] = []

    def differ(self, sentence: str) -> None:
        self.differences.append(sentence)
        self.lines.append(f"  DIFFERS: {sentence}")


def explain(
    begun: Course,
    facts: Sequence[JournalledFact],
    money: tournament_pb2.GetTournamentMoneyResponse,
    pay_ins: Sequence[tournament_pb2.TournamentPayIn],
    awards: Sequence[tournament_pb2.TournamentAward],
    tickets: Sequence[ticket_pb2.Ticket],
) -> Explanation:
    """Replays the facts, and compares what they move with what the ledger has moved; `tickets` are those to it."""
    explained = Explanation()
    course, steps = replay(begun, facts)
    _compare_pay_ins(explained, begun, facts, pay_ins)
    paid = _awards_by_request(awards)
    became = {(each.request_id, _key(each.award)): each for each in awards if each.ticket_id}
    for step in steps:
        _explain(explained, step)
        for transfer in step.transfers:
            wanted = sorted(_key(award_message(each)) for each in transfer.pay_out.awards)
            found = paid.pop(transfer.request_id, [])
            for each in transfer.pay_out.awards:
                award = each.award
                place = f" for place {award.place}" if award.place else ""
                ticket = became.get((transfer.request_id, _key(award_message(each))))
                explained.lines.append(
                    f"  {_given(award)} to {award.player}: {award.why}{place} ({award.rule}),"
                    f" by {transfer.request_id}{_ticket_words(ticket)}"
                )
            if wanted != sorted(found):
                explained.differ(f"{transfer.request_id}: the journal pays {wanted}, and the ledger {sorted(found)}")
            _explain_bank(explained, transfer.pay_out.overlay_cents, transfer.pay_out.shortfall_cents)
    for request_id, unknown in paid.items():
        explained.differ(f"{request_id}: the ledger has paid {unknown}, and no fact says so")
    _compare_sums(explained, course, money)
    lines, differences = explain_tickets(course, steps, tickets, is_closed=money.HasField("closed_at"))
    explained.lines += lines
    for sentence in differences:
        explained.differ(sentence)
    return explained


def _given(award: Award) -> str:
    if award.form is Form.CASH:
        return f"pays {award.cents} cents"
    return f"gives a ticket of {award.cents} cents for {award.tournament}"


def _ticket_words(award: tournament_pb2.TournamentAward | None) -> str:
    """Returns what became of a ticket in the ledger, such as money (29)."""
    if award is None:
        return ""
    state = ticket_pb2.TicketState.Name(award.ticket_state).removeprefix("TICKET_STATE_")
    return f" (ticket {award.ticket_id}: {state})"


def _explain(explained: Explanation, step: Step) -> None:
    fact = step.event.fact
    at = datetime.fromtimestamp(step.event.at_ms / 1000, UTC).isoformat(timespec="milliseconds")
    explained.lines.append(f"{step.number} {at} {'time passes' if isinstance(fact, TimePassed) else fact}")
    for order in step.orders:
        match order:
            case DrawsMade(draws):
                explained.lines += [f"  draws {each.what}: {each.chosen} of {each.candidates}" for each in draws]
            case FreezePrizes(prizes):
                places = ", ".join(
                    f"{prize.cents} and a ticket" if prize.ticket_cents else str(prize.cents) for prize in prizes.places
                )
                explained.lines.append(f"  prizes are final: {prizes.pool_cents} cents, by place {places}")
            case Eliminate(entry):
                explained.lines.append(f"  entry {entry} is out ({rule('44')})")
            case Ranked(place):
                explained.lines.append(f"  place {place.label}: entries {', '.join(map(str, place.entries))}")
            case _:
                pass


def _explain_bank(explained: Explanation, overlay_cents: int, shortfall_cents: int) -> None:
    if overlay_cents:
        explained.lines.append(f"  the operator adds {overlay_cents} cents to the guaranteed prizes")
    if shortfall_cents:
        explained.lines.append(
            f"  the operator adds {shortfall_cents} cents that the cancellation lacks ({rule('36')})"
        )


def _compare_pay_ins(
    explained: Explanation,
    begun: Course,
    facts: Sequence[JournalledFact],
    pay_ins: Sequence[tournament_pb2.TournamentPayIn],
) -> None:
    """Compares each purchase with what the wallet took for it."""
    taken = {each.request_id: each for each in pay_ins}
    for journalled in facts:
        fact, payment = read_fact(journalled.fact)
        if payment is None or not payment.pay_in_id or not isinstance(fact, EntryPaid | Rebought | AddedOn):
            continue
        price, found = begun.price_of(fact), taken.pop(payment.pay_in_id, None)
        parts = None if found is None else (found.prize_cents, found.fee_cents, found.bounty_cents)
        if parts != tuple(price) or found is None or found.account_id != payment.account_id:
            explained.differ(f"{payment.pay_in_id}: the journal has {tuple(price)} paid in, and the ledger {parts}")
        elif (found.ticket_id, found.from_freeroll) != (payment.ticket_id, _is_from_freeroll(fact)):
            by_journal, by_ledger = payment.ticket_id or "money", found.ticket_id or "money"
            explained.differ(
                f"{payment.pay_in_id}: the journal has it paid with {by_journal}, the ledger with {by_ledger}"
            )
    for request_id in taken:
        explained.differ(f"{request_id}: the ledger has it paid in, and no fact says so")


def _is_from_freeroll(fact: EntryPaid | Rebought | AddedOn) -> bool:
    return isinstance(fact, EntryPaid) and fact.paid_by is PaidBy.FREEROLL_TICKET


def _awards_by_request(awards: Sequence[tournament_pb2.TournamentAward]) -> dict[str, list[_Key]]:
    paid: dict[str, list[_Key]] = {}
    for each in awards:
        paid.setdefault(each.request_id, []).append(_key(each.award))
    return paid


def _key(award: tournament_pb2.Award) -> _Key:
    ticket = (award.ticket.tournament_id, award.ticket.from_freeroll) if award.HasField("ticket") else ("", False)
    refund = (int(award.ticket_refund), award.replacement_tournament_id)
    return award.account_id, int(award.reason), award.amount_cents, award.refunded_request_id, ticket, refund


def _compare_sums(explained: Explanation, course: Course, money: tournament_pb2.GetTournamentMoneyResponse) -> None:
    books = course.books
    for what, by_facts, by_ledger in (
        ("pool", books.wallet_cents, money.pool_cents),
        ("overlay", books.overlay_paid_cents, money.overlay_cents),
        ("shortfall", books.shortfall_paid_cents, money.shortfall_cents),
    ):
        explained.lines.append(f"{what}: {by_facts} cents")
        if by_facts != by_ledger:
            explained.differ(f"the {what} is {by_facts} cents by the journal, and {by_ledger} by the ledger")
