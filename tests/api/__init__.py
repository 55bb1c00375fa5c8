"""Runs schemathesis against REST."""
