"""Runs the money of a banked round: its felt, its limits, its stakes on their way to the wallet, its settlement."""
