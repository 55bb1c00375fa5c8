"""Rounds of the invented card game as the journal and the ledger record them, played by the game's own rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.randomness.tape import Tape
from services.kit.table.game import StakeOnTable
from services.kit.table.journal.entries import (
    ActedBy,
    Drawn,
    DrawTrigger,
    Ended,
    Ending,
    JournalStake,
    Moved,
    Opened,
    Paid,
    PlayerResult,
)
from services.kit.table.journal.history import RoundRecord
from services.kit.wire_format import timestamp
from tests.card_guess import Bets, GuessRound, GuessRules, move

AT = datetime(2026, 11, 2, 20, 0, tzinfo=UTC)
RULES = GuessRules()


def deal(entropy: bytes, bets: Mapping[int, int]) -> GuessRound:
    """Deals for seats with their bets in cents."""
    stakes = [StakeOnTable[Bets](f"{seat}", seat, {f"{seat}": cents}) for seat, cents in bets.items()]
    return RULES.deal(stakes, Tape(entropy))


def entropy_where(bets: Mapping[int, int], suits: Callable[[GuessRound], bool]) -> bytes:
    """Returns entropy, exactly as much as the deal uses, that gives a round which suits the test."""
    for seed in range(10_000):
        entropy = random.Random(seed).randbytes(400)
        if suits(deal(entropy, bets)):
            tape = Tape(entropy)
            RULES.deal([], tape)
            return entropy[: tape.used]
    raise AssertionError("no such round is dealt")


def recorded_round(
    entropy: bytes,
    bets: Mapping[int, int],
    decisions: Sequence[tuple[int, str]],
    *,
    round_id: str = "guess.1",
    place: Callable[[int, Bets], JournalStake] | None = None,
) -> RoundRecord:
    """Plays a round to its end, and returns what the journal holds of it; `place` makes the stakes."""
    place = place or (lambda seat, bets: journal_stake(f"{round_id}:{'+'.join(bets)}", seat, bets))
    stakes = [place(seat, {f"{seat}": cents}) for seat, cents in bets.items()]
    round_ = RULES.deal([_on_table(stake) for stake in stakes], Tape(entropy))
    paid_before: dict[str, int] = {}
    moves: list[Moved] = []
    paid: list[Paid] = []

    def pay(position: int) -> None:
        due = {stake_id: cents for stake_id, cents in round_.due_cents().items() if stake_id not in paid_before}
        paid_before.update(due)
        if due:
            paid.append(Paid(round_id, position, sorted(due.items()), AT + timedelta(seconds=30 + position)))

    pay(0)
    for position, (seat, decision) in enumerate(decisions, start=1):
        wanted = round_.judge(seat, move(decision))
        stake = None if wanted is None else place(seat, wanted.bets)
        at = AT + timedelta(seconds=30 + position)
        moves.append(
            Moved(
                round_id, position, seat, move(decision), ActedBy.PLAYER, at, f"{round_id}-{position}", b"digest", stake
            )
        )
        round_ = round_.after(seat, move(decision), "" if stake is None else stake.stake_id)
        pay(position)
    everything = [*stakes, *(each.stake for each in moves if each.stake is not None)]
    payouts = [(each.stake_id, RULES.payout_cents(round_.outcome, RULES.read_bets(each.bets))) for each in everything]
    outcome = RULES.outcome_message(round_.outcome).SerializeToString()
    results = [
        PlayerResult(player, f"session-{player}", 0, 0, 0, 0) for player in sorted({s.player_id for s in stakes})
    ]
    table_id, _, number = round_id.rpartition(".")
    return RoundRecord(
        Opened(round_id, table_id, table_id, int(number), 1, AT, AT + timedelta(seconds=20)),
        Drawn(
            round_id,
            AT + timedelta(seconds=20),
            AT + timedelta(seconds=21),
            entropy,
            None,
            stakes,
            [],
            DrawTrigger.CLOCK,
            hides_cards=True,
        ),
        Ended(round_id, Ending.SETTLED, AT + timedelta(seconds=90), "", payouts, results, outcome=outcome),
        moves,
        paid,
    )


def journal_stake(stake_id: str, seat: int, bets: Bets) -> JournalStake:
    detail = RULES.bets_message(bets).SerializeToString()
    player = f"player-{seat}"
    cents = RULES.total_cents(bets)
    return JournalStake(stake_id, "request", player, f"account-{player}", f"session-{player}", seat, cents, detail, AT)


def ledger_round(record: RoundRecord) -> wallet_pb2.Round:
    """Returns the round as an honest ledger has it."""
    payouts = record.payouts
    settled = record.ended is not None
    return wallet_pb2.Round(
        round_id=record.opened.round_id,
        state=wallet_types.ROUND_STATE_SETTLED if settled else wallet_types.ROUND_STATE_OPEN,
        stakes=[
            wallet_types.Stake(
                stake_id=stake.stake_id,
                session_id=stake.session_id,
                account_id=stake.account_id,
                placed_cents=stake.amount_cents,
                payout_cents=payouts.get(stake.stake_id, 0),
                state=wallet_types.STAKE_STATE_SETTLED if settled else wallet_types.STAKE_STATE_OPEN,
                detail=stake.bets,
                placed_at=timestamp(stake.placed_at),
            )
            for stake in record.stakes
        ],
    )


def _on_table(stake: JournalStake) -> StakeOnTable[Bets]:
    return StakeOnTable(stake.stake_id, stake.seat, RULES.read_bets(stake.bets))
