"""Betting, rounds and results at a table, as a player sees them."""
