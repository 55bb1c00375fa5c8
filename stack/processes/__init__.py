"""Starts, supervises and stops the processes of one run, and finds what a killed run left."""
