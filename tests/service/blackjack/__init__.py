"""Plays blackjack at the real service, with the real wallet, database and bus."""
