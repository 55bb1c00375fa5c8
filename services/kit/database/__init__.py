"""Connects to PostgreSQL, migrates a service's database, and waits until it has the schema a release needs."""
