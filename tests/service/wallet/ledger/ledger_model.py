"""What the wallet promises, said a second time and as simply as possible: a model in memory to hold the real one to.

It knows no database, no groups and no concurrency. Commands that were sent together are explained if there is an order
in which the model, taking them one by one, gives every one of them the answer that the wallet gave (`explain`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

# Reasons that speak of the sender or the moment: the wallet does not keep them as the command's answer.
NOT_STORED = frozenset({"INVALID", "STALE_EPOCH", "REQUEST_REUSED"})

ACTIVE, ENDING, ENDED = "ACTIVE", "ENDING", "ENDED"
OPEN, SETTLED, VOID = "OPEN", "SETTLED", "VOID"

Facts = Mapping[str, object]


@dataclass(frozen=True)
class Answer:
    """What a command was told: the reason of its refusal or nothing, and the facts that came with it."""

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
    def facts(self) -> Facts:
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


@dataclass
class LedgerState:
    """Everything the model knows. Its values never change; the dictionaries do."""

    accounts: dict[str, Account] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    rounds: dict[str, Round] = field(default_factory=dict)
    stakes: dict[str, Stake] = field(default_factory=dict)
    caves: dict[tuple[str, str], int] = field(default_factory=dict)
    # request id: what was asked under it, and what was answered
    answered: dict[str, tuple[IdempotentCommand, Answer]] = field(default_factory=dict)
    # The id that the wallet has chosen for the session being started: the one thing the model cannot foresee.
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

    def post(self, account: str, *, free: int = 0, locked: int = 0) -> Facts:
        purse = self.accounts[account]
        moved = replace(purse, free=purse.free + free, locked=purse.locked + locked, version=purse.version + 1)
        assert moved.free >= 0, "the model would let a player fall below zero"
        assert moved.locked >= 0, "the model would let a player fall below zero"
        self.accounts[account] = moved
        return moved.facts

    def open_stakes(self, round_id: str) -> dict[str, Stake]:
        return {stake: bet for stake, bet in self.stakes.items() if bet.round_id == round_id and bet.open_cents}

    def in_play(self, session: str) -> bool:
        sitting = self.sessions[session]
        return bool(self.caves.get((sitting.account, sitting.table))) or any(
            bet.open_cents and bet.session == session for bet in self.stakes.values()
        )

    def running(self, account: str, table: str) -> str | None:
        for session, sitting in self.sessions.items():
            if (sitting.account, sitting.table) == (account, table) and sitting.state != ENDED:
                return session
        return None

    def end_waiting_sessions(self) -> None:
        """A session that is ending ends with what it has in play."""
        for session, sitting in self.sessions.items():
            if sitting.state == ENDING and not self.in_play(session):
                self.sessions[session] = replace(sitting, state=ENDED)


@dataclass(frozen=True)
class Command:
    """One call. `objections` are all reasons to refuse it; with none of them `carry_out` says what it is told."""

    @property
    def valid(self) -> bool:
        """Whether it means anything at all; if not, it is refused at the door."""
        return True

    def raise_epoch(self, world: LedgerState) -> None:
        """What the mere arrival of the command does."""

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        raise NotImplementedError

    def execute(self, world: LedgerState) -> Facts:
        raise NotImplementedError


@dataclass(frozen=True)
class RepeatableCommand(Command):
    """A command with nothing against it, that does the same however often it is sent."""

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        return {}


@dataclass(frozen=True)
class IdempotentCommand(Command):
    """A command that acts once (G3)."""

    request_id: str

    @property
    def content(self) -> IdempotentCommand:
        """What makes it the same command when it is sent again."""
        return replace(self, request_id="")


@dataclass(frozen=True)
class Deposit(IdempotentCommand):
    account: str
    cents: int

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        return {"ACCOUNT_BLOCKED": {}} if world.accounts[self.account].blocked else {}

    def execute(self, world: LedgerState) -> Facts:
        return world.post(self.account, free=self.cents)


@dataclass(frozen=True)
class Withdraw(IdempotentCommand):
    account: str
    cents: int

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        purse = world.accounts[self.account]
        # Credits are never paid out, be there enough of them or not.
        return {"MODE_MISMATCH": {"account_mode": "DEMO"}} if purse.demo else _too_poor(purse, self.cents)

    def execute(self, world: LedgerState) -> Facts:
        return world.post(self.account, free=-self.cents)


@dataclass(frozen=True)
class TableCommand(IdempotentCommand):
    """A command of a table's owner. The epoch is his authority and no part of the content."""

    table: str
    epoch: int

    @property
    def content(self) -> IdempotentCommand:
        return replace(self, request_id="", epoch=0)

    def raise_epoch(self, world: LedgerState) -> None:
        felt = world.tables[self.table]
        if self.epoch > felt.epoch:
            world.tables[self.table] = replace(felt, epoch=self.epoch)

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        current = world.tables[self.table].epoch
        return {"STALE_EPOCH": {"current_epoch": current}} if self.epoch < current else {}

    def unless_banked(self, world: LedgerState) -> dict[str, Facts]:
        return {"WRONG_PLAY": {}} if world.tables[self.table].poker else {}

    def unless_poker(self, world: LedgerState) -> dict[str, Facts]:
        return {} if world.tables[self.table].poker else {"WRONG_PLAY": {}}

    def unless_round_open(self, world: LedgerState, round_id: str) -> dict[str, Facts]:
        game = world.rounds.get(round_id)
        if game is None:
            return {}
        if game.table != self.table:
            return {"ROUND_MISMATCH": {}}
        return {} if game.state == OPEN else {"ROUND_ENDED": {"state": game.state}}

    def unless_player_may_bet(self, world: LedgerState, account: str, session: str) -> dict[str, Facts]:
        """He may bet here, in this session."""
        purse, sitting = world.accounts[account], world.sessions[session]
        found: dict[str, Facts] = {}
        if purse.demo != world.tables[self.table].demo:
            found["MODE_MISMATCH"] = {}
        if purse.blocked:
            found["ACCOUNT_BLOCKED"] = {}
        if (sitting.account, sitting.table) != (account, self.table):
            found["SESSION_MISMATCH"] = {}
        elif sitting.state != ACTIVE:
            found["SESSION_ENDED"] = {"state": sitting.state}
        return found


