"""Stands for the operator's own website in development: login, cashier and tokens."""
