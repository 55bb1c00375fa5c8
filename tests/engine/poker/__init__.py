"""Tests of the engine of poker cash games, with the vectors of the rulebook (C-01 to C-34) by their numbers."""
