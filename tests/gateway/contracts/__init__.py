"""Tests of what is read from the protos, and of the JSON of messages."""
