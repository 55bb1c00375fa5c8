"""Tests of the room `events`."""
