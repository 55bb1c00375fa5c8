"""Tables at which nobody bets before the cards: what players bring is dealt in, and they decide from then on."""
