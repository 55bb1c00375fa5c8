"""A model of the ledger in memory, as simple as possible, to compare the real wallet with.

It has no database, no groups and no concurrency. Answers to commands that were sent together are explained if there is
an order in which the model, command by command, gives each the answer that the wallet gave (`states_that_explain`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

# Reasons about the sender or the moment, which the wallet does not store as the command's answer.
NOT_STORED = frozenset({"INVALID", "STALE_EPOCH", "REQUEST_REUSED"})

ACTIVE, ENDING, ENDED = "ACTIVE", "ENDING", "ENDED"
OPEN, SETTLED, VOID = "OPEN", "SETTLED", "VOID"

Facts = Mapping[str, object]


@dataclass(frozen=True)
class Answer:
    """The answer to a command: the reason of its refusal, or none, and its facts."""

    facts: Facts
    refused: str = ""


@dataclass(frozen=True)
class Account:
    """A player's account."""

    player: str
    demo: bool
    free: int = 0
    locked: int = 0
    version: int = 0
    blocked: bool = False

    @property
    def facts(self) -> dict[str, int]:
        return {"free": self.free, "locked": self.locked, "version": self.version}


@dataclass(frozen=True)
class Table:
    """A table."""

    demo: bool
    poker: bool
    epoch: int = 1


@dataclass(frozen=True)
class Session:
    """A session of an account at a table."""

    account: str
    table: str
    state: str = ACTIVE


@dataclass(frozen=True)
class Round:
    """A round."""

    table: str
    state: str = OPEN


@dataclass(frozen=True)
class Stake:
    """A stake; `open_cents` are in play."""

    round_id: str
    account: str
    session: str
    open_cents: int
    # Of a stake that was paid before its round ended: what was in play of it, and its payout.
    paid: tuple[int, int] | None = None


@dataclass
class LedgerState:
    """The whole state of the model, of immutable values in dictionaries."""

    accounts: dict[str, Account] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    rounds: dict[str, Round] = field(default_factory=dict)
    stakes: dict[str, Stake] = field(default_factory=dict)
    caves: dict[tuple[str, str], int] = field(default_factory=dict)
    # The command and the answer of each request id.
    answered: dict[str, tuple[IdempotentCommand, Answer]] = field(default_factory=dict)
    # The id that the wallet chose for the session being started, which the model cannot foresee.
    new_session: str = ""

    def copy(self) -> LedgerState:
        return LedgerState(
            dict(self.accounts),
            dict(self.tables),
            dict(self.sessions),
            dict(self.rounds),
            dict(self.stakes),
            dict(self.caves),
            dict(self.answered),
        )

    def post(self, account: str, *, free: int = 0, locked: int = 0) -> dict[str, int]:
        account_row = self.accounts[account]
        moved = replace(
            account_row,
            free=account_row.free + free,
            locked=account_row.locked + locked,
            version=account_row.version + 1,
        )
        assert moved.free >= 0, "the model would let a player fall below zero"
        assert moved.locked >= 0, "the model would let a player fall below zero"
        self.accounts[account] = moved
        return moved.facts

    def open_stakes(self, round_id: str) -> dict[str, Stake]:
        return {stake: bet for stake, bet in self.stakes.items() if bet.round_id == round_id and bet.open_cents}

    def paid_stakes(self, round_id: str) -> dict[str, tuple[str, int, int]]:
        """Returns account, stake and payout of each stake of a round that was paid before its end."""
        return {
            stake: (bet.account, *bet.paid)
            for stake, bet in self.stakes.items()
            if bet.round_id == round_id and bet.paid is not None
        }

    def in_play(self, session: str) -> bool:
        session_row = self.sessions[session]
        return bool(self.caves.get((session_row.account, session_row.table))) or any(
            bet.open_cents and bet.session == session for bet in self.stakes.values()
        )

    def running(self, account: str, table: str) -> str | None:
        for session, session_row in self.sessions.items():
            if (session_row.account, session_row.table) == (account, table) and session_row.state != ENDED:
                return session
        return None

    def end_waiting_sessions(self) -> None:
        """Ends the ending sessions that have nothing in play."""
        for session, session_row in self.sessions.items():
            if session_row.state == ENDING and not self.in_play(session):
                self.sessions[session] = replace(session_row, state=ENDED)


