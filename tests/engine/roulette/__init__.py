"""Tests of roulette's rules, article by article."""
