"""Judges a story that has come to rest, from what wallet, journal and bus hold and what players were told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2
from feltro.wallet.v1.types_pb2 import PLAY_INDIVIDUAL
from services.kit.randomness.tape import Tape
from services.kit.refusal import Refused
from services.kit.table.banked.settlement import OWNER_LOST
from services.kit.table.journal.entries import DrawTrigger, Ending
from services.kit.table.live.closing import ALL_BETS_CANCELLED
from services.kit.table.live.table import PLATFORM_FAULT, RANDOMNESS_FAILED
from services.wallet.model.state import AccountKind, RoundState, SessionState, StakeState, TransferKind
from tests.simulation.environment.event_stream import PublishedEvent
from tests.simulation.environment.journal import RoundEntries
from tests.simulation.environment.virtual_time import STARTS_AT
from tests.simulation.environment.wallet import StoredStake
from tests.simulation.environment.world import Command, World

_STATES = {Ending.SETTLED: RoundState.SETTLED, Ending.VOID: RoundState.VOID}
_STAKES = {Ending.SETTLED: StakeState.SETTLED, Ending.VOID: StakeState.RETURNED}
# After these a player does not know what became of his bet: he asks again.
UNCERTAIN_REASONS = frozenset({"UNAVAILABLE", "TABLE_ELSEWHERE"})


def violations(world: World) -> list[str]:
    """Everything that is not as it has to be, each with its guarantee or rule."""
    return [
        *world.durability.violations,
        *_money(world),
        *_rounds(world),
        *_journal(world),
        *_voids(world),
        *_launched(world),
        *_bets(world),
        *_taken_back(world),
        *_events(world),
        *_seats(world),
    ]


# -- the wallet ------------------------------------------------------------------------------------------------------


def _money(world: World) -> Iterator[str]:
    ledger = world.wallet
    if total := sum(account.free_cents + account.locked_cents for account in ledger.book.accounts.values()):
        yield f"G1: all accounts together hold {total}"
    sums: Counter[int] = Counter()
    for moved in ledger.movements:
        sums[moved.movement.transfer_no] += sum(cents for _, _, cents in moved.entries)
        for pocket, before, cents in moved.entries:
            if moved.movement.account.kind is AccountKind.PLAYER and before + cents < 0:
                yield f"G2: {moved.movement.account.account_id} {pocket.name} is {before + cents}"
    yield from (f"G1: transfer {number} sums to {cents}" for number, cents in sums.items() if cents)
    for account in ledger.book.accounts.values():
        if account.locked_cents:
            yield f"G4: {account.locked_cents} cents of {account.account_id} are still locked"


def _rounds(world: World) -> Iterator[str]:
    ends = Counter(
        moved.movement.round_id
        for moved in world.wallet.movements
        if moved.movement.kind in {TransferKind.ROUND_SETTLED, TransferKind.ROUND_VOID}
        and moved.movement.account.kind is AccountKind.PLAYER
    )
    players = {round_id: {s.stake.account_no for s in world.wallet.stakes_of(round_id)} for round_id in ends}
    for round_id, count in ends.items():
        if count > len(players[round_id]):
            yield f"G4: {round_id} has paid {count} times to {len(players[round_id])} accounts"
    for round_id, known in world.wallet.rounds.items():
        if round_id not in world.journal.rounds:
            yield f"G10: {round_id} is in the wallet and not in the journal"
        if known.round.state is RoundState.OPEN:
            yield f"G4: {round_id} is still open in the wallet"


# -- the journal -----------------------------------------------------------------------------------------------------


def _journal(world: World) -> Iterator[str]:
    for round_id, written in world.journal.rounds.items():
        if written.ended is None:
            yield f"G4: {round_id} is without an end in the journal"
            continue
        known = world.wallet.rounds.get(round_id)
        if known is None or known.round.state is not _STATES[written.ended.ending]:
            yield f"G4: journal and wallet do not agree on how {round_id} ended"
            continue
        yield from _stakes_agree(world, round_id, written)
        yield from _replayed(world, round_id, written)


def _stakes_agree(world: World, round_id: str, written: RoundEntries) -> Iterator[str]:
    assert written.ended is not None
    state = _STAKES[written.ended.ending]
    placed = world.wallet.stakes_of(round_id)
    counted = {s.stake.stake_id: s for s in placed if s.stake.state is state}
    if any(s.stake.state not in {state, StakeState.CANCELLED} for s in placed):
        yield f"G4: stakes of {round_id} ended otherwise than their round"
    journalled = {s.stake_id: s for s in world.journal.stakes_of(round_id)}
    if {i: s.amount_cents for i, s in journalled.items()} != {i: _left(s) for i, s in counted.items()}:
        yield f"G10: {round_id} has {sorted(journalled)} in the journal and {sorted(counted)} in the wallet"
    yield from _taken_back_agrees(world, round_id, written)
    payouts = dict(written.ended.payouts)
    paid = {i: s.stake.payout_cents if state is StakeState.SETTLED else _left(s) for i, s in counted.items()}
    if payouts != paid:
        yield f"G10: {round_id} has paid {paid}, and the journal says {payouts}"
    for share in written.ended.player_results:
        if share.balance_after_cents - share.balance_before_cents != share.payout_cents - share.staked_cents:
            yield f"G10: the share of {share.player_id} in {round_id} does not add up"
    if sum(share.staked_cents for share in written.ended.player_results) != sum(
        s.amount_cents for s in journalled.values()
    ):
        yield f"G10: the shares of {round_id} are not its stakes"


def _taken_back_agrees(world: World, round_id: str, written: RoundEntries) -> Iterator[str]:
    entry, ended = written.drawn or written.ended, written.ended
    assert entry is not None
    assert ended is not None
    cancelled = {
        s.stake.stake_id: (world.wallet.book.accounts[s.stake.account_no].player_id, s.stake.placed_cents)
        for s in world.wallet.stakes_of(round_id)
        if s.stake.state is StakeState.CANCELLED
    }
    journalled = {
        taken.stake.stake_id: (taken.stake.player_id, taken.stake.amount_cents) for taken in entry.cancelled_stakes
    }
    if journalled != cancelled:
        yield f"G10: {journalled} was taken back in {round_id} by the journal, and {cancelled} by the wallet"
    for stake, at in entry.cancelled_stakes:
        if not written.opened.opened_at <= stake.placed_at <= at <= ended.ended_at:
            yield f"GLI-19 2.8.2: {stake.stake_id} was placed at {stake.placed_at} and taken back at {at}"


def _left(known: StoredStake) -> int:
    return known.stake.placed_cents - known.stake.cancelled_cents


def _replayed(world: World, round_id: str, written: RoundEntries) -> Iterator[str]:
    """From entropy and bets alone, by the rules of the version that the round was opened under."""
    drawn, ended = written.drawn, written.ended
    if drawn is None or ended is None:
        return
    rules = world.catalogue.rules_in_force(written.opened.placement_id, written.opened.configuration_version).rules
    outcome = rules.draw(Tape(drawn.entropy))
    if rules.outcome_message(outcome).SerializeToString() != drawn.outcome:
        yield f"G10: the entropy of {round_id} gives another outcome"
    if world.wallet.rounds[round_id].outcome != drawn.outcome:
        yield f"G6: {round_id} was settled by another outcome than the journalled one"
    due = {s.stake_id: rules.payout_cents(outcome, rules.read_bets(s.bets)) for s in drawn.stakes}
    if due != dict(ended.payouts):
        yield f"G10: {round_id} had to pay {due} and has paid {dict(ended.payouts)}"
    closes_at = world.durability.closes_at.get(round_id)
    if closes_at is not None and drawn.drawn_at < closes_at:
        yield f"G6: {round_id} was drawn while one could still bet"
    for known in world.wallet.stakes_of(round_id):
        if known.placed_at > drawn.drawn_at:
            yield f"G6: {known.stake.stake_id} was accepted after the outcome was drawn"


def _voids(world: World) -> Iterator[str]:
    """`804/2015:20`: only where a malfunction kept a number from being determined, or nobody has a bet on it."""
    for round_id, written in world.journal.rounds.items():
        if written.ended is None or written.ended.ending is not Ending.VOID:
            continue
        reason, placement_id = written.ended.void_reason, written.opened.placement_id
        individual = world.catalogue.rules_in_force(placement_id).configuration.play == PLAY_INDIVIDUAL
        excused = {
            # There is no number to be determined for anybody.
            ALL_BETS_CANCELLED: individual and not written.ended.returned_stakes,
            OWNER_LOST: placement_id in world.lost_placements,
            RANDOMNESS_FAILED: world.randomness_failed_once,
            PLATFORM_FAULT: False,
        }.get(reason, reason in world.declared_void_reasons)
        if not excused:
            yield f"804/2015:20: {round_id} is void without a malfunction ({reason})"


def _launched(world: World) -> Iterator[str]:
    """GLI-19 4.16: the record says on whose word a round was drawn, and that is so."""
    for round_id, written in world.journal.rounds.items():
        if written.drawn is None:
            continue
        launch, placement_id = written.drawn.draw_trigger, written.opened.placement_id
        individual = world.catalogue.rules_in_force(placement_id).configuration.play == PLAY_INDIVIDUAL
        over = {s.session_id for s in world.wallet.book.sessions.values() if s.state is SessionState.ENDED}
        so = {
            DrawTrigger.UNKNOWN: False,
            DrawTrigger.CLOCK: not individual,
            DrawTrigger.PLAYER: individual and any(c.kind == "spin" and c.round_id == round_id for c in world.commands),
            DrawTrigger.SESSION_ENDED: individual and {s.session_id for s in written.drawn.stakes} <= over,
            DrawTrigger.TABLE_HANDED_OVER: individual
            and any(r.hand_over.is_set() or r.lost.is_set() for r in world.replicas if r.placement_id == placement_id),
        }[launch]
        if not so:
            yield f"GLI-19 4.16: {round_id} was not drawn on the word of {launch.name}"


# -- the players -----------------------------------------------------------------------------------------------------


def _bets(world: World) -> Iterator[str]:
    of_stake: dict[str, Command] = {}
    for command in world.commands:
        if command.kind not in {"place", "repeat"}:
            continue
        told = [
            a
            for a in command.answers
            if isinstance(a, roulette_pb2.PlaceBetsResponse | roulette_pb2.RepeatBetsResponse)
        ]
        stake_ids = {answer.stake.stake_id for answer in told}
        if len(stake_ids) > 1:
            yield f"G3: {command.request_id} has made {sorted(stake_ids)}"
        for stake_id in stake_ids:
            if of_stake.setdefault(stake_id, command) is not command:
                yield f"G3: {stake_id} was told to two commands"
            yield from _ended_once(world, command, stake_id)
        if command.kind == "place":
            yield from _in_the_wallet(world, command, acknowledged=bool(told))


def _ended_once(world: World, command: Command, stake_id: str) -> Iterator[str]:
    known = world.wallet.stakes.get(stake_id)
    if known is None:
        yield f"G5: {stake_id} was acknowledged and is not in the wallet"
        return
    if known.stake.state is StakeState.OPEN:
        yield f"G4: {stake_id} was neither paid nor returned"
    closes_at = world.durability.closes_at.get(command.round_id)
    if closes_at is not None and min(STARTS_AT + timedelta(seconds=at) for at in command.arrived_at) >= closes_at:
        yield f"804/2015:14: {stake_id} came after the close and was accepted"


def _in_the_wallet(world: World, command: Command, *, acknowledged: bool) -> Iterator[str]:
    account_no = next((a.no for a in world.wallet.accounts.values() if a.player_id == command.player_id), 0)
    if any(c.kind in {"take back", "repeat"} and _same_felt(c, command) for c in world.commands):
        # What stays of a bet is put down again, and may be as much as another one.
        journalled = world.journal.stakes_of(command.round_id)
        mine = [
            s.stake_id for s in journalled if (s.player_id, s.request_id) == (command.player_id, command.request_id)
        ]
    else:
        mine = [
            s.stake.stake_id
            for s in world.wallet.stakes_of(command.round_id)
            if s.stake.account_no == account_no and s.stake.placed_cents == command.amount_cents
        ]
    if len(mine) > 1:
        yield f"G3: {command.request_id} is {len(mine)} times in the wallet"
    certain = command.answers and None not in command.answers and not UNCERTAIN_REASONS & set(command.refusals)
    if mine and certain and not acknowledged:
        yield f"G12: {command.request_id} was refused ({command.refusals}) and is in the wallet"


def _taken_back(world: World) -> Iterator[str]:
    """Where every wish to take back was refused, nothing was."""
    asked: dict[tuple[str, str], list[Command]] = {}
    for command in world.commands:
        if command.kind == "take back":
            asked.setdefault((command.round_id, command.player_id), []).append(command)
    for (round_id, player_id), commands in asked.items():
        answers = [answer for command in commands for answer in command.answers]
        reasons = {answer.reason if isinstance(answer, Refused) else "" for answer in answers}
        if reasons & {"", *UNCERTAIN_REASONS} or any(not command.answers for command in commands):
            continue
        account_nos = {a.no for a in world.wallet.accounts.values() if a.player_id == player_id}
        for known in world.wallet.stakes_of(round_id):
            if known.stake.account_no in account_nos and known.stake.state is StakeState.CANCELLED:
                yield f"G12: {player_id} was refused ({reasons}), and {known.stake.stake_id} was taken back"


def _same_felt(command: Command, other: Command) -> bool:
    return (command.player_id, command.round_id) == (other.player_id, other.round_id)


# -- the bus ---------------------------------------------------------------------------------------------------------


def _events(world: World) -> Iterator[str]:
    for table_id, heard in world.events.published().items():
        for before, after in pairwise(heard):
            if after.event.seq != before.event.seq + 1:
                yield f"events: {table_id} says {after.event.seq} after {before.event.seq}"
            if after.epoch < before.epoch:
                yield f"G8: at {table_id} a former owner is heard after {after.event.seq}"
        yield from _told_in_order(table_id, heard)


class _Watched:
    """What somebody who watches a table believes."""

    def __init__(self) -> None:
        self.open: str = ""
        self.closed: set[str] = set()
        self.drawn: dict[str, bytes] = {}
        self.ended: set[str] = set()

    def objection(self, event: events_pb2.TableEvent) -> str | None:
        """What makes no sense after all that was heard before, and is noted all the same."""
        kind = event.WhichOneof("event") or ""
        said = getattr(event, kind)
        handle = getattr(self, f"_{kind}", None)
        result: str | None = None if handle is None else handle(said)
        return result

    def _snapshot_published(self, said: events_pb2.SnapshotPublished) -> str | None:
        # It replaces all that was known: a former owner may have closed a round that is not in the journal.
        self.open = said.snapshot.round.round_id
        self.closed.clear()
        for past in said.snapshot.past_outcomes:
            if self.drawn.setdefault(past.round_id, past.outcome.value) != past.outcome.value:
                return f"the outcome of {past.round_id} has changed"
        return None

    def _round_opened(self, said: events_pb2.RoundOpened) -> str | None:
        round_id = said.round.round_id
        before, self.open = self.open, round_id
        if round_id in self.ended or round_id in self.drawn:
            return f"{round_id} is opened again"
        if before and before != round_id and before not in self.ended and before in self.closed:
            return f"{round_id} is opened before {before} has ended"
        return None

    def _bets_placed(self, said: events_pb2.BetsPlaced) -> str | None:
        if said.round_id in self.drawn or said.round_id in self.ended:
            return f"bets in {said.round_id} after its outcome"
        return None if said.round_id == self.open else f"bets in {said.round_id}, which is not open"

    def _bets_cancelled(self, said: events_pb2.BetsCancelled) -> str | None:
        return self._bets_placed(events_pb2.BetsPlaced(round_id=said.round_id))

    def _betting_closed(self, said: events_pb2.BettingClosed) -> str | None:
        if said.round_id in self.closed:
            return f"{said.round_id} is closed twice"
        self.closed.add(said.round_id)
        return None if said.round_id == self.open else f"{said.round_id} is closed and was not open"

    def _outcome_drawn(self, said: events_pb2.OutcomeDrawn) -> str | None:
        known = self.drawn.setdefault(said.round_id, said.outcome.value)
        if known != said.outcome.value:
            return f"{said.round_id} has two outcomes"
        return f"an outcome of {said.round_id} after its end" if said.round_id in self.ended else None

    def _round_settled(self, said: events_pb2.RoundSettled) -> str | None:
        if said.round_id in self.ended:
            return f"{said.round_id} ends twice"
        self.ended.add(said.round_id)
        return None if said.round_id in self.drawn else f"{said.round_id} is paid and nobody has seen its outcome"

    def _round_void(self, said: events_pb2.RoundVoid) -> str | None:
        if said.round_id in self.ended or said.round_id in self.drawn:
            return f"{said.round_id} is void after its outcome or end"
        self.ended.add(said.round_id)
        return None


def _told_in_order(table_id: str, heard: list[PublishedEvent]) -> Iterator[str]:
    watched = _Watched()
    for one in heard:
        objection = watched.objection(one.event)
        if objection is not None:
            yield f"events: {table_id} {one.event.seq}: {objection}"


# -- the tables ------------------------------------------------------------------------------------------------------


def _seats(world: World) -> Iterator[str]:
    """Whoever sits at a table that is at rest has a session there, and the other way round."""
    for table_id, (seats, sessions) in world.seats_at_end.items():
        if seats != sessions:
            yield f"seats: at {table_id} sit {sorted(seats)}, and the sessions are {sorted(sessions)}"
