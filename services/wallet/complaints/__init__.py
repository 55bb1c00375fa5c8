"""Keeps complaints: the states they go through and the rows that record every step."""
