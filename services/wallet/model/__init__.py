"""Defines accounts, rounds, stakes and sessions, the wallet's refusals, and when inactivity ends a session."""
