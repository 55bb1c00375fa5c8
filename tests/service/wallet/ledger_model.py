"""What the wallet promises, said a second time and as simply as possible: a model in memory to hold the real one to.

It knows no database, no groups and no concurrency. Commands that were sent together are explained if there is an order
in which the model, taking them one by one, gives every one of them the answer that the wallet gave (`explain`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

# Reasons that speak of the sender or the moment: the wallet does not keep them as the command's answer.
NOT_KEPT = frozenset({"INVALID", "STALE_EPOCH", "REQUEST_REUSED"})

ACTIVE, ENDING, ENDED = "ACTIVE", "ENDING", "ENDED"
OPEN, SETTLED, VOID = "OPEN", "SETTLED", "VOID"

Facts = Mapping[str, object]


@dataclass(frozen=True)
class Answer:
    """What a command was told: the reason of its refusal or nothing, and the facts that came with it."""

    facts: Facts
    refused: str = ""


@dataclass(frozen=True)
class Purse:
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
class Felt:
    """A table."""

    demo: bool
    poker: bool
    epoch: int = 1


@dataclass(frozen=True)
class Sitting:
    """A session of an account at a table."""

    account: str
    table: str
    state: str = ACTIVE


@dataclass(frozen=True)
class Game:
    """A round."""

    table: str
    state: str = OPEN


@dataclass(frozen=True)
class Bet:
    """A stake; `open_cents` are in play."""

    round_id: str
    account: str
    session: str
    open_cents: int


@dataclass
class World:
    """Everything the model knows. Its values never change; the dictionaries do."""

    purses: dict[str, Purse] = field(default_factory=dict)
    felts: dict[str, Felt] = field(default_factory=dict)
    sittings: dict[str, Sitting] = field(default_factory=dict)
    games: dict[str, Game] = field(default_factory=dict)
    bets: dict[str, Bet] = field(default_factory=dict)
    caves: dict[tuple[str, str], int] = field(default_factory=dict)
    # request id: what was asked under it, and what was answered
    answered: dict[str, tuple[Kept, Answer]] = field(default_factory=dict)
    # The id that the wallet has chosen for the session being started: the one thing the model cannot foresee.
    new_session: str = ""

    def copy(self) -> World:
        return World(
            dict(self.purses),
            dict(self.felts),
            dict(self.sittings),
            dict(self.games),
            dict(self.bets),
            dict(self.caves),
            dict(self.answered),
        )

    def move(self, account: str, *, free: int = 0, locked: int = 0) -> Facts:
        purse = self.purses[account]
        moved = replace(purse, free=purse.free + free, locked=purse.locked + locked, version=purse.version + 1)
        assert moved.free >= 0, "the model would let a player fall below zero"
        assert moved.locked >= 0, "the model would let a player fall below zero"
        self.purses[account] = moved
        return moved.facts

    def open_bets(self, round_id: str) -> dict[str, Bet]:
        return {stake: bet for stake, bet in self.bets.items() if bet.round_id == round_id and bet.open_cents}

    def in_play(self, session: str) -> bool:
        sitting = self.sittings[session]
        return bool(self.caves.get((sitting.account, sitting.table))) or any(
            bet.open_cents and bet.session == session for bet in self.bets.values()
        )

    def running(self, account: str, table: str) -> str | None:
        for session, sitting in self.sittings.items():
            if (sitting.account, sitting.table) == (account, table) and sitting.state != ENDED:
                return session
        return None

    def close_what_waits(self) -> None:
        """A session that is ending ends with what it has in play."""
        for session, sitting in self.sittings.items():
            if sitting.state == ENDING and not self.in_play(session):
                self.sittings[session] = replace(sitting, state=ENDED)


@dataclass(frozen=True)
class Command:
    """One call. `objections` are all reasons to refuse it; with none of them `carry_out` says what it is told."""

    @property
    def valid(self) -> bool:
        """Whether it means anything at all; if not, it is refused at the door."""
        return True

    def arrive(self, world: World) -> None:
        """What the mere arrival of the command does."""

    def objections(self, world: World) -> dict[str, Facts]:
        raise NotImplementedError

    def carry_out(self, world: World) -> Facts:
        raise NotImplementedError


@dataclass(frozen=True)
class Always(Command):
    """A command with nothing against it, that does the same however often it is sent."""

    def objections(self, world: World) -> dict[str, Facts]:
        return {}


@dataclass(frozen=True)
class Kept(Command):
    """A command that acts once (G3)."""

    request_id: str

    @property
    def content(self) -> Kept:
        """What makes it the same command when it is sent again."""
        return replace(self, request_id="")


@dataclass(frozen=True)
class Deposit(Kept):
    account: str
    cents: int

    def objections(self, world: World) -> dict[str, Facts]:
        return {"ACCOUNT_BLOCKED": {}} if world.purses[self.account].blocked else {}

    def carry_out(self, world: World) -> Facts:
        return world.move(self.account, free=self.cents)


@dataclass(frozen=True)
class Withdraw(Kept):
    account: str
    cents: int

    def objections(self, world: World) -> dict[str, Facts]:
        purse = world.purses[self.account]
        # Credits are never paid out, be there enough of them or not.
        return {"MODE_MISMATCH": {"account_mode": "DEMO"}} if purse.demo else _too_poor(purse, self.cents)

    def carry_out(self, world: World) -> Facts:
        return world.move(self.account, free=-self.cents)


@dataclass(frozen=True)
class AtTable(Kept):
    """A command of a table's owner. The epoch is his authority and no part of the content."""

    table: str
    epoch: int

    @property
    def content(self) -> Kept:
        return replace(self, request_id="", epoch=0)

    def arrive(self, world: World) -> None:
        felt = world.felts[self.table]
        if self.epoch > felt.epoch:
            world.felts[self.table] = replace(felt, epoch=self.epoch)

    def objections(self, world: World) -> dict[str, Facts]:
        current = world.felts[self.table].epoch
        return {"STALE_EPOCH": {"current_epoch": current}} if self.epoch < current else {}

    def banked(self, world: World) -> dict[str, Facts]:
        return {"WRONG_PLAY": {}} if world.felts[self.table].poker else {}

    def poker(self, world: World) -> dict[str, Facts]:
        return {} if world.felts[self.table].poker else {"WRONG_PLAY": {}}

    def wants_open(self, world: World, round_id: str) -> dict[str, Facts]:
        game = world.games.get(round_id)
        if game is None:
            return {}
        if game.table != self.table:
            return {"ROUND_ELSEWHERE": {}}
        return {} if game.state == OPEN else {"ROUND_ENDED": {"state": game.state}}

    def wants_player(self, world: World, account: str, session: str) -> dict[str, Facts]:
        """He may bet here, in this session."""
        purse, sitting = world.purses[account], world.sittings[session]
        found: dict[str, Facts] = {}
        if purse.demo != world.felts[self.table].demo:
            found["MODE_MISMATCH"] = {}
        if purse.blocked:
            found["ACCOUNT_BLOCKED"] = {}
        if (sitting.account, sitting.table) != (account, self.table):
            found["SESSION_ELSEWHERE"] = {}
        elif sitting.state != ACTIVE:
            found["SESSION_ENDED"] = {"state": sitting.state}
        return found


