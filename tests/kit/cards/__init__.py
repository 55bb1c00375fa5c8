"""Tests of cards and shoes."""
