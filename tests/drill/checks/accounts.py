"""Puts the history of each account together, from its clients' commands and what rounds moved, and checks it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from services.wallet.model.state import TransferKind
from tests.drill.checks.findings import Check
from tests.drill.checks.linearizability import Operation, contradiction
from tests.drill.checks.stakes import LedgerTransfer
from tests.drill.recorder import ANSWERED, Command

INSUFFICIENT_FUNDS = "INSUFFICIENT_FUNDS"
# Commands that move the money of an account, and the readings of it.
_MOVING = frozenset({"bet", "act", "cancel", "deposit", "withdraw", "buy_in"})
# Transfers that a client has to have asked for; a table takes stakes back by itself, too.
_ASKED_FOR = frozenset({TransferKind.DEPOSIT, TransferKind.WITHDRAWAL, TransferKind.STAKE, TransferKind.BUY_IN})


def check_accounts(
    commands: Sequence[Command],
    transfers: Iterable[LedgerTransfer],
    told_ends: Mapping[str, float],
    read_at: float = math.inf,
) -> Check:
    """Checks that the history of every account is linearizable.

    `told_ends` is when a client first saw a round end; `read_at` is when the transfers were read: all of them had taken
    effect.
    """
    check = Check("the history of every account is linearizable", "G3, G5", unit="operations")
    by_account: defaultdict[str, list[Command]] = defaultdict(list)
    for command in commands:
        if command.account_id:
            by_account[command.account_id].append(command)
    moved: defaultdict[str, list[LedgerTransfer]] = defaultdict(list)
    for transfer in transfers:
        moved[transfer.account_id].append(transfer)
    for account_id in sorted(by_account.keys() | moved.keys()):
        for sentence in uncalled_transfers(by_account[account_id], moved[account_id]):
            check.violate(f"{account_id}: {sentence}")
        operations = account_history(by_account[account_id], moved[account_id], told_ends, read_at)
        check.looked_at += len(operations)
        found = contradiction(operations)
        if found is not None:
            check.violate(f"{account_id}: {found.sentence}", [str(operation) for operation in found.operations])
        stale = _stale_version(by_account[account_id])
        if stale:
            check.violate(f"{account_id}: {stale}")
    check.note = f"{len(by_account)} accounts"
    return check


def uncalled_transfers(commands: Sequence[Command], transfers: Sequence[LedgerTransfer]) -> list[str]:
    """What the ledger moved for a client's command that was never sent, or that it had carried out before."""
    left = set(_clients_commands(commands))
    found = []
    for transfer in transfers:
        if transfer.kind in _ASKED_FOR and transfer.request_id not in left:
            found.append(f"nobody asked for {transfer}, or it was carried out before")
        left.discard(transfer.request_id)
    return found


def account_history(
    commands: Sequence[Command],
    transfers: Sequence[LedgerTransfer],
    told_ends: Mapping[str, float],
    read_at: float = math.inf,
) -> list[Operation]:
    """The operations of one account: those of its clients, and what nobody asked for (the ends of rounds)."""
    of_clients = _clients_commands(commands)
    found: list[Operation] = []
    seen: set[int] = set()
    for transfer in transfers:
        command = of_clients.get(transfer.request_id)
        if command is None or id(command) in seen:
            # A command that moved money twice is explained once.
            ends_round = transfer.kind in {TransferKind.ROUND_SETTLED, TransferKind.ROUND_VOID}
            told = min(read_at, told_ends.get(transfer.round_id, math.inf)) if ends_round else read_at
            name = f"{TransferKind(transfer.kind).name} {transfer.round_id}"
            invoked = min(transfer.at, told)
            found.append(Operation(name, invoked, told, transfer.free_cents, transfer.locked_cents))
        else:
            seen.add(id(command))
            if command.outcome != ANSWERED:
                found.append(_of_client(command, transfer.free_cents, transfer.locked_cents))
    for command in commands:
        if command.outcome == ANSWERED and (command.balance or command.kind in _MOVING):
            found += _answered(command)
        elif command.outcome == INSUFFICIENT_FUNDS:
            found.append(Operation(command.line(), command.invoked, command.responded, refused_below=command.cents))
    return found


def _answered(command: Command) -> list[Operation]:
    moves = {
        "bet": (-1, 1),
        "act": (-1, 1),
        "cancel": (1, -1),
        "deposit": (1, 0),
        "withdraw": (-1, 0),
        "buy_in": (-1, 0),
    }
    free, locked = moves.get(command.kind, (0, 0))
    if command.kind == "act" and not command.cents:
        return []
    return [_of_client(command, free * command.cents, locked * command.cents)]


def _of_client(command: Command, free_cents: int, locked_cents: int) -> Operation:
    told = None if command.balance is None else command.balance[:2]
    return Operation(command.line(), command.invoked, command.responded, free_cents, locked_cents, told)


def _clients_commands(commands: Sequence[Command]) -> dict[str, Command]:
    return {name: command for command in commands if command.kind in _MOVING for name in _ledger_names(command)}


def _ledger_names(command: Command) -> tuple[str, ...]:
    """The ids under which the ledger may have a command: of a player hashed, of an operator as it was sent."""
    if command.kind == "buy_in":
        return (f"{command.table_id}:buy-in:{command.ledger_id}",)
    return command.ledger_id, command.request_id


def _stale_version(commands: Sequence[Command]) -> str:
    """A balance that was told although a newer one had been told before its command was called."""
    told = [command for command in commands if command.balance is not None and command.outcome == ANSWERED]
    answers = sorted(told, key=lambda command: command.responded)
    newest, next_answer = 0, 0
    for command in sorted(told, key=lambda command: command.invoked):
        while next_answer < len(answers) and answers[next_answer].responded < command.invoked:
            version = answers[next_answer].balance
            newest = max(newest, version[2] if version else 0)
            next_answer += 1
        if command.balance is not None and command.balance[2] < newest:
            return f"version {command.balance[2]} was told after version {newest}: {command.line()}"
    return ""
