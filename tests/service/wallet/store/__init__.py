"""How groups of commands are written: locks, caches, retries, crashes, and what the database itself refuses."""
