"""Benches: speed as a ratio to a floor that is measured on the same machine in the same run."""
