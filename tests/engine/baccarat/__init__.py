"""Tests of baccarat's rules, without any I/O."""
