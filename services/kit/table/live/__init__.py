"""Runs tables: one task for each, with its seats and its rounds."""
