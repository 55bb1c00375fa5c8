"""What `make run` says of practice."""

from __future__ import annotations

from stack.practice.cash_table import TABLE_ID


def words(address: str) -> str:
    """Returns where one plays, for a platform at an address that ends in a slash."""
    return (
        f"Poker against bots that play as fast as people: {address}#/table/{TABLE_ID},\n"
        "and the practice sit & go in the lobby, which begins when you have registered."
    )
