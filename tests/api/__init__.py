"""The REST edge as schemathesis finds it."""
