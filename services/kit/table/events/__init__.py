"""Builds the events and snapshots of a table, and publishes them on the bus."""
