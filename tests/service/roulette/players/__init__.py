"""Who may sit and play: seats, sessions, inactivity, tokens, demonstration, privacy."""
