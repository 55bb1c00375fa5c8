"""The platform on one machine: its parts, each alone."""
