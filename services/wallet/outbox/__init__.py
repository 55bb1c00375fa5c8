"""Publishes committed facts from the database to the bus, each exactly once and in order."""
