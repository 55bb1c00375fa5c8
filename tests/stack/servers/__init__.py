"""Tests of the embedded PostgreSQL and NATS."""