@dataclass(frozen=True)
class Command:
    """One call: `refusals` returns all reasons to refuse it; without any `execute` returns the facts of its answer."""

    @property
    def valid(self) -> bool:
        """Whether its fields are valid; otherwise it is refused before anything else."""
        return True

    def raise_epoch(self, ledger: LedgerState) -> None:
        """Raises the epoch of the command's table, which a refused command does, too."""

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        raise NotImplementedError

    def execute(self, ledger: LedgerState) -> Facts:
        raise NotImplementedError


@dataclass(frozen=True)
class RepeatableCommand(Command):
    """A command that is never refused and does the same however often it is sent."""

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        return {}


@dataclass(frozen=True)
class IdempotentCommand(Command):
    """A command that acts once (G3)."""

    request_id: str

    @property
    def content(self) -> IdempotentCommand:
        """The content that a repeated command must have (G3)."""
        return replace(self, request_id="")


@dataclass(frozen=True)
class Deposit(IdempotentCommand):
    account: str
    cents: int

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        return {"ACCOUNT_BLOCKED": {}} if ledger.accounts[self.account].blocked else {}

    def execute(self, ledger: LedgerState) -> Facts:
        return ledger.post(self.account, free=self.cents)


@dataclass(frozen=True)
class Withdraw(IdempotentCommand):
    account: str
    cents: int

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        account_row = ledger.accounts[self.account]
        # Demonstration credits are never paid out, however many there are.
        return (
            {"MODE_MISMATCH": {"account_mode": "MODE_DEMO"}}
            if account_row.demo
            else _unless_funded(account_row, self.cents)
        )

    def execute(self, ledger: LedgerState) -> Facts:
        return ledger.post(self.account, free=-self.cents)


@dataclass(frozen=True)
class TableCommand(IdempotentCommand):
    """A command of a table's owner; the epoch is authority and no part of the content."""

    table: str
    epoch: int

    @property
    def content(self) -> IdempotentCommand:
        return replace(self, request_id="", epoch=0)

    def raise_epoch(self, ledger: LedgerState) -> None:
        table_row = ledger.tables[self.table]
        if self.epoch > table_row.epoch:
            ledger.tables[self.table] = replace(table_row, epoch=self.epoch)

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        current = ledger.tables[self.table].epoch
        return {"STALE_EPOCH": {"current_epoch": current}} if self.epoch < current else {}

    def unless_banked(self, ledger: LedgerState) -> dict[str, Facts]:
        return {"WRONG_PLAY": {}} if ledger.tables[self.table].poker else {}

    def unless_poker(self, ledger: LedgerState) -> dict[str, Facts]:
        return {} if ledger.tables[self.table].poker else {"WRONG_PLAY": {}}

    def unless_round_open(self, ledger: LedgerState, round_id: str) -> dict[str, Facts]:
        round_row = ledger.rounds.get(round_id)
        if round_row is None:
            return {}
        if round_row.table != self.table:
            return {"ROUND_MISMATCH": {}}
        return {} if round_row.state == OPEN else {"ROUND_ENDED": {"state": f"ROUND_STATE_{round_row.state}"}}

    def unless_player_may_bet(self, ledger: LedgerState, account: str, session: str) -> dict[str, Facts]:
        """Returns the reasons why the player may not bet here in this session."""
        account_row, session_row = ledger.accounts[account], ledger.sessions[session]
        found: dict[str, Facts] = {}
        if account_row.demo != ledger.tables[self.table].demo:
            found["MODE_MISMATCH"] = {}
        if account_row.blocked:
            found["ACCOUNT_BLOCKED"] = {}
        if (session_row.account, session_row.table) != (account, self.table):
            found["SESSION_MISMATCH"] = {}
        elif session_row.state != ACTIVE:
            found["SESSION_ENDED"] = {"state": f"SESSION_STATE_{session_row.state}"}
        return found


