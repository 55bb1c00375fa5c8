"""Tests of the pure modules of `caves`."""
