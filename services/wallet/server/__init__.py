"""The wallet's process and its gRPC services: check requests, call the rooms, word the answers."""
