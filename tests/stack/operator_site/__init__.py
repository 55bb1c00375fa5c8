"""Tests of the development operator site."""
