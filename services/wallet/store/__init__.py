"""Reads and writes the ledger's rows in PostgreSQL: groups of commands under locks, caches, answers, queries."""
