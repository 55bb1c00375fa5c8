"""What accounts, rounds, stakes and sessions are, why the wallet refuses, and when inactivity ends a session."""