@dataclass(frozen=True)
class PlaceStake(TableCommand):
    round_id: str
    account: str
    session: str
    cents: int

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        return {
            **super().refusals(ledger),
            **self.unless_banked(ledger),
            **self.unless_round_open(ledger, self.round_id),
            **self.unless_player_may_bet(ledger, self.account, self.session),
            **_unless_funded(ledger.accounts[self.account], self.cents),
        }

    def execute(self, ledger: LedgerState) -> Facts:
        ledger.rounds.setdefault(self.round_id, Round(self.table))
        ledger.stakes[self.request_id] = Stake(self.round_id, self.account, self.session, self.cents)
        return ledger.post(self.account, free=-self.cents, locked=self.cents)


@dataclass(frozen=True)
class CancelStakes(TableCommand):
    round_id: str
    account: str
    # Stakes and how much of each; 0 stands for all.
    parts: tuple[tuple[str, int], ...]

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        found = {**super().refusals(ledger), **self.unless_round_open(ledger, self.round_id)}
        if self.round_id not in ledger.rounds:
            found["ROUND_UNKNOWN"] = {}
        for stake, cents in self.parts:
            bet = ledger.stakes.get(stake)
            if bet is None or (bet.round_id, bet.account) != (self.round_id, self.account) or not bet.open_cents:
                found["STAKE_UNKNOWN"] = {}
            elif cents > bet.open_cents:
                found["CANCEL_EXCEEDS_STAKE"] = {"open_cents": bet.open_cents}
        return found

    def execute(self, ledger: LedgerState) -> Facts:
        total, left = 0, list[int]()
        for stake, part in self.parts:
            bet = ledger.stakes[stake]
            cents = part or bet.open_cents
            total += cents
            left.append(bet.open_cents - cents)
            ledger.stakes[stake] = replace(bet, open_cents=left[-1])
        return {**ledger.post(self.account, free=total, locked=-total), "open": tuple(left)}


@dataclass(frozen=True)
class PayStakes(TableCommand):
    round_id: str
    payouts: tuple[tuple[str, int], ...]

    @property
    def valid(self) -> bool:
        return bool(self.payouts)

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        found = {
            **super().refusals(ledger),
            **self.unless_banked(ledger),
            **self.unless_round_open(ledger, self.round_id),
        }
        if self.round_id not in ledger.rounds:
            found["ROUND_UNKNOWN"] = {}
        if dict(self.payouts).keys() - ledger.open_stakes(self.round_id).keys():
            found["STAKE_UNKNOWN"] = {}
        return found

    def execute(self, ledger: LedgerState) -> Facts:
        moved = _pay(ledger, dict(self.payouts))
        for stake, cents in self.payouts:
            bet = ledger.stakes[stake]
            ledger.stakes[stake] = replace(bet, open_cents=0, paid=(bet.open_cents, cents))
        return moved


@dataclass(frozen=True)
class SettleRound(TableCommand):
    round_id: str
    payouts: tuple[tuple[str, int], ...]

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        found = {
            **super().refusals(ledger),
            **self.unless_banked(ledger),
            **self.unless_round_open(ledger, self.round_id),
        }
        if dict(self.payouts).keys() != ledger.open_stakes(self.round_id).keys():
            found["STAKES_MISMATCH"] = {}
        return found

    def execute(self, ledger: LedgerState) -> Facts:
        return _end_round(ledger, self, self.round_id, SETTLED, dict(self.payouts))


@dataclass(frozen=True)
class VoidRound(TableCommand):
    round_id: str

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        return {**super().refusals(ledger), **self.unless_round_open(ledger, self.round_id)}

    def execute(self, ledger: LedgerState) -> Facts:
        returned = {stake: bet.open_cents for stake, bet in ledger.open_stakes(self.round_id).items()}
        return _end_round(ledger, self, self.round_id, VOID, returned)


@dataclass(frozen=True)
class BuyIn(TableCommand):
    account: str
    session: str
    cents: int
    commission: int

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        return {
            **super().refusals(ledger),
            **self.unless_poker(ledger),
            **self.unless_player_may_bet(ledger, self.account, self.session),
            **_unless_funded(ledger.accounts[self.account], self.cents + self.commission),
        }

    def execute(self, ledger: LedgerState) -> Facts:
        place = self.account, self.table
        ledger.caves[place] = ledger.caves.get(place, 0) + self.cents
        return {**ledger.post(self.account, free=-self.cents - self.commission), "cave": ledger.caves[place]}


