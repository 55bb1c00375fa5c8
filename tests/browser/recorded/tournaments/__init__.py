"""Tournaments on answers that a test directs."""
