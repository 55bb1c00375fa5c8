"""Runs the whole platform on one machine, for development and tests."""
