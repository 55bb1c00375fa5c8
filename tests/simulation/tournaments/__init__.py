"""Tournaments with real directors, the real ledger and tables that play by lot, in virtual time."""
