"""Rounds as players play them: bets, spins, results, void rounds, history."""
