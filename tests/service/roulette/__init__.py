"""Functional tests of the roulette service: the real process on the real wallet, PostgreSQL and NATS."""
