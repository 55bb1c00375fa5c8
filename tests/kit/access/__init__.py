"""Tests of tokens, keys and access rules."""
