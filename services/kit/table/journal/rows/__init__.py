"""Turns the entries of the journal into rows of PostgreSQL, and rows back into entries."""