@dataclass(frozen=True)
class PlaceStake(TableCommand):
    round_id: str
    account: str
    session: str
    cents: int

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        return {
            **super().refusals(world),
            **self.unless_banked(world),
            **self.unless_round_open(world, self.round_id),
            **self.unless_player_may_bet(world, self.account, self.session),
            **_too_poor(world.accounts[self.account], self.cents),
        }

    def execute(self, world: LedgerState) -> Facts:
        world.rounds.setdefault(self.round_id, Round(self.table))
        world.stakes[self.request_id] = Stake(self.round_id, self.account, self.session, self.cents)
        return world.post(self.account, free=-self.cents, locked=self.cents)


@dataclass(frozen=True)
class CancelStake(TableCommand):
    round_id: str
    stake: str
    # 0 stands for all of it.
    cents: int

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        found = {**super().refusals(world), **self.unless_round_open(world, self.round_id)}
        if self.round_id not in world.rounds:
            found["ROUND_UNKNOWN"] = {}
        bet = world.stakes.get(self.stake)
        if bet is None or bet.round_id != self.round_id or not bet.open_cents:
            found["STAKE_UNKNOWN"] = {}
        elif self.cents > bet.open_cents:
            found["CANCEL_EXCEEDS_STAKE"] = {"open_cents": bet.open_cents}
        return found

    def execute(self, world: LedgerState) -> Facts:
        bet = world.stakes[self.stake]
        cents = self.cents or bet.open_cents
        left = bet.open_cents - cents
        world.stakes[self.stake] = replace(bet, open_cents=left)
        return {**world.post(bet.account, free=cents, locked=-cents), "open": left}


