"""What a hand of poker does and pays, written again from the regulations alone, and compared with the engine."""
