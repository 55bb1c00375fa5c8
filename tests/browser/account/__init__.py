"""A player's account, sessions, complaints and tokens."""
