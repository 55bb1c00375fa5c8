"""Decides a command: a pure function from a book and a command to an answer and changes in the book.

Each decision verifies first and moves money afterwards: a refusal is raised before anything in the book changes (G12).
"""

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message

from services.wallet.ledger import cash, caves, commands, pools, rounds
from services.wallet.ledger.book import Book

DECISIONS: dict[type[commands.Command], Callable[[Book, Any, int], Message]] = {
    commands.Deposit: cash.deposit,
    commands.Withdraw: cash.withdraw,
    commands.RefillDemo: cash.refill_demo,
    commands.PlaceStake: rounds.place_stake,
    commands.CancelStakes: rounds.cancel_stakes,
    commands.PayStakes: rounds.pay_stakes,
    commands.SettleRound: rounds.settle_round,
    commands.VoidRound: rounds.void_round,
    commands.BuyIn: caves.buy_in,
    commands.CashOut: caves.cash_out,
    commands.TransferHand: caves.transfer_hand,
    commands.PayIn: pools.pay_in,
    commands.PayOut: pools.pay_out,
    commands.SettleTickets: pools.settle_tickets,
    commands.CloseTournament: pools.close_tournament,
}


def decide(book: Book, command: commands.Command, no: int) -> Message:
    """Carries out a command in the book under the number `no`, or raises a refusal and leaves the book unchanged."""
    return DECISIONS[type(command)](book, command, no)
