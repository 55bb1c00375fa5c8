"""Rounds of baccarat whose cards a test has chosen, in a simulated world."""
