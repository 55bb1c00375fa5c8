"""A group of commands on its way through one transaction, and the decision of its commands in their order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.kit.rpc.status import status_from
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import Command
from services.wallet.ledger.decisions import decide
from services.wallet.model import refusals
from services.wallet.model.refusals import WalletRefused
from services.wallet.store.answers import StoredAnswer
from services.wallet.store.id_cache import ResolvedIds
from services.wallet.store.ledger_rows import AnswerRow

_NO_TRANSFER = (None, None, None, None)


@dataclass(slots=True)
class Lookup:
    """The ledger number of one command, and the digest and answer stored under its request id, if any."""

    number: int
    stored: tuple[bytes, StoredAnswer] | None


@dataclass(slots=True)
class Group:
    """Commands that are decided and written together."""

    commands: Sequence[Command]
    book: Book
    # Empty where the write cache has filled the book.
    resolved: ResolvedIds = field(default_factory=ResolvedIds)
    lookups: list[Lookup] = field(default_factory=list)
    # A row for each command that is answered for the first time, with its transfer if it moved money.
    answered: list[AnswerRow] = field(default_factory=list)


def decide_group(group: Group) -> list[StoredAnswer]:
    """Decides each command by itself: a refused one does not affect the others."""
    book = group.book
    answered_now: dict[str, tuple[bytes, StoredAnswer]] = {}
    answers: list[StoredAnswer] = []
    for command, lookup in zip(group.commands, group.lookups, strict=True):
        try:
            book.admit(command)
        except WalletRefused as refused:
            # Before any answer is looked up: another game learns none.
            answers.append(_stored_refusal(refused))
            continue
        before = lookup.stored or answered_now.get(command.request_id)
        if before is not None:
            digest, stored = before
            same = digest == command.digest
            answers.append(stored if same else _stored_refusal(refusals.request_reused(command.request_id)))
            continue
        try:
            answer = StoredAnswer(refused=False, answer=decide(book, command, lookup.number).SerializeToString())
        except WalletRefused as refused:
            answer = _stored_refusal(refused)
            if refused.reason in refusals.NOT_STORED:
                answers.append(answer)
                continue
        answered_now[command.request_id] = command.digest, answer
        transfer = book.transfers.get(lookup.number)
        number = lookup.number if transfer else None
        group.answered.append(
            (
                command.request_id,
                command.digest,
                answer.refused,
                answer.answer,
                command.caller,
                number,
                *(transfer or _NO_TRANSFER),
            )
        )
        answers.append(answer)
    return answers


def _stored_refusal(refused: WalletRefused) -> StoredAnswer:
    return StoredAnswer(refused=True, answer=status_from(refused).SerializeToString(deterministic=True))
