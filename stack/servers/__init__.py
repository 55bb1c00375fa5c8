"""PostgreSQL and NATS from Python wheels: how they are made, started and found ready."""
