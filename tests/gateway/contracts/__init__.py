"""Tests of what the gateway reads from the protos, and of the JSON of messages."""
