"""Runs the table runtime in virtual time with seeded faults and checks that its guarantees hold."""
