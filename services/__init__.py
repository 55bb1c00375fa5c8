"""Feltro's services, one folder each; `kit` is what all of them are built from."""