@dataclass(frozen=True)
class SettleRound(TableCommand):
    round_id: str
    payouts: tuple[tuple[str, int], ...]

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        found = {**super().refusals(world), **self.unless_banked(world), **self.unless_round_open(world, self.round_id)}
        if dict(self.payouts).keys() != world.open_stakes(self.round_id).keys():
            found["STAKES_MISMATCH"] = {}
        return found

    def execute(self, world: LedgerState) -> Facts:
        return _end_round(world, self, self.round_id, SETTLED, dict(self.payouts))


@dataclass(frozen=True)
class VoidRound(TableCommand):
    round_id: str

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        return {**super().refusals(world), **self.unless_round_open(world, self.round_id)}

    def execute(self, world: LedgerState) -> Facts:
        returned = {stake: bet.open_cents for stake, bet in world.open_stakes(self.round_id).items()}
        return _end_round(world, self, self.round_id, VOID, returned)


@dataclass(frozen=True)
class BuyIn(TableCommand):
    account: str
    session: str
    cents: int
    commission: int

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        return {
            **super().refusals(world),
            **self.unless_poker(world),
            **self.unless_player_may_bet(world, self.account, self.session),
            **_too_poor(world.accounts[self.account], self.cents + self.commission),
        }

    def execute(self, world: LedgerState) -> Facts:
        place = self.account, self.table
        world.caves[place] = world.caves.get(place, 0) + self.cents
        return {**world.post(self.account, free=-self.cents - self.commission), "cave": world.caves[place]}


@dataclass(frozen=True)
class CashOut(TableCommand):
    account: str
    session: str
    # 0 stands for all of it.
    cents: int

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        found = {**super().refusals(world), **self.unless_poker(world)}
        sitting, held = world.sessions[self.session], world.caves.get((self.account, self.table), 0)
        if (sitting.account, sitting.table) != (self.account, self.table):
            found["SESSION_MISMATCH"] = {}
        if self.cents > held:
            found["CAVE_INSUFFICIENT"] = {"cave_cents": held}
        return found

    def execute(self, world: LedgerState) -> Facts:
        place = self.account, self.table
        held = world.caves.get(place, 0)
        cents = self.cents or held
        world.caves[place] = held - cents
        told = world.post(self.account, free=cents) if cents else world.accounts[self.account].facts
        waiting = world.sessions[self.session].state == ENDING and not world.in_play(self.session)
        return {**told, "cave": held - cents, "session_ended": waiting}


@dataclass(frozen=True)
class SeatResult:
    """What a hand meant to one seat."""

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
        """A seat that put no chips in has no part in the hand: its cave may be empty and its session over."""
        return all(seat.staked for seat in self.seats)

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        found = {**super().refusals(world), **self.unless_poker(world), **self.unless_round_open(world, self.round_id)}
        if sum(seat.staked - seat.won for seat in self.seats) != self.commission:
            found["NOT_BALANCED"] = {}
        for seat in self.seats:
            sitting = world.sessions[seat.session]
            if (sitting.account, sitting.table) != (seat.account, self.table):
                found["SESSION_MISMATCH"] = {}
            elif sitting.state == ENDED:
                found["SESSION_ENDED"] = {"state": ENDED}
            if seat.staked > world.caves.get((seat.account, self.table), 0):
                found["CAVE_INSUFFICIENT"] = {}
        return found

    def execute(self, world: LedgerState) -> Facts:
        world.rounds[self.round_id] = Round(self.table, SETTLED)
        for seat in self.seats:
            place = seat.account, self.table
            world.caves[place] = world.caves.get(place, 0) - seat.staked + seat.won
        return {seat.account: world.caves[seat.account, self.table] for seat in self.seats}


@dataclass(frozen=True)
class StartSession(IdempotentCommand):
    account: str
    table: str

    def refusals(self, world: LedgerState) -> dict[str, Facts]:
        found: dict[str, Facts] = {}
        if world.accounts[self.account].demo != world.tables[self.table].demo:
            found["MODE_MISMATCH"] = {}
        if world.accounts[self.account].blocked:
            found["ACCOUNT_BLOCKED"] = {}
        running = world.running(self.account, self.table)
        if running is not None:
            found["SESSION_RUNNING"] = {"session_id": running}
        return found

    def execute(self, world: LedgerState) -> Facts:
        assert world.new_session not in world.sessions, "the id of a session was given out twice"
        world.sessions[world.new_session] = Session(self.account, self.table)
        return {"session": world.new_session}


