"""Tests of the pure modules of `configuration`."""
