"""Keeps the players' money in one process with one database: ledger, game sessions, complaints and audit."""
