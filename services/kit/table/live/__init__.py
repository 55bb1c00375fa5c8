"""Runs tables: one task for each, its seats and rounds, players who enter, and the rounds that a former owner left."""
