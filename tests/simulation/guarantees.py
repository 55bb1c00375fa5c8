"""Checks a finished run against the guarantees, from wallet, journal, bus and the answers that players got."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

from google.protobuf.message import Message

from feltro.table.v1 import events_pb2
from feltro.wallet.v1.types_pb2 import PLAY_INDIVIDUAL
from services.kit.refusal import Refused
from services.kit.table.banked.settlement import OWNER_LOST
from services.kit.table.journal.entries import DrawTrigger, Ending
from services.kit.table.live.closing import NO_BETS_LEFT
from services.kit.table.live.table import PLATFORM_FAULT, RANDOMNESS_FAILED
from services.kit.table.owned.unreadable_rounds import CARDS_UNREADABLE
from services.wallet.model.state import AccountKind, RoundState, SessionState, StakeState, TransferKind
from tests.simulation.caves import checks as caves
from tests.simulation.chips import checks as chips
from tests.simulation.decisions import checks as decisions
from tests.simulation.environment.event_stream import PublishedEvent
from tests.simulation.environment.games import dealt_again, is_answer
from tests.simulation.environment.journal import RoundEntries
from tests.simulation.environment.virtual_time import STARTS_AT
from tests.simulation.environment.wallet import StoredStake
from tests.simulation.environment.world import Command, World
from tests.simulation.shoes import checks as shoes

_STATES = {Ending.SETTLED: RoundState.SETTLED, Ending.VOID: RoundState.VOID}
_STAKES = {Ending.SETTLED: StakeState.SETTLED, Ending.VOID: StakeState.RETURNED}
# After these a player does not know whether the bet counts, and sends it again.
UNCERTAIN_REASONS = frozenset({"UNAVAILABLE", "TABLE_ELSEWHERE", "OVERLOADED"})


def violations(world: World) -> list[str]:
    """Returns all violations, each beginning with its guarantee or rule."""
    return [
        *world.durability.violations,
        *_money(world),
        *_rounds(world),
        *_journal(world),
        *_voids(world),
        *_draw_triggers(world),
        *_first_answers(world),
        *_bets(world),
        *_cancellations(world),
        *_events(world),
        *_seats(world),
        *decisions.violations(world),
        *shoes.violations(world),
    ]


# -- wallet ----------------------------------------------------------------------------------------------------------


def _money(world: World) -> Iterator[str]:
    ledger = world.wallet
    if total := sum(account.free_cents + account.locked_cents for account in ledger.book.accounts.values()):
        yield f"G1: all accounts together hold {total}"
    sums: Counter[int] = Counter()
    for stored in ledger.movements:
        sums[stored.movement.transfer_no] += sum(cents for _, _, cents in stored.entries)
        for part, before, cents in stored.entries:
            if stored.movement.account.kind is AccountKind.PLAYER and before + cents < 0:
                yield f"G2: {stored.movement.account.account_id} {part.name} is {before + cents}"
    yield from (f"G1: transfer {number} sums to {cents}" for number, cents in sums.items() if cents)
    for account in ledger.book.accounts.values():
        if account.locked_cents:
            yield f"G4: {account.locked_cents} cents of {account.account_id} are still locked"


def _rounds(world: World) -> Iterator[str]:
    ends = Counter(
        stored.movement.round_id
        for stored in world.wallet.movements
        if stored.movement.kind in {TransferKind.ROUND_SETTLED, TransferKind.ROUND_VOID}
        and stored.movement.account.kind is AccountKind.PLAYER
    )
    players = {round_id: {s.stake.account_no for s in world.wallet.stakes_of(round_id)} for round_id in ends}
    for round_id, count in ends.items():
        if count > len(players[round_id]):
            yield f"G4: {round_id} has paid {count} times to {len(players[round_id])} accounts"
    for round_id, stored in world.wallet.rounds.items():
        if round_id not in world.journal.rounds and round_id not in world.rounds_lost:
            yield f"G10: {round_id} is in the wallet and not in the journal"
        if stored.round.state is RoundState.OPEN:
            yield f"G4: {round_id} is still open in the wallet"


# -- journal ---------------------------------------------------------------------------------------------------------


def _journal(world: World) -> Iterator[str]:
    for round_id, entries in world.journal.rounds.items():
        if entries.ended is None:
            yield f"G4: {round_id} is without an end in the journal"
            continue
        if world.game.is_for_chips:
            yield from chips.hand_agrees(world, round_id, entries)
            if entries.ended.ending is Ending.SETTLED:
                yield from _replayed(world, round_id, entries)
            continue
        stored = world.wallet.rounds.get(round_id)
        if stored is None or stored.round.state is not _STATES[entries.ended.ending]:
            yield f"G4: journal and wallet disagree on how {round_id} ended"
            continue
        agree = caves.hand_agrees if world.game.has_caves else _stakes_agree
        yield from agree(world, round_id, entries)
        if entries.ended.ending is Ending.SETTLED or round_id not in world.unreadable_rounds | world.cut_off_rounds:
            yield from _replayed(world, round_id, entries)


def _stakes_agree(world: World, round_id: str, entries: RoundEntries) -> Iterator[str]:
    assert entries.ended is not None
    state = _STAKES[entries.ended.ending]
    placed = world.wallet.stakes_of(round_id)
    # A stake that was paid before the round ended stays paid, however the round ends.
    counted = {s.stake.stake_id: s for s in placed if s.stake.state in {state, StakeState.PAID}}
    if any(s.stake.state not in {state, StakeState.PAID, StakeState.CANCELLED} for s in placed):
        yield f"G4: stakes of {round_id} did not end as their round"
    journalled = {s.stake_id: s for s in world.journal.stakes_of(round_id)}
    if {i: (s.amount_cents, s.bets) for i, s in journalled.items()} != {
        i: (_left(s), s.detail_after(math.inf)) for i, s in counted.items()
    }:
        yield f"G10: {round_id} has {sorted(journalled)} in the journal and {sorted(counted)} in the wallet"
    yield from _cancelled_stakes_agree(world, round_id, entries)
    payouts = dict(entries.ended.payouts)
    paid = {i: _left(s) if s.stake.state is StakeState.RETURNED else s.stake.payout_cents for i, s in counted.items()}
    if payouts != paid:
        yield f"G10: {round_id} has paid {paid}, and the journal says {payouts}"
    for result in entries.ended.player_results:
        if result.balance_after_cents - result.balance_before_cents != result.payout_cents - result.staked_cents:
            yield f"G10: the result of {result.player_id} in {round_id} does not add up"
    if sum(result.staked_cents for result in entries.ended.player_results) != sum(
        s.amount_cents for s in journalled.values()
    ):
        yield f"G10: the results of {round_id} are not its stakes"


def _cancelled_stakes_agree(world: World, round_id: str, entries: RoundEntries) -> Iterator[str]:
    entry, ended = entries.drawn or entries.ended, entries.ended
    assert entry is not None
    assert ended is not None
    in_wallet = sorted(
        (
            s.stake.stake_id,
            world.wallet.book.accounts[s.stake.account_no].player_id or "",
            cancellation.amount_cents,
            s.detail_after(math.inf) if cancellation.cancelled_detail is None else cancellation.cancelled_detail,
        )
        for s in world.wallet.stakes_of(round_id)
        for cancellation, _ in s.cancellations
        # A stake of a decision that was not made has never lain on the felt.
        if entries.drawn is None or s.placed_at <= entries.drawn.drawn_at
    )
    journalled = sorted(
        (stake.stake_id, stake.player_id, stake.amount_cents, stake.bets) for stake, _ in entry.cancelled_stakes
    )
    if journalled != in_wallet:
        yield f"G10: {round_id} has cancelled {journalled} in the journal, and {in_wallet} in the wallet"
    for stake, at in entry.cancelled_stakes:
        if not entries.opened.opened_at <= stake.placed_at <= at <= ended.ended_at:
            yield f"GLI-19 2.8.2: {stake.stake_id} was placed at {stake.placed_at} and cancelled at {at}"


def _left(stored: StoredStake) -> int:
    return stored.stake.placed_cents - stored.stake.cancelled_cents


def _replayed(world: World, round_id: str, entries: RoundEntries) -> Iterator[str]:
    """Computes the round again from entropy and bets, by the rules of the version that it was opened under."""
    drawn, ended = entries.drawn, entries.ended
    if drawn is None or ended is None:
        return
    rules = world.catalogue.rules_in_force(entries.opened.placement_id, entries.opened.configuration_version).rules
    journalled = entries.outcome
    if journalled is None:
        yield f"G10: {round_id} has ended without an outcome"
        return
    dealt = None if drawn.is_lost else dealt_again(rules, drawn, entries.moves)
    if dealt is not None and dealt.turn is None:
        outcome = dealt.outcome
    elif round_id in world.rounds_lost:
        # The draw is lost, or decisions are: the ledger says how it ended.
        outcome = rules.read_outcome(journalled)
    else:
        yield f"G4: {round_id} has ended and is not decided"
        return
    if rules.outcome_message(outcome).SerializeToString() != journalled:
        yield f"G10: the entropy of {round_id} gives another outcome"
    if not world.game.is_for_chips and world.wallet.rounds[round_id].outcome != journalled:
        yield f"G6: {round_id} was settled by another outcome than the journalled one"
    due = {s.stake_id: rules.payout_cents(outcome, rules.read_bets(s.bets)) for s in entries.stakes}
    if due != dict(ended.payouts):
        yield f"G10: {round_id} had to pay {due} and has paid {dict(ended.payouts)}"
    yield from _nothing_bet_after_the_draw(world, round_id, entries)


def _nothing_bet_after_the_draw(world: World, round_id: str, entries: RoundEntries) -> Iterator[str]:
    assert entries.drawn is not None
    drawn_at, closes_at = entries.drawn.drawn_at, world.durability.closes_at.get(round_id)
    if closes_at is not None and drawn_at < closes_at:
        yield f"G6: {round_id} was drawn while it still took bets"
    # Decisions have stakes of their own; one that came to nothing was given back.
    decided = {moved.stake.stake_id for moved in entries.moves if moved.stake is not None}
    for stored in world.wallet.stakes_of(round_id):
        counts = stored.stake.stake_id not in decided and stored.stake.state is not StakeState.CANCELLED
        if counts and stored.placed_at > drawn_at and round_id not in world.rounds_lost:
            yield f"G6: {stored.stake.stake_id} was accepted after the outcome was drawn"


def _voids(world: World) -> Iterator[str]:
    """`804/2015:20`: a round is void only if a malfunction kept it from being drawn, or if no bet is left in it."""
    for round_id, entries in world.journal.rounds.items():
        if entries.ended is None or entries.ended.ending is not Ending.VOID:
            continue
        reason, placement_id = entries.ended.void_reason, entries.opened.placement_id
        if entries.drawn is not None and round_id not in world.unreadable_rounds | world.cut_off_rounds:
            yield f"805/2015:23: {round_id} is void ({reason}), and its cards were dealt"
        individual = world.catalogue.rules_in_force(placement_id).configuration.play == PLAY_INDIVIDUAL
        lawful = {
            # Without a bet there is nothing to draw for.
            NO_BETS_LEFT: individual and not entries.ended.returned_stakes,
            OWNER_LOST: placement_id in world.lost_placements,
            RANDOMNESS_FAILED: world.randomness_failed_once,
            PLATFORM_FAULT: False,
            CARDS_UNREADABLE: round_id in world.unreadable_rounds,
        }.get(reason, reason in world.declared_void_reasons)
        if not lawful:
            yield f"804/2015:20: {round_id} is void without a malfunction ({reason})"


def _draw_triggers(world: World) -> Iterator[str]:
    """GLI-19 4.16: the recorded draw trigger is the one that there was."""
    for round_id, entries in world.journal.rounds.items():
        if entries.drawn is None:
            continue
        trigger, placement_id = entries.drawn.draw_trigger, entries.opened.placement_id
        individual = world.catalogue.rules_in_force(placement_id).configuration.play == PLAY_INDIVIDUAL
        ended_sessions = {s.session_id for s in world.wallet.book.sessions.values() if s.state is SessionState.ENDED}
        possible = {
            DrawTrigger.UNKNOWN: entries.drawn.is_lost and round_id in world.rounds_lost,
            DrawTrigger.CLOCK: not individual,
            DrawTrigger.PLAYER: individual
            and any(c.kind in {"spin", "deal"} and c.round_id == round_id for c in world.commands),
            DrawTrigger.SESSION_ENDED: individual and {s.session_id for s in entries.drawn.stakes} <= ended_sessions,
            DrawTrigger.TABLE_HANDED_OVER: individual
            and any(r.hand_over.is_set() or r.lost.is_set() for r in world.replicas if r.placement_id == placement_id),
        }[trigger]
        if not possible:
            yield f"GLI-19 4.16: {round_id} cannot have the draw trigger {trigger.name}"


# -- players ---------------------------------------------------------------------------------------------------------


# What may be another in a late repeat of an answer: when the next round opens.
_CHANGING_FIELDS = {
    "feltro.roulette.v1.SpinResponse": "next_round_opens_at",
    "feltro.baccarat.v1.DealResponse": "next_round_opens_at",
}


def lasting(answer: object) -> object:
    """Returns an answer as it stays."""
    field = _CHANGING_FIELDS.get(answer.DESCRIPTOR.full_name) if isinstance(answer, Message) else None
    if field is None or not isinstance(answer, Message):
        return answer
    stays = type(answer)()
    stays.CopyFrom(answer)
    stays.ClearField(field)
    return stays


def _first_answers(world: World) -> Iterator[str]:
    """The answer to a command is its first one for ever, whatever has become of the table (`903-B/2015:6.1.1`)."""
    for command in world.commands:
        if command.kind == "enter":
            continue
        first: Message | None = None
        for answer in command.answers:
            if isinstance(answer, Message):
                first = answer if first is None else first
                if lasting(answer) != lasting(first):
                    yield f"G3: {command.kind} {command.request_id} was answered {first} and then {answer}"
            elif first is not None and isinstance(answer, Refused) and answer.reason not in UNCERTAIN_REASONS:
                yield f"G3: {command.kind} {command.request_id} was accepted and then refused ({answer.reason})"
        named_cents = command.amount_cents
        taken_cents = getattr(first, "cancelled_cents", 0)
        if is_answer(first, "CancelBetsResponse") and taken_cents != (named_cents or taken_cents):
            yield f"G12: {command.request_id} named {named_cents} and took {taken_cents} back"


def _bets(world: World) -> Iterator[str]:
    command_of: dict[str, Command] = {}
    for command in world.commands:
        if command.kind not in {"place", "repeat"}:
            continue
        placed: list[Any] = [
            answer for answer in command.answers if is_answer(answer, "PlaceBetsResponse", "RepeatBetsResponse")
        ]
        stake_ids = {answer.stake.stake_id for answer in placed}
        if len(stake_ids) > 1:
            yield f"G3: {command.request_id} has made {sorted(stake_ids)}"
        for stake_id in stake_ids:
            if command_of.setdefault(stake_id, command) is not command:
                yield f"G3: {stake_id} was the answer to two commands"
            yield from _ended_once(world, command, stake_id)
        if command.kind == "place":
            yield from _in_the_wallet(world, command, acknowledged=bool(placed))


def _ended_once(world: World, command: Command, stake_id: str) -> Iterator[str]:
    stored = world.wallet.stakes.get(stake_id)
    if stored is None:
        yield f"G5: {stake_id} was acknowledged and is not in the wallet"
        return
    if stored.stake.state is StakeState.OPEN:
        yield f"G4: {stake_id} was neither paid nor returned"
    closes_at = world.durability.closes_at.get(command.round_id)
    if closes_at is not None and min(STARTS_AT + timedelta(seconds=at) for at in command.arrived_at) >= closes_at:
        yield f"804/2015:14: {stake_id} came after the close and was accepted"


def _in_the_wallet(world: World, command: Command, *, acknowledged: bool) -> Iterator[str]:
    decided = decisions.stake_ids(world, command.player_id)
    account_no = next((a.no for a in world.wallet.accounts.values() if a.player_id == command.player_id), 0)
    if any(c.kind in {"cancel", "repeat"} and _same_player_and_round(c, command) for c in world.commands):
        # What stays of a stake may be as much as another one.
        journalled = world.journal.stakes_of(command.round_id)
        stake_ids = [
            s.stake_id for s in journalled if (s.player_id, s.request_id) == (command.player_id, command.request_id)
        ]
    else:
        stake_ids = [
            s.stake.stake_id
            for s in world.wallet.stakes_of(command.round_id)
            if s.stake.account_no == account_no
            and s.stake.placed_cents == command.amount_cents
            and s.stake.stake_id not in decided
        ]
    if len(stake_ids) > 1:
        yield f"G3: {command.request_id} is {len(stake_ids)} times in the wallet"
    certain = command.answers and None not in command.answers and not UNCERTAIN_REASONS & set(command.refusals)
    if stake_ids and certain and not acknowledged:
        yield f"G12: {command.request_id} was refused ({command.refusals}) and is in the wallet"


def _cancellations(world: World) -> Iterator[str]:
    """Where every cancellation of a player was refused, nothing was taken back; and never more than was named."""
    cancellations: dict[tuple[str, str], list[Command]] = {}
    for command in world.commands:
        if command.kind == "cancel":
            cancellations.setdefault((command.round_id, command.player_id), []).append(command)
    for (round_id, player_id), commands in cancellations.items():
        answers = [answer for command in commands for answer in command.answers]
        reasons = {answer.reason if isinstance(answer, Refused) else "" for answer in answers}
        if reasons & {"", *UNCERTAIN_REASONS} or any(not command.answers for command in commands):
            continue
        account_nos = {a.no for a in world.wallet.accounts.values() if a.player_id == player_id}
        for stored in world.wallet.stakes_of(round_id):
            if stored.stake.account_no in account_nos and stored.cancellations:
                yield f"G12: {player_id} was refused ({reasons}), and {stored.stake.stake_id} was cancelled"


def _same_player_and_round(command: Command, other: Command) -> bool:
    return (command.player_id, command.round_id) == (other.player_id, other.round_id)


# -- events ----------------------------------------------------------------------------------------------------------


def _events(world: World) -> Iterator[str]:
    for table_id, published in world.events.published().items():
        for before, after in pairwise(published):
            if after.event.seq != before.event.seq + 1:
                yield f"events: {table_id} publishes {after.event.seq} after {before.event.seq}"
            if after.epoch < before.epoch:
                yield f"G8: at {table_id} a former owner publishes after {after.event.seq}"
        yield from _consistent_order(table_id, published)


class _Watcher:
    """The state of a table as a client derives it from the events."""

    def __init__(self) -> None:
        self.open: str = ""
        self.closed: set[str] = set()
        self.dealt: set[str] = set()
        self.moves: dict[str, int] = {}
        self.drawn: dict[str, bytes] = {}
        self.ended: set[str] = set()
        # The seats that are taken, where players choose theirs.
        self.taken: set[int] | None = None
        # Every kind of event is named, so that a renamed one cannot go unchecked.
        self._apply: dict[str, Callable[[Any], str | None]] = {
            "snapshot_published": self._snapshot_published,
            "round_opened": self._round_opened,
            "bets_placed": self._bets_changed,
            "bets_cancelled": self._bets_changed,
            "betting_closed": self._betting_closed,
            "round_dealt": self._round_dealt,
            "move_made": self._move_made,
            "stakes_paid": self._stakes_paid,
            "outcome_drawn": self._outcome_drawn,
            "round_settled": self._round_settled,
            "round_voided": self._round_voided,
            "table_switched": _says_nothing_of_a_round,
            "table_emptied": _says_nothing_of_a_round,
            "seat_taken": self._seat_taken,
            "seat_left": self._seat_left,
            "caves_changed": _says_nothing_of_a_round,
            "chips_changed": _says_nothing_of_a_round,
            "turn_changed": self._hand_goes_on,
            "cards_shown": self._hand_goes_on,
        }

    def contradiction(self, event: events_pb2.TableEvent) -> str | None:
        """Applies an event; returns how it contradicts the events before it, if it does."""
        kind = event.WhichOneof("event") or ""
        return self._apply[kind](getattr(event, kind))

    def _snapshot_published(self, event: events_pb2.SnapshotPublished) -> str | None:
        # It replaces all earlier state: a former owner may have closed a round that is not in the journal.
        self.open = event.snapshot.round.round_id
        self.closed.clear()
        seats = event.snapshot.seats
        self.taken = {seat.seat for seat in seats if seat.taken} if seats else None
        if event.snapshot.round.HasField("view"):
            self.dealt.add(self.open)
        for past in event.snapshot.past_outcomes:
            if self.drawn.setdefault(past.round_id, past.outcome.value) != past.outcome.value:
                return f"the outcome of {past.round_id} has changed"
        return None

    def _round_opened(self, event: events_pb2.RoundOpened) -> str | None:
        round_id = event.round.round_id
        before, self.open = self.open, round_id
        if round_id in self.ended or round_id in self.drawn:
            return f"{round_id} is opened again"
        if before and before != round_id and before not in self.ended and before in self.closed:
            return f"{round_id} is opened before {before} has ended"
        return None

    def _bets_changed(self, event: events_pb2.BetsPlaced | events_pb2.BetsCancelled) -> str | None:
        if event.round_id in self.drawn or event.round_id in self.ended:
            return f"bets in {event.round_id} after its outcome"
        return None if event.round_id == self.open else f"bets in {event.round_id}, which is not open"

    def _betting_closed(self, event: events_pb2.BettingClosed) -> str | None:
        if event.round_id in self.closed:
            return f"{event.round_id} is closed twice"
        self.closed.add(event.round_id)
        return None if event.round_id == self.open else f"{event.round_id} is closed and was not open"

    def _round_dealt(self, event: events_pb2.RoundDealt) -> str | None:
        if event.round_id in self.dealt:
            return f"{event.round_id} is dealt twice"
        self.dealt.add(event.round_id)
        if event.round_id != self.open:
            # Nobody bets before the cards of a game with caves are dealt.
            self.open = event.round_id
            return None
        return None if event.round_id in self.closed else f"{event.round_id} is dealt while it takes bets"

    def _move_made(self, event: events_pb2.MoveMade) -> str | None:
        before, self.moves[event.round_id] = self.moves.get(event.round_id, 0), event.position
        if event.round_id in self.drawn or event.round_id in self.ended:
            return f"a decision in {event.round_id} after its outcome"
        if event.round_id not in self.dealt:
            return f"a decision in {event.round_id} before it is dealt"
        # A decision of a former owner is in the snapshot of the next one.
        return None if event.position > before else f"decision {event.position} of {event.round_id} after {before}"

    def _hand_goes_on(self, event: events_pb2.TurnChanged | events_pb2.CardsShown) -> str | None:
        if event.round_id in self.drawn or event.round_id in self.ended:
            return f"{event.round_id} goes on after its outcome"
        return None if event.round_id in self.dealt else f"{event.round_id} goes on before it is dealt"

    def _stakes_paid(self, event: events_pb2.StakesPaid) -> str | None:
        return f"{event.round_id} is paid after its end" if event.round_id in self.ended else None

    def _outcome_drawn(self, event: events_pb2.OutcomeDrawn) -> str | None:
        earlier = self.drawn.setdefault(event.round_id, event.outcome.value)
        if earlier != event.outcome.value:
            return f"{event.round_id} has two outcomes"
        return f"an outcome of {event.round_id} after its end" if event.round_id in self.ended else None

    def _round_settled(self, event: events_pb2.RoundSettled) -> str | None:
        if event.round_id in self.ended:
            return f"{event.round_id} ends twice"
        self.ended.add(event.round_id)
        return None if event.round_id in self.drawn else f"{event.round_id} is paid before its outcome was published"

    def _round_voided(self, event: events_pb2.RoundVoided) -> str | None:
        if event.round_id in self.ended or event.round_id in self.drawn:
            return f"{event.round_id} is void after its outcome or end"
        self.ended.add(event.round_id)
        return None

    def _seat_taken(self, event: events_pb2.SeatTaken) -> str | None:
        if self.taken is None:
            return None
        if event.seat in self.taken:
            return f"seat {event.seat} is taken twice"
        self.taken.add(event.seat)
        return None

    def _seat_left(self, event: events_pb2.SeatLeft) -> str | None:
        if self.taken is None:
            return None
        if event.seat not in self.taken:
            return f"seat {event.seat} is left twice"
        self.taken.remove(event.seat)
        return None


def _says_nothing_of_a_round(_: object) -> None:
    """Contradicts nothing."""


def _consistent_order(table_id: str, published: list[PublishedEvent]) -> Iterator[str]:
    watcher = _Watcher()
    for one in published:
        contradiction = watcher.contradiction(one.event)
        if contradiction is not None:
            yield f"events: {table_id} {one.event.seq}: {contradiction}"


# -- tables ----------------------------------------------------------------------------------------------------------


def _seats(world: World) -> Iterator[str]:
    """At the end the seated players of a table are those with a running session there."""
    for table_id, (seats, sessions) in world.seats_at_end.items():
        if seats != sessions:
            yield f"seats: {table_id} has seated {sorted(seats)}, and the running sessions are {sorted(sessions)}"
