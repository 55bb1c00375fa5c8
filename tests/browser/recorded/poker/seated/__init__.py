"""A player of poker between hands: cave and presence, periods, several tables."""
