"""Tests of starting, supervising and stopping processes."""
