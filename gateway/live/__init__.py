"""Keeps clients up to date: the feeds of tables and players, encoded once for all who watch."""
