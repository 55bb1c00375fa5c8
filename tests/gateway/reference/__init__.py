"""Tests of the generated API reference."""
