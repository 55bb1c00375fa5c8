"""How strong a hand of poker is: its combination, the five cards that make it, and its rank (25 to 32)."""
