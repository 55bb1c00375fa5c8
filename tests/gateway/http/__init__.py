"""Tests of REST and of the HTTP server around it."""
