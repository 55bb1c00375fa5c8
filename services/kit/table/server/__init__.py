"""Serves a game: its process, its settings and the gRPC services of its tables."""
