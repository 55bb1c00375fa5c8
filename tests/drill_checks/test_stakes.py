"""Bets against the ledger: acknowledged ones are settled or refunded once, others are whole or absent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.wallet.model.state import RoundState, StakeState, TransferKind
from tests.drill.checks.accounts import account_history, check_accounts
from tests.drill.checks.stakes import LedgerStake, LedgerTransfer, check_endings, check_stakes
from tests.drill.recorder import ABANDONED, ANSWERED, Command

ACCOUNT, ROUND, STAKED = "a-1", "felt.1", 500


def bet(outcome: str = ANSWERED, number: int = 1, invoked: float = 1.0) -> Command:
    command = Command("bet", "ana", f"ana-{number}", ACCOUNT, "felt", "felt", ROUND, STAKED, invoked, invoked + 0.5)
    command.outcome = outcome
    if outcome == ANSWERED:
        command.stake_id = command.ledger_id
    return command


def stake_of(command: Command, state: StakeState = StakeState.SETTLED, payout_cents: int = 0) -> LedgerStake:
    return LedgerStake(command.ledger_id, ACCOUNT, ROUND, STAKED, 0, payout_cents, state, RoundState.SETTLED)


def placed(command: Command, no: int = 1) -> LedgerTransfer:
    return LedgerTransfer(no, TransferKind.STAKE, command.ledger_id, ACCOUNT, ROUND, 1.1, -STAKED, STAKED)


def settled(no: int = 2, payout_cents: int = 0, released_cents: int = STAKED) -> LedgerTransfer:
    return LedgerTransfer(
        no, TransferKind.ROUND_SETTLED, f"end-{no}", ACCOUNT, ROUND, 2.0, payout_cents, -released_cents
    )


def test_a_bet_that_is_there_once_is_right() -> None:
    command = bet()
    assert check_stakes([command], [stake_of(command)]).holds


@pytest.mark.guarantee("G5")
def test_an_acknowledged_bet_that_is_gone_is_found() -> None:
    assert not check_stakes([bet()], []).holds


@pytest.mark.guarantee("G3")
def test_an_acknowledged_bet_of_another_amount_is_found() -> None:
    command = bet()
    assert not check_stakes([command], [replace(stake_of(command), placed_cents=STAKED + 1)]).holds


@pytest.mark.guarantee("G3")
def test_one_stake_for_two_bets_is_found() -> None:
    first, second = bet(), bet(number=2)
    second.stake_id = first.stake_id
    assert not check_stakes([first, second], [stake_of(first), stake_of(second)]).holds


@pytest.mark.guarantee("G4")
@pytest.mark.parametrize("state", [StakeState.OPEN])
def test_a_stake_that_does_not_end_is_found(state: StakeState) -> None:
    command = bet()
    assert not check_stakes([command], [stake_of(command, state)]).holds


@pytest.mark.guarantee("G4")
def test_a_stake_that_is_settled_in_a_void_round_is_found() -> None:
    command = bet()
    stake = replace(stake_of(command), round_state=RoundState.VOID)
    assert not check_stakes([command], [stake]).holds
    assert check_stakes([command], [replace(stake, state=StakeState.RETURNED)]).holds


def test_an_abandoned_bet_may_be_there_or_not() -> None:
    command = bet(ABANDONED)
    assert check_stakes([command], []).holds
    assert check_stakes([command], [stake_of(command)]).holds


@pytest.mark.guarantee("G3")
def test_an_abandoned_bet_that_is_there_in_part_is_found() -> None:
    command = bet(ABANDONED)
    assert not check_stakes([command], [replace(stake_of(command), placed_cents=STAKED - 100)]).holds


@pytest.mark.guarantee("G3")
def test_a_refused_bet_that_counts_is_found() -> None:
    command = bet("BETTING_CLOSED")
    assert check_stakes([command], []).holds
    assert check_stakes([command], [stake_of(command, StakeState.RETURNED)]).holds
    assert not check_stakes([command], [stake_of(command)]).holds


@pytest.mark.guarantee("G3")
def test_a_stake_that_nobody_asked_for_is_found() -> None:
    assert not check_stakes([], [stake_of(bet())]).holds


@pytest.mark.guarantee("G4")
def test_a_round_that_pays_what_its_stakes_get_is_right() -> None:
    command = bet()
    stakes = [stake_of(command, payout_cents=900)]
    assert check_endings([placed(command), settled(payout_cents=900)], stakes).holds


@pytest.mark.guarantee("G1", "G4")
@pytest.mark.parametrize(
    "transfers",
    [
        [placed(bet())],
        [placed(bet()), settled(payout_cents=900), settled(3, payout_cents=900)],
        [placed(bet()), settled(payout_cents=900), settled(3, payout_cents=900, released_cents=0)],
        [placed(bet()), settled(payout_cents=0)],
    ],
    ids=["not at all", "twice", "paid twice", "for nothing"],
)
def test_a_round_that_ends_otherwise_is_found(transfers: list[LedgerTransfer]) -> None:
    assert not check_endings(transfers, [stake_of(bet(), payout_cents=900)]).holds


@pytest.mark.guarantee("G3", "G5")
def test_the_history_of_an_account_is_what_clients_did_and_what_rounds_moved() -> None:
    deposited = Command("deposit", "cashier", "cashier-1", ACCOUNT, cents=1_000, invoked=0.1, responded=0.2)
    deposited.outcome, deposited.balance = ANSWERED, (1_000, 0, 1)
    command = bet()
    command.balance = (500, 500, 2)
    read = Command("balance", "ana", "ana-9", ACCOUNT, invoked=3.0, responded=3.1)
    read.outcome, read.balance = ANSWERED, (1_400, 0, 3)
    commands = [deposited, command, read]
    transfers = [
        LedgerTransfer(1, TransferKind.DEPOSIT, "cashier-1", ACCOUNT, "", 0.15, 1_000, 0),
        placed(command, 2),
        settled(3, payout_cents=900),
    ]
    assert len(account_history(commands, transfers, {})) == 4
    assert check_accounts(commands, transfers, {ROUND: 2.5}).holds
    assert check_accounts(commands, transfers, {}).holds

    read.balance = (500, 500, 2)
    assert not check_accounts(commands, transfers, {ROUND: 2.5}).holds, "the round was seen to end before the reading"
    assert check_accounts(commands, transfers, {ROUND: 3.05}).holds

    read.balance = (1_400, 0, 3)
    twice = [*transfers, replace(placed(command), transfer_no=4)]
    assert not check_accounts(commands, twice, {ROUND: 2.5}).holds, "the bet has moved money twice"
    assert not check_accounts(commands[:1] + commands[2:], transfers, {ROUND: 2.5}).holds, "nobody has sent the bet"
    paid_twice = [*transfers, replace(settled(4, payout_cents=900), locked_cents=0)]
    assert check_accounts(commands, paid_twice, {}).holds, "it may be paid after the reading, for all that is known"
    assert not check_accounts(commands, paid_twice, {}, read_at=2.9).holds, "it was paid again before the reading"


@pytest.mark.guarantee("G5")
def test_a_balance_older_than_one_that_was_told_before_is_found() -> None:
    first = Command("balance", "ana", "ana-1", ACCOUNT, invoked=1.0, responded=1.1)
    second = Command("balance", "ana", "ana-2", ACCOUNT, invoked=2.0, responded=2.1)
    for command, version in ((first, 7), (second, 6)):
        command.outcome, command.balance = ANSWERED, (0, 0, version)
    found = check_accounts([first, second], [], {})
    assert "version 6 was told after version 7" in found.sentences[0]
    second.invoked = 1.05
    assert check_accounts([first, second], [], {}).holds


@pytest.mark.guarantee("G3")
def test_a_buy_in_leaves_the_account_once() -> None:
    command = Command("buy_in", "ana", "ana-1", ACCOUNT, "felt", "felt", cents=2_000, invoked=1.0, responded=1.5)
    command.outcome, command.balance = ANSWERED, (3_000, 0, 2)
    deposited = LedgerTransfer(1, TransferKind.DEPOSIT, "cashier-1", ACCOUNT, "", 0.15, 5_000, 0)
    cashier = Command("deposit", "cashier", "cashier-1", ACCOUNT, cents=5_000, invoked=0.1, responded=0.2)
    cashier.outcome, cashier.balance = ANSWERED, (5_000, 0, 1)
    name = f"felt:buy-in:{command.ledger_id}"
    bought = LedgerTransfer(2, TransferKind.BUY_IN, name, ACCOUNT, "", 1.1, -2_000, 0)
    assert check_accounts([cashier, command], [deposited, bought], {}, read_at=3.0).holds
    assert not check_accounts([cashier, command], [deposited, bought, bought], {}, read_at=3.0).holds
