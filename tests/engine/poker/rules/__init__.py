"""Specific rules of poker, their message, and the rules that players read."""
