"""Connects the gateway to the services and the bus: finds the service that answers a call, calls it, reads streams."""
