"""Tests of the connection to NATS and of what is shared over it."""
