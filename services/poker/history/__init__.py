"""Finished hands as text, for their players and for the operator."""
