"""Roulette rule by rule."""
