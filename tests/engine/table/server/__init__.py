"""How the calls of players are verified and answered, without a process."""
