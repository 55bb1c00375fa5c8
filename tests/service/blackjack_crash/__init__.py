"""Crash tests: blackjack and all it depends on fail in the middle of hands; every hand goes on with its very cards."""
