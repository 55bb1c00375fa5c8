"""What this process knows since it last wrote: with it a group of stakes is decided before anything is locked.

It is only a guess, for other processes write too: the statement that writes the group looks whether it holds, under the
locks. Whatever a group needs is taken out until the group is committed, so that what came to nothing is forgotten.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from services.wallet.ledger.book import Book, SessionKey
from services.wallet.ledger.commands import PlaceStake
from services.wallet.model.state import Account, AccountKind, Round, RoundState, SessionState, Table
from services.wallet.store.optimistic_stakes import ExpectedState

# Accounts or rounds beyond this are forgotten all at once and looked up again (G11).
CACHED_ROWS_LIMIT = 200_000
# Numbers drawn beyond those that the largest recent group needed: a group that finds too few makes a round trip of its
# own to draw more.
SPARE_NUMBERS = 16
# The largest recent group counts for this much less with every group after it.
RECENT_GROUP_DECAY = 0.95
# Numbers beyond this are the oldest, which are good for the fewest accounts: they are let go (G11).
DRAWN_NUMBERS_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class CachedGroup:
    """What a group is decided by."""

    # In rising order, one for each command, and all above those of the accounts' transfers; None if there are too few.
    numbers: Sequence[int] | None
    expected: ExpectedState


class WriteCache:
    """Tables, accounts and open rounds as they were left, and numbers that nobody has used."""

    def __init__(self) -> None:
        self._tables: dict[int, Table] = {}
        # With a number that was drawn while the account was locked: those of its transfers are not above it.
        self._accounts: dict[int, tuple[Account, int]] = {}
        # What they hold may be more by now, and is never less: others may have placed stakes since.
        self._rounds: dict[str, Round] = {}
        self._numbers: list[int] = []
        self._largest_recent_group = 0.0

    def take(
        self, commands: Sequence[PlaceStake], session_keys: dict[str, SessionKey], book: Book
    ) -> CachedGroup | None:
        """Fills the book with all that the stakes are about; None, and nothing happens, if something is missing."""
        tables, accounts, rounds = self._tables, self._accounts, self._rounds
        for command in commands:
            table, round_ = tables.get(command.table_no), rounds.get(command.round_id)
            if table is None or table.epoch != command.epoch or command.account_no not in accounts:
                return None
            # What is of another table is under another lock.
            if session_keys[command.session_id].table_no != table.no or (
                round_ is not None and round_.table_no != table.no
            ):
                return None
        account_nos = {command.account_no for command in commands}
        numbers = self._take_numbers(len(commands), max(accounts[no][1] for no in account_nos))
        unknown_round_ids: set[str] = set()
        for command in commands:
            round_id = command.round_id
            if command.table_no not in book.tables:
                book.tables[command.table_no] = tables.pop(command.table_no)
            if round_id in rounds:
                book.rounds[round_id] = rounds.pop(round_id)
            elif round_id not in book.rounds:
                unknown_round_ids.add(round_id)
            book.session_keys[command.session_id] = session_keys[command.session_id]
            book.session_states[command.session_no] = SessionState.ACTIVE
        for no in account_nos:
            book.accounts[no] = accounts.pop(no)[0]
        seen = ExpectedState(
            [(table.no, table.epoch) for table in book.tables.values()],
            [(account.no, account.version) for account in book.accounts.values()],
            [round_.no for round_ in book.rounds.values()],
            list(unknown_round_ids),
            list(book.session_states),
        )
        return CachedGroup(numbers, seen)

    def numbers_to_draw(self, commands: int) -> int:
        """Returns how many numbers a group of this many commands should draw for the groups after it."""
        self._largest_recent_group = max(commands, self._largest_recent_group * RECENT_GROUP_DECAY)
        return max(int(self._largest_recent_group) + SPARE_NUMBERS - len(self._numbers), 1)

    def put(self, book: Book, last_number: int, new_numbers: Sequence[int]) -> None:
        """Remembers a book that was committed. `last_number` was drawn under its locks, the new ones after it."""
        self._make_room()
        for table in book.tables.values():
            known = self._tables.get(table.no)
            if known is None or table.epoch >= known.epoch:
                self._tables[table.no] = table
        for account in book.accounts.values():
            if account.kind is AccountKind.PLAYER:
                self._keep_account(account, last_number)
        for round_ in book.rounds.values():
            if round_.state is RoundState.OPEN:
                self._rounds[round_.round_id] = round_
            else:
                self._rounds.pop(round_.round_id, None)
        self._numbers = sorted([*self._numbers, *new_numbers])[-DRAWN_NUMBERS_LIMIT:]

    def _keep_account(self, account: Account, last_number: int) -> None:
        known = self._accounts.get(account.no)
        if account.blocked:
            self._accounts.pop(account.no, None)
        # Of two lanes that wrote the same account, either may be heard of first.
        elif known is None or account.version >= known[0].version:
            self._accounts[account.no] = account, last_number

    def _make_room(self) -> None:
        for remembered in (self._tables, self._accounts, self._rounds):
            if len(remembered) > CACHED_ROWS_LIMIT:
                remembered.clear()

    def _take_numbers(self, count: int, above: int) -> list[int] | None:
        """So many that are above all that the accounts have; the others are good for nobody any more."""
        first = bisect_right(self._numbers, above)
        if len(self._numbers) - first < count:
            return None
        taken = self._numbers[first : first + count]
        del self._numbers[: first + count]
        return taken
