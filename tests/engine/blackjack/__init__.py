"""Tests of blackjack's rules, without any I/O."""
