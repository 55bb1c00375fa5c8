"""What the Makefile does to the repository itself."""
