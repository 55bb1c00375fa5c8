"""Verifies bearer tokens against the keys their issuers publish, and decides who may call a method."""
