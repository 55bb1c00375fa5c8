"""The tables of a tournament: seats by draw, balancing, who is dealt in, the rules of a hand, and the last lap."""