@dataclass(frozen=True)
class CashOut(TableCommand):
    account: str
    session: str
    # 0 stands for all.
    cents: int

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        found = {**super().refusals(ledger), **self.unless_poker(ledger)}
        session_row, held = ledger.sessions[self.session], ledger.caves.get((self.account, self.table), 0)
        if (session_row.account, session_row.table) != (self.account, self.table):
            found["SESSION_MISMATCH"] = {}
        if self.cents > held:
            found["CAVE_INSUFFICIENT"] = {"cave_cents": held}
        return found

    def execute(self, ledger: LedgerState) -> Facts:
        place = self.account, self.table
        held = ledger.caves.get(place, 0)
        cents = self.cents or held
        ledger.caves[place] = held - cents
        facts = ledger.post(self.account, free=cents) if cents else ledger.accounts[self.account].facts
        waiting = ledger.sessions[self.session].state == ENDING and not ledger.in_play(self.session)
        return {**facts, "cave": held - cents, "session_ended": waiting}


@dataclass(frozen=True)
class SeatResult:
    """The stake and the winnings of one seat in a hand."""

    account: str
    session: str
    staked: int
    won: int


@dataclass(frozen=True)
class TransferHand(TableCommand):
    round_id: str
    seats: tuple[SeatResult, ...]
    commission: int

    @property
    def valid(self) -> bool:
        """Whether every seat has a stake: one without has no part in the hand."""
        return all(seat.staked for seat in self.seats)

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        found = {
            **super().refusals(ledger),
            **self.unless_poker(ledger),
            **self.unless_round_open(ledger, self.round_id),
        }
        if sum(seat.staked - seat.won for seat in self.seats) != self.commission:
            found["NOT_BALANCED"] = {}
        for seat in self.seats:
            session_row = ledger.sessions[seat.session]
            if (session_row.account, session_row.table) != (seat.account, self.table):
                found["SESSION_MISMATCH"] = {}
            elif session_row.state == ENDED:
                found["SESSION_ENDED"] = {"state": f"SESSION_STATE_{ENDED}"}
            if seat.staked > ledger.caves.get((seat.account, self.table), 0):
                found["CAVE_INSUFFICIENT"] = {}
        return found

    def execute(self, ledger: LedgerState) -> Facts:
        ledger.rounds[self.round_id] = Round(self.table, SETTLED)
        for seat in self.seats:
            place = seat.account, self.table
            ledger.caves[place] = ledger.caves.get(place, 0) - seat.staked + seat.won
        return {seat.account: ledger.caves[seat.account, self.table] for seat in self.seats}


@dataclass(frozen=True)
class StartSession(IdempotentCommand):
    account: str
    table: str

    def refusals(self, ledger: LedgerState) -> dict[str, Facts]:
        found: dict[str, Facts] = {}
        if ledger.accounts[self.account].demo != ledger.tables[self.table].demo:
            found["MODE_MISMATCH"] = {}
        if ledger.accounts[self.account].blocked:
            found["ACCOUNT_BLOCKED"] = {}
        running = ledger.running(self.account, self.table)
        if running is not None:
            found["SESSION_RUNNING"] = {"session_id": running}
        return found

    def execute(self, ledger: LedgerState) -> Facts:
        assert ledger.new_session not in ledger.sessions, "two sessions have the same id"
        ledger.sessions[ledger.new_session] = Session(self.account, self.table)
        return {"session": ledger.new_session}


@dataclass(frozen=True)
class EndSession(RepeatableCommand):
    session: str

    def execute(self, ledger: LedgerState) -> Facts:
        session_row = ledger.sessions[self.session]
        if session_row.state == ACTIVE:
            session_row = replace(session_row, state=ENDING if ledger.in_play(self.session) else ENDED)
            ledger.sessions[self.session] = session_row
        return {"state": session_row.state}


