"""Poker: the hand, its evaluation and its limits."""
