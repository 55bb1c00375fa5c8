"""Tests of the room `wallet`."""
