"""Caches the rows that this process last wrote, so that a group of stakes can be decided before anything is locked.

Other processes write too, so the cached state is only expected: the statement that writes the group verifies it under
the locks. A group takes its rows out of the cache until it is committed, so a failed group leaves none behind.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import PlaceStake
from services.wallet.model.state import Account, AccountKind, Round, RoundState, SessionKey, SessionState, Table
from services.wallet.store.optimistic_stakes import ExpectedState

# Beyond this many rows of one kind all of them are dropped and read again (G11).
CACHED_ROWS_LIMIT = 200_000
# Numbers drawn beyond those that the largest recent group needed: a group that finds too few makes a round trip of its
# own to draw more.
SPARE_NUMBERS = 16
# The largest recent group counts for this much less with every group after it.
RECENT_GROUP_DECAY = 0.95
# Beyond this many the lowest numbers are dropped: they are usable for the fewest accounts (G11).
DRAWN_NUMBERS_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class CachedGroup:
    """The numbers and the expected state that a group is decided with."""

    # One for each command, rising, and all above those of the accounts' transfers; None if there are too few.
    numbers: Sequence[int] | None
    expected: ExpectedState


class WriteCache:
    """Tables, accounts and open rounds as last written, and unused ledger numbers."""

    def __init__(self) -> None:
        self._tables: dict[int, Table] = {}
        # With a number drawn while the account was locked: no transfer of the account has a higher one.
        self._accounts: dict[int, tuple[Account, int]] = {}
        # Other processes may have placed stakes since: the totals may be higher by now, never lower.
        self._rounds: dict[str, Round] = {}
        self._numbers: list[int] = []
        self._largest_recent_group = 0.0

    def take(
        self, commands: Sequence[PlaceStake], session_keys: dict[str, SessionKey], book: Book
    ) -> CachedGroup | None:
        """Moves the rows that the stakes need into the book; returns None, and changes nothing, if one is missing."""
        tables, accounts, rounds = self._tables, self._accounts, self._rounds
        for command in commands:
            table, round_ = tables.get(command.table_no), rounds.get(command.round_id)
            if table is None or table.epoch != command.epoch or command.account_no not in accounts:
                return None
            # Another game's stake is refused, and leaves nothing to be written here.
            if table.game != command.game:
                return None
            # Another table's rows need another lock: take the slow path.
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
        expected = ExpectedState(
            [(table.no, table.epoch) for table in book.tables.values()],
            [(account.no, account.version) for account in book.accounts.values()],
            [round_.no for round_ in book.rounds.values()],
            list(unknown_round_ids),
            list(book.session_states),
        )
        return CachedGroup(numbers, expected)

    def numbers_to_draw(self, commands: int) -> int:
        """Returns how many numbers a group of this many commands should draw for the groups after it."""
        self._largest_recent_group = max(commands, self._largest_recent_group * RECENT_GROUP_DECAY)
        return max(int(self._largest_recent_group) + SPARE_NUMBERS - len(self._numbers), 1)

    def put(self, book: Book, last_number: int, new_numbers: Sequence[int]) -> None:
        """Caches a committed book; `last_number` was drawn under its locks, the new numbers after it."""
        self._make_room()
        for table in book.tables.values():
            cached = self._tables.get(table.no)
            if cached is None or table.epoch >= cached.epoch:
                self._tables[table.no] = table
        for account in book.accounts.values():
            if account.kind is AccountKind.PLAYER:
                self._put_account(account, last_number)
        for round_ in book.rounds.values():
            if round_.state is RoundState.OPEN:
                self._rounds[round_.round_id] = round_
            else:
                self._rounds.pop(round_.round_id, None)
        self._numbers = sorted([*self._numbers, *new_numbers])[-DRAWN_NUMBERS_LIMIT:]

    def _put_account(self, account: Account, last_number: int) -> None:
        cached = self._accounts.get(account.no)
        if account.blocked:
            self._accounts.pop(account.no, None)
        # Two lanes that wrote the same account may come back in either order.
        elif cached is None or account.version >= cached[0].version:
            self._accounts[account.no] = account, last_number

    def _make_room(self) -> None:
        for rows in (self._tables, self._accounts, self._rounds):
            if len(rows) > CACHED_ROWS_LIMIT:
                rows.clear()

    def _take_numbers(self, count: int, above: int) -> list[int] | None:
        """Takes numbers above those of the accounts' transfers, and drops the lower ones, which nobody can use."""
        first = bisect_right(self._numbers, above)
        if len(self._numbers) - first < count:
            return None
        taken = self._numbers[first : first + count]
        del self._numbers[: first + count]
        return taken
