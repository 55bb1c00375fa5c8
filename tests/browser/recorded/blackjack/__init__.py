"""The page of a blackjack table, played by the real engine from a given shoe, and no platform."""
