"""The poker service through its API, on a real PostgreSQL and a real bus."""
