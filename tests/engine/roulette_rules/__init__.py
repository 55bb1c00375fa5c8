"""What players are told of roulette's rules."""
