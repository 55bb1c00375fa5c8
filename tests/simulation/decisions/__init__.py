"""Rounds in which players decide, in virtual time: blackjack with faults, and with shoes that a test has chosen."""
