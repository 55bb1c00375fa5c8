"""One service at a time, on real PostgreSQL and NATS."""
