"""Checks that every acknowledged bet is settled or refunded once, and every other one is whole or absent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.wallet.model.state import RoundState, StakeState, TransferKind
from tests.drill.checks.findings import Check
from tests.drill.recorder import ABANDONED, ANSWERED, UNANSWERED, Command

# How a stake may end in a round that ended so.
_ENDS: Mapping[int, frozenset[int]] = {
    RoundState.SETTLED: frozenset({StakeState.SETTLED, StakeState.PAID, StakeState.CANCELLED, StakeState.RETURNED}),
    # What was paid before stays paid (805/2015:27).
    RoundState.VOID: frozenset({StakeState.RETURNED, StakeState.PAID, StakeState.CANCELLED}),
}
_ENDING_KINDS = frozenset({
    TransferKind.ROUND_SETTLED, TransferKind.ROUND_VOID, TransferKind.STAKES_PAID, TransferKind.STAKE_CANCELLED,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class LedgerStake:
    """A stake as the ledger has it."""

    stake_id: str
    account_id: str
    round_id: str
    placed_cents: int
    cancelled_cents: int
    payout_cents: int
    state: int
    round_state: int


@dataclass(frozen=True, slots=True)
class LedgerTransfer:
    """What one transfer moved on a player's account."""

    transfer_no: int
    kind: int
    request_id: str
    account_id: str
    round_id: str
    at: float
    """By the wallet's clock: it takes effect at this moment or later."""
    free_cents: int
    locked_cents: int


def check_stakes(commands: Iterable[Command], stakes: Iterable[LedgerStake]) -> Check:
    """Compares every bet and every decision that costs with the ledger's stakes."""
    check = Check("every acknowledged bet is settled or refunded, every other one whole or absent", "G3, G4, G5")
    of_ledger = {stake.stake_id: stake for stake in stakes}
    staking = [command for command in commands if command.cents and command.kind in {"bet", "act"}]
    known = {command.ledger_id for command in staking}
    for stake in of_ledger.values():
        if stake.stake_id not in known:
            check.violate(f"stake {stake.stake_id} of {stake.account_id} was asked for by nobody")
        if stake.state not in _ENDS.get(stake.round_state, frozenset()):
            check.violate(f"{stake} has not ended with its round")
    acknowledged = Counter(command.stake_id for command in staking if command.stake_id)
    for stake_id, times in acknowledged.items():
        if times > 1:
            check.violate(f"stake {stake_id} answers {times} commands")
    for command in staking:
        check.looked_at += 1
        check_stake(check, command, of_ledger.get(command.ledger_id))
    check.unit = "bets and decisions that cost"
    return check


def check_stake(check: Check, command: Command, stake: LedgerStake | None) -> None:
    """Compares one command with its stake, if the ledger has one."""
    if command.outcome == ANSWERED:
        if stake is None or command.stake_id != stake.stake_id:
            check.violate(f"{command} was acknowledged, and the ledger has {stake}", [command.line()])
        elif (stake.placed_cents, stake.round_id) != (command.cents, command.round_id):
            check.violate(f"{command} is another stake in the ledger: {stake}", [command.line()])
    elif stake is not None and stake.placed_cents != command.cents:
        check.violate(f"{command} is there in part: {stake}", [command.line()])
    elif stake is not None and command.outcome not in {ABANDONED, UNANSWERED} and not _went_back(stake):
        check.violate(f"{command} was refused, and counts: {stake}", [command.line()])


def _went_back(stake: LedgerStake) -> bool:
    return stake.cancelled_cents == stake.placed_cents or stake.state == StakeState.RETURNED


def check_endings(transfers: Iterable[LedgerTransfer], stakes: Iterable[LedgerStake]) -> Check:
    """Every round leaves nothing locked: what its stakes locked for an account was released once, to the cent."""
    check = Check("each round releases what it locked, once", "G1, G4", unit="players' rounds")
    locked: Counter[tuple[str, str]] = Counter()
    paid: Counter[tuple[str, str]] = Counter()
    for transfer in transfers:
        if transfer.round_id:
            place = (transfer.account_id, transfer.round_id)
            locked[place] += transfer.locked_cents
            if transfer.kind in _ENDING_KINDS:
                paid[place] += transfer.free_cents
    owed: Counter[tuple[str, str]] = Counter()
    for stake in stakes:
        place = (stake.account_id, stake.round_id)
        returned = stake.placed_cents - stake.cancelled_cents if stake.state == StakeState.RETURNED else 0
        owed[place] += stake.cancelled_cents + (returned or stake.payout_cents)
    for place in sorted(locked.keys() | owed.keys()):
        check.looked_at += 1
        if locked[place]:
            check.violate(f"round {place[1]} still holds {locked[place]} cents of {place[0]}")
        if paid[place] != owed[place]:
            check.violate(f"round {place[1]} gave {place[0]} {paid[place]} cents; its stakes get {owed[place]}")
    return check
