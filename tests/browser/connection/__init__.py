"""What a player sees when a connection breaks, falls silent or the gateway dies."""
