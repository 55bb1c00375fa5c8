"""How fast it is, as ratios to a floor on the same machine in the same run."""
