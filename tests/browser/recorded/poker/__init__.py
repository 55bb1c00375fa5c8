"""Poker's table on answers that a test directs."""
