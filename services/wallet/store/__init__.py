"""Reads and writes the ledger in PostgreSQL: groups of commands, caches, stored answers and queries."""
