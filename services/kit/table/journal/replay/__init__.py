"""Recomputes recorded rounds and compares them with the ledger."""
