"""Roulette: the American one after 804/2015 and the French one after 807/2015."""
