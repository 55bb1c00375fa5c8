"""Complaints, from filing to closing."""
