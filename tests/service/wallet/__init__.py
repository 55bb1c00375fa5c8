"""The wallet: its database, its desks, its audit."""
