"""Tests of the whole platform as processes, through the gateway alone."""
