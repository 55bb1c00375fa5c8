"""Scripted runs of a simulated table, one topic to a file."""
