"""The platform on one machine, for development and tests: never part of a production image."""
