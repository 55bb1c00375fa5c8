"""Tests of the pure modules of `journal`."""
