"""Tests of what every service is built from."""
