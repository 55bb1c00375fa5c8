"""Decides commands over an in-memory book of accounts, stakes and sessions, without any I/O."""
