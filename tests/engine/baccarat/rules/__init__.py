"""Checks the rules text that players read."""
