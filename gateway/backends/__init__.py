"""Connects the gateway to what is behind it: finds the service that answers a call, calls it, and reads the bus."""
