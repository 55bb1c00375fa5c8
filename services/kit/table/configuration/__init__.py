"""Holds the specific rules, switches and initial tables of a game, as stored and as cached."""
