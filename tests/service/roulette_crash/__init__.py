"""Roulette is killed, together with all it stands on, while people play: nothing is lost and nothing happens twice."""
