"""The `make` targets and `feltro` subcommands that start and inspect the platform on this machine."""
