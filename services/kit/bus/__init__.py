"""Connects to NATS, keeps shared state in key-value buckets, and logs when the bus fails and recovers."""
