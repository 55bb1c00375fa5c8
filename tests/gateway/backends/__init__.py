"""Tests of dispatching, readiness and the operator audit."""
