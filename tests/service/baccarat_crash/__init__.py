"""Crash tests: baccarat and all it depends on are killed while bots play; no bet is lost or counted twice."""
