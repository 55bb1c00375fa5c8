"""The platform as players see it: `make test-browser`."""
