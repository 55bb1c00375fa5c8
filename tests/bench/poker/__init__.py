"""Measures the evaluator and the engine of poker against those of PyPI, each in the same run."""
