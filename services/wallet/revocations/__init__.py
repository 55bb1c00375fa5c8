"""Keeps which tokens were revoked, until the last of them has expired."""