@dataclass(frozen=True)
class PlaceStake(AtTable):
    round_id: str
    account: str
    session: str
    cents: int

    def objections(self, world: World) -> dict[str, Facts]:
        return {
            **super().objections(world),
            **self.banked(world),
            **self.wants_open(world, self.round_id),
            **self.wants_player(world, self.account, self.session),
            **_too_poor(world.purses[self.account], self.cents),
        }

    def carry_out(self, world: World) -> Facts:
        world.games.setdefault(self.round_id, Game(self.table))
        world.bets[self.request_id] = Bet(self.round_id, self.account, self.session, self.cents)
        return world.move(self.account, free=-self.cents, locked=self.cents)


@dataclass(frozen=True)
class CancelStake(AtTable):
    round_id: str
    stake: str
    # 0 stands for all of it.
    cents: int

    def objections(self, world: World) -> dict[str, Facts]:
        found = {**super().objections(world), **self.wants_open(world, self.round_id)}
        if self.round_id not in world.games:
            found["ROUND_UNKNOWN"] = {}
        bet = world.bets.get(self.stake)
        if bet is None or bet.round_id != self.round_id or not bet.open_cents:
            found["STAKE_UNKNOWN"] = {}
        elif self.cents > bet.open_cents:
            found["CANCEL_EXCEEDS_STAKE"] = {"open_cents": bet.open_cents}
        return found

    def carry_out(self, world: World) -> Facts:
        bet = world.bets[self.stake]
        cents = self.cents or bet.open_cents
        left = bet.open_cents - cents
        world.bets[self.stake] = replace(bet, open_cents=left)
        return {**world.move(bet.account, free=cents, locked=-cents), "open": left}


