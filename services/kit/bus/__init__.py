"""Connects to NATS, declares its streams and who may use them, follows them, and keeps shared state in buckets."""
