"""Blackjack/21, by regulation 805/2015."""
