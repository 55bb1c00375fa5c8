"""Tests of all services and of the process: NUL characters in any text, readiness."""
