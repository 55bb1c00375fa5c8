"""Runs the money of a banked round: the betting window, its limits, stakes to the wallet, settlement."""
