"""Tests of the pure modules of `banked`."""
