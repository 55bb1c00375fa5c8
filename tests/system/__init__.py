"""The whole platform, started as a developer starts it."""
