"""Tournaments at the real services, on real PostgreSQL and NATS."""
