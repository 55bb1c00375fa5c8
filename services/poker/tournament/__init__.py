"""Poker tournaments (810/2015) as pure values: specific rules, prizes, ranking, seating, and the whole course."""
