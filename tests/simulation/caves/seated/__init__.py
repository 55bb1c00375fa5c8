"""Players at a table with caves from hand to hand: buying in, presence, sessions, periods, leaving."""