@dataclass(frozen=True)
class SettleRound(AtTable):
    round_id: str
    payouts: tuple[tuple[str, int], ...]

    def objections(self, world: World) -> dict[str, Facts]:
        found = {**super().objections(world), **self.banked(world), **self.wants_open(world, self.round_id)}
        if dict(self.payouts).keys() != world.open_bets(self.round_id).keys():
            found["STAKES_DIFFER"] = {}
        return found

    def carry_out(self, world: World) -> Facts:
        return _end_round(world, self, self.round_id, SETTLED, dict(self.payouts))


@dataclass(frozen=True)
class VoidRound(AtTable):
    round_id: str

    def objections(self, world: World) -> dict[str, Facts]:
        return {**super().objections(world), **self.wants_open(world, self.round_id)}

    def carry_out(self, world: World) -> Facts:
        returned = {stake: bet.open_cents for stake, bet in world.open_bets(self.round_id).items()}
        return _end_round(world, self, self.round_id, VOID, returned)


@dataclass(frozen=True)
class BuyIn(AtTable):
    account: str
    session: str
    cents: int
    commission: int

    def objections(self, world: World) -> dict[str, Facts]:
        return {
            **super().objections(world),
            **self.poker(world),
            **self.wants_player(world, self.account, self.session),
            **_too_poor(world.purses[self.account], self.cents + self.commission),
        }

    def carry_out(self, world: World) -> Facts:
        place = self.account, self.table
        world.caves[place] = world.caves.get(place, 0) + self.cents
        return {**world.move(self.account, free=-self.cents - self.commission), "cave": world.caves[place]}


@dataclass(frozen=True)
class CashOut(AtTable):
    account: str
    session: str
    # 0 stands for all of it.
    cents: int

    def objections(self, world: World) -> dict[str, Facts]:
        found = {**super().objections(world), **self.poker(world)}
        sitting, held = world.sittings[self.session], world.caves.get((self.account, self.table), 0)
        if (sitting.account, sitting.table) != (self.account, self.table):
            found["SESSION_ELSEWHERE"] = {}
        if self.cents > held:
            found["CAVE_INSUFFICIENT"] = {"cave_cents": held}
        return found

    def carry_out(self, world: World) -> Facts:
        place = self.account, self.table
        held = world.caves.get(place, 0)
        cents = self.cents or held
        world.caves[place] = held - cents
        told = world.move(self.account, free=cents) if cents else world.purses[self.account].facts
        waiting = world.sittings[self.session].state == ENDING and not world.in_play(self.session)
        return {**told, "cave": held - cents, "session_ended": waiting}


@dataclass(frozen=True)
class InHand:
    """What a hand meant to one seat."""

    account: str
    session: str
    staked: int
    won: int


@dataclass(frozen=True)
class TransferHand(AtTable):
    round_id: str
    seats: tuple[InHand, ...]
    commission: int

    @property
    def valid(self) -> bool:
        """A seat that put no chips in has no part in the hand: its cave may be empty and its session over."""
        return all(seat.staked for seat in self.seats)

    def objections(self, world: World) -> dict[str, Facts]:
        found = {**super().objections(world), **self.poker(world), **self.wants_open(world, self.round_id)}
        if sum(seat.staked - seat.won for seat in self.seats) != self.commission:
            found["NOT_BALANCED"] = {}
        for seat in self.seats:
            sitting = world.sittings[seat.session]
            if (sitting.account, sitting.table) != (seat.account, self.table):
                found["SESSION_ELSEWHERE"] = {}
            elif sitting.state == ENDED:
                found["SESSION_ENDED"] = {"state": ENDED}
            if seat.staked > world.caves.get((seat.account, self.table), 0):
                found["CAVE_INSUFFICIENT"] = {}
        return found

    def carry_out(self, world: World) -> Facts:
        world.games[self.round_id] = Game(self.table, SETTLED)
        for seat in self.seats:
            place = seat.account, self.table
            world.caves[place] = world.caves.get(place, 0) - seat.staked + seat.won
        return {seat.account: world.caves[seat.account, self.table] for seat in self.seats}