@dataclass(frozen=True)
class SetBlocked(RepeatableCommand):
    account: str
    blocked: bool

    def execute(self, ledger: LedgerState) -> Facts:
        ledger.accounts[self.account] = replace(ledger.accounts[self.account], blocked=self.blocked)
        return {}


def _unless_funded(account_row: Account, cents: int) -> dict[str, Facts]:
    if account_row.free >= cents:
        return {}
    return {
        "INSUFFICIENT_FUNDS": {
            "free_cents": account_row.free,
            "locked_cents": account_row.locked,
            "needed_cents": cents,
        }
    }


def _end_round(
    ledger: LedgerState, command: TableCommand, round_id: str, state: str, payouts: Mapping[str, int]
) -> Facts:
    """Pays the open stakes of a round; its result counts those that were paid before."""
    results = _pay(ledger, payouts)
    for stake in payouts:
        ledger.stakes[stake] = replace(ledger.stakes[stake], open_cents=0)
    ledger.rounds[round_id] = Round(command.table, state)
    for account, staked, paid in ledger.paid_stakes(round_id).values():
        result = results.setdefault(account, {"staked": 0, "paid": 0, **ledger.accounts[account].facts})
        result["staked"] += staked
        result["paid"] += paid
    return results


def _pay(ledger: LedgerState, payouts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Moves what stakes pay, by one transfer for each account."""
    staked: dict[str, int] = {}
    paid: dict[str, int] = {}
    for stake, cents in payouts.items():
        bet = ledger.stakes[stake]
        staked[bet.account] = staked.get(bet.account, 0) + bet.open_cents
        paid[bet.account] = paid.get(bet.account, 0) + cents
    return {
        account: {"staked": cents, "paid": paid[account], **ledger.post(account, free=paid[account], locked=-cents)}
        for account, cents in staked.items()
    }


AnsweredCommand = tuple[Command, Answer]


def states_that_explain(ledgers: Iterable[LedgerState], answered: Sequence[AnsweredCommand]) -> list[LedgerState]:
    """Returns the possible states after commands that were sent together; none if no order explains the answers."""
    # By the commands that are left, the states that the others may have led to.
    reached = {frozenset(range(len(answered))): list(ledgers)}
    for _ in answered:
        further: dict[frozenset[int], list[LedgerState]] = {}
        for left, states in reached.items():
            for number in left:
                next_states = further.setdefault(left - {number}, [])
                for ledger in states:
                    after = _after(ledger, *answered[number])
                    if after is not None and after not in next_states:
                        next_states.append(after)
        reached = further
    return [ledger for states in reached.values() for ledger in states]


def _after(ledger: LedgerState, command: Command, answer: Answer) -> LedgerState | None:
    """Returns the state after a command that got this answer; None if the model would give another."""
    if not command.valid:
        return ledger if answer.refused == "INVALID" else None
    ledger = ledger.copy()
    command.raise_epoch(ledger)
    if isinstance(command, IdempotentCommand) and command.request_id in ledger.answered:
        content, first = ledger.answered[command.request_id]
        expected = first if content == command.content else Answer({}, "REQUEST_REUSED")
        return ledger if _agrees(expected, answer) else None
    ledger.new_session = str(answer.facts.get("session", ""))
    refusals = command.refusals(ledger)
    if answer.refused:
        facts = refusals.get(answer.refused)
        if facts is None or not _agrees(Answer(facts, answer.refused), answer):
            return None
    elif refusals or not _agrees(Answer(command.execute(ledger)), answer):
        return None
    ledger.new_session = ""
    if isinstance(command, IdempotentCommand) and answer.refused not in NOT_STORED:
        ledger.answered[command.request_id] = command.content, answer
    ledger.end_waiting_sessions()
    return ledger


def _agrees(expected: Answer, answer: Answer) -> bool:
    """Returns whether an answer has the expected refusal or none, and all expected facts."""
    if expected.refused != answer.refused:
        return False
    if answer.refused:
        return all(answer.facts.get(name) == str(value) for name, value in expected.facts.items())
    return dict(expected.facts) == dict(answer.facts)
