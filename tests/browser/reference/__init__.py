"""Tests of the pages that describe the API to people."""
