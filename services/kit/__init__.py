"""Holds what every service of the platform is built from."""
