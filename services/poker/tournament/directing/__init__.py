"""Runs tournaments around their pure course: journals facts, follows orders at tables and in the wallet, shows how it stands."""
