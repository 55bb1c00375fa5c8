"""Tournaments in this process: their tables beside tables for money, and a director beside the writes that it makes."""
