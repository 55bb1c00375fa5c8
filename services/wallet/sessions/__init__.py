"""Keeps game sessions: their rows, their clock, inactivity, summaries and messages."""
