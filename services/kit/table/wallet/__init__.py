"""Calls the wallet for a table, and tells an answer from a refusal, silence and a fault."""
