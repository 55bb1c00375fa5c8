"""Draws entropy from the operating system, tests it, and turns it into unbiased numbers and shuffles."""
