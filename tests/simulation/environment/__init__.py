"""Fakes everything around a table's process: clock, network, wallet, journal, bus, players."""
