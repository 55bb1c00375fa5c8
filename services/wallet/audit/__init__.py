"""Checks the ledger for violations, and keeps the log of what operators commanded and switched."""
