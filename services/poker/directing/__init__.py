"""Runs tournaments around their pure course: journals facts, follows orders, and shows how they stand."""
