"""The edge of the platform: what the world outside speaks to. It knows no game."""
