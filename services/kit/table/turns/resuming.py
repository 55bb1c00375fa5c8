"""Goes on with a dealt round of a former owner: deals it again from the entropy, and applies the decisions on record.

A decision that was staked and not journalled is adopted if it is the next one and possible; otherwise its stake goes
back. So a player who sends it again gets the same answer, whichever of the two it was (G3).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.clock import Clock
from services.kit.randomness.tape import Tape
from services.kit.refusal import Refused
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, DealtRound, Outcome, Rules, StakeOnTable
from services.kit.table.journal.entries import ActedBy, Drawn, Journal, JournalStake, Moved, Opened, UnfinishedRound
from services.kit.table.turns.turn_clock import FIRST_TURN, next_turn_number
from services.kit.table.wallet.table_wallet import TableWallet


class DecisionsLost(Exception):
    """The ledger has paid what the cards and decisions on record do not: the journal lacks decisions."""


@dataclass(frozen=True, slots=True)
class ResumedRound(Generic[Bets, Outcome]):
    """A dealt round as its former owner left it."""

    opened: Opened
    drawn: Drawn
    rules: VersionedRules[Bets, Outcome]
    dealt: DealtRound[Bets, Outcome]
    stakes: Sequence[JournalStake]
    """All of them, those of decisions included."""
    moves: Sequence[Moved]
    paid: Mapping[str, int]
    turn_number: int
    """As players know the turn under way."""
    shown_at: datetime
    """When its cards lie on the table, as players were told: perhaps they are still being dealt."""
    given_back: frozenset[str] = frozenset()
    """Stakes that were taken back, or that no decision came of: a command that made one makes no other."""


def deal_again(
    unfinished: UnfinishedRound, drawn: Drawn, rules: VersionedRules[Bets, Outcome]
) -> ResumedRound[Bets, Outcome]:
    """Returns the round that entropy, stakes and decisions of the journal give (G10)."""
    dealt = dealt_from(rules.rules, drawn)
    paid = {stake_id: cents for entry in unfinished.paid for stake_id, cents in entry.payouts}
    shown_at = drawn.drawn_at + dealing_time(rules, dealt.cards_shown)
    resumed = ResumedRound(unfinished.opened, drawn, rules, dealt, drawn.stakes, (), paid, FIRST_TURN, shown_at)
    for moved in unfinished.moves:
        resumed = _after(resumed, moved)
    return resumed


def dealing_time(rules: VersionedRules[Bets, Outcome], cards: int) -> timedelta:
    """Returns how long so many cards take to be dealt on a screen."""
    return timedelta(milliseconds=rules.configuration.dealing_ms) * cards


def dealt_from(rules: Rules[Bets, Outcome], drawn: Drawn) -> DealtRound[Bets, Outcome]:
    """Deals a round again, as it was dealt."""
    stakes = [StakeOnTable(stake.stake_id, stake.seat, rules.read_bets(stake.bets)) for stake in drawn.stakes]
    return rules.deal(stakes, Tape(drawn.entropy), drawn.cards_taken)


def decided_from(rules: Rules[Bets, Outcome], drawn: Drawn, moves: Iterable[Moved]) -> DealtRound[Bets, Outcome]:
    """Deals a round again, and applies the decisions on record."""
    dealt = dealt_from(rules, drawn)
    for moved in moves:
        dealt = _with_move(dealt, moved)
    return dealt


async def reconcile(
    resumed: ResumedRound[Bets, Outcome], wallet: TableWallet, journal: Journal, epoch: int, clock: Clock
) -> ResumedRound[Bets, Outcome]:
    """Adopts the stake of a decision that only the ledger knows, or gives it back.

    A table asks the wallet for one stake at a time once the cards are dealt, so there is one such stake at most; there
    are more if the journal was restored from a backup, and those that are not the next decision go back. Raises
    `DecisionsLost` where that is not enough.
    """
    known = {stake.stake_id for stake in resumed.stakes}
    ledger = await wallet.find_round(resumed.opened.round_id)
    given_back = {stake.stake_id for stake in ledger.stakes if stake.state == types_pb2.STAKE_STATE_CANCELLED}
    for stake in ledger.stakes:
        if stake.state != types_pb2.STAKE_STATE_OPEN or stake.stake_id in known:
            continue
        moved = _decision_of(resumed, stake, clock)
        if moved is None:
            await _give_back(resumed.opened.round_id, stake, wallet)
            given_back.add(stake.stake_id)
            continue
        await journal.write_moved(epoch, moved)
        resumed = _after(resumed, moved)
    _verify_payments(resumed, ledger)
    return dataclasses.replace(resumed, given_back=frozenset(given_back))


def _verify_payments(resumed: ResumedRound[Bets, Outcome], ledger: wallet_pb2.Round) -> None:
    """Fails if a stake was paid before the end that is not due by what is on record."""
    if resumed.dealt.turn is None:
        # All is paid now, and the wallet compares it with what was.
        return
    due = {**resumed.dealt.due_cents(), **resumed.paid}
    for stake in ledger.stakes:
        if stake.state == types_pb2.STAKE_STATE_PAID and due.get(stake.stake_id) != stake.payout_cents:
            raise DecisionsLost(f"{stake.stake_id} of {ledger.round_id} was paid by a decision that is not on record")


def _decision_of(resumed: ResumedRound[Bets, Outcome], stake: types_pb2.Stake, clock: Clock) -> Moved | None:
    """Returns the decision that a stake was for, if it is possible now."""
    own = next((each for each in resumed.stakes if each.account_id == stake.account_id), None)
    if own is None:
        return None
    cents = stake.placed_cents - stake.cancelled_cents
    bets = resumed.rules.rules.read_bets(stake.detail)
    try:
        move = resumed.dealt.move_staking(own.seat, bets)
        wanted = None if move is None else resumed.dealt.judge(own.seat, move)
    except Refused:
        return None
    if move is None or wanted is None or wanted.cents != cents:
        return None
    journal_stake = JournalStake(
        stake.stake_id,
        "",
        own.player_id,
        own.account_id,
        stake.session_id,
        own.seat,
        cents,
        stake.detail,
        stake.placed_at.ToDatetime(UTC),
    )
    position = len(resumed.moves) + 1
    return Moved(
        resumed.opened.round_id,
        position,
        own.seat,
        move,
        ActedBy.PLAYER,
        clock.now(),
        command_id=stake.stake_id,
        stake=journal_stake,
    )


def _after(resumed: ResumedRound[Bets, Outcome], moved: Moved) -> ResumedRound[Bets, Outcome]:
    """Returns the round after one more decision."""
    before, stake = resumed.dealt, moved.stake
    after = _with_move(before, moved)
    return dataclasses.replace(
        resumed,
        dealt=after,
        stakes=[*resumed.stakes, *(() if stake is None else (stake,))],
        moves=[*resumed.moves, moved],
        turn_number=next_turn_number(resumed.turn_number, before.turn, after.turn, moved.position),
        shown_at=max(moved.moved_at, resumed.shown_at)
        + dealing_time(resumed.rules, after.cards_shown - before.cards_shown),
    )


def _with_move(dealt: DealtRound[Bets, Outcome], moved: Moved) -> DealtRound[Bets, Outcome]:
    return dealt.after(moved.seat, moved.move, "" if moved.stake is None else moved.stake.stake_id)


async def _give_back(round_id: str, stake: types_pb2.Stake, wallet: TableWallet) -> None:
    """Gives the stake of a decision back that was not made."""
    part = wallet_pb2.StakeToCancel(stake_id=stake.stake_id, amount_cents=stake.placed_cents - stake.cancelled_cents)
    await wallet.cancel_stakes(
        round_id, stake.account_id, [part], request_id=f"{round_id}:give-back:{stake.stake_id}", command_digest=b""
    )
