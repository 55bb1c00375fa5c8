"""Tables that are played for chips, as in tournaments, in a simulated world: hands that a small director starts."""
