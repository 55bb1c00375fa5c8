"""Builds a table's events and snapshots and publishes them on the bus."""
