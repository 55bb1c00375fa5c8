"""What must not be: wrong actions of players, and guarantees that are broken on purpose."""
