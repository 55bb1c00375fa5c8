"""Tests the table runtime against a real PostgreSQL and a real NATS."""
