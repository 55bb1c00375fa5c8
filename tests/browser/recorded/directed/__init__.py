"""What pages are served of tables that a test directs, whatever the game."""
