"""Tests of poker tournaments, with the vectors of the rulebook (T-01 to T-21) by their numbers."""
