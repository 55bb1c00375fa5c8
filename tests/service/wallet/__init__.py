"""The wallet on a real PostgreSQL and NATS, room by room."""
