"""Live tables with bots in this process: the games, the runtime that plays them, and what is measured of them."""