@dataclass(frozen=True)
class EndSession(RepeatableCommand):
    session: str

    def execute(self, world: LedgerState) -> Facts:
        sitting = world.sessions[self.session]
        if sitting.state == ACTIVE:
            sitting = replace(sitting, state=ENDING if world.in_play(self.session) else ENDED)
            world.sessions[self.session] = sitting
        return {"state": sitting.state}


@dataclass(frozen=True)
class SetBlocked(RepeatableCommand):
    account: str
    blocked: bool

    def execute(self, world: LedgerState) -> Facts:
        world.accounts[self.account] = replace(world.accounts[self.account], blocked=self.blocked)
        return {}


def _too_poor(purse: Account, cents: int) -> dict[str, Facts]:
    if purse.free >= cents:
        return {}
    return {"INSUFFICIENT_FUNDS": {"free_cents": purse.free, "locked_cents": purse.locked, "needed_cents": cents}}


def _end_round(
    world: LedgerState, command: TableCommand, round_id: str, state: str, payouts: Mapping[str, int]
) -> Facts:
    """Gives every account of a round what it gets, in one transfer each."""
    staked: dict[str, int] = {}
    paid: dict[str, int] = {}
    for stake, cents in payouts.items():
        bet = world.stakes[stake]
        staked[bet.account] = staked.get(bet.account, 0) + bet.open_cents
        paid[bet.account] = paid.get(bet.account, 0) + cents
        world.stakes[stake] = replace(bet, open_cents=0)
    world.rounds[round_id] = Round(command.table, state)
    return {
        account: {"staked": cents, "paid": paid[account], **world.post(account, free=paid[account], locked=-cents)}
        for account, cents in staked.items()
    }


AnsweredCommand = tuple[Command, Answer]


def states_that_explain(worlds: Iterable[LedgerState], told: Sequence[AnsweredCommand]) -> list[LedgerState]:
    """The worlds that may be after commands sent together; none if no order explains the answers."""
    reached = {frozenset(range(len(told))): list(worlds)}
    for _ in told:
        further: dict[frozenset[int], list[LedgerState]] = {}
        for left, here in reached.items():
            for number in left:
                there = further.setdefault(left - {number}, [])
                for world in here:
                    after = _after(world, *told[number])
                    if after is not None and after not in there:
                        there.append(after)
        reached = further
    return [world for here in reached.values() for world in here]


def _after(world: LedgerState, command: Command, answer: Answer) -> LedgerState | None:
    """The world after a command that was told this; None if it would have been told something else."""
    if not command.valid:
        return world if answer.refused == "INVALID" else None
    world = world.copy()
    command.raise_epoch(world)
    if isinstance(command, IdempotentCommand) and command.request_id in world.answered:
        content, first = world.answered[command.request_id]
        expected = first if content == command.content else Answer({}, "REQUEST_REUSED")
        return world if _agrees(expected, answer) else None
    world.new_session = str(answer.facts.get("session", ""))
    objections = command.refusals(world)
    if answer.refused:
        said = objections.get(answer.refused)
        if said is None or not _agrees(Answer(said, answer.refused), answer):
            return None
    elif objections or not _agrees(Answer(command.execute(world)), answer):
        return None
    world.new_session = ""
    if isinstance(command, IdempotentCommand) and answer.refused not in NOT_STORED:
        world.answered[command.request_id] = command.content, answer
    world.end_waiting_sessions()
    return world


def _agrees(expected: Answer, answer: Answer) -> bool:
    """The same verdict, and no fact that the model knows is another."""
    if expected.refused != answer.refused:
        return False
    if answer.refused:
        return all(answer.facts.get(name) == str(value) for name, value in expected.facts.items())
    return dict(expected.facts) == dict(answer.facts)
