"""Keeps tickets: entries to tournaments that were won, and what became of them."""
