"""Calls the wallet for a table: one call, one answer, repeated until the wallet answers."""
