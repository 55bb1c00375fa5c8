"""Practice in development: bots that play poker with anybody who opens the front-end, as clients of the gateway."""