@dataclass(frozen=True)
class StartSession(Kept):
    account: str
    table: str

    def objections(self, world: World) -> dict[str, Facts]:
        found: dict[str, Facts] = {}
        if world.purses[self.account].demo != world.felts[self.table].demo:
            found["MODE_MISMATCH"] = {}
        if world.purses[self.account].blocked:
            found["ACCOUNT_BLOCKED"] = {}
        running = world.running(self.account, self.table)
        if running is not None:
            found["SESSION_RUNNING"] = {"session_id": running}
        return found

    def carry_out(self, world: World) -> Facts:
        assert world.new_session not in world.sittings, "the id of a session was given out twice"
        world.sittings[world.new_session] = Sitting(self.account, self.table)
        return {"session": world.new_session}


@dataclass(frozen=True)
class EndSession(Always):
    session: str

    def carry_out(self, world: World) -> Facts:
        sitting = world.sittings[self.session]
        if sitting.state == ACTIVE:
            sitting = replace(sitting, state=ENDING if world.in_play(self.session) else ENDED)
            world.sittings[self.session] = sitting
        return {"state": sitting.state}


@dataclass(frozen=True)
class SetBlocked(Always):
    account: str
    blocked: bool

    def carry_out(self, world: World) -> Facts:
        world.purses[self.account] = replace(world.purses[self.account], blocked=self.blocked)
        return {}


def _too_poor(purse: Purse, cents: int) -> dict[str, Facts]:
    if purse.free >= cents:
        return {}
    return {"INSUFFICIENT_FUNDS": {"free_cents": purse.free, "locked_cents": purse.locked, "needed_cents": cents}}


def _end_round(world: World, command: AtTable, round_id: str, state: str, payouts: Mapping[str, int]) -> Facts:
    """Gives every account of a round what it gets, in one transfer each."""
    staked: dict[str, int] = {}
    paid: dict[str, int] = {}
    for stake, cents in payouts.items():
        bet = world.bets[stake]
        staked[bet.account] = staked.get(bet.account, 0) + bet.open_cents
        paid[bet.account] = paid.get(bet.account, 0) + cents
        world.bets[stake] = replace(bet, open_cents=0)
    world.games[round_id] = Game(command.table, state)
    return {
        account: {"staked": cents, "paid": paid[account], **world.move(account, free=paid[account], locked=-cents)}
        for account, cents in staked.items()
    }


Told = tuple[Command, Answer]


def explain(worlds: Iterable[World], told: Sequence[Told]) -> list[World]:
    """The worlds that may be after commands sent together; none if no order explains the answers."""
    reached = {frozenset(range(len(told))): list(worlds)}
    for _ in told:
        further: dict[frozenset[int], list[World]] = {}
        for left, here in reached.items():
            for number in left:
                there = further.setdefault(left - {number}, [])
                for world in here:
                    after = _after(world, *told[number])
                    if after is not None and after not in there:
                        there.append(after)
        reached = further
    return [world for here in reached.values() for world in here]


def _after(world: World, command: Command, answer: Answer) -> World | None:
    """The world after a command that was told this; None if it would have been told something else."""
    if not command.valid:
        return world if answer.refused == "INVALID" else None
    world = world.copy()
    command.arrive(world)
    if isinstance(command, Kept) and command.request_id in world.answered:
        content, first = world.answered[command.request_id]
        expected = first if content == command.content else Answer({}, "REQUEST_REUSED")
        return world if _agrees(expected, answer) else None
    world.new_session = str(answer.facts.get("session", ""))
    objections = command.objections(world)
    if answer.refused:
        said = objections.get(answer.refused)
        if said is None or not _agrees(Answer(said, answer.refused), answer):
            return None
    elif objections or not _agrees(Answer(command.carry_out(world)), answer):
        return None
    world.new_session = ""
    if isinstance(command, Kept) and answer.refused not in NOT_KEPT:
        world.answered[command.request_id] = command.content, answer
    world.close_what_waits()
    return world


def _agrees(expected: Answer, answer: Answer) -> bool:
    """The same verdict, and no fact that the model knows is another."""
    if expected.refused != answer.refused:
        return False
    if answer.refused:
        return all(answer.facts.get(name) == str(value) for name, value in expected.facts.items())
    return dict(expected.facts) == dict(answer.facts)
