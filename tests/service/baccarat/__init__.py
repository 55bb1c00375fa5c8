"""Baccarat as a player finds it: the real service with the real wallet, over gRPC."""
