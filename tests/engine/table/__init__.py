"""Tests of the table runtime's pure modules."""
