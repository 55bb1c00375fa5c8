"""Game sessions: start and end, inactivity, summaries, concurrency."""
