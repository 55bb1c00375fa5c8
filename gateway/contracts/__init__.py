"""Reads from the protos what the platform offers: methods, bounds, reasons of refusals, and the JSON of messages."""
