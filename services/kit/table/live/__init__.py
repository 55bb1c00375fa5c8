"""Runs tables: one task for each, their seats, their rounds, and the rounds a former owner left."""
