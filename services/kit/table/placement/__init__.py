"""Decides which replica of a game runs which table group, so that each has one owner."""
