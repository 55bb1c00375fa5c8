"""Tests of the randomness and of its health tests."""
